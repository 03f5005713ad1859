//! The nodes: hosts with a transport and a line, switches with ports. The same code under both engines.

pub(crate) mod applications;
pub(crate) mod chooser;
pub(crate) mod collector;
pub(crate) mod counts;
pub(crate) mod egress;
pub(crate) mod estimator;
pub(crate) mod fabric;
pub(crate) mod fates;
pub(crate) mod gate;
pub(crate) mod held;
pub(crate) mod host;
pub(crate) mod line;
pub(crate) mod lossless;
pub(crate) mod machines;
pub(crate) mod nic;
pub(crate) mod reactions;
pub(crate) mod standstill;
mod strays;
pub(crate) mod switch;
