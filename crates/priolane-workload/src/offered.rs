//! Offered load measured from a flow list: the demand on hosts and on the core, regardless of how much was
//! delivered.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::{PS_PER_S, Rate, Span, Time};

use super::load::Counts;

/// The network to which a list is offered.
#[derive(Clone, Copy, Debug)]
pub struct Fabric<'a> {
    /// The rack of each host.
    pub rack: &'a [u32],
    /// The rate of a host's link.
    pub host_rate: Rate,
    /// The total rate of all links from racks up into the fabric, in bits per second; 0 if there are none.
    pub core_rate_bps: u64,
    /// Sizes of packets on the wire.
    pub frame: Frame,
}

/// The part of a run in which flows count: those that start in `[from, until)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first time of the window.
    pub from: Time,
    /// The first time after the window.
    pub until: Time,
}

/// The bytes of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Payload bytes.
    pub payload: u128,
    /// Data packets on the wire: headers, padding and gaps included, ACKs and retransmissions not.
    pub wire: u128,
}

/// The load that a list offers in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Bytes sent by each host.
    pub sent: Vec<Volume>,
    /// Bytes received by each host.
    pub received: Vec<Volume>,
    /// Bytes between different racks.
    pub core: Volume,
    /// Number of flows in the window.
    pub flows: u64,
    /// Number of flows without end that start before the window's end; their bytes are not counted.
    pub endless: u64,
    span: Span,
    host_rate: Rate,
    core_rate_bps: u64,
}

/// Measures the load that `flows` offer to `fabric` in `window`. Hosts outside the fabric are ignored.
pub fn offered(flows: &FlowList, fabric: &Fabric, window: Window) -> OfferedLoad {
    let hosts = fabric.rack.len();
    let mut offered = OfferedLoad {
        sent: vec![Volume::default(); hosts],
        received: vec![Volume::default(); hosts],
        core: Volume::default(),
        flows: 0,
        endless: 0,
        span: window.until.since(window.from),
        host_rate: fabric.host_rate,
        core_rate_bps: fabric.core_rate_bps,
    };
    for flow in flows {
        match flow.size {
            None if flow.start < window.until => offered.endless += 1,
            Some(bytes) if (window.from..window.until).contains(&flow.start) => {
                offered.add(&flow, bytes, fabric);
            }
            _ => {}
        }
    }
    offered
}

impl OfferedLoad {
    /// Returns the mean load that `hosts` send on their links; `None` without hosts or time.
    pub fn host_load(&self, hosts: &[HostId], counts: Counts) -> Option<f64> {
        let sent: u128 =
            hosts.iter().filter_map(|host| self.sent.get(host.index())).map(|v| v.of(counts)).sum();
        self.share(sent, self.host_rate.bps() as f64 * hosts.len() as f64)
    }

    /// Returns the load of all links up into the fabric together; `None` without such links or time.
    pub fn core_load(&self, counts: Counts) -> Option<f64> {
        self.share(self.core.of(counts), self.core_rate_bps as f64)
    }

    fn share(&self, bytes: u128, bps: f64) -> Option<f64> {
        let capacity = bps / 8.0 * (self.span.0 as f64 / PS_PER_S as f64);
        if capacity > 0.0 { Some(bytes as f64 / capacity) } else { None }
    }

    fn add(&mut self, flow: &FlowSpec, bytes: u64, fabric: &Fabric) {
        let (src, dst) = (flow.src.index(), flow.dst.index());
        let (Some(from), Some(to)) = (fabric.rack.get(src), fabric.rack.get(dst)) else { return };
        self.flows += 1;
        let volume = Volume::of_flow(bytes, &fabric.frame);
        self.sent[src].add(volume);
        self.received[dst].add(volume);
        if from != to {
            self.core.add(volume);
        }
    }
}

impl Volume {
    /// Returns the bytes of a flow with this payload.
    pub fn of_flow(bytes: u64, frame: &Frame) -> Self {
        Self { payload: bytes.into(), wire: frame.stream_wire(bytes).into() }
    }

    /// Returns the bytes selected by `counts`.
    pub fn of(&self, counts: Counts) -> u128 {
        match counts {
            Counts::Payload => self.payload,
            Counts::Wire => self.wire,
        }
    }

    /// Adds the bytes of other flows.
    pub fn add(&mut self, more: Self) {
        self.payload += more.payload;
        self.wire += more.wire;
    }
}
