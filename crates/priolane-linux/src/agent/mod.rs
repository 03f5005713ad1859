//! Agents: processes that run the hosts of a machine for a controller on another one.
//!
//! ```text
//! controller ── ssh HOST, a command or a Unix socket ──▶ agent ── pipes ──▶ host processes
//! ```
//!
//! An agent communicates over its standard input and output, or over a Unix socket that only its user may open. It does not listen on
//! a network port: SSH authenticates and encrypts.

pub(crate) mod channel;
pub(crate) mod message;
mod serve;
mod socket;

pub use serve::{Agent, AgentError, serve};
pub use socket::listen;
