//! The trace of one flow, or of all flows in a part of a run: every packet, hop by hop, and the state of senders.
//!
//! Only the wheel engine traces. Its scheduler passes the events of nodes ([`EventSink::observe`]) to the [`Tracer`];
//! the window engine does not evaluate them, so that tracing costs it nothing. Both engines produce the same outcome,
//! so the trace also describes an untraced run.
//!
//! ```text
//! Made      a host's transport sent a packet ............................. a new packet of the trace
//! Offered   it arrived at a port; Admitted: kept, marked or dropped ...... a new hop
//! Started   the port started to transmit it .............................. Sent, or Lost if nothing follows
//! emitted   its link did not lose it
//! begin     its arrival at the other end of the link is being handled .... Arrived
//! Called    a host's transport was called ................................ readings of its state
//! ```
//!
//! Packets have no identifiers. On links a packet is identified by the engine's event. In a port it is identified by
//! its header: equal headers leave in the order in which they arrived, as in every discipline. At the beginning of an
//! [`Extent`] an ACK can be taken for an equal one that was sent before it: the two then change places in the port.
//!
//! [`EventSink::observe`]: crate::device::event_sink::EventSink::observe

mod event;
mod flow_trace;
mod following;
mod tracer;

pub(crate) use event::{Passage, TraceEvent};
pub use flow_trace::{
    Backlog, Fate, Hop, Loss, Marking, Reading, Service, Trace, TracedPacket, Transmission,
};
pub use following::{Extent, Following};
pub(crate) use tracer::Tracer;
