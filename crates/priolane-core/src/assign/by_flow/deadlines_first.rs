//! Flows with a deadline first, the others after them by size (Karuna, SIGCOMM 2016).

use super::rule::Rule;
use super::thresholds::{AscendingOrNone, count_exceeded};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `deadlines_first`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "deadlines_first")]
#[part(
    name = "deadlines_first",
    summary = "flows with a deadline first, then the others, smaller first, with given size thresholds",
    source = "Karuna (SIGCOMM 2016), Firapam Table I",
    deploy = [Dscp, Deadlines],
    example = r#"thresholds = ["100kB"]"#
)]
pub struct DeadlinesFirst {
    /// Upper bound of the size of flows without a deadline, for each class except the first and last; empty for one class.
    #[key(required = "thresholds = [\"100kB\", \"1MB\"]", form = AscendingOrNone<14>, source = "docs/assumptions.md#karuna")]
    pub thresholds: Vec<u64>,
}

impl Rule for DeadlinesFirst {
    fn levels(&self) -> u8 {
        self.thresholds.len() as u8 + 2
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        if flow.deadline.is_some() {
            return Some(0);
        }
        Some(1 + count_exceeded(&self.thresholds, flow.whole_size()?) as Class)
    }

    fn reads_deadlines(&self) -> bool {
        true
    }
}
