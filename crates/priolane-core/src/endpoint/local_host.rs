//! Properties of its host that an endpoint receives at creation.

use crate::ids::HostId;
use crate::units::{Rate, Span};

/// The host of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalHost {
    /// Its identifier in packets.
    pub id: HostId,
    /// The rate of its link, in both directions; above zero.
    pub line: Rate,
    /// Settings of a real host; `None` in a simulator. There timers are exact, paths are known, all hosts share one
    /// clock, no flow id is reused, and memory need only last for a run.
    pub real: Option<RealHost>,
}

impl LocalHost {
    /// Creates a host of a simulator.
    pub const fn simulated(id: HostId, line: Rate) -> Self {
        Self { id, line, real: None }
    }

    /// Creates a real host with the defaults of [`RealHost`] and this `secret`.
    pub const fn real(id: HostId, line: Rate, secret: u64) -> Self {
        Self { id, line, real: Some(RealHost::new(secret)) }
    }

    /// Returns how long ended flows are remembered; `None` for the life of the endpoint.
    pub fn time_wait(&self) -> Option<Span> {
        self.real.map(|real| real.time_wait)
    }

    /// Returns how much lateness of timers is compensated; zero if timers are exact.
    pub fn catch_up(&self) -> Span {
        self.real.map_or(Span::ZERO, |real| real.catch_up)
    }
}

/// Settings of an endpoint on a real host. Only with them does it report [`Event::Readable`](super::Event::Readable)
/// and [`Event::Acked`](super::Event::Acked).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealHost {
    /// The time for which ended flows are remembered after their last packet, so that late packets are answered and do
    /// not open a flow: twice the maximum lifetime of a packet (RFC 9293 §3.4.2) and the longest time between two
    /// retransmissions of a sender. A sender may reuse a flow's id after that time. Default: 2 s.
    pub time_wait: Span,
    /// Relation of its clock to those of other hosts. Default: independent.
    pub clocks: Clocks,
    /// Capacity, in packets, of the endpoint's queue for `poll_transmit`. A packet that finds no room is dropped, as
    /// in a full transmit queue, and repaired like any loss. Payload not yet scheduled does not count. Default: 4096.
    pub outbox: u32,
    /// The delay that a timer or a call of `poll_transmit` may have without loss of rate: at most this much overdue
    /// work is sent at once. Default: 5 ms, above a scheduler tick.
    pub catch_up: Span,
    /// Initial round-trip time of paths to hosts without any information or samples. Default: 100 us.
    pub first_rtt: Span,
    /// Unfinished incoming flows with state per remote host, at least 1. Packets of further flows are dropped. Default:
    /// 4096.
    pub flows_per_peer: u32,
    /// Time without data after which an unfinished incoming flow ends
    /// ([`Event::Forgotten`](super::Event::Forgotten)). Default: 60 s.
    pub idle: Span,
    /// Bytes of the longest incoming flow. A flow that announces more is refused
    /// ([`Event::Rejected`](super::Event::Rejected)). Default: unlimited.
    pub longest: u64,
    /// Bytes for the state of incoming flows, unfinished and remembered, of all remote hosts together. A new flow for which
    /// there is no room is dropped, and repaired like any loss. Half of the bytes is divided equally among
    /// [`Self::peers`]. Default: 512 MiB, for 4 million remembered flows.
    pub flow_memory: u64,
    /// Remote hosts whose flows this host receives at the same time, at least 1. Default: 4096.
    pub peers: u16,
    /// Key of the hash of the flows that other hosts name: a uniform random number that no other host knows, so that
    /// no host can create flows that collide in the table. No default.
    pub secret: u64,
}

impl RealHost {
    /// Returns the defaults with the host's `secret`.
    pub const fn new(secret: u64) -> Self {
        Self {
            time_wait: Span::from_ms(2_000),
            clocks: Clocks::Independent,
            outbox: 4_096,
            catch_up: Span::from_ms(5),
            first_rtt: Span::from_us(100),
            flows_per_peer: 4_096,
            idle: Span::from_ms(60_000),
            longest: u64::MAX,
            flow_memory: 512 << 20,
            peers: 4_096,
            secret,
        }
    }
}

/// Relation of the clocks of two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// They agree up to errors that transports tolerate: timestamps of two hosts are compared directly.
    Synchronised,
    /// They have any offset and drift by up to some hundred parts per million: the difference of two timestamps of
    /// different hosts is corrected by an estimate of the offset.
    Independent,
}
