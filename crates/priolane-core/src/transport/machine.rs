//! The declarations of a transport that does not use the window transport: its endpoint, and its parameters
//! in a run.

use std::fmt;
use std::sync::Arc;

use crate::assign::DemotionThresholds;
use crate::endpoint::{Endpoint, LocalHost};
use crate::host::SchedulerKind;
use crate::keys::KeyConflict;
use crate::packet::Frame;
use crate::part::Part;
use crate::units::Span;

/// The settings that a transport takes from other parts of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Packet sizes.
    pub frame: Frame,
    /// The scheduler that picks the next flow of a host.
    pub scheduler: SchedulerKind,
    /// Class on the wire as a function of bytes sent.
    pub class: DemotionThresholds,
    /// Level inside the host as a function of bytes sent.
    pub host_level: DemotionThresholds,
    /// Payload bytes of a flow that may be queued in the host's transmit queue; `None` for no limit.
    pub queue_limit: Option<u64>,
    /// Interval between the reports of a sender; `None` for no reports.
    pub monitor: Option<Span>,
}

/// Whether senders report acknowledged bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// The transport does not support reports.
    Unsupported,
    /// Reports are off in this run.
    Off,
    /// Each flow reports once per interval of this length.
    Every(Span),
}

impl Reports {
    /// Returns `Every` with the interval `monitor`, or `Off` without one.
    pub fn each(monitor: Option<Span>) -> Self {
        monitor.map_or(Self::Off, Self::Every)
    }
}

/// The cost of a run, relative to DCTCP; `check` predicts the run time from it (docs/performance.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Instructions per packet-hop, divided by those of DCTCP for the same traffic.
    pub instructions: f64,
    /// Control packets (ACKs, tokens, grants, pulls) per data packet.
    pub control: f64,
    /// Other packets per flow: requests, handshake, end.
    pub per_flow: f64,
}

/// The endpoint of a transport that does not use the window transport.
pub trait Machine: Endpoint + Sized + 'static {
    /// The parameters in a run.
    type Config: Clone + fmt::Debug;

    /// Creates the endpoint of `host`, without flows.
    fn new(host: LocalHost, config: Arc<Self::Config>) -> Self;

    /// Returns the packet sizes that `config` was made for.
    fn frame(config: &Self::Config) -> Frame;

    /// Returns what senders report. Default: reports are not supported.
    fn reports(config: &Self::Config) -> Reports {
        let _ = config;
        Reports::Unsupported
    }

    /// Returns the cost of a run.
    fn cost(config: &Self::Config) -> Cost;
}

/// The keys of such a transport: a `Part` with one impl of this trait and one entry in `machines!`.
pub trait TransportKeys: Part {
    /// The endpoint. Several transports may share one.
    type Machine: Machine;

    /// Whether the transport schedules the flows of a host and assigns their classes itself. If so, its host
    /// row is `own`.
    /// Default: no.
    const SCHEDULES_ITSELF: bool = false;

    /// Returns the parameters in a run with this `setup`.
    fn config(&self, setup: &Setup) -> <Self::Machine as Machine>::Config;

    /// Returns the number of classes that its packets carry independently of the class of their flow.
    /// Default: 1.
    fn classes(&self) -> u8 {
        1
    }

    /// Checks the keys against the packet sizes. Default: all fit.
    ///
    /// # Errors
    /// Returns the first key that does not fit.
    fn fits(&self, frame: &Frame) -> Result<(), KeyConflict> {
        let _ = frame;
        Ok(())
    }
}
