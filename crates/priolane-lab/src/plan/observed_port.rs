//! Finds the port at which costs of priorities are measured.

use priolane_core::ids::LinkId;
use priolane_sim::topology::Topology;
use priolane_source::{InputError, nearest};

use crate::experiment::Experiment;
use priolane_results::ports::port_names;

/// Returns the port that `[metrics]` names.
pub(super) fn observed_port(
    experiment: &Experiment,
    topology: &Topology,
) -> Result<Option<LinkId>, InputError> {
    let Some(name) = &experiment.metrics.port else { return Ok(None) };
    let ports = port_names(topology);
    if let Some(place) = ports.iter().position(|port| port == name) {
        return Ok(Some(LinkId(place as u32)));
    }
    let what = format!("unknown port {name:?}");
    let fix = match nearest(name, ports.iter().map(String::as_str)) {
        Some(near) => format!("Did you mean {near:?}?"),
        None => format!("the names of two linked nodes, such as {:?}", ports[0]),
    };
    Err(InputError::new(experiment.sources.experiment(), None, "metrics.port", what, fix))
}
