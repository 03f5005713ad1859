//! Packet-level simulation: nodes, links, topologies, and two engines that agree to the bit.

mod engine;
mod node;
pub mod outage;
pub mod outcome;
mod partition;
pub mod records;
mod run;
pub mod scenario;
pub mod topology;
pub mod trace;
mod valid;
pub mod waits;
mod wire;

pub use engine::part::NodeOrder;
pub use engine::stop::OnProgress;
pub use engine::threads::{Fallback, Threads};
pub use engine::window::window_length;
pub use run::{Drive, run, run_traced, run_with};
pub use valid::{DependencyProblem, ScenarioError};
