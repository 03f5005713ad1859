//! A warm start: the flows that are under way when an open-loop app begins.
//!
//! ```text
//! flows of a sender   P(n) = (1 - q) q^n,  q / (1 - q) = max(rho / (1 - rho), c / (1 - c) * K / (H N)), or the mean number of
//!                     flows that wait at all links of their paths
//! size of a flow      a size drawn in proportion to its bytes
//! bytes left          uniform in 1 .. size; the flow had sent the others before
//! ```
//!
//! `rho` is the load of the sender's link on the wire, so `q = rho` unless the links out of the racks are more loaded:
//! `c` is their load, `K` their capacity, `H` that of a sender's link and `N` the number of senders. This is the
//! stationary state of a link that serves its flows in equal shares, for any distribution of sizes (M/G/1-PS). For any
//! other work-conserving order the bytes in the system have the same distribution (Pollaczek and Khinchine), but not
//! the number of flows (docs/assumptions.md#warm-start).

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{SizeDistribution, whole_bytes};
use priolane_core::units::Time;

use super::context::{MAX_FLOWS, WorkloadContext};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, host_stream};
use super::load::{Counts, mean_bytes};

/// The load that a group offers to the two tiers of its network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedRate {
    /// Flows per second of each sender.
    pub(crate) flows_per_s: f64,
    /// Number of senders.
    pub(crate) senders: usize,
    /// Sum over senders of the probability that a flow leaves its rack.
    pub(crate) crossing: f64,
}

impl OfferedRate {
    /// Returns the mean number of flows under way at a sender in the steady state.
    ///
    /// # Errors
    /// If the load of a tier is 1 or more: there is no steady state.
    pub(crate) fn under_way(
        &self,
        sizes: &SizeDistribution,
        site: &WorkloadContext<'_>,
    ) -> Result<f64, AppError> {
        let bits = 8.0 * mean_bytes(sizes, Counts::Wire, &site.frame);
        let host_rate = site.host_rate.bps() as f64;
        let of_host = waiting(self.flows_per_s * bits / host_rate)?;
        if site.core_rate_bps == 0 {
            return Ok(of_host);
        }
        let core_rate = site.core_rate_bps as f64;
        let of_core = waiting(self.flows_per_s * self.crossing * bits / core_rate)?;
        Ok(of_host.max(of_core * core_rate / (host_rate * self.senders.max(1) as f64)))
    }
}

/// Returns the mean number of flows that a link of this load serves in equal shares.
fn waiting(load: f64) -> Result<f64, AppError> {
    if load < 1.0 { Ok(load / (1.0 - load)) } else { Err(AppError::NoSteadyState(load)) }
}

/// Draws the flows under way of one sender.
pub(crate) struct WarmStart<'a> {
    sizes: &'a SizeDistribution,
    /// q: the probability of one more flow.
    another: f64,
}

impl<'a> WarmStart<'a> {
    /// Creates the draw of senders with `mean` flows under way.
    pub(crate) fn new(sizes: &'a SizeDistribution, mean: f64) -> Self {
        Self { sizes, another: mean / (1.0 + mean) }
    }

    /// Appends the flows under way of `src`; `destination` draws where each of them goes.
    ///
    /// # Errors
    /// If there would be too many flows.
    pub(crate) fn push(
        &self,
        flows: &mut FlowList,
        maker: &mut FlowFactory<'_>,
        src: HostId,
        mut destination: impl FnMut(&mut Stream) -> HostId,
    ) -> Result<(), AppError> {
        let mut stream = host_stream(maker.site, Purpose::WarmStart, src);
        while stream.uniform() < self.another {
            if flows.len() == MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let dst = destination(&mut stream);
            let size = whole_bytes(self.sizes.quantile_by_bytes(1.0 - stream.uniform()));
            let left = 1 + stream.below(size);
            let flow = maker.flow(Pair { src, dst }, Some(left), Time::ZERO);
            flows.push(FlowSpec { attained: size - left, ..flow });
        }
        Ok(())
    }
}
