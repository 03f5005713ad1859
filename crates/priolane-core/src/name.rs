//! The names that input files give to schemes, groups, classes, readings and nodes.
//!
//! A name is printed in tables, is a part of dotted keys and of paths, and is copied into configurations and scripts
//! for switches and hosts. [`is_name`] therefore allows only characters without a meaning in any of these.

/// The characters that a name may have besides ASCII letters, digits and `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// A hyphen, not in the first place: `web-search`. For names that are parts of dotted keys.
    Hyphen,
    /// A hyphen or a dot, neither in the first place: `tor-1.rack2`. No such name is `.` or `..`, begins like an option
    /// of a command, or is a hidden file.
    HyphenAndDot,
}

impl Alphabet {
    /// Returns the rule for names of 1 to `longest` bytes, as the object of "use" in a message.
    pub fn rule(self, longest: usize) -> String {
        let (more, first) = match self {
            Self::Hyphen => ("`_` or `-`", "no `-` in the first place"),
            Self::HyphenAndDot => ("`_`, `-` or `.`", "neither `-` nor `.` in the first place"),
        };
        format!("1 to {longest} letters (a to z, A to Z), digits, {more}, with {first}")
    }

    fn has(self, byte: u8) -> bool {
        match byte {
            b'-' => true,
            b'.' => self == Self::HyphenAndDot,
            _ => false,
        }
    }
}

/// Returns whether `text` is a name of 1 to `longest` bytes over `alphabet`.
pub fn is_name(text: &str, alphabet: Alphabet, longest: usize) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    bytes.len() <= longest
        && bytes.first().is_some_and(|&first| letter(first))
        && bytes.iter().all(|&byte| letter(byte) || alphabet.has(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that mean something to a shell, a path, a terminal, a spreadsheet or a configuration.
    const HOSTILE: [&str; 28] = [
        "",
        ".",
        "..",
        "-x",
        ".x",
        "a b",
        "a\nb",
        "a\rb",
        "a\0b",
        "\u{1b}[31m",
        "$(id)",
        "`id`",
        "a;b",
        "a|b",
        "a'b",
        "a\"b",
        "a\\b",
        "a/b",
        "#a",
        "!a",
        "~a",
        "=a",
        "@a",
        "a*",
        "ä",
        "a\u{202e}b",
        "a\u{2028}b",
        "a\u{85}b",
    ];

    #[test]
    fn a_text_that_means_something_elsewhere_is_no_name() {
        for text in HOSTILE {
            assert!(!is_name(text, Alphabet::Hyphen, 60), "{text:?}");
            assert!(!is_name(text, Alphabet::HyphenAndDot, 60), "{text:?}");
        }
    }

    #[test]
    fn letters_digits_and_the_marks_of_the_alphabet_make_a_name() {
        for text in ["a", "_", "9", "nos2", "web-search", "a_b-", "Z9"] {
            assert!(is_name(text, Alphabet::Hyphen, 60), "{text:?}");
        }
        assert!(is_name("tor-1.rack2", Alphabet::HyphenAndDot, 60));
        assert!(!is_name("tor-1.rack2", Alphabet::Hyphen, 60));
    }

    #[test]
    fn the_longest_name_is_allowed_and_a_longer_one_is_not() {
        assert!(is_name("abc", Alphabet::Hyphen, 3));
        assert!(!is_name("abcd", Alphabet::Hyphen, 3));
    }
}
