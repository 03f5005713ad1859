//! The window engine: conservative parallel simulation with a fixed lookahead and no global event queue.

mod arrival_order;
mod barrier;
pub(super) mod calendar;
pub(super) mod nodes;
mod part;
mod run;
pub(super) mod scheduler;
pub(super) mod span;
mod threads;

pub use part::NodeOrder;
pub(crate) use run::run;
pub use run::window_length;
pub use threads::{Fallback, Threads};
