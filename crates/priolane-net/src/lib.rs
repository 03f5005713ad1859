//! Messages over UDP by the transports of priolane: the same endpoints that the simulator runs, on real hosts (Linux).
//!
//! ```no_run
//! use priolane_net::{Config, Host, Request, Scheme};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scheme = Scheme::named("dctcp")?;
//! let server = Host::bind(Config::new(scheme.clone()))?;
//! let client = Host::bind(Config::new(scheme))?;
//! let receipt = client.send_with_receipt(Request::to(server.address()), "hello")?;
//! assert_eq!(server.recv()?.bytes, b"hello");
//! println!("delivered after {:?}", receipt.wait()?.elapsed);
//! # Ok(())
//! # }
//! ```
//!
//! A message arrives whole and once, or its sender learns the reason why it may not have arrived. docs/real-hosts.md
//! states the guarantees and their limits.

mod assembly;
mod clock;
mod config;
mod content;
mod datagram;
mod dscp;
mod error;
mod host;
mod key;
mod message;
mod meter;
mod nic;
mod parts;
mod peers;
mod process;
mod random;
mod runtime;
mod scheduling;
mod scheme;
mod shared;
mod socket;
mod stats;
mod udp_defaults;

pub use clock::{Arrivals, Clock};
pub use config::{Config, Limits, Patience, ReceiveOffload, Segmentation};
pub use datagram::{DatagramKind, HeaderReader};
pub use dscp::{Dscp, DscpError};
pub use error::{BindError, RecvError, SendError};
pub use host::Host;
pub use key::{Key, KeyError, SHORTEST_KEY};
pub use message::{Delivery, Message, MessageId, Receipt, Request};
pub use meter::Meter;
pub use priolane_core as core;
pub use scheduling::Scheduling;
pub use scheme::{Scheme, SchemeError, read_keys};
pub use stats::Stats;
