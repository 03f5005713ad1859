//! What entries are made of.

use crate::keys::{Bounds, KeyInfo, Schema};
use crate::part::{Capability, Entry, Provision, Row};

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

/// An entry that is stated in this module's lists, and not beside its algorithm.
pub(super) struct Stated {
    pub(super) row: Row,
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) source: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) requires: &'static [Capability],
    pub(super) provides: &'static [Provision],
}

/// The entry that is stated so.
pub(super) fn entry(stated: &Stated) -> Entry {
    Entry {
        row: stated.row,
        name: stated.name,
        summary: stated.summary,
        source: stated.source,
        parameters: stated.parameters.iter().map(|parameter| parameter.info()).collect(),
        requires: stated.requires,
        provides: stated.provides.to_vec(),
    }
}
