//! The algorithms of priolane, sans-IO: no clock, no randomness of its own, no sockets, files or threads.
//!
//! The simulator drives this code; a real host can drive the same code. [`endpoint::Endpoint`] is the contract with a
//! host's transport, [`port::Discipline`] the contract with an egress queue. [`packet::Packet`] is what links carry,
//! and [`wire`] encodes it as bytes.
//!
//! A queue of one's own implements [`port::Discipline`]. This one sends the smallest packet first:
//!
//! ```
//! use priolane_core::packet::{Header, Packet, QueueItem};
//! use priolane_core::port::{Admission, Discipline, PortSink};
//! use priolane_core::units::Time;
//!
//! #[derive(Default)]
//! struct SmallestFirst<P> {
//!     /// The largest packet first; packets of one size from the newest to the oldest.
//!     queued: Vec<P>,
//!     leaving: P,
//! }
//!
//! impl<P: QueueItem> Discipline<P> for SmallestFirst<P> {
//!     fn enqueue(&mut self, _: Time, item: &P, _: &mut dyn PortSink<P>) -> Admission {
//!         let place = self.queued.partition_point(|other| other.header().wire > item.header().wire);
//!         self.queued.insert(place, *item);
//!         Admission::Queued
//!     }
//!     fn next_eligible_time(&self) -> Option<Time> {
//!         (!self.queued.is_empty()).then_some(Time::ZERO)
//!     }
//!     fn dequeue(&mut self, _: Time, _: &mut dyn PortSink<P>) -> Option<&P> {
//!         self.leaving = self.queued.pop()?;
//!         Some(&self.leaving)
//!     }
//!     fn packets(&self) -> u32 {
//!         self.queued.len() as u32
//!     }
//!     fn bytes(&self) -> u64 {
//!         self.queued.iter().map(|item| u64::from(item.header().wire)).sum()
//!     }
//! }
//!
//! let mut port = SmallestFirst::default();
//! for wire in [1500, 84, 700] {
//!     let header = Header { wire, ..Header::default() };
//!     port.enqueue(Time::ZERO, &Packet { header, body: () }, &mut ());
//! }
//! assert_eq!(port.bytes(), 2284);
//! assert_eq!(port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.header.wire), Some(84));
//! ```

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
pub mod deployment;
pub mod endpoint;
pub mod example;
pub mod fair_pool;
pub mod file_code;
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
pub mod prefetch;
pub mod price;
pub mod quantity;
pub mod registry;
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
