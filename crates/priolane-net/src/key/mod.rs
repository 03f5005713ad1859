//! Keys that hosts share, and the handshakes and seals of datagrams that are based on these keys.

mod handshake;
mod replay;
mod seal;
mod secret;

pub(crate) use handshake::{ACCEPTANCE, FIRST, Initiator, OFFER, Responder, SECOND};
pub(crate) use seal::{HEAD, Mark, Numbers, Refusal, Seal, mark_of};
pub use secret::{Key, KeyError, SHORTEST_KEY};
pub(crate) use secret::{Secrets, TAG};
