//! Receivers hand out tokens, senders send a packet for each: ExpressPass (SIGCOMM 2017), and TOP, in which tokens have
//! priorities.
//!
//! ```text
//! sender             SYNC ............... DATA(token) ... [STOP | FIN]
//! receiver                TOKEN(class) ...          [MISS]            DONE
//! ```
//!
//! One machine for both; [`Config`] says what each of them is. Ports for tokens ([`crate::port::TokenGroup`]) limit them so
//! that what they call for fits the line on its way back, the host's transmit queue among them: a flow's tokens are paced by
//! its own feedback, and the flows of a host meet in its transmit queue (docs/assumptions.md#token-nic). Tokens and data of a flow must
//! take the same way in opposite directions.
//!
//! A SYNC, STOP, FIN or DONE that is lost is sent again until it is answered (docs/assumptions.md#token-end).

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
pub use config::{Config, Ranked, Recovery, Stop, TokenSize};
pub use endpoint::Tokens;
pub use expresspass::ExpressPass;
pub use rank_by::RankBy;
pub use top::{Expiry, Paths, Top};
