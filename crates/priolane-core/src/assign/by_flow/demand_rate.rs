//! Classes by size over the time to the deadline (Firapam Eq. 15).

use super::rule::{Rule, allowance};
use super::thresholds::Descending;
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;
use crate::units::{PS_PER_S, Rate, Span};

/// Parameters of the rule `demand_rate`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "demand_rate")]
#[part(
    name = "demand_rate",
    summary = "larger ratio of size to time to the deadline first",
    source = "Firapam §III-C, Eq. 15",
    deploy = [Dscp, Deadlines, SizesKnown],
    example = r#"thresholds = ["1Gbps", "100Mbps"]"#
)]
pub struct DemandRate {
    /// Lower bound of the rate of each class except the last.
    #[key(required = "thresholds = [\"5Gbps\", \"1Gbps\"]", form = Descending, source = "Eq. 15")]
    pub thresholds: Vec<Rate>,
}

/// Returns whether `size` bytes within `allowed` are a rate below `rate`; exact.
fn below(size: u64, allowed: Span, rate: Rate) -> bool {
    u128::from(size) * 8 * u128::from(PS_PER_S) < u128::from(rate.bps()) * u128::from(allowed.0)
}

impl Rule for DemandRate {
    fn levels(&self) -> u8 {
        self.thresholds.len() as u8 + 1
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        let (size, allowed) = (flow.size?, allowance(flow)?);
        Some(self.thresholds.iter().filter(|&&t| below(size, allowed, t)).count() as Class)
    }

    fn reads_deadlines(&self) -> bool {
        true
    }
}
