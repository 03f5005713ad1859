//! What happens at a host by plan.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::FlowId;
use priolane_core::units::Time;

use crate::node::estimator::Estimator;
use crate::node::gate::Gate;
use crate::node::machines::Machines;
use crate::node::reactions::Reactions;
use crate::scenario::ScheduledControl;
use crate::wire::{Due, Kind};

/// What the applications and the experiment do at this host, in order of time.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// Flows that start here: when, and index in the flow list.
    pub(super) opens: Vec<(Time, u32)>,
    pub(super) next_open: usize,
    pub(super) controls: Vec<ScheduledControl>,
    pub(super) next_control: usize,
    /// Flows that will be aborted and have not ended yet.
    pub(super) doomed: Vec<FlowId>,
    /// Where thresholds follow the workload.
    pub(super) estimator: Option<Box<Estimator>>,
    /// Where flows wait for others.
    pub(super) reactions: Option<Box<Reactions>>,
    /// Where machines pay for their flows together.
    pub(super) machines: Option<Box<Machines>>,
    /// Where flows do not simply get the class they ask for.
    pub(super) gate: Option<Box<Gate>>,
}

impl Agenda {
    pub(super) fn next(&self) -> Due {
        let control = self.controls.get(self.next_control);
        let open = self.next_open();
        let control = control.map_or(Due::NEVER, |control| Due::new(control.at, Kind::Control));
        let adapt = self.estimator.as_ref().map_or(Due::NEVER, |e| Due::new(e.next(), Kind::Control));
        let share = self.machines.as_ref().map_or(Due::NEVER, |m| Due::new(m.due(), Kind::Control));
        control.min(adapt).min(share).min(open.map_or(Due::NEVER, |(start, _)| Due::new(start, Kind::Open)))
    }

    /// The next flow to start, by its index in the flow list, and when.
    pub(super) fn next_open(&self) -> Option<(Time, u32)> {
        let planned = self.opens.get(self.next_open).copied();
        let released = self.reactions.as_ref().and_then(|reactions| reactions.next());
        let held = self.gate.as_ref().and_then(|gate| gate.next());
        let named = |(start, flow): (Time, FlowId)| (start, flow.0);
        [planned, released.map(named), held.map(named)].into_iter().flatten().min()
    }

    /// A flow that has not started shall not.
    pub(super) fn cancel(&mut self, flow: FlowId) {
        let planned = self.opens[self.next_open..].iter().position(|&(_, f)| f == flow.0);
        if let Some(ahead) = planned {
            self.opens.remove(self.next_open + ahead);
        }
    }

    /// The next flow starts.
    fn open_next(&mut self, flows: &[FlowSpec]) -> Option<FlowSpec> {
        let (start, flow) = self.next_open()?;
        let next = Some((start, FlowId(flow)));
        match (&mut self.reactions, &mut self.gate) {
            (Some(reactions), _) if reactions.next() == next => reactions.start_next(),
            (_, Some(gate)) if gate.next() == next => gate.ask_again(),
            _ => self.next_open += 1,
        }
        Some(FlowSpec { start, ..flows[flow as usize] })
    }

    /// The next flow starts, unless its application holds it back: with the class and weights that it gets.
    pub(super) fn issue_next(&mut self, flows: &[FlowSpec], now: Time) -> Option<FlowSpec> {
        let mut flow = self.open_next(flows)?;
        if let Some(gate) = &mut self.gate {
            flow.class = gate.open(&flow, now)?;
        }
        if let Some(machines) = &mut self.machines {
            flow.weights = machines.arrive(&flow, now);
        }
        Some(flow)
    }
}
