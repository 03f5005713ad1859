//! Features of hosts off the packet path, each a [`HostFeature`]; a new one is one more entry in [`by_host`].

mod admission;
mod dependencies;
mod estimator;
mod host_feature;
mod virtual_machines;

use priolane_core::ids::HostId;

use crate::model::scenario::Scenario;
use admission::AdmissionControl;
use dependencies::DependencyTracker;
use estimator::ThresholdEstimator;
pub(crate) use host_feature::{
    AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, HostMessage, OnScheduled, StartDecision,
    TransportCommand,
};
use virtual_machines::VirtualMachines;

/// The features of a host, in the order in which they are called.
pub(crate) type Features = Vec<Box<dyn HostFeature>>;

/// Creates the features of each host of `scenario`.
pub(crate) fn by_host(scenario: &Scenario) -> Vec<Features> {
    let mut trackers = DependencyTracker::by_host(scenario).into_iter();
    let features = |host: HostId| {
        let features: [Option<Box<dyn HostFeature>>; 4] = [
            boxed(trackers.next()),
            boxed(AdmissionControl::new(scenario, host)),
            boxed(VirtualMachines::new(scenario)),
            boxed(ThresholdEstimator::new(scenario, host)),
        ];
        features.into_iter().flatten().collect()
    };
    (0..scenario.topology.hosts).map(|host| HostId(host as u16)).map(features).collect()
}

fn boxed<F: HostFeature + 'static>(feature: Option<F>) -> Option<Box<dyn HostFeature>> {
    feature.map(|feature| Box::new(feature) as Box<dyn HostFeature>)
}
