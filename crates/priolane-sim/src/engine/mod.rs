//! Two engines over the same nodes, equal to the bit: [`window`] for speed, [`wheel`] as its oracle.

mod collect;
mod control_plane;
pub(crate) mod network;
mod nodes;
pub(crate) mod stop;
pub(crate) mod wheel;
pub(crate) mod window;
