//! The hosts that a host may send to: all hosts of a list except itself, or except those of its rack.

use priolane_core::ids::HostId;
use priolane_core::keys::Words;
use priolane_core::rng::Stream;

use super::context::{WorkloadContext, distinct};
use super::error::AppError;

/// The destinations of a host, among the hosts it may send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum DestinationScope {
    /// Any host but itself.
    #[default]
    AnyHost,
    /// Hosts of other racks.
    OtherRacks,
}

/// The destination hosts, grouped by rack so that any source's choice is the list without one contiguous range.
pub(crate) struct Destinations {
    hosts: Vec<HostId>,
}

/// The choice of one source: all hosts but `count` from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    first: usize,
    count: usize,
    /// Number of chosen hosts in other racks.
    pub(crate) other_racks: usize,
    /// Number of chosen hosts.
    pub(crate) all: usize,
}

impl Choice {
    /// Returns the probability that a flow leaves the rack.
    pub(crate) fn crossing(&self) -> f64 {
        self.other_racks as f64 / self.all as f64
    }
}

impl Destinations {
    pub(crate) fn new(site: &WorkloadContext<'_>) -> Self {
        let mut hosts = distinct(site.to);
        hosts.sort_by_key(|host| site.rack[host.index()]);
        Self { hosts }
    }

    /// Returns the choice of `source`.
    pub(crate) fn choice(
        &self,
        site: &WorkloadContext<'_>,
        source: HostId,
        reach: DestinationScope,
    ) -> Result<Choice, AppError> {
        let rack = |host: HostId| site.rack[host.index()];
        let first = self.hosts.partition_point(|&host| rack(host) < rack(source));
        let end = self.hosts.partition_point(|&host| rack(host) <= rack(source));
        let other_racks = self.hosts.len() - (end - first);
        let (first, count) = match (reach, self.hosts[first..end].binary_search(&source)) {
            (DestinationScope::OtherRacks, _) => (first, end - first),
            (DestinationScope::AnyHost, Ok(place)) => (first + place, 1),
            (DestinationScope::AnyHost, Err(_)) => (0, 0),
        };
        let all = self.hosts.len() - count;
        if all == 0 {
            return Err(AppError::NoDestination(source));
        }
        Ok(Choice { first, count, other_racks, all })
    }

    /// Draws a host of the choice uniformly.
    pub(crate) fn draw(&self, choice: Choice, stream: &mut Stream) -> HostId {
        self.nth(choice, stream.below(choice.all as u64) as usize)
    }

    /// Returns all hosts of the choice.
    pub(crate) fn all(&self, choice: Choice) -> impl Iterator<Item = HostId> {
        (0..choice.all).map(move |n| self.nth(choice, n))
    }

    fn nth(&self, choice: Choice, n: usize) -> HostId {
        self.hosts[if n < choice.first { n } else { n + choice.count }]
    }
}
