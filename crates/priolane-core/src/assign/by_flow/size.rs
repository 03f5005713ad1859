//! Classes by size, with stated thresholds.

use super::rule::Rule;
use super::thresholds::{Ascending, count_exceeded, misjudge};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `size`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "size")]
#[part(
    name = "size",
    summary = "smaller flows first, with given size thresholds",
    source = "Firapam Table I",
    deploy = [Dscp, SizesKnown],
    example = r#"thresholds = ["100kB", "1MB"]"#
)]
pub struct Size {
    /// Upper bound of the size of each class except the last.
    #[key(required = "thresholds = [\"100kB\", \"1MB\"]", form = Ascending<15>, source = "Firapam Table I")]
    pub thresholds: Vec<u64>,
    /// Largest factor of errors in the known sizes, up or down.
    #[key(
        default = 1.0,
        skip_default,
        range = "[1, 1000000]",
        source = "docs/assumptions.md#misjudged-sizes"
    )]
    pub error: f64,
}

impl Rule for Size {
    fn levels(&self) -> u8 {
        self.thresholds.len() as u8 + 1
    }

    fn class(&self, flow: &FlowSpec, u: f64) -> Option<Class> {
        Some(count_exceeded(&self.thresholds, misjudge(flow.whole_size()?, self.error, u)) as Class)
    }
}
