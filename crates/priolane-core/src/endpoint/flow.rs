//! What an application says of a flow when it starts it.

use crate::ids::{Class, CoflowId, FlowId, HostId};
use crate::units::{Rate, Time};

/// What is known of a flow when the application starts it at its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The flow's name, unique in the run.
    pub id: FlowId,
    /// The sending host.
    pub src: HostId,
    /// The receiving host; never `src`.
    pub dst: HostId,
    /// Payload bytes, at least 1; `None` for a flow without end.
    pub size: Option<u64>,
    /// When the application starts it.
    pub start: Time,
    /// The class it asks for before any admission or assignment by bytes, 0 first.
    pub class: Class,
    /// When its last byte should have arrived, if it has a deadline.
    pub deadline: Option<Time>,
    /// The group of the experiment it belongs to.
    pub group: u16,
    /// What its path is a function of, besides switch and destination.
    pub entropy: u16,
    /// The coflow of its group that it belongs to, if any.
    pub coflow: Option<CoflowId>,
    /// The place of its coflow among all by bytes, the smallest 0, where the scheme has applications tell hosts; else 0.
    pub coflow_place: u32,
    /// Its minimum rate and weight at the start, for transports that honour them.
    pub weights: Weights,
}

impl FlowSpec {
    /// A flow of `size` payload bytes from the first host to the second, at the start of the run: of class, group and path 0,
    /// best effort, without deadline or coflow.
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
        }
    }
}

/// What a flow (or a virtual machine) pays for: a minimum rate theta and a weight w (PACCP §III).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Minimum rate; `None` asks for none.
    pub theta: Option<Rate>,
    /// Share of what is left, relative to a best-effort flow's 1, in thousandths; at least 1.
    pub w_milli: u32,
}

impl Weights {
    /// Best effort: (theta, w) = (0, 1).
    pub const BEST_EFFORT: Self = Self { theta: None, w_milli: 1_000 };

    /// w as a number.
    pub fn w(self) -> f64 {
        f64::from(self.w_milli) / 1e3
    }

    /// theta in bits per second; 0 without one.
    pub fn theta_bps(self) -> u64 {
        self.theta.map_or(0, Rate::bps)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::BEST_EFFORT
    }
}
