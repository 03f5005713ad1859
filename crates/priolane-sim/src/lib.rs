//! Packet-level simulation: nodes, links, topologies, and two engines that agree to the bit.

mod device;
mod drive;
mod engine;
mod model;
mod observe;
mod registered;
mod run;

pub use drive::{Drive, run_with};
pub use engine::stop::OnProgress;
pub use engine::window::NodeOrder;
pub use engine::window::{Fallback, PartTimes, Threads, barrier_time, window_length};
pub use model::{dependencies, outage, scenario, topology};
pub use observe::phase::{Phase, PhaseMarker};
pub use observe::{outcome, records, trace};
pub use registered::register;
pub use run::{run, run_in_turn, run_profiled, run_traced};
