//! Stratified sizes: each flow's size has the distribution of the group, and all sizes together have its mean.
//!
//! ```text
//! size of flow i of N = quantile((order(i) + u_i) / N),  order a random permutation of 0 .. N - 1,  u_i uniform in (0, 1]
//! ```
//!
//! `order(i) + u_i` is uniform in (0, N], so the size of each flow has exactly the given distribution. Each of the
//! N equally likely strata yields one size, so a few large flows do not make one run much more loaded than another
//! (docs/assumptions.md#size-strata).

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::Words;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{SizeDistribution, whole_bytes};
use priolane_core::units::Time;

use super::clock::Clock;
use super::context::{WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::group_stream;

/// The way in which the sizes of a group are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum SizeDraw {
    /// Independently.
    #[default]
    Independent,
    /// One from each of N equally likely strata of the distribution, where N is the number of flows.
    Strata,
}

/// The fewest links on each side of a group's traffic over which its sizes may be stratified. The total of all sizes is
/// fixed, so that of a link varies less than that of independent flows: with 16 links mean slowdowns are 2 % too small,
/// with one 12 % (docs/assumptions.md#size-strata).
const LEAST_LINKS: usize = 16;

impl SizeDraw {
    /// Rejects stratified sizes of flows that share too few links of senders or receivers.
    pub(crate) fn check(self, site: &WorkloadContext<'_>) -> Result<(), AppError> {
        match self {
            Self::Strata => enough_links(site.hosts, site.to),
            Self::Independent => Ok(()),
        }
    }

    /// Returns whether sizes that are drawn so may be drawn by strata instead, for flows from `hosts` to `to`.
    pub fn may_become_strata(self, hosts: &[HostId], to: &[HostId]) -> bool {
        self == Self::Independent && enough_links(hosts, to).is_ok()
    }

    /// Draws the size of a flow; for strata, which need all flows, a placeholder that [`Self::set_sizes`] replaces.
    pub(crate) fn size(self, law: &SizeDistribution, stream: &mut Stream) -> u64 {
        match self {
            Self::Independent => law.sample(stream),
            Self::Strata => 1,
        }
    }

    /// Sets the sizes of the flows if they are stratified.
    pub(crate) fn set_sizes(self, flows: &mut FlowList, clock: &Clock<'_>, site: &WorkloadContext<'_>) {
        if self == Self::Strata {
            set_sizes(flows, clock, site);
        }
    }
}

/// Returns an error if flows from `hosts` to `to` share too few links for stratified sizes.
fn enough_links(hosts: &[HostId], to: &[HostId]) -> Result<(), AppError> {
    match distinct(hosts).len().min(distinct(to).len()) {
        links if links < LEAST_LINKS => Err(AppError::FewLinks(links)),
        _ => Ok(()),
    }
}

/// Sets the sizes of the flows of a group. Flows before, during and after the measurement are stratified separately, as
/// are flows before and after a change of the distribution, so that each of these parts has its mean.
fn set_sizes(flows: &mut FlowList, clock: &Clock<'_>, site: &WorkloadContext<'_>) {
    let phase = |start: Time| site.measured.iter().filter(|&&at| start >= at).count();
    let part = |start: Time| 3 * clock.segment_at(start) + phase(start);
    let mut counts = vec![0_u32; 3 * clock.segments()];
    for flow in &*flows {
        counts[part(flow.start)] += 1;
    }
    let mut stream = group_stream(site, Purpose::Sizes);
    let mut orders: Vec<Vec<u32>> = counts.iter().map(|&count| (0..count).collect()).collect();
    for order in &mut orders {
        stream.shuffle(order);
    }
    flows.edit_all(|flow| {
        let part = part(flow.start);
        let stratum = orders[part].pop().unwrap_or_default();
        let u = (f64::from(stratum) + 1.0 - stream.uniform()) / f64::from(counts[part]);
        flow.size = Some(whole_bytes(clock.law_at(flow.start).quantile(u)));
    });
}
