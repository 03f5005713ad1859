//! Building blocks shared by all transports.
//!
//! ```text
//! FlowTable  the flows that start or end at a host, with their timers
//! Remembered flows that ended at a real host
//! Timers     deadlines of flows
//! Outbox     control packets queued to leave a host
//! Slab       a table that reuses its slots
//! Ranges     byte or packet ranges that arrived out of order
//! Peers      what a real host measures of other hosts
//! AskLimit   how much data a real host asks of senders that send none
//! Stamp      a reading of a host's clock, as carried in packets
//! ```

mod ask_limit;
mod flow_hash;
mod flow_key;
mod flow_limit;
mod flow_table;
mod last_found;
mod outbox;
mod peers;
mod ranges;
mod remembered;
mod slab;
mod stamp;
mod timers;

pub(super) use ask_limit::{Ask, AskLimit};
pub(super) use flow_key::FlowKey;
pub(super) use flow_table::{
    Expired, FlowTable, FlowTimer, HasTimer, Incoming, Sending, SentFlow, timed_by_alarm,
};
pub(super) use outbox::{Outbox, room};
pub(super) use peers::{Peers, Sample};
pub(super) use ranges::{Interval, Ranges};
pub use stamp::Stamp;
pub(super) use timers::pacing_base;
