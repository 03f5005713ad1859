//! Permutation: every host of the group sends one flow to another host of the group, every one receives one.

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::Purpose;
use priolane_core::units::{Span, Time};

use super::{AppError, Maker, Pair, Site, distinct, group_stream, host_stream, jittered, size_ok};

/// A derangement drawn from the seed, all equally likely. `to` and `until` of the site do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// Payload bytes of each flow; `None` for flows without end.
    pub size: Option<u64>,
    /// When flows start.
    pub start: Time,
    /// How much later than `start` a flow starts at most, evenly.
    pub jitter: Span,
}

impl Permutation {
    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        size_ok(self.size)?;
        let sources = distinct(site.hosts);
        let destinations = derangement(site, &sources)?;
        let mut maker = Maker::new(site);
        let flow = |(&src, dst)| {
            let mut starts = host_stream(site, Purpose::Starts, src);
            Ok(maker.flow(Pair { src, dst }, self.size, jittered(self.start, self.jitter, &mut starts)?))
        };
        sources.iter().zip(destinations).map(flow).collect()
    }
}

/// Shuffles until no host is in its own place: once in e times, however many hosts there are.
fn derangement(site: &Site, hosts: &[HostId]) -> Result<Vec<HostId>, AppError> {
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
