//! The window engine: conservative parallel simulation with a fixed lookahead and no global event queue.

mod arrival_order;
mod barrier;
pub(super) mod calendar;
mod cores;
mod exchange;
pub(super) mod look_ahead;
pub(super) mod nodes;
mod pace;
mod part;
pub(super) mod part_times;
mod run;
pub(super) mod scheduler;
pub(super) mod span;
mod threads;

pub use barrier::barrier_time;
pub use part::NodeOrder;
pub use part_times::PartTimes;
pub use run::window_length;
pub(crate) use run::{run, run_in_turn};
pub use threads::{Fallback, Threads};
