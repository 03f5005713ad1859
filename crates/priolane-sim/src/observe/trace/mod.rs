//! The life of one flow: every packet of it, hop by hop, and what its sender knew.
//!
//! Only the wheel engine traces. Its wire tells the [`Tracer`] what nodes do ([`EventSink::observe`]); the window
//! engine's does not ask them, so that tracing costs its packets nothing. Both leave the same outcome, so what is
//! traced is what an untraced run did.
//!
//! ```text
//! Made      a host's transport made a packet ............................. a new packet of the trace
//! Offered   it came to a port; Admitted: kept, marked or dropped ......... a new hop
//! Started   the port's line began to send it ............................. Sent, or Lost if nothing follows
//! emitted   its link did not lose it
//! begin     its arrival at the other end of the link is being handled .... Arrived
//! Called    a host's transport was called ................................ readings of its state
//! ```
//!
//! A packet has no name of its own. On links it is known by the engine's event; in a port by its header, and equal
//! headers leave in the order in which they came, as they do in every discipline.
//!
//! [`EventSink::observe`]: crate::device::event_sink::Wire::observe

mod event;
mod flow_trace;
mod tracer;

pub(crate) use event::{Passage, TraceEvent};
pub use flow_trace::{
    Backlog, Fate, Hop, Loss, Marking, Reading, Service, Trace, TracedPacket, Transmission,
};
pub(crate) use tracer::Tracer;
