//! The other hosts: who is known, by which address, and how they became so.
//!
//! ```text
//! who wants to send             the other
//!   HELLO(run a, nonce a) ─────▶ keeps nothing
//!        ◀───────── CHALLENGE(cookie)
//!   HELLO(.., cookie) ─────────▶ knows (a, b)
//!        ◀──────────── WELCOME(run b, nonce b)
//!   knows (a, b); PING ────────▶ with a key: only now
//!
//! UNKNOWN in answer to a packet: HELLO again. A WELCOME of another run: the other was started again, its flows are no more.
//! nothing heard for a second while something is under way: PING each second; nothing for long: it is gone
//! ```
//!
//! Both may greet at once: what each drew holds, the last three agreements of two hosts are kept. A HELLO that was recorded
//! and is played again with a key changes nothing, as nobody confirms it.

mod cookie;
mod greet;
mod message;
mod peer;
mod session;
mod table;
mod take;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use message::{Reason, Speaks};
pub(crate) use session::SEALED;
pub(crate) use table::{Change, Patience, Peers, SEAL_BYTES, SEAL_HEAD, SELF, draw};
