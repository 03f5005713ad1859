//! Priority by what is known of a flow before it sends: its size, its deadline, both, or nothing (Firapam, Table I).
//!
//! ```text
//! size           class = number of thresholds below the size                        Homa, Aalo with known sizes
//! coflow size    the same of the bytes of all flows of its coflow                     SEBF's order, by bands
//! deadlines 1st  class = 0 with a deadline, else 1 + number of thresholds below the size  Karuna
//! random         class = number of cumulative shares not above U[0, 1)              Aequitas' generator
//! deadline       class = number of thresholds below deadline - start                DeTail, Poche
//! deadline rank  flows in order of deadline - start, cut at cumulative shares       PASE's order
//! demand rate    class = number of thresholds above D = size / (deadline - start)   Firapam Eq. 15
//! power law      p = ((x - offset) / scale)^e + base, e < 0;  class = N - floor(p)  Firapam Eqs. 6, 8
//! ```
//!
//! A flow without coflow is one of its own; a coflow of which a flow has no end has none.
//!
//! A flow of which a rule needs what it does not have (no deadline, no end) gets the lowest class. The order of equal
//! deadlines is drawn. One number is drawn for each flow whatever the rule.

use std::collections::BTreeMap;

use crate::endpoint::FlowSpec;
use crate::flows::FlowList;
use crate::ids::{Class, CoflowId};
use crate::rng::Stream;
use crate::units::{PS_PER_S, Rate, Span};

/// How flows get classes.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// By size: thresholds in bytes, non-decreasing; a size equal to one is not above it.
    Size(Vec<u64>),
    /// By the size of the whole coflow: thresholds in bytes, non-decreasing; a size equal to one is not above it.
    CoflowSize(Vec<u64>),
    /// Flows with a deadline before all others, these by size: thresholds in bytes, non-decreasing; a size equal to one
    /// is not above it (docs/assumptions.md#karuna).
    DeadlinesFirst(Vec<u64>),
    /// At random: the share of each class, summing to 1.
    Random(Vec<f64>),
    /// By the time from start to deadline: thresholds, non-decreasing; one equal to a threshold is not above it.
    Deadline(Vec<Span>),
    /// By the rank of that time among all flows: the share of each class, summing to 1.
    DeadlineRank(Vec<f64>),
    /// By demand rate: thresholds, non-increasing; a rate equal to one is not below it.
    DemandRate(Vec<Rate>),
    /// By a power law of size or deadline.
    PowerLaw(PowerLaw),
}

/// The law p = ((x - offset) / scale)^e + base (Firapam Eqs. 6 and 8, with gamma = 1 / scale): the larger p, the higher
/// the priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// What x is.
    pub of: Measure,
    /// Number of classes N, 1 to 16: p of N or more is class 0, below 2 the lowest.
    pub levels: u8,
    /// The exponent e, below 0.
    pub exponent: f64,
    /// What is added: beta.
    pub base: f64,
}

/// A measure of a flow with the scale and offset of its law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its size, in bytes (Eq. 6).
    Size {
        /// What sizes are divided by, above 0.
        scale: u64,
        /// alpha: no larger size is above the top.
        offset: u64,
    },
    /// Its time from start to deadline (Eq. 8).
    Deadline {
        /// What times are divided by, above zero.
        scale: Span,
        /// alpha: no longer time is above the top.
        offset: Span,
    },
}

impl Rule {
    /// The number of classes it gives, at least 1.
    pub fn levels(&self) -> u8 {
        let of = |thresholds: usize| (thresholds + 1).min(16) as u8;
        match self {
            Self::Size(thresholds) | Self::CoflowSize(thresholds) => of(thresholds.len()),
            Self::DeadlinesFirst(thresholds) => of(thresholds.len() + 1),
            Self::Deadline(thresholds) => of(thresholds.len()),
            Self::DemandRate(thresholds) => of(thresholds.len()),
            Self::Random(shares) | Self::DeadlineRank(shares) => of(shares.len().saturating_sub(1)),
            Self::PowerLaw(law) => law.levels,
        }
    }

    /// Gives each flow its class.
    pub fn assign(&self, flows: &mut FlowList, dice: &mut Stream) {
        let draws: Vec<f64> = flows.iter().map(|_| dice.uniform()).collect();
        let lowest = self.levels() - 1;
        if let Self::DeadlineRank(shares) = self {
            rank(flows, &draws, shares);
            return;
        }
        if let Self::CoflowSize(thresholds) = self {
            by_coflow(flows, thresholds);
            return;
        }
        let mut draws = draws.into_iter();
        flows.edit_all(|flow| {
            let class = draws.next().and_then(|u| self.class(flow, u));
            flow.class = class.unwrap_or(lowest).min(lowest);
        });
    }

