//! PASE's mapping (SIGCOMM 2014; Firapam Table I): a flow gets the highest class while the demand of more urgent flows
//! does not exceed the link's capacity, else the lowest.
//!
//! ```text
//! demand of a flow = size / (deadline - start), at most C;  C without a deadline or an end
//! ADH = demands of the running flows at this host that are more urgent
//! ADH <= C: p_admit = 2, class 0;   else: p_admit = 0, the lowest class
//! more urgent: the requested class, then the deadline (none last), then bytes left, then the flow id
//! ```
//!
//! The arbitrator is that of the source's own link, so it needs no messages. PASE's arbitrators of other links, its
//! queues between the highest and the lowest, and its reference rates are not part of the mapping
//! (docs/assumptions.md#pase-mapping).

use std::collections::BTreeMap;

use super::AdmissionState;
use super::admission::{Admission, AdmissionPolicy, Source, lowest};
use super::monitor::{Interval, Monitoring, Remap};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId};
use crate::keys::Keys;
use crate::part::Part;
use crate::rng::Stream;
use crate::units::{PS_PER_S, Rate, Time};

/// Parameters of PASE's mapping.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "pase")]
#[part(
    name = "pase",
    summary = "the highest class while more urgent flows of the host need no more than its link rate; else \
               the lowest",
    source = "PASE (SIGCOMM 2014); Firapam Table I",
    deploy = [Deadlines, UserStack],
    example = "levels = 3"
)]
pub struct Config {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// Whether and when running flows are remapped.
    #[keys(flatten)]
    pub monitoring: Monitoring,
}

impl AdmissionPolicy for Config {
    fn at_host(&self, source: &Source) -> Option<Box<dyn Admission>> {
        Some(Box::new(Pase::new(*self, source.line)))
    }

    fn levels(&self) -> Option<u8> {
        Some(self.levels)
    }

    fn interval(&self) -> Interval {
        self.monitoring.mi
    }
}

/// A running flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    asked: Class,
    given: Class,
    deadline: Time,
    left: u64,
    demand_bps: u64,
}

/// PASE's mapping at one source host.
#[derive(Debug)]
pub struct Pase {
    config: Config,
    /// C: the rate of the link.
    capacity: Rate,
    active: BTreeMap<FlowId, Flow>,
}

impl Pase {
    /// Creates the policy without flows, on a link of rate `capacity`.
    pub fn new(config: Config, capacity: Rate) -> Self {
        Self { config, capacity, active: BTreeMap::new() }
    }

    /// Returns ADH: the demand of flows more urgent than `flow`, in bits per second.
    fn demand_ahead(&self, id: FlowId, flow: &Flow) -> u64 {
        let urgency = |id: FlowId, f: &Flow| (f.asked, f.deadline, f.left, id);
        let own = urgency(id, flow);
        let ahead = self.active.iter().filter(|&(&other, f)| other != id && urgency(other, f) < own);
        ahead.fold(0u64, |sum, (_, f)| sum.saturating_add(f.demand_bps))
    }

    fn map(&self, id: FlowId, flow: &Flow) -> Class {
        if self.demand_ahead(id, flow) <= self.capacity.bps() { 0 } else { lowest(self.config.levels) }
    }
}

/// Returns the rate that a flow needs to finish in time, at most `capacity`.
fn demand_bps(flow: &FlowSpec, capacity: Rate) -> u64 {
    let (Some(size), Some(deadline)) = (flow.size, flow.deadline) else { return capacity.bps() };
    let allowed = deadline.since(flow.start).0;
    if allowed == 0 {
        return capacity.bps();
    }
    let rate = (u128::from(size) * 8 * u128::from(PS_PER_S)).div_ceil(u128::from(allowed));
    rate.min(u128::from(capacity.bps())) as u64
}

impl Admission for Pase {
    fn open(&mut self, spec: &FlowSpec, _now: Time, _dice: &mut Stream) -> Class {
        let mut flow = Flow {
            asked: spec.class.min(lowest(self.config.levels)),
            given: 0,
            deadline: spec.deadline.unwrap_or(Time::NEVER),
            left: spec.size.unwrap_or(u64::MAX),
            demand_bps: demand_bps(spec, self.capacity),
        };
        flow.given = self.map(spec.id, &flow);
        self.active.insert(spec.id, flow);
        flow.given
    }

    fn report(&mut self, report: &FlowReport, _now: Time) -> Option<Class> {
        let mut flow = *self.active.get(&report.flow)?;
        flow.left = report.remaining;
        let given = match self.config.monitoring.remap {
            Remap::AtIssue => flow.given,
            Remap::PerInterval => self.map(report.flow, &flow),
        };
        let moved = (given != flow.given).then_some(given);
        flow.given = given;
        self.active.insert(report.flow, flow);
        moved
    }

    fn completed(&mut self, report: &FlowReport, _now: Time) {
        self.active.remove(&report.flow);
    }

    fn aborted(&mut self, flow: FlowId) {
        self.active.remove(&flow);
    }

    fn account(&self) -> AdmissionState {
        AdmissionState::default()
    }
}

#[cfg(test)]
pub(super) mod tests;
