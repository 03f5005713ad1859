//! The context in which an app runs.

use priolane_core::ids::HostId;
use priolane_core::keys::Words;
use priolane_core::packet::Frame;
use priolane_core::units::{PS_PER_S, Rate, Span, Time};

use super::error::AppError;
use super::sizes::Sizes;

/// Maximum number of flows of a list, from a file or from an app.
pub const MAX_FLOWS: u32 = 50_000_000;

/// The latest start or deadline of a flow: 26 days.
pub const LATEST_START: Time = Time::LATEST;

/// The time at which an open-loop app stops starting flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Flows start before this time.
    Time(Time),
    /// The group stops after this number of flows.
    Flows(u64),
}

/// The state of the network when an app begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum InitialState {
    /// No flow is under way.
    #[default]
    Empty,
    /// As many flows are under way as in the steady state of an open-loop app, if flows wait at their busiest link only.
    Warm,
    /// The same if flows wait at every link of their path, and behind the ACKs of other flows.
    WarmPath,
}

/// The context in which an app runs: its hosts, and the network properties it needs.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadContext<'a> {
    /// The hosts of the group; order and duplicates matter only to [`Rule::Shift`](crate::Rule::Shift).
    pub hosts: &'a [HostId],
    /// The hosts it sends to.
    pub to: &'a [HostId],
    /// The rack of each host of the network.
    pub rack: &'a [u32],
    /// The rate of a host's link.
    pub host_rate: Rate,
    /// The total rate of all links from racks up into the fabric, in bits per second; 0 if there are none.
    pub core_rate_bps: u64,
    /// Sizes of packets on the wire.
    pub frame: Frame,
    /// The seed of the run.
    pub seed: u64,
    /// The group's number in the experiment.
    pub group: u16,
    /// The time at which the app stops.
    pub until: Until,
    /// Lower bound on the latency of flows; bounds the lists of apps with dependent flows.
    pub floor: MinimumLatency,
    /// Changes of sizes and load, in order of time.
    pub changes: &'a [LoadChange],
    /// Start and end of the measurement by the group's own clock: stratified sizes are drawn separately before it,
    /// in it and after it.
    pub measured: [Time; 2],
    /// The state in which the app begins. Apps that cannot begin warm begin empty.
    pub initial: InitialState,
    /// With [`InitialState::WarmPath`], the mean number of flows under way of each host of the network; else empty.
    pub under_way: &'a [f64],
}

/// A lower bound on the latency of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumLatency {
    /// The minimum time of a packet from host to host.
    pub trip: Span,
    /// The rate of the fastest host link.
    pub rate: Rate,
}

impl MinimumLatency {
    /// Returns the minimum time to transfer `bytes` bytes of payload from host to host, rounded down.
    pub(crate) fn time(&self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.rate.bps().max(1) + 1);
        Span(u64::try_from(ps).unwrap_or(u64::MAX).saturating_add(self.trip.0))
    }
}

/// A change of an open-loop app's load or sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadChange {
    /// The time at which the change takes effect, by the clock of the app.
    pub at: Time,
    /// The new value.
    pub to: NewValue,
}

/// The key that changes, and its new value.
#[derive(Clone, Debug, PartialEq)]
pub enum NewValue {
    /// `load.value`.
    Load(f64),
    /// `sizes`.
    Sizes(Box<Sizes>),
}

/// Rejects a context in which no app can run.
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

/// Returns `hosts` sorted and without duplicates.
pub(crate) fn distinct(hosts: &[HostId]) -> Vec<HostId> {
    let mut hosts = hosts.to_vec();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}
