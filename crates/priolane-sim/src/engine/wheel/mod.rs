//! The wheel engine: one global set of events, and the oracle of the window engine.

pub(super) mod nodes;
mod run;
pub(super) mod scheduler;
mod timing_wheel;

pub(crate) use run::run;