    /// The class of one flow; `None` where the flow lacks what the rule needs.
    fn class(&self, flow: &FlowSpec, u: f64) -> Option<Class> {
        let class = match self {
            Self::Size(thresholds) => exceeded(thresholds, flow.size?),
            Self::DeadlinesFirst(_) if flow.deadline.is_some() => 0,
            Self::DeadlinesFirst(thresholds) => 1 + exceeded(thresholds, flow.size?),
            Self::Random(shares) => above(shares, u),
            Self::Deadline(thresholds) => {
                let allowed = allowance(flow)?;
                thresholds.iter().filter(|&&t| t < allowed).count()
            }
            Self::DemandRate(thresholds) => {
                let (size, allowed) = (flow.size?, allowance(flow)?);
                thresholds.iter().filter(|&&t| below(size, allowed, t)).count()
            }
            Self::PowerLaw(law) => return law.class(flow),
            Self::DeadlineRank(_) | Self::CoflowSize(_) => return None,
        };
        Some(class as Class)
    }
}

impl PowerLaw {
    fn class(&self, flow: &FlowSpec) -> Option<Class> {
        let (over, scale) = match self.of {
            Measure::Size { scale, offset } => (flow.size?.saturating_sub(offset), scale),
            Measure::Deadline { scale, offset } => (allowance(flow)?.0.saturating_sub(offset.0), scale.0),
        };
        let levels = f64::from(self.levels);
        // At the offset the law is infinite.
        let p = match over {
            0 => levels,
            over => libm::pow(over as f64 / scale as f64, self.exponent) + self.base,
        };
        Some((levels - p.floor().clamp(1.0, levels)) as Class)
    }
}

/// The time from a flow's start to its deadline, if that is later.
fn allowance(flow: &FlowSpec) -> Option<Span> {
    flow.deadline.map(|deadline| deadline.since(flow.start)).filter(|&span| span > Span::ZERO)
}

/// Whether `size` bytes within `allowed` are a rate below `rate`, exactly.
fn below(size: u64, allowed: Span, rate: Rate) -> bool {
    u128::from(size) * 8 * u128::from(PS_PER_S) < u128::from(rate.bps()) * u128::from(allowed.0)
}

/// The class of the part `u` of all flows: the number of cumulative shares not above it.
fn above(shares: &[f64], u: f64) -> usize {
    let mut sum = 0.0;
    let all_but_last = &shares[..shares.len().saturating_sub(1)];
    all_but_last
        .iter()
        .filter(|&&share| {
            sum += share;
            sum <= u
        })
        .count()
}

/// The number of thresholds below a size.
fn exceeded(thresholds: &[u64], size: u64) -> usize {
    thresholds.iter().filter(|&&t| t < size).count()
}

/// Tells each flow the place of its coflow among all by bytes, equal ones the same; those without end come last.
pub fn tell_coflow_places(flows: &mut FlowList) {
    let sizes = CoflowSizes::of(flows);
    let size = |flow: &FlowSpec| sizes.size(flow).unwrap_or(u64::MAX);
    let mut order: Vec<u64> = flows.iter().map(|flow| size(&flow)).collect();
    order.sort_unstable();
    order.dedup();
    flows.edit_all(|flow| flow.coflow_place = order.partition_point(|&other| other < size(flow)) as u32);
}

/// Bytes of coflows, by group and number; `None` where a flow has no end.
struct CoflowSizes(BTreeMap<(u16, CoflowId), Option<u64>>);

impl CoflowSizes {
    fn of(flows: &FlowList) -> Self {
        let mut sizes: BTreeMap<(u16, CoflowId), Option<u64>> = BTreeMap::new();
        for flow in flows {
            let Some(coflow) = flow.coflow else { continue };
            let sum = sizes.entry((flow.group, coflow)).or_insert(Some(0));
            *sum = sum.zip(flow.size).map(|(sum, size)| sum.saturating_add(size));
        }
        Self(sizes)
    }

    /// The bytes of the flow's coflow, or its own.
    fn size(&self, flow: &FlowSpec) -> Option<u64> {
        flow.coflow.map_or(flow.size, |coflow| self.0.get(&(flow.group, coflow)).copied().flatten())
    }
}

fn by_coflow(flows: &mut FlowList, thresholds: &[u64]) {
    let sizes = CoflowSizes::of(flows);
    flows.edit_all(|flow| {
        let class = sizes.size(flow).map_or(thresholds.len(), |size| exceeded(thresholds, size));
        flow.class = class as Class;
    });
}

fn rank(flows: &mut FlowList, draws: &[f64], shares: &[f64]) {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    let urgency = |i: usize| (allowance(&flows.at(i)).map_or(u64::MAX, |span| span.0), draws[i]);
    order.sort_by(|&a, &b| {
        let ((a_due, a_draw), (b_due, b_draw)) = (urgency(a), urgency(b));
        a_due.cmp(&b_due).then(a_draw.total_cmp(&b_draw)).then(a.cmp(&b))
    });
    for (place, i) in order.iter().enumerate() {
        let class = above(shares, place as f64 / draws.len() as f64) as Class;
        flows.edit(*i, |flow| flow.class = class);
    }
}

#[cfg(test)]
mod tests;
