//! Assigns classes by the weight w of the pair (theta, w) that a flow pays for (PACCP), with stated thresholds.
//!
//! ```text
//! class = number of thresholds above w        w in thousandths, as stored in flows
//! ```
//!
//! The largest weights come first. Minimum rates do not affect the class.

use super::rule::Rule;
use super::thresholds::Descending;
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `paid_weight`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "paid_weight")]
#[part(
    name = "paid_weight",
    summary = "larger paid weights first, with given weight thresholds",
    source = "docs/pricing.md",
    provides = [Weights],
    deploy = [Dscp, Prices],
    example = "weights = [2]"
)]
pub struct PaidWeight {
    /// Lower bound of the weight of each class except the last.
    #[key(required = "weights = [2]", form = Descending, range = "(0, 1000]", source = "docs/pricing.md")]
    pub weights: Vec<f64>,
}

impl Rule for PaidWeight {
    fn levels(&self) -> u8 {
        self.weights.len() as u8 + 1
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        let above = |&&threshold: &&f64| threshold * 1e3 > f64::from(flow.weights.w_milli) + 0.5;
        Some(self.weights.iter().filter(above).count() as Class)
    }
}
