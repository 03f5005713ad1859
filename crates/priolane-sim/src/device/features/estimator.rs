//! Thresholds that adapt to the workload: a host estimates the sizes of its flows, reports them, and applies new
//! thresholds.

use std::collections::VecDeque;
use std::sync::Arc;

use priolane_core::assign::control::{self, SizeEstimate, SizeReport, TrackedThresholds};
use priolane_core::endpoint::Thresholds;
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::host_feature::{
    Deadline, FeatureContext, FlowEvent, HostFeature, HostMessage, OnScheduled, TransportCommand,
};
use crate::device::messages::{ScheduledReport, ThresholdUpdate};
use crate::model::scenario::{Adaptation, Scenario};

/// The size estimate of one host, and the threshold updates in flight to it.
#[derive(Debug)]
pub(super) struct ThresholdEstimator {
    host: HostId,
    adaptation: Adaptation,
    estimate: SizeEstimate,
    sequence: u32,
    /// End of the current period.
    period_ends: Time,
    /// The thresholds that this host computes itself.
    local: Vec<TrackedThresholds>,
    /// Updates in flight to this host, in order of arrival.
    updates: VecDeque<(Time, Arc<Thresholds>)>,
    rng: Stream,
}

impl ThresholdEstimator {
    /// Creates the estimator of `host`; `None` if thresholds are fixed.
    pub(super) fn new(scenario: &Scenario, host: HostId) -> Option<Self> {
        let adaptation = scenario.adaptation.clone()?;
        Some(Self {
            host,
            estimate: SizeEstimate::new(adaptation.config.window),
            sequence: 0,
            period_ends: Time::ZERO + adaptation.config.period,
            local: adaptation.local.iter().copied().map(TrackedThresholds::from).collect(),
            updates: VecDeque::new(),
            rng: Stream::new(scenario.seed, Purpose::Reports, u64::from(host.0)),
            adaptation,
        })
    }

    /// Ends the period: computes local thresholds and sends a report.
    fn end_period(&mut self, cx: &mut FeatureContext) {
        self.period_ends += self.adaptation.config.period;
        let (config, sizes) = (&self.adaptation.config, self.estimate.histogram());
        let changed = self.local.iter_mut().filter_map(|followed| followed.solve(config, sizes));
        cx.commands.extend(changed.map(Arc::new).map(TransportCommand::Thresholds));
        if !self.adaptation.global.is_empty()
            && let Some(report) = self.report(cx.now)
        {
            cx.sink.send_report(report);
        }
    }

    /// Returns the report of this period, unless it is lost.
    fn report(&mut self, now: Time) -> Option<ScheduledReport> {
        let control::Config { delay, report_loss, report_jitter, .. } = self.adaptation.config;
        self.sequence += 1;
        let late = Span(self.rng.below(report_jitter.0.saturating_add(1)));
        if self.rng.chance(report_loss) {
            return None;
        }
        let sizes = self.estimate.histogram().clone();
        let report = SizeReport { host: self.host, sequence: self.sequence, made: now, sizes };
        Some(ScheduledReport { arrives: now + delay + late, report })
    }
}

impl HostFeature for ThresholdEstimator {
    fn on_event(&mut self, event: FlowEvent, _cx: &mut FeatureContext) {
        if let FlowEvent::Completed(report) = event {
            self.estimate.observe(report.bytes);
        }
    }

    fn on_message(&mut self, message: HostMessage, _scheduled: OnScheduled) {
        if let HostMessage::Thresholds(ThresholdUpdate { at, thresholds }) = message {
            self.updates.push_back((*at, Arc::clone(thresholds)));
        }
    }

    fn next_deadline(&self) -> Deadline {
        let update = self.updates.front().map_or(Time::NEVER, |&(at, _)| at);
        Deadline::timer(update.min(self.period_ends))
    }

    fn on_timer(&mut self, cx: &mut FeatureContext) {
        while self.updates.front().is_some_and(|&(at, _)| at <= cx.now) {
            let due = self.updates.pop_front();
            cx.commands.extend(due.map(|(_, thresholds)| TransportCommand::Thresholds(thresholds)));
        }
        if self.period_ends <= cx.now {
            self.end_period(cx);
        }
    }
}
