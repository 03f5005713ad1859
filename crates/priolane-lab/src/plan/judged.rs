//! The port at which costs of priorities are reckoned.

use priolane_core::ids::LinkId;
use priolane_sim::topology::Topology;
use priolane_source::{InputError, nearest};

use crate::experiment::Experiment;
use priolane_results::ports::port_names;

/// The port that `[metrics]` names.
pub(super) fn judged(experiment: &Experiment, topology: &Topology) -> Result<Option<LinkId>, InputError> {
    let Some(name) = &experiment.metrics.port else { return Ok(None) };
    let ports = port_names(topology);
    if let Some(place) = ports.iter().position(|port| port == name) {
        return Ok(Some(LinkId(place as u32)));
    }
    let what = format!("there is no port {name:?}");
    let fix = match nearest(name, ports.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("the names of two nodes that a link joins, such as {:?}", ports[0]),
    };
    Err(InputError::new(experiment.sources.experiment(), None, "metrics.port", what, fix))
}
