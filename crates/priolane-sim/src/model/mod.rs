//! What is simulated: the network, its failures, flows that depend on others, and all other parameters of a run.

pub mod dependencies;
pub mod outage;
pub(crate) mod partition;
pub mod scenario;
pub mod topology;
