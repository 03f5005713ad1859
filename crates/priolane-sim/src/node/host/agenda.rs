//! What happens at a host by plan.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
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
    /// Flows that start here.
    pub(super) opens: Opens,
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

/// Flows that start when the flow list says, in order.
#[derive(Debug, Default)]
pub(super) struct Opens {
    /// By their indices in the flow list.
    flows: Vec<u32>,
    /// How many of them have started.
    opened: usize,
    /// When the next one starts, if there is one.
    start: Time,
}

impl Opens {
    /// So many flows will be planned.
    pub(super) fn expect(&mut self, flows: usize) {
        self.flows.reserve_exact(flows);
    }

    /// One more flow, which starts after all others.
    pub(super) fn plan(&mut self, start: Time, flow: u32) {
        if self.opened == self.flows.len() {
            self.start = start;
        }
        self.flows.push(flow);
    }

    /// The next flow, and when it starts.
    fn next(&self) -> Option<(Time, u32)> {
        self.flows.get(self.opened).map(|&flow| (self.start, flow))
    }

    /// The next flow starts.
    fn open(&mut self, list: &FlowList) {
        self.opened += 1;
        self.look_up(list);
    }

    /// A flow that has not started shall not.
    fn cancel(&mut self, flow: FlowId, list: &FlowList) {
        if let Some(ahead) = self.flows[self.opened..].iter().position(|&planned| planned == flow.0) {
            self.flows.remove(self.opened + ahead);
            self.look_up(list);
        }
    }

    fn look_up(&mut self, list: &FlowList) {
        if let Some(&next) = self.flows.get(self.opened) {
            self.start = list.start(next as usize);
        }
    }
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
        let planned = self.opens.next();
        let released = self.reactions.as_ref().and_then(|reactions| reactions.next());
        let held = self.gate.as_ref().and_then(|gate| gate.next());
        let named = |(start, flow): (Time, FlowId)| (start, flow.0);
        [planned, released.map(named), held.map(named)].into_iter().flatten().min()
    }

    /// A flow that has not started shall not.
    pub(super) fn cancel(&mut self, flow: FlowId, list: &FlowList) {
        self.opens.cancel(flow, list);
    }

    /// The next flow starts.
    fn open_next(&mut self, flows: &FlowList) -> Option<FlowSpec> {
        let (start, flow) = self.next_open()?;
        let next = Some((start, FlowId(flow)));
        match (&mut self.reactions, &mut self.gate) {
            (Some(reactions), _) if reactions.next() == next => reactions.start_next(),
            (_, Some(gate)) if gate.next() == next => gate.ask_again(),
            _ => self.opens.open(flows),
        }
        Some(FlowSpec { start, ..flows.at(flow as usize) })
    }

    /// The next flow starts, unless its application holds it back: with the class and weights that it gets.
    pub(super) fn issue_next(&mut self, flows: &FlowList, now: Time) -> Option<FlowSpec> {
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
