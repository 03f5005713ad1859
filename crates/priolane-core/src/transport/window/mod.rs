//! The window transport: handshake, cumulative and selective ACKs, retransmission, completion.
//!
//! [`Window`] is the endpoint of one host. A flow's sending end is `sender` (what may be sent) with `recovery` and
//! `acks` (how ACKs and timeouts change the state). Its receiving end is `receiver` (which ACKs to send). The
//! documentation of each module has its state machine. The congestion controller ([`CongestionControl`]) computes
//! the window, and the host scheduler ([`crate::host::HostScheduler`]) picks the next flow.

mod acks;
mod body;
mod classes;
mod config;
mod connection;
mod control_class;
mod controller;
mod endpoint;
mod fast_path;
mod findings;
mod gaps;
mod loss_based;
mod notifications;
mod outbox;
mod pacer;
mod receiver;
mod recovery;
mod rto;
mod sender;
mod stream;
mod trims;

pub use body::Segment;
pub use config::{Config, ControlEcn, Handshake, LossRecovery, Reliability};
pub use control_class::ControlClass;
pub use controller::{
    AckEvent, CongestionControl, FlowStart, Growth, LossEvent, ProbeReply, Rank, Repeat, SendPermission,
    TrimEvent,
};
pub use endpoint::{Window, WindowEndpoint};
pub use loss_based::LossBased;
pub use notifications::Notification;
pub(super) use pacer::Pacer;
