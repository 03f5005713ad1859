//! Two engines that run the same nodes and agree to the bit: [`window`] for speed, [`wheel`] as the reference.

mod collect;
mod control_plane;
pub(crate) mod network;
mod nodes;
pub(crate) mod stop;
pub(crate) mod wheel;
pub(crate) mod window;
