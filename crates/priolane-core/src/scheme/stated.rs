//! What entries are made of.

use crate::keys::{Bounds, KeyInfo, Schema};
use crate::part::{Capability, Provision};

/// One parameter of a stated entry.
#[derive(Clone, Copy)]
pub(super) struct Parameter {
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    default: &'static str,
    source: &'static str,
}

impl Parameter {
    /// It as keys are described.
    pub(super) fn info(&self) -> KeyInfo {
        KeyInfo {
            name: self.name,
            group: "",
            meaning: self.meaning,
            unit: self.unit,
            bounds: Bounds::ANY,
            default: self.default.to_owned(),
            source: self.source,
            required: false,
            word: None,
            schema: Schema::Text,
        }
    }
}

/// A parameter; its unit, default and source last.
pub(super) const fn parameter(
    name: &'static str,
    meaning: &'static str,
    [unit, default, source]: [&'static str; 3],
) -> Parameter {
    Parameter { name, meaning, unit, default, source }
}

/// What an entry provides however it is set.
pub(super) const fn always(capability: Capability) -> Provision {
    Provision { capability, if_set: None }
}
