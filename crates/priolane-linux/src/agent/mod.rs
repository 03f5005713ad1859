//! Agents: processes that run the hosts of a machine for a controller on another one.
//!
//! ```text
//! controller ── ssh HOST, a command or a Unix socket ──▶ agent ── pipes ──▶ host processes
//! ```
//!
//! An agent speaks on its standard input and output, or on a Unix socket that its user alone may use. It opens no port:
//! authentication and encryption are those of SSH.

pub(crate) mod channel;
pub(crate) mod message;
mod serve;
mod socket;

pub use serve::{Agent, AgentError, serve};
pub use socket::listen;
