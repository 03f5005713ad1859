//! The devices: hosts with a transport, switches with ports, and their interface to the engine.
//!
//! They are generic over an [`event_sink::EventSink`] and do not depend on an engine.

pub(crate) mod event_sink;
pub(crate) mod fabric;
pub(crate) mod features;
pub(crate) mod host;
pub(crate) mod hosts;
pub(crate) mod lossless;
pub(crate) mod messages;
pub(crate) mod nic;
pub(crate) mod path_selector;
pub(crate) mod pausable_queue;
pub(crate) mod pfc_watch;
pub(crate) mod port;
pub(crate) mod send_jitter;
pub(crate) mod switch;
pub(crate) mod tie_order;
pub(crate) mod transmitter;
pub(crate) mod unroutable;
