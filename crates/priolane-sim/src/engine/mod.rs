//! Two engines over the same nodes, equal to the bit: [`window`] for speed, [`wheel`] as its oracle.

mod barrier;
mod collect;
mod control_plane;
mod event_queue;
mod mail;
pub(crate) mod network;
mod nodes;
mod order;
pub(crate) mod part;
mod sheaf;
pub(crate) mod stop;
pub(crate) mod threads;
mod timing_wheel;
pub(crate) mod wheel;
mod wheel_nodes;
pub(crate) mod window;
mod window_nodes;
mod window_span;
