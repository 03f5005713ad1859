//! Transports with tokens: receivers send tokens, and senders send a packet for each. ExpressPass (SIGCOMM 2017),
//! and TOP, whose tokens have priorities.
//!
//! ```text
//! sender             SYNC ............... DATA(token) ... [STOP | FIN]
//! receiver                TOKEN(class) ...          [MISS]            DONE
//! ```
//!
//! Both share one implementation; [`Config`] selects between them. Ports limit the tokens
//! ([`crate::port::TokenGroup`]), so that the data sent for them fits the link in the reverse direction. The host's
//! transmit queue is such a port: each flow's tokens are paced by the flow's own feedback, and the tokens of all
//! flows of a host share the transmit queue (docs/assumptions.md#token-nic). Tokens and data of a flow must take
//! the same path in opposite directions.
//!
//! A lost SYNC, STOP, FIN or DONE is sent again until it is answered (docs/assumptions.md#token-end).

mod body;
mod config;
mod endpoint;
mod expresspass;
pub mod feedback;
mod outbox;
pub mod priority;
mod rank_by;
mod receiver;
mod sender;
mod top;

pub use body::{DATA_CLASS, MAX_CLASSES, SIGNAL_CLASS, TokenMessage, UNSCHEDULED_CLASS};
pub use config::{Config, RankedPackets, Recovery, Stop, TokenSize};
pub use endpoint::Tokens;
pub use expresspass::ExpressPass;
pub use rank_by::RankBy;
pub use top::{Expiry, Paths, Top};
