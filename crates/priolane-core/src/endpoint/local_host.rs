//! What an endpoint is told of its host when it is made.

use crate::ids::HostId;
use crate::units::{Rate, Span};

/// The host that an endpoint is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalHost {
    /// Its name in packets.
    pub id: HostId,
    /// The rate of its line, both ways; above zero.
    pub line: Rate,
    /// What holds on a real host; `None` in a simulator, where timers are exact, paths are known, all hosts have one time,
    /// no flow id is used twice and memory need only last for a run.
    pub real: Option<RealHost>,
}

impl LocalHost {
    /// A host of a simulator.
    pub const fn simulated(id: HostId, line: Rate) -> Self {
        Self { id, line, real: None }
    }

    /// A real host, with the defaults of [`RealHost`] and its `secret`.
    pub const fn real(id: HostId, line: Rate, secret: u64) -> Self {
        Self { id, line, real: Some(RealHost::new(secret)) }
    }

    /// How long flows that ended are remembered; `None` for as long as the endpoint lives.
    pub fn time_wait(&self) -> Option<Span> {
        self.real.map(|real| real.time_wait)
    }

    /// How much lateness of timers is made up; none where they are exact.
    pub fn catch_up(&self) -> Span {
        self.real.map_or(Span::ZERO, |real| real.catch_up)
    }
}

/// What a real host needs of its endpoint. Only with it there are [`Event::Readable`](super::Event::Readable) and
/// [`Event::Acked`](super::Event::Acked).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealHost {
    /// How long flows that ended are remembered, so that packets that come late are answered and open no flow: twice the
    /// longest life of a packet (RFC 9293 §3.4.2). A sender may use a flow's id again after that time. Default: 2 s.
    pub time_wait: Span,
    /// How its clock relates to those of other hosts. Default: independent.
    pub clocks: Clocks,
    /// Packets that may wait in the endpoint for `poll_transmit`: one that finds no room is dropped, as in a full transmit
    /// queue, and repaired as any loss. Payload that waits for its flow's turn does not count. Default: 4096.
    pub outbox: u32,
    /// How late a timer or a call of `poll_transmit` may be without a loss of rate: up to so much of what was due is made
    /// up at once. Default: 5 ms, above a scheduler's tick.
    pub catch_up: Span,
    /// The round-trip time of paths to hosts of which nothing is known and from which nothing was heard. Default: 100 us.
    pub first_rtt: Span,
    /// Unfinished flows of one other host of which state is kept, at least 1. Packets of one more are dropped, unless another
    /// is idle. Default: 4096.
    pub flows_per_peer: u32,
    /// Time without a packet after which an unfinished flow is idle: where its sender has as many as it may, it is forgotten for
    /// a new one ([`Event::Forgotten`](super::Event::Forgotten)). Default: 60 s.
    pub idle: Span,
    /// What the hash of the flows that other hosts name depends on: a number drawn evenly that no other host knows, so that
    /// none can name flows that share a place in the table. No default.
    pub secret: u64,
}

impl RealHost {
    /// The defaults, with the host's `secret`.
    pub const fn new(secret: u64) -> Self {
        Self {
            time_wait: Span::from_ms(2_000),
            clocks: Clocks::Independent,
            outbox: 4_096,
            catch_up: Span::from_ms(5),
            first_rtt: Span::from_us(100),
            flows_per_peer: 4_096,
            idle: Span::from_ms(60_000),
            secret,
        }
    }
}

/// How the clocks of two hosts relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// They agree but for errors that transports bear: stamps of two hosts are compared as they are.
    Synchronised,
    /// They differ by any amount and drift by up to some hundred parts per million: what two stamps of different hosts
    /// differ by is corrected by an estimate of the offset.
    Independent,
}
