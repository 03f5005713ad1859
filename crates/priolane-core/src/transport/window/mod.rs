//! The reliability machine: handshake, cumulative and selective ACKs, retransmission, completion.
//!
//! [`Window`] is one host's endpoint. A flow's two ends are `sender` (what may be sent) with `recovery` and `acks`
//! (what ACKs and timeouts change), and `receiver` (which ACKs arrivals call for); each has its state
//! machine in its module's documentation. The congestion controller ([`CongestionControl`]) says how large
//! the window is, the host scheduler ([`crate::host::HostScheduler`]) which flow goes next.

mod acks;
mod body;
mod config;
mod controller;
mod endpoint;
mod fast_path;
mod gaps;
mod loss_based;
mod outbox;
mod pacer;
mod receiver;
mod recovery;
mod rto;
mod sender;

pub use body::Segment;
pub use config::{Config, ControlEcn, Handshake, LossRecovery, Reliability};
pub use controller::{
    AckEvent, CongestionControl, FlowStart, Growth, LossEvent, ProbeReply, Rank, Repeat, SendPermission,
};
pub use endpoint::{Window, WindowEndpoint};
pub use loss_based::LossBased;
pub(super) use pacer::Pacer;
