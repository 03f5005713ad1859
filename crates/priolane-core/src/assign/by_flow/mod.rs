//! Priority from what is known of a flow before it sends: its size, its deadline, both, or nothing (Firapam, Table I).
//!
//! ```text
//! size           class = number of thresholds below the size                        Homa, Aalo with known sizes
//! coflow size    the same for the bytes of all flows of its coflow                    SEBF's order, by bands
//! deadlines 1st  class = 0 with a deadline, else 1 + number of thresholds below the size  Karuna
//! random         class = number of cumulative shares not above U[0, 1)              Aequitas' generator
//! deadline       class = number of thresholds below deadline - start                DeTail, Poche
//! deadline rank  flows in order of deadline - start, cut at cumulative shares       PASE's order
//! demand rate    class = number of thresholds above D = size / (deadline - start)   Firapam Eq. 15
//! group          class = that of the flow's group
//! paid weight    class = number of thresholds above w of (theta, w)                 PACCP's weights, as classes
//! power law      p = ((x - offset) / scale)^e + base, e < 0;  class = N - floor(p)  Firapam Eqs. 6, 8
//! ```
//!
//! A flow without a coflow is a coflow by itself; a coflow with an endless flow has no size.
//!
//! A flow without the value that a rule needs (no deadline, no end) gets the lowest class. Equal deadlines are ordered
//! at random. Each rule draws one random number per flow.

mod coflow_size;
mod deadline;
mod deadline_rank;
mod deadlines_first;
mod demand_rate;
mod equal_bytes;
mod flow_fraction;
mod group;
mod paid_weight;
mod power_law;
mod random_fraction;
mod registered;
mod rule;
mod size;
mod solved;
mod thresholds;

use crate::flows::FlowList;
use crate::part::parts;
use crate::registry::Registered as _;
use crate::rng::Stream;
use coflow_size::CoflowSize;
pub use coflow_size::set_coflow_ranks;
use deadline::Deadline;
use deadline_rank::DeadlineRank;
use deadlines_first::DeadlinesFirst;
use demand_rate::DemandRate;
use equal_bytes::EqualBytes;
use flow_fraction::FlowFraction;
use group::ByGroup;
use paid_weight::PaidWeight;
use power_law::PowerLaw;
use random_fraction::RandomFraction;
pub use registered::RegisteredRule;
pub use rule::Rule;
use size::Size;

parts! {
    /// A rule that assigns classes to flows before they send, with its parameters.
    pub enum ByFlow: dyn Rule in Assign {
        /// By size, with stated thresholds.
        Size(Size);
        /// By the size of the whole coflow.
        CoflowSize(CoflowSize);
        /// By size, with a given share of flows per class.
        FlowFraction(FlowFraction);
        /// By size, with equal bytes per class (Homa).
        EqualBytes(EqualBytes);
        /// At random.
        RandomFraction(RandomFraction);
        /// Flows with a deadline first, the others by size (Karuna).
        DeadlinesFirst(DeadlinesFirst);
        /// By the time from start to deadline.
        Deadline(Deadline);
        /// By the rank of that time among all flows of the run.
        DeadlineRank(DeadlineRank);
        /// By size over the time to the deadline.
        DemandRate(DemandRate);
        /// By a power law of size or deadline.
        PowerLaw(PowerLaw);
        /// By the weight that a flow pays for.
        PaidWeight(PaidWeight);
        /// By the group that it belongs to.
        Group(ByGroup);
    } else {
        /// A rule of another crate.
        Registered(Box<dyn RegisteredRule>);
    }
}

impl ByFlow {
    /// Sets the class of each flow. Draws one random number per flow, whatever the rule.
    pub fn assign(&self, flows: &mut FlowList, rng: &mut Stream) {
        let draws = flows.iter().map(|_| rng.uniform()).collect();
        self.part().assign(flows, draws);
    }
}

#[cfg(test)]
mod tests;
