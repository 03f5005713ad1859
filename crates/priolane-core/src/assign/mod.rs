//! Priority assignment: policies that map what is known of a flow to a class or level.

mod basin_hopping;
pub mod by_flow;
mod by_size;
pub mod byte_share;
mod bytes_sent;
pub mod control;
mod demotion_thresholds;
mod equal_split;
mod first_class;
mod opt;
mod pias_cost;
mod pias_published;
mod policy;
mod size_scope;
mod solver;
mod solvers;
mod thresholds;
pub mod two_level_ps;

pub use basin_hopping::{BasinHopping, basin_hopping};
pub use by_size::{equal_bytes, flow_fraction};
pub use byte_share::Opt2;
pub use bytes_sent::BytesSent;
pub use demotion_thresholds::{Count, DemotionThresholds};
pub use equal_split::{EqualSplit, equal_split};
pub use first_class::FirstClasses;
pub use opt::{Opt, opt};
pub use pias_cost::{PiasForm, pias_cost};
pub use pias_published::PiasPublished;
pub use policy::{Assign, register};
pub use size_scope::SizeScope;
pub use solver::{SolverError, SolverInput, ThresholdSolver};
pub use solvers::Solver;
pub use thresholds::{Demotion, Thresholds};
pub use two_level_ps::ClosedForm;
