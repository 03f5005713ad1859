//! The algorithms of priolane, sans-IO: no clock, no randomness of its own, no sockets, files or threads.
//!
//! The simulator drives this code; a real host can drive the same code. [`endpoint::Endpoint`] is the contract with a
//! host's transport, [`port::Discipline`] the contract with an egress queue. [`packet::Packet`] is what links carry,
//! and [`wire`] encodes it as bytes.

extern crate self as priolane_core;

pub use priolane_derive::code_id;
/// Used by the code that the derive macros generate.
#[doc(hidden)]
pub use serde;

pub mod admit;
pub mod analyze;
pub mod assign;
mod chunked_queue;
pub mod columnar;
pub mod endpoint;
pub mod fair_pool;
pub mod finding;
pub mod flows;
pub mod host;
pub mod ids;
pub mod keys;
pub mod name;
pub mod nic;
pub mod noise;
pub mod packet;
pub mod part;
pub mod port;
pub mod price;
pub mod quantity;
pub mod rng;
pub mod row;
pub mod scheme;
pub mod send_jitter;
pub mod sizes;
pub mod telemetry;
pub mod text;
pub mod transport;
pub mod units;
pub mod wire;
