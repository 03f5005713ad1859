//! Where an app runs.

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::{PS_PER_S, Rate, Span, Time};

use super::error::AppError;
use super::sizes::Sizes;

/// The most flows of a list, from a file or from an app.
pub const MAX_FLOWS: u32 = 50_000_000;

/// The latest start or deadline of a flow: 26 days.
pub const LATEST_START: Time = Time::LATEST;

/// Until when an open-loop app starts flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Flows start before this instant.
    Time(Time),
    /// The first so many flows of the group.
    Flows(u64),
}

/// Where an app runs: its hosts, and what of the network it needs to know.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadContext<'a> {
    /// The hosts of the group; order and repetition do not matter but to [`Rule::Shift`](crate::Rule::Shift).
    pub hosts: &'a [HostId],
    /// The hosts it sends to.
    pub to: &'a [HostId],
    /// The rack of each host of the network.
    pub rack: &'a [u32],
    /// The rate of a host's link.
    pub host_rate: Rate,
    /// The rate of all links from racks up into the fabric, in bits per second; 0 if there are none.
    pub core_rate_bps: u64,
    /// Sizes of packets on the wire.
    pub frame: Frame,
    /// The seed of the run.
    pub seed: u64,
    /// The group's number in the experiment.
    pub group: u16,
    /// Until when.
    pub until: Until,
    /// What no flow is faster than: bounds the lists of apps whose flows wait for others.
    pub floor: MinimumLatency,
    /// How sizes and load change, in order of time.
    pub changes: &'a [LoadChange],
    /// The first instant that is measured, by the group's own clock: sizes by strata are drawn apart before and from it.
    pub measured_from: Time,
}

/// What no flow can be faster than.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumLatency {
    /// The least time of a packet from host to host.
    pub trip: Span,
    /// The rate of the fastest host link.
    pub rate: Rate,
}

impl MinimumLatency {
    /// The least time in which `bytes` bytes of payload get from host to host, rounded down.
    pub(crate) fn time(&self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.rate.bps().max(1) + 1);
        Span(u64::try_from(ps).unwrap_or(u64::MAX).saturating_add(self.trip.0))
    }
}

/// A change of what an open-loop app offers.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadChange {
    /// The instant, by the clock of the app.
    pub at: Time,
    /// What changes.
    pub to: NewValue,
}

/// What can change while an app runs, and to what.
#[derive(Clone, Debug, PartialEq)]
pub enum NewValue {
    /// `load.value`.
    Load(f64),
    /// `sizes`.
    Sizes(Box<Sizes>),
}

/// Refuses a site at which no app can run.
pub(crate) fn check(site: &WorkloadContext<'_>) -> Result<(), AppError> {
    if site.hosts.is_empty() {
        return Err(AppError::NoHosts);
    }
    for &host in site.hosts.iter().chain(site.to) {
        known(site, host)?;
    }
    let Frame { mtu, header, link, gap, minimum, .. } = site.frame;
    let largest = u32::from(mtu.max(minimum)) + u32::from(link) + u32::from(gap);
    if mtu <= header || largest > u32::from(u16::MAX) {
        return Err(AppError::Frame);
    }
    Ok(())
}

pub(crate) fn known(site: &WorkloadContext<'_>, host: HostId) -> Result<HostId, AppError> {
    if host.index() < site.rack.len() { Ok(host) } else { Err(AppError::UnknownHost(host)) }
}

/// `hosts` sorted, each once.
pub(crate) fn distinct(hosts: &[HostId]) -> Vec<HostId> {
    let mut hosts = hosts.to_vec();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}
