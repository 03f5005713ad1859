//! What a transport that is not on the window machine declares: its endpoint, and what its keys stand for in a run.

use std::fmt;
use std::sync::Arc;

use crate::assign::DemotionThresholds;
use crate::endpoint::{Endpoint, LocalHost};
use crate::host::SchedulerKind;
use crate::keys::Misfit;
use crate::packet::Frame;
use crate::part::Part;
use crate::units::Span;

/// What a transport takes from the other parts of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Packet sizes.
    pub frame: Frame,
    /// Which flow of a host goes next.
    pub scheduler: SchedulerKind,
    /// Class on the wire by bytes sent.
    pub class: DemotionThresholds,
    /// Level inside the host by bytes sent.
    pub host_level: DemotionThresholds,
    /// Payload bytes of a flow that may wait in the host's transmit queue.
    pub queue_limit: Option<u64>,
    /// Length of the monitor interval after which a sender reports.
    pub monitor: Option<Span>,
}

/// Whether senders report what receivers have acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// The transport has no reports.
    Unsupported,
    /// No reports in this run.
    Off,
    /// A report of each flow after each interval of this length.
    Every(Span),
}

impl Reports {
    /// Reports after each `monitor`, if there is one.
    pub fn each(monitor: Option<Span>) -> Self {
        monitor.map_or(Self::Off, Self::Every)
    }
}

/// What a run costs; `check` predicts its length from this (docs/performance.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Instructions of a packet-hop, divided by those with DCTCP for the same traffic.
    pub instructions: f64,
    /// Control packets (ACKs, tokens, grants, pulls) for each packet of payload.
    pub control: f64,
    /// Other packets of a flow: requests, handshake, end.
    pub per_flow: f64,
}

/// The endpoint of a transport of its own kind.
pub trait Machine: Endpoint + Sized + 'static {
    /// Its parameters in a run.
    type Config: Clone + fmt::Debug;

    /// The endpoint of `host`, without flows.
    fn new(host: LocalHost, config: Arc<Self::Config>) -> Self;

    /// The packet sizes that `config` was made for.
    fn frame(config: &Self::Config) -> Frame;

    /// What senders report. Default: nothing.
    fn reports(config: &Self::Config) -> Reports {
        let _ = config;
        Reports::Unsupported
    }

    /// What a run costs.
    fn cost(config: &Self::Config) -> Cost;
}

/// The keys of a transport of its own kind: a `Part` with one impl of this trait and one entry in `machines!`.
pub trait TransportKeys: Part {
    /// Its endpoint. Several transports may have one.
    type Machine: Machine;

    /// Whether the transport decides which flow of a host goes next, and in which class. Its host row is then `own`.
    /// Default: no.
    const SCHEDULES_ITSELF: bool = false;

    /// The parameters in a run that is set up so.
    fn config(&self, setup: &Setup) -> <Self::Machine as Machine>::Config;

    /// The number of classes that its packets carry whatever class their flow has. Default: 1.
    fn classes(&self) -> u8 {
        1
    }

    /// Checks the keys against packet sizes. Default: all fit.
    ///
    /// # Errors
    /// What does not fit.
    fn fits(&self, frame: &Frame) -> Result<(), Misfit> {
        let _ = frame;
        Ok(())
    }
}
