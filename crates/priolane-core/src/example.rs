//! Examples of parts, as files write them. The matrix of parts tries each part as its example has it.

use crate::part::Notation;

/// An example of a part. All texts are keys and values in TOML, separated by commas; an empty text has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// The keys that a scheme states for it, besides its name.
    pub keys: &'static str,
    /// The rows of a scheme that usually stand beside a transport: `host`, `nic` and `port`. Rows that are left out are
    /// `round_robin`, `pull` and `fifo`.
    pub beside: &'static str,
    /// The keys with which it goes with other parts than without.
    pub variant: &'static str,
}

impl Example {
    /// A part that takes nothing but its name.
    pub const NONE: Self = Self { keys: "", beside: "", variant: "" };

    /// Returns the part as a file writes it.
    pub fn written(&self, notation: Notation, tag: &str, name: &str) -> String {
        let keys = self.keys;
        match notation {
            Notation::Name => format!("{name:?}"),
            Notation::Key => format!("{{ {keys} }}"),
            Notation::Tag if keys.is_empty() => format!("{{ {tag} = {name:?} }}"),
            Notation::Tag => format!("{{ {tag} = {name:?}, {keys} }}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_written_in_the_notation_of_its_part() {
        let example = Example { keys: "queues = 8", ..Example::NONE };
        assert_eq!(example.written(Notation::Tag, "kind", "strict"), r#"{ kind = "strict", queues = 8 }"#);
        assert_eq!(Example::NONE.written(Notation::Tag, "kind", "srpt"), r#"{ kind = "srpt" }"#);
        assert_eq!(Example::NONE.written(Notation::Name, "queue", "pull"), r#""pull""#);
        assert_eq!(example.written(Notation::Key, "queue", "port"), "{ queues = 8 }");
    }
}
