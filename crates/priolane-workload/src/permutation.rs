//! Permutation: every host of the group sends one flow to another host of the group and receives one.

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::Keys;
use priolane_core::part::Part;
use priolane_core::rng::Purpose;

use super::application::Application;
use super::context::{WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream, host_stream, size_ok};
use super::payload::{PayloadOrEndless, Starts};
use super::traffic::Traffic;

/// A derangement drawn uniformly from the seed; `to` and `until` are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "permutation")]
#[part(
    name = "permutation",
    summary = "each host sends one flow to another host and receives one",
    source = "docs/experiments.md"
)]
pub struct Permutation {
    /// Payload bytes of each flow; `"endless"` for flows without end.
    #[key(required = "size = \"1MB\" or size = \"endless\"", form = PayloadOrEndless, group = "size")]
    pub size: Option<u64>,
    /// The start times of flows.
    #[keys(flatten)]
    pub starts: Starts,
}

impl Application for Permutation {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.flows(site).map(Traffic::independent)
    }
}

impl Permutation {
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        size_ok(self.size)?;
        let sources = distinct(site.hosts);
        let destinations = derangement(site, &sources)?;
        let mut maker = FlowFactory::new(site);
        let flow = |(&src, dst)| {
            let mut starts = host_stream(site, Purpose::Starts, src);
            Ok(maker.flow(Pair { src, dst }, self.size, self.starts.draw(&mut starts)?))
        };
        sources.iter().zip(destinations).map(flow).collect()
    }
}

/// Shuffles until no host maps to itself: one of e shuffles on average, for any number of hosts.
fn derangement(site: &WorkloadContext<'_>, hosts: &[HostId]) -> Result<Vec<HostId>, AppError> {
    if let &[host] = hosts {
        return Err(AppError::NoDestination(host));
    }
    let mut stream = group_stream(site, Purpose::Pairs);
    let mut moved = hosts.to_vec();
    while moved.iter().zip(hosts).any(|(a, b)| a == b) {
        stream.shuffle(&mut moved);
    }
    Ok(moved)
}
