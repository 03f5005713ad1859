//! The reliability machine: handshake, cumulative and selective ACKs, retransmission, completion.
//!
//! [`Window`] is one host's endpoint. A flow's two ends are `sender` (what may be sent) with `recovery`
//! (what ACKs and timeouts change), and `receiver` (which ACKs arrivals call for); each has its state
//! machine in its module's documentation. The congestion controller ([`CongestionControl`]) says how large
//! the window is, the host scheduler ([`crate::host::HostScheduler`]) which flow goes next.

mod body;
mod config;
mod controller;
mod endpoint;
mod gaps;
mod outbox;
pub(in crate::transport) mod ranges;
mod receiver;
mod recovery;
mod rto;
mod sender;
pub(in crate::transport) mod slab;
pub(in crate::transport) mod timers;

pub use body::{Segment, Stamp};
pub use config::{Config, ControlEcn, Handshake, LossRecovery, Reliability};
pub use controller::{AckSeen, CongestionControl, Gate, Growth, LossSeen, Opening, ProbeSeen, Rank, Repeat};
pub use endpoint::{Window, WindowEndpoint};
