//! The model of a run: the network, its failures, flow dependencies, and all other parameters.

pub mod dependencies;
pub mod outage;
pub(crate) mod partition;
pub mod scenario;
pub mod topology;
