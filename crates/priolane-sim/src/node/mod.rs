//! The nodes: hosts with a transport and a line, switches with ports. The same code under both engines.

pub(crate) mod chooser;
pub(crate) mod collector;
pub(crate) mod completion_log;
pub(crate) mod counts;
pub(crate) mod fabric;
pub(crate) mod features;
pub(crate) mod held;
pub(crate) mod host;
pub(crate) mod hosts;
pub(crate) mod line;
pub(crate) mod lossless;
pub(crate) mod messages;
pub(crate) mod nic;
pub(crate) mod port;
pub(crate) mod standstill;
mod strays;
pub(crate) mod switch;
