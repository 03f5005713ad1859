//! Classes by a power law of size or deadline: p = ((x - offset) / scale)^e + base (Firapam Eqs. 6 and 8, with gamma =
//! 1 / scale); larger p is a higher priority.

use super::rule::{Rule, allowance};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{Bytes, Keys};
use crate::part::Part;
use crate::units::Span;

/// Parameters of the rule `power_law`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "power_law")]
#[part(
    name = "power_law",
    summary = "p = ((x - offset) / scale)^exponent + base, rounded down, larger p first",
    source = "Firapam Eqs. 6, 8",
    deploy = [Dscp, SizesKnown],
    example = r#"levels = 3, of = "size", scale = "100kB", exponent = -0.5"#
)]
pub struct PowerLaw {
    /// Number of classes N: p of N or more is class 0, below 2 the lowest.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// The measure x of a flow.
    #[keys(flatten)]
    pub of: Measure,
    /// The exponent e.
    #[key(required = "exponent = -0.5", range = "[-100, 0)", source = "Firapam Eqs. 6, 8")]
    pub exponent: f64,
    /// beta: the added constant.
    #[key(default = 0.0, range = "[-1000000, 1000000]", source = "Firapam Eqs. 6, 8")]
    pub base: f64,
}

/// A measure of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(tag = "of")]
pub enum Measure {
    /// Its size (Eq. 6).
    Size(Sizes),
    /// Its time from start to deadline (Eq. 8).
    Deadline(Times),
}

/// Scale and offset of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct Sizes {
    /// 1 / gamma: the divisor of sizes.
    #[key(required = "scale = \"100kB\"", form = Bytes, range = "(0, )", source = "docs/assumptions.md#firapam-power-law")]
    pub scale: u64,
    /// alpha: sizes up to it get the highest class.
    #[key(default = 0, form = Bytes, source = "Firapam Eq. 6")]
    pub offset: u64,
}

/// Scale and offset of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct Times {
    /// 1 / gamma: the divisor of times.
    #[key(required = "scale = \"2ms\"", range = "(0, )", source = "docs/assumptions.md#firapam-power-law")]
    pub scale: Span,
    /// alpha: times up to it get the highest class.
    #[key(default = Span::ZERO, source = "Firapam Eq. 8")]
    pub offset: Span,
}

impl Rule for PowerLaw {
    fn levels(&self) -> u8 {
        self.levels
    }

    fn reads_deadlines(&self) -> bool {
        matches!(self.of, Measure::Deadline(_))
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        let (over, scale) = match self.of {
            Measure::Size(Sizes { scale, offset }) => (flow.whole_size()?.saturating_sub(offset), scale),
            Measure::Deadline(Times { scale, offset }) => {
                (allowance(flow)?.0.saturating_sub(offset.0), scale.0)
            }
        };
        let levels = f64::from(self.levels);
        // At the offset the power law is infinite.
        let p = match over {
            0 => levels,
            over => libm::pow(over as f64 / scale as f64, self.exponent) + self.base,
        };
        Some((levels - p.floor().clamp(1.0, levels)) as Class)
    }
}
