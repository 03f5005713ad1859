//! Random classes, with a given share of flows per class.

use super::rule::Rule;
use super::thresholds::{Shares, above};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `random_fraction`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "random_fraction")]
#[part(
    name = "random_fraction",
    summary = "draws the class of each flow at random",
    source = "docs/assumptions.md#firapam-tables",
    deploy = [Dscp],
    example = "fractions = [0.5, 0.3, 0.2]"
)]
pub struct RandomFraction {
    /// Share of flows of each class, class 0 first, summing to 1.
    #[key(required = "fractions = [0.5, 0.1, 0.4]", form = Shares, range = "[0, 1]", group = "shares", source = "Firapam §V, Table II")]
    pub fractions: Vec<f64>,
}

impl Rule for RandomFraction {
    fn levels(&self) -> u8 {
        self.fractions.len() as u8
    }

    fn class(&self, _: &FlowSpec, u: f64) -> Option<Class> {
        Some(above(&self.fractions, u) as Class)
    }
}
