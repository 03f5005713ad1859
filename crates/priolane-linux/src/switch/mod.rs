//! A switch in user space: a process that forwards the packets of its cables by the disciplines of priolane-core.
//!
//! ```text
//! devices ─▶ PacketSocket ─▶ arrivals in order of their times ─▶ Forwarder ─▶ PacketSocket ─▶ devices
//!                                 route, header ─▶ Discipline of the port ─▶ the line, for as long as the packet takes
//! ```
//!
//! [`Forwarder`] has no clock and no sockets: its caller passes the time. A packet starts at the instant at which the
//! line was free and the discipline released the packet, however late the process is, and leaves when all of it has
//! been sent. A delay beyond [`CATCH_UP`] is not made up for.

mod control;
mod counts;
mod forwarder;
mod frame;
mod frames;
mod item;
mod port;
mod process;
mod socket;
#[cfg(test)]
mod tests;

pub use control::{ask, socket_path};
pub use counts::{ClassCount, ForwardCounts, PortCounts, SwitchReport};
pub use forwarder::{Forwarder, Outlet};
pub use port::CATCH_UP;
pub use process::{SwitchError, serve};
pub(crate) use socket::kill;
