//! What a host does for thresholds that follow the workload: it counts its flows, reports, and takes what it is told.

use std::collections::VecDeque;
use std::sync::Arc;

use priolane_core::assign::control::{Followed, SizeEstimate, SizeReport, Thresholds};
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use crate::scenario::Adaptation;

/// The estimator of one host.
#[derive(Debug)]
pub(crate) struct Estimator {
    host: HostId,
    adaptation: Adaptation,
    estimate: SizeEstimate,
    sequence: u32,
    /// When the period ends.
    period_ends: Time,
    /// The ladders of this host's own.
    local: Vec<Followed>,
    /// Thresholds on their way, in order of arrival.
    told: VecDeque<(Time, Arc<Thresholds>)>,
    stream: Stream,
}

/// A report on its way to the threshold controller.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledReport {
    /// When it reaches the controller.
    pub(crate) arrives: Time,
    pub(crate) report: SizeReport,
}

/// New thresholds on their way to all hosts.
#[derive(Debug)]
pub(crate) struct ThresholdUpdate {
    /// When hosts apply them.
    pub(crate) at: Time,
    pub(crate) thresholds: Arc<Thresholds>,
}

/// What an instant of the estimator's brings.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    /// Ladders that change now.
    pub(crate) thresholds: Vec<Arc<Thresholds>>,
    pub(crate) posted: Option<ScheduledReport>,
}

impl Estimator {
    pub(crate) fn new(host: HostId, adaptation: &Adaptation, seed: u64) -> Self {
        Self {
            host,
            estimate: SizeEstimate::new(adaptation.plan.window),
            sequence: 0,
            period_ends: Time::ZERO + adaptation.plan.period,
            local: adaptation.local.iter().copied().map(Followed::from).collect(),
            told: VecDeque::new(),
            stream: Stream::new(seed, Purpose::Reports, u64::from(host.0)),
            adaptation: adaptation.clone(),
        }
    }

    /// When it next has something to do.
    pub(crate) fn next(&self) -> Time {
        self.told.front().map_or(self.period_ends, |&(at, _)| at.min(self.period_ends))
    }

    /// A flow of `bytes` bytes completed.
    pub(crate) fn observe(&mut self, bytes: u64) {
        self.estimate.observe(bytes);
    }

    /// The controller's thresholds will be here at `at`, not before those told earlier.
    pub(crate) fn tell(&mut self, at: Time, thresholds: Arc<Thresholds>) {
        self.told.push_back((at, thresholds));
    }

    /// Does all that is due by `now`.
    pub(crate) fn run(&mut self, now: Time) -> Adapted {
        let mut adapted = Adapted::default();
        while self.told.front().is_some_and(|&(at, _)| at <= now) {
            adapted.thresholds.extend(self.told.pop_front().map(|(_, thresholds)| thresholds));
        }
        if self.period_ends <= now {
            self.period_ends += self.adaptation.plan.period;
            let (plan, sizes) = (&self.adaptation.plan, self.estimate.histogram());
            let changed = self.local.iter_mut().filter_map(|followed| followed.follow(plan, sizes));
            adapted.thresholds.extend(changed.map(Arc::new));
            if !self.adaptation.global.is_empty() {
                adapted.posted = self.post(now);
            }
        }
        adapted
    }

    /// The report of this period, unless it gets lost.
    fn post(&mut self, now: Time) -> Option<ScheduledReport> {
        let Adaptation { plan, report_loss, report_jitter, .. } = self.adaptation;
        self.sequence += 1;
        let late = Span(self.stream.below(report_jitter.0.saturating_add(1)));
        if self.stream.chance(report_loss) {
            return None;
        }
        let sizes = self.estimate.histogram().clone();
        let report = SizeReport { host: self.host, sequence: self.sequence, made: now, sizes };
        Some(ScheduledReport { arrives: now + plan.delay + late, report })
    }
}
