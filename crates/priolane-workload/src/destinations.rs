//! Whom a host may send to: all hosts of a list but itself, or but those of its rack.

use priolane_core::ids::HostId;
use priolane_core::keys::Words;
use priolane_core::rng::Stream;

use super::context::{WorkloadContext, distinct};
use super::error::AppError;

/// Whom a host sends to, of the hosts it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum DestinationScope {
    /// Any but itself.
    #[default]
    AnyHost,
    /// Those of other racks.
    OtherRacks,
}

/// The hosts sent to, those of a rack side by side, so that any source's choice is the list but one run.
pub(crate) struct Destinations {
    hosts: Vec<HostId>,
}

/// What one source may choose from: all but `count` hosts from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    first: usize,
    count: usize,
    /// How many of those it may choose are in other racks.
    pub(crate) other_racks: usize,
    /// How many it may choose from.
    pub(crate) all: usize,
}

impl Destinations {
    pub(crate) fn new(site: &WorkloadContext<'_>) -> Self {
        let mut hosts = distinct(site.to);
        hosts.sort_by_key(|host| site.rack[host.index()]);
        Self { hosts }
    }

    /// What `source` may choose from.
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

    /// One of them, evenly.
    pub(crate) fn draw(&self, choice: Choice, stream: &mut Stream) -> HostId {
        self.nth(choice, stream.below(choice.all as u64) as usize)
    }

    /// All of them.
    pub(crate) fn all(&self, choice: Choice) -> impl Iterator<Item = HostId> {
        (0..choice.all).map(move |n| self.nth(choice, n))
    }

    fn nth(&self, choice: Choice, n: usize) -> HostId {
        self.hosts[if n < choice.first { n } else { n + choice.count }]
    }
}
