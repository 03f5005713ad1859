//! Peers: the table of known hosts by address, and the greetings by which hosts become known.
//!
//! ```text
//! host that sends               peer
//!   HELLO(run a, nonce a) ─────▶ keeps nothing
//!        ◀───────── CHALLENGE(cookie)
//!   HELLO(.., cookie) ─────────▶ knows (a, b)
//!        ◀──────────── WELCOME(run b, nonce b)
//!   knows (a, b); PING ────────▶ with a key: only now
//!
//! UNKNOWN in answer to a packet: HELLO again. A WELCOME of another run: the peer was restarted, and its flows have ended.
//! no datagram for a second while messages are under way: PING each second; none for long: the peer is removed
//! ```
//!
//! With a key, HELLO and WELCOME carry a Noise handshake (`key/handshake.rs`), and all datagrams of a session are
//! sealed (`key/seal.rs`). HELLO, CHALLENGE, WELCOME, REFUSED and UNKNOWN carry a tag made with the key. Each is
//! accepted only in answer to a message of this host that is not answered yet, so a replayed message changes nothing:
//!
//! | message | accepted in answer to |
//! |---|---|
//! | HELLO | the cookie, which is for the sender's address, its nonce and the session that both have; again, as long as that is so, with the same WELCOME |
//! | CHALLENGE | the greeting under way, by its nonce; each cookie once |
//! | WELCOME | the greeting under way, by its nonce and its ephemeral key |
//! | REFUSED | the greeting under way, by its nonce |
//! | UNKNOWN | one of the last sealed datagrams, by its mark; once |
//!
//! A peer that was removed sees another run of this host when it becomes known again, as if this host had restarted.
//! Both hosts may greet at once. Both resulting sessions are then valid, and the last four sessions of two hosts are
//! kept.

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
