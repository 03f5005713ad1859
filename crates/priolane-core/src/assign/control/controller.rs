//! The central threshold controller (NOS2 §IV-A): receives reports, computes thresholds.

use super::histogram::Histogram;
use super::{AdaptiveThresholds, Config, TrackedThresholds};
use crate::endpoint::Thresholds;
use crate::ids::HostId;
use crate::units::Time;

/// A host's report: its complete estimate. A lost report only costs freshness, and a duplicate has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeReport {
    /// The host.
    pub host: HostId,
    /// Its sequence number at the host, from 1.
    pub sequence: u32,
    /// The time at which the update was created.
    pub made: Time,
    /// The sizes of the flows in the host's estimate.
    pub sizes: Histogram,
}

/// The controller of one network.
#[derive(Debug)]
pub struct ThresholdController {
    config: Config,
    followed: Vec<TrackedThresholds>,
    /// The newest report of each host.
    newest: Vec<Option<SizeReport>>,
}

impl ThresholdController {
    /// Creates a controller of `hosts` hosts, without reports.
    pub fn new(config: Config, targets: Vec<AdaptiveThresholds>, hosts: u32) -> Self {
        let followed = targets.into_iter().map(TrackedThresholds::from).collect();
        Self { config, followed, newest: vec![None; hosts as usize] }
    }

    /// Processes a report. Ignores duplicates, reports older than the newest of their host, and reports of more flows
    /// than a host may remember.
    pub fn on_report(&mut self, report: SizeReport) {
        let Some(newest) = self.newest.get_mut(report.host.index()) else { return };
        let is_newer = newest.as_ref().is_none_or(|old| report.sequence > old.sequence);
        if is_newer && report.sizes.total() <= u64::from(self.config.window) {
            *newest = Some(report);
        }
    }

    /// Returns the thresholds at `now` that differ from the last ones, computed from all reports created within the
    /// last `max_age` periods. Empty if these have fewer than `min_samples` flows.
    pub fn solve(&mut self, now: Time) -> Vec<Thresholds> {
        let oldest =
            now.0.saturating_sub(self.config.period.0.saturating_mul(u64::from(self.config.max_age)));
        let mut all = Histogram::default();
        for report in self.newest.iter().flatten().filter(|report| report.made.0 >= oldest) {
            all.merge(&report.sizes);
        }
        self.followed.iter_mut().filter_map(|followed| followed.solve(&self.config, &all)).collect()
    }
}
