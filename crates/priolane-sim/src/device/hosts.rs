//! Creates the hosts of a scenario, each with its transport, features and schedule.

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::ids::HostId;

use super::fabric::Fabric;
use super::features;
use super::host::Host;

/// Creates the hosts of `fabric`, in order, with the transports that `make` creates.
pub(crate) fn hosts<E: Endpoint>(fabric: &Fabric, make: &dyn Fn(LocalHost) -> E) -> Vec<Host<E>> {
    let scenario = fabric.scenario;
    let host = |(id, features)| {
        let line = scenario.topology.host_capacity(id);
        Host::new(fabric, id, make(LocalHost::simulated(id, line)), features)
    };
    let ids = (0..scenario.topology.hosts).map(|host| HostId(host as u16));
    let mut hosts: Vec<Host<E>> = ids.zip(features::by_host(scenario)).map(host).collect();
    let mut starts = vec![0; hosts.len()];
    scenario.flows.iter().for_each(|flow| starts[flow.src.index()] += 1);
    hosts.iter_mut().zip(starts).for_each(|(host, starts)| host.expect_opens(starts));
    let mut dependent = scenario.waits.iter().map(|dependency| dependency.flow).peekable();
    for (i, flow) in scenario.flows.iter().enumerate() {
        // A dependent flow is started by the host's `DependencyTracker`.
        if dependent.next_if_eq(&flow.id).is_none() {
            hosts[flow.src.index()].plan_open(flow.start, i as u32);
        }
    }
    for control in &scenario.controls {
        hosts[scenario.flows.at(control.flow.index()).src.index()].plan_control(*control);
    }
    hosts
}
