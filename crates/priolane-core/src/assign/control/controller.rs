//! The central threshold controller (NOS2 §IV-A): reports in, thresholds out.

use super::histogram::Histogram;
use super::{AdaptiveThresholds, Config, TrackedThresholds};
use crate::endpoint::Thresholds;
use crate::ids::HostId;
use crate::units::Time;

/// A host's report: all it remembers, so that a lost report costs nothing but freshness and a repeated one nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeReport {
    /// The host.
    pub host: HostId,
    /// Its number among the reports of the host, from 1.
    pub sequence: u32,
    /// When it was made.
    pub made: Time,
    /// The sizes of the flows that the host remembers.
    pub sizes: Histogram,
}

/// The controller of one network.
#[derive(Debug)]
pub struct ThresholdController {
    config: Config,
    followed: Vec<TrackedThresholds>,
    /// By host: its newest report.
    newest: Vec<Option<SizeReport>>,
}

impl ThresholdController {
    /// A controller of `hosts` hosts that has heard nothing yet.
    pub fn new(config: Config, targets: Vec<AdaptiveThresholds>, hosts: u32) -> Self {
        let followed = targets.into_iter().map(TrackedThresholds::from).collect();
        Self { config, followed, newest: vec![None; hosts as usize] }
    }

    /// A report arrived. Older ones than the newest of its host, repeated ones, and ones that claim more flows
    /// than a host may remember are left out of account.
    pub fn on_report(&mut self, report: SizeReport) {
        let Some(newest) = self.newest.get_mut(report.host.index()) else { return };
        let is_newer = newest.as_ref().is_none_or(|old| report.sequence > old.sequence);
        if is_newer && report.sizes.total() <= u64::from(self.config.window) {
            *newest = Some(report);
        }
    }

    /// The thresholds as of `now` that differ from the last ones: from all reports made within the last `max_age`
    /// periods. None while these speak of fewer than `min_samples` flows.
    pub fn solve(&mut self, now: Time) -> Vec<Thresholds> {
        let oldest =
            now.0.saturating_sub(self.config.period.0.saturating_mul(u64::from(self.config.max_age)));
        let mut all = Histogram::default();
        for report in self.newest.iter().flatten().filter(|report| report.made.0 >= oldest) {
            all.merge(&report.sizes);
        }
        self.followed.iter_mut().filter_map(|followed| followed.follow(&self.config, &all)).collect()
    }
}
