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
//! UNKNOWN in answer to a packet: HELLO again. A WELCOME of another run: the peer was restarted, and its flows have ended.
//! nothing heard for a second while something is under way: PING each second; nothing for long: it is gone
//! ```
//!
//! With a key, HELLO and WELCOME carry a Noise handshake (`key/handshake.rs`), and all that belongs to a session is sealed
//! (`key/seal.rs`). HELLO, CHALLENGE, WELCOME, REFUSED and UNKNOWN have a tag of the key. Each is taken only in answer to something
//! of this host that is not answered yet, so one that is played again changes nothing:
//!
//! | message | what it answers |
//! |---|---|
//! | HELLO | the cookie, which is for the sender's address, its nonce and the session that both have; again, as long as that is so, with the same WELCOME |
//! | CHALLENGE | the greeting under way, by its nonce; each cookie once |
//! | WELCOME | the greeting under way, by its nonce and its ephemeral key |
//! | REFUSED | the greeting under way, by its nonce |
//! | UNKNOWN | one of the last sealed datagrams, by its mark; once |
//!
//! A peer that was removed receives another run of this host when it becomes known again: to the peer, this host has restarted.
//! Both hosts may greet at once: what each drew holds, the last four agreements of two hosts are kept.

mod cookie;
mod forgetting;
mod greet;
mod message;
mod peer;
mod places;
mod say;
mod session;
mod table;
mod take;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use message::{Reason, Speaks};
pub(crate) use session::SEALED;
pub(crate) use table::{Change, Opened, Patience, Peers, Question, SEAL_BYTES, SELF};
