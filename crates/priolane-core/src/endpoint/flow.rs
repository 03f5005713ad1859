//! Flows: as applications request them, and as a planned run specifies them.

use crate::ids::{Class, CoflowId, ConnectionId, FlowId, HostId};
use crate::units::{Rate, Time};

/// A flow as its application requests it from the sending host, without knowledge of the run's plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRequest {
    /// The flow's identifier, chosen by its sender.
    pub id: FlowId,
    /// The receiving host; never this one.
    pub dst: HostId,
    /// Payload bytes, at least 1; `None` for an endless flow.
    pub size: Option<u64>,
    /// The time at which the application requested the flow: now, or earlier if the flow was held back.
    pub start: Time,
    /// The requested class, before any assignment by bytes; 0 first.
    pub class: Class,
    /// The time by which the last byte should have arrived; `None` without a deadline.
    pub deadline: Option<Time>,
    /// Input of the path hash, besides switch and destination; on a real host it selects the source port.
    pub entropy: u16,
    /// Rank of the flow in an order of the application, 0 first: the rank of its coflow by bytes, if the scheme has
    /// applications tell hosts.
    pub coflow_place: u32,
    /// Initial minimum rate and weight, for transports that honour them.
    pub weights: Weights,
    /// Payload bytes that the flow had sent before, in addition to `size`: 0, except for a flow that was under way when
    /// the run began. Schemes that count the bytes of a flow begin with it.
    pub attained: u64,
    /// The application's group, where groups have transports of their own; else 0.
    pub group: u16,
    /// The connection that carries the flow: flows of a host with the same connection, destination and group are sent one
    /// after the other, with one congestion window. `None` for a connection of its own.
    pub connection: Option<ConnectionId>,
}

impl FlowRequest {
    /// Creates a best-effort flow of class 0 with `size` bytes to `dst` that starts at `start`.
    pub fn new(id: FlowId, dst: HostId, size: Option<u64>, start: Time) -> Self {
        Self {
            id,
            dst,
            size,
            start,
            class: 0,
            deadline: None,
            entropy: 0,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            group: 0,
            connection: None,
        }
    }
}

/// A flow of a planned run: the application's request, its source, and what only the plan knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The flow's identifier, unique in the run.
    pub id: FlowId,
    /// The sending host.
    pub src: HostId,
    /// The receiving host; never `src`.
    pub dst: HostId,
    /// Payload bytes, at least 1; `None` for an endless flow.
    pub size: Option<u64>,
    /// The time at which the application starts the flow.
    pub start: Time,
    /// The requested class, before any admission or assignment by bytes; 0 first.
    pub class: Class,
    /// The time by which the last byte should have arrived; `None` without a deadline.
    pub deadline: Option<Time>,
    /// The experiment group that it belongs to.
    pub group: u16,
    /// Input of the path hash, besides switch and destination.
    pub entropy: u16,
    /// The coflow of its group that it belongs to, if any.
    pub coflow: Option<CoflowId>,
    /// Rank of its coflow among all coflows by bytes, the smallest 0, if the scheme has applications tell hosts; else 0.
    pub coflow_place: u32,
    /// Initial minimum rate and weight, for transports that honour them.
    pub weights: Weights,
    /// Payload bytes that the flow had sent before the run, in addition to `size` (a warm start); else 0.
    pub attained: u64,
    /// The connection that carries the flow, among those of its source, destination and group; `None` for one of its own.
    pub connection: Option<ConnectionId>,
}

impl FlowSpec {
    /// Returns the request of its application at its source.
    pub fn request(&self) -> FlowRequest {
        let Self {
            id,
            dst,
            size,
            start,
            class,
            deadline,
            entropy,
            coflow_place,
            weights,
            attained,
            group,
            connection,
            ..
        } = *self;
        FlowRequest {
            id,
            dst,
            size,
            start,
            class,
            deadline,
            entropy,
            coflow_place,
            weights,
            attained,
            group,
            connection,
        }
    }

    /// Returns all payload bytes of the flow, with those that it had sent before the run; `None` if it is endless.
    pub fn whole_size(&self) -> Option<u64> {
        self.size.map(|size| size.saturating_add(self.attained))
    }

    /// Creates a flow of `size` payload bytes from the first host to the second, at the start of the run: class, group
    /// and entropy 0, best effort, without deadline or coflow.
    pub const fn new(id: FlowId, (src, dst): (HostId, HostId), size: Option<u64>) -> Self {
        Self {
            id,
            src,
            dst,
            size,
            start: Time::ZERO,
            class: 0,
            deadline: None,
            group: 0,
            entropy: 0,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        }
    }
}

/// The service that a flow (or a virtual machine) pays for: a minimum rate theta and a weight w (PACCP §III).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Minimum rate; `None` for no minimum.
    pub theta: Option<Rate>,
    /// Share of the remaining capacity, relative to 1 for a best-effort flow, in thousandths; at least 1.
    pub w_milli: u32,
}

impl Weights {
    /// Best effort: (theta, w) = (0, 1).
    pub const BEST_EFFORT: Self = Self { theta: None, w_milli: 1_000 };

    /// Returns w as a number.
    pub fn w(self) -> f64 {
        f64::from(self.w_milli) / 1e3
    }

    /// Returns theta in bits per second; 0 without a minimum rate.
    pub fn theta_bps(self) -> u64 {
        self.theta.map_or(0, Rate::bps)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::BEST_EFFORT
    }
}
