//! NICs: the queue between a host's transport and its link. Scheme files write `"pull"`, `{ queue = "fifo" }` or
//! `{ port = { ... } }`.

mod fifo;
mod host;
mod host_nic;
mod port;
mod ports;
mod pull;
mod queue;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::LazyLock;

use host_nic::{HostNic, OwnPort};
pub use host_nic::{OtherRows, TransmitQueue};
use queue::FlowRoom;
pub use queue::QueueKeys;

use crate::keys::{Bounds, Empty, Form, InTable, KeyError, KeyValue, Keys, Schema, Value, WrittenValue};
use crate::part::{Notation, parts};

parts! {
    /// The queue between a host's transport and its link.
    pub enum Nic: dyn HostNic in Nic by "queue" {
        /// No queue: the link polls the host's scheduler.
        Pull(pull::Config);
        /// One FIFO transmit queue.
        Fifo(fifo::Config);
        /// A transmit queue in the order of the host scheduler.
        Host(host::Config);
        /// A transmit queue with the discipline of the switch ports, by class.
        Ports(ports::Config);
        /// A transmit queue with its own port discipline, as a switch port could have it.
        Port(port::Config);
        /// The token discipline of the switch ports.
        Tokens(tokens::Config);
    }
}

/// The NICs written as a word instead of a table, each with its meaning.
static WORDS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let entries = Nic::entries().into_iter().filter(|entry| entry.notation == Notation::Name);
    entries.map(|entry| (entry.name, entry.summary)).collect()
});

impl Nic {
    /// No transmit queue: the NIC of schemes that do not state one.
    pub const PULL: Self = Self::Pull(pull::Config);

    /// Returns the notations of all NICs, for messages.
    fn forms() -> String {
        let names = |notation| Self::PARTS.iter().filter(move |part| part.1 == notation).map(|part| part.0);
        let words = names(Notation::Name).map(|name| format!("{name:?}"));
        let queues = names(Notation::Tag).take(1).map(|name| format!("{{ queue = {name:?} }}"));
        let ports = names(Notation::Key).map(|name| format!("{{ {name} = {{ ... }} }}"));
        words.chain(queues).chain(ports).collect::<Vec<_>>().join(" | ")
    }
}

impl KeyValue for Nic {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let text = match value {
            Value::Table(_) => return InTable::read(value, bounds),
            Value::Text(text) => *text,
            other => return Err(other.unfit(Self::forms())),
        };
        if !WORDS.iter().any(|(word, _)| *word == text) {
            let given: String = text.chars().take(60).collect();
            return Err(KeyError::new(format!("unknown value {given:?}"), Self::forms()));
        }
        let read = Self::read(text, &mut Empty).ok().flatten();
        Ok(read.expect("invariant: a part that is written as its name has no key that must be stated"))
    }

    fn write(&self) -> WrittenValue {
        match self.notation() {
            Notation::Name => self.name().into(),
            Notation::Tag | Notation::Key => InTable::write(self),
        }
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        <Self as Keys>::describe(&mut keys);
        Schema::OneOf(&WORDS, keys)
    }
}
