//! Repeated ring all-reduce: the traffic of training a model.
//!
//! ```text
//! n workers in a ring, an iteration of G bytes: 2 (n - 1) steps; in each, every worker sends a part of G / n bytes
//! to the next one; remaining bytes are added one each to the first parts
//! step 0      the first iteration at `start`, later ones `compute` (plus up to `jitter`) after a worker's last part
//! step s      when the worker got its part of step s - 1 from the previous worker
//! ```
//!
//! Workers are the hosts of the group in their order. Each iteration is a coflow; its completion time is the
//! communication time of the iteration. The number of iterations is not known beforehand. As for queries, the list
//! has the number that would be possible without any queueing (docs/assumptions.md#query-bound).

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CoflowId, FlowId};
use priolane_core::keys::Keys;
use priolane_core::part::Part;
use priolane_core::rng::Purpose;
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor};

use super::application::Application;
use super::context::{LATEST_START, MAX_FLOWS, Until, WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream, not_too_late, size_ok};
use super::payload::{Payload, Starts};
use super::traffic::Traffic;

/// Training of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "ring")]
#[part(name = "ring", summary = "ring all-reduce, repeated", source = "docs/experiments.md")]
pub struct Ring {
    /// G, the payload bytes reduced in an iteration.
    #[key(required = "reduced = \"100MB\": bytes of all parameters", form = Payload)]
    pub reduced: u64,
    /// Time from a worker's last part to its next iteration.
    #[key(required = "compute = \"2ms\"")]
    pub compute: Span,
    /// Number of iterations; left out, as many as fit in the run.
    #[key(optional, range = "[1, 2147483648]")]
    pub iterations: Option<u32>,
    /// Start of the first iteration, and maximum additional computing time, drawn uniformly per worker and
    /// iteration.
    #[keys(flatten)]
    pub starts: Starts,
}

impl Application for Ring {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.iterations(site)
    }

    fn is_closed_loop(&self) -> bool {
        true
    }
}

impl Ring {
    fn iterations(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        size_ok(Some(self.reduced))?;
        let workers = site.hosts;
        let n = workers.len();
        if n < 2 || distinct(workers).len() < n {
            return Err(AppError::Ring(n));
        }
        if self.reduced < n as u64 {
            return Err(AppError::Parts(n));
        }
        let (most, until) = match site.until {
            Until::Time(end) => (self.iterations.unwrap_or(u32::MAX), end),
            Until::Flows(_) => (1, LATEST_START),
        };
        let mut maker = FlowFactory::new(site);
        let mut gaps = group_stream(site, Purpose::Starts);
        let mut traffic = Traffic::default();
        let mut earliest = self.starts.first();
        for iteration in 0..most {
            if earliest >= until {
                break;
            }
            not_too_late(earliest.0)?;
            if traffic.flows.len() + self.flows(n) > MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let first = traffic.flows.len();
            for step in 0..2 * (n - 1) {
                for (worker, &src) in workers.iter().enumerate() {
                    let pair = Pair { src, dst: workers[(worker + 1) % n] };
                    let part = (worker + 2 * n - step) % n;
                    let bytes = self.reduced / n as u64 + u64::from((part as u64) < self.reduced % n as u64);
                    let id = FlowId(traffic.flows.len() as u32);
                    let flow = maker.flow(pair, Some(bytes), earliest);
                    traffic.flows.push(FlowSpec { id, coflow: CoflowId::new(iteration), ..flow });
                    // The flow from the previous worker: a step earlier, or in the last step of the previous
                    // iteration.
                    let Some(before) = (first + step * n + (worker + n - 1) % n).checked_sub(n) else {
                        continue;
                    };
                    let (delay, until) = match step {
                        0 => (
                            self.compute + Span(gaps.below(self.starts.jitter.0.saturating_add(1))),
                            Some(until),
                        ),
                        _ => (Span::ZERO, None),
                    };
                    let after = Predecessor::flows([FlowId(before as u32)], delay);
                    traffic.waits.push(FlowDependency { flow: id, after, until });
                }
                earliest = Time(earliest.0.saturating_add(site.floor.time(self.reduced / n as u64).0));
            }
            earliest = Time(earliest.0.saturating_add(self.compute.0));
        }
        Ok(traffic)
    }

    /// Returns the number of flows in an iteration of `n` workers.
    fn flows(&self, n: usize) -> usize {
        2 * (n - 1) * n
    }
}
