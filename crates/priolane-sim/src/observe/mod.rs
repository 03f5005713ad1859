//! Results of a run: port counters, completion times of flows, traces, and the outcome that combines them.

pub(crate) mod collector;
pub(crate) mod completion_log;
pub(crate) mod counters;
pub mod outcome;
pub(crate) mod pfc_deadlock;
pub(crate) mod phase;
pub mod records;
pub mod trace;
