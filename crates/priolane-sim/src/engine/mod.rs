//! Two engines over the same nodes, equal to the bit: [`window`] for speed, [`wheel`] as its oracle.

mod barrier;
pub(crate) mod control_plane;
pub(crate) mod drive;
pub(crate) mod mail;
pub(crate) mod network;
mod order;
pub(crate) mod partition;
pub(crate) mod sheaf;
pub(crate) mod threads;
pub(crate) mod timing_wheel;
pub(crate) mod wheel;
pub(crate) mod window;
