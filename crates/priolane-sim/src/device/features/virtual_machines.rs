//! The virtual machines of a host: one for each group with VM-based pricing that has flows here.

use std::collections::BTreeMap;

use priolane_core::endpoint::{Control, FlowSpec, Weights};
use priolane_core::ids::FlowId;
use priolane_core::price::vbp::VirtualMachine;
use priolane_core::units::Time;

use super::host_feature::{
    AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, StartDecision, TransportCommand,
};
use crate::model::scenario::{Scenario, VmPricing};

/// The virtual machines of one host, by group.
#[derive(Debug)]
pub(super) struct VirtualMachines {
    groups: Vec<Option<VmPricing>>,
    by_group: BTreeMap<u16, VirtualMachine>,
}

impl VirtualMachines {
    /// Creates the virtual machines of a host without flows; `None` if no group has VM-based pricing.
    pub(super) fn new(scenario: &Scenario) -> Option<Self> {
        let any = scenario.machines.iter().any(Option::is_some);
        any.then(|| Self { groups: scenario.machines.clone(), by_group: BTreeMap::new() })
    }

    /// Removes an ended flow from its machine, which redistributes its share.
    fn depart(&mut self, flow: FlowId, cx: &FeatureContext) {
        let group = cx.flows.at(flow.index()).group;
        if let Some(vm) = self.by_group.get_mut(&group) {
            vm.depart(flow, cx.now);
        }
    }
}

impl HostFeature for VirtualMachines {
    fn on_open(&mut self, flow: &mut FlowSpec, cx: &mut FeatureContext) -> StartDecision {
        if let Some(&Some(VmPricing { pair, interval })) = self.groups.get(usize::from(flow.group)) {
            let vm = self.by_group.entry(flow.group).or_insert_with(|| VirtualMachine::new(pair, interval));
            flow.weights = vm.arrive(flow.id, cx.now);
        }
        StartDecision::Now
    }

    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        if let FlowEvent::Completed(report) = event {
            self.depart(report.flow, cx);
        }
    }

    fn on_abort(&mut self, flow: FlowId, cx: &mut FeatureContext) -> AbortedFlow {
        self.depart(flow, cx);
        AbortedFlow::Scheduled
    }

    fn next_deadline(&self) -> Deadline {
        Deadline::timer(self.by_group.values().map(VirtualMachine::due).min().unwrap_or(Time::NEVER))
    }

    fn on_timer(&mut self, cx: &mut FeatureContext) {
        for (flow, Weights { theta, w_milli }) in self.by_group.values_mut().flat_map(|vm| vm.changes(cx.now))
        {
            cx.commands.push(TransportCommand::Control(flow, Control::Weights { theta, w_milli }));
        }
    }
}
