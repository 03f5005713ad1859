//! What stands between a host's transport and its line, as scheme files state it: `"pull"`, `{ queue = "fifo" }` or
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

use crate::keys::{Bounds, Empty, Form, InTable, KeyError, KeyValue, Keys, Schema, Value, Written};
use crate::part::{Notation, parts};

parts! {
    /// What stands between a host's transport and its line.
    pub enum Nic: dyn HostNic in Nic by "queue" {
        /// Nothing: the line asks the host's scheduler.
        Pull(pull::Config);
        /// One first-in first-out transmit queue.
        Fifo(fifo::Config);
        /// A transmit queue with the order of the host row.
        Host(host::Config);
        /// A transmit queue with the discipline of the switch ports, by class.
        Ports(ports::Config);
        /// A transmit queue that is a port of its own, as a switch could have it.
        Port(port::Config);
        /// The token discipline of the switch ports.
        Tokens(tokens::Config);
    }
}

/// The NICs whose name stands in place of a table, each with its meaning.
static WORDS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let entries = Nic::entries().into_iter().filter(|entry| entry.notation == Notation::Name);
    entries.map(|entry| (entry.name, entry.summary)).collect()
});

impl Nic {
    /// No transmit queue: the NIC of schemes that state none.
    pub const PULL: Self = Self::Pull(pull::Config);

    /// How NICs are written, for messages.
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
            return Err(KeyError::new(format!("there is no {given:?} here"), Self::forms()));
        }
        let read = Self::read(text, &mut Empty).ok().flatten();
        Ok(read.expect("invariant: a part that is written as its name has no key that must be stated"))
    }

    fn write(&self) -> Written {
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
