//! The virtual machines of a host: one for each group that pays by machine and has flows here.

use std::collections::BTreeMap;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::FlowId;
use priolane_core::price::vbp::{Changes, Vm};
use priolane_core::units::Time;

use crate::scenario::{Machine, Scenario};

/// The machines of one host, by group.
#[derive(Debug)]
pub(crate) struct Machines {
    groups: Vec<Option<Machine>>,
    here: BTreeMap<u16, Vm>,
}

impl Machines {
    /// Those of a host that has no flow yet; `None` if no group pays by machine.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let any = scenario.machines.iter().any(Option::is_some);
        any.then(|| Box::new(Self { groups: scenario.machines.clone(), here: BTreeMap::new() }))
    }

    /// A flow starts: what it gets.
    pub(crate) fn arrive(&mut self, spec: &FlowSpec, now: Time) -> Weights {
        let Some(&Some(Machine { pair, interval })) = self.groups.get(usize::from(spec.group)) else {
            return spec.weights;
        };
        self.here.entry(spec.group).or_insert_with(|| Vm::new(pair, interval)).arrive(spec.id, now)
    }

    /// A flow ended.
    pub(crate) fn depart(&mut self, group: u16, flow: FlowId, now: Time) {
        if let Some(vm) = self.here.get_mut(&group) {
            vm.depart(flow, now);
        }
    }

    /// When [`Machines::changes`] next has any.
    pub(crate) fn due(&self) -> Time {
        self.here.values().map(Vm::due).min().unwrap_or(Time::NEVER)
    }

    /// The shares that change now.
    pub(crate) fn changes(&mut self, now: Time) -> Changes {
        self.here.values_mut().flat_map(|vm| vm.changes(now)).collect()
    }
}
