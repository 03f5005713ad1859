//! The wheel engine: one global event queue; the reference for the window engine.

pub(super) mod nodes;
mod run;
pub(super) mod scheduler;
mod timing_wheel;

pub(crate) use run::run;
