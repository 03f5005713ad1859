//! Classes by the time from start to deadline, with stated thresholds.

use super::rule::{Rule, allowance};
use super::thresholds::Ascending;
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;
use crate::units::Span;

/// Parameters of the rule `deadline`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "deadline")]
#[part(
    name = "deadline",
    summary = "shorter time to the deadline first, with given thresholds",
    source = "DeTail (SIGCOMM 2012), Firapam Table I",
    deploy = [Dscp, Deadlines],
    example = r#"thresholds = ["2ms", "8ms"]"#
)]
pub struct Deadline {
    /// Upper bound of the time to the deadline of each class except the last.
    #[key(required = "thresholds = [\"2ms\", \"8ms\"]", form = Ascending<15>, source = "Firapam Table I")]
    pub thresholds: Vec<Span>,
}

impl Rule for Deadline {
    fn levels(&self) -> u8 {
        self.thresholds.len() as u8 + 1
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        let allowed = allowance(flow)?;
        Some(self.thresholds.iter().filter(|&&t| t < allowed).count() as Class)
    }

    fn reads_deadlines(&self) -> bool {
        true
    }
}
