//! The threshold controller in a run: reports arrive and updates leave, both after a configured delay.
//!
//! It runs `delay` after the end of each period. Since no message is faster than a window of the window engine, both
//! engines may run it before or after the nodes of a window, with the same outcome.

use std::sync::Arc;

use priolane_core::assign::control::{SizeReport, ThresholdController};
use priolane_core::units::{Span, Time};

use crate::device::messages::{ScheduledReport, ThresholdUpdate};
use crate::model::scenario::Scenario;
use crate::observe::outcome::ThresholdChange;

/// The threshold controller, if the scenario has one, and the history of its updates.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    central: Option<Central>,
    history: Vec<ThresholdChange>,
}

#[derive(Debug)]
struct Central {
    controller: ThresholdController,
    period: Span,
    delay: Span,
    next: Time,
    /// Reports in flight, unordered.
    under_way: Vec<ScheduledReport>,
}

impl ControlPlane {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let central = scenario.adaptation.as_ref().filter(|a| !a.global.is_empty()).map(|a| Central {
            controller: ThresholdController::new(a.config, a.global.clone(), scenario.topology.hosts),
            period: a.config.period,
            delay: a.config.delay,
            next: Time::ZERO + a.config.period + a.config.delay,
            under_way: Vec::new(),
        });
        Self { central, history: Vec::new() }
    }

    /// Sends a report of a host to the controller.
    pub(crate) fn post(&mut self, report: ScheduledReport) {
        if let Some(central) = &mut self.central {
            central.under_way.push(report);
        }
    }

    /// Returns when the controller next computes thresholds; `Time::NEVER` without a controller.
    pub(crate) fn next(&self) -> Time {
        self.central.as_ref().map_or(Time::NEVER, |central| central.next)
    }

    /// Runs the controller once and returns the updates for hosts; `None` if it is not due before `until`.
    pub(crate) fn run_before(&mut self, until: Time) -> Option<Vec<ThresholdUpdate>> {
        let updates = self.central.as_mut().filter(|central| central.next < until)?.run();
        let change = |update: &ThresholdUpdate| ThresholdChange {
            at: update.at,
            of: update.thresholds.of,
            bytes: update.thresholds.bytes.clone(),
        };
        self.history.extend(updates.iter().map(change));
        Some(updates)
    }

    /// Returns the changes of thresholds that hosts applied before `stop`.
    pub(crate) fn history(&mut self, stop: Time) -> Vec<ThresholdChange> {
        while self.run_before(stop).is_some() {}
        self.history.retain(|change| change.at < stop);
        std::mem::take(&mut self.history)
    }
}

impl Central {
    fn run(&mut self) -> Vec<ThresholdUpdate> {
        let now = self.next;
        let order = |posted: &ScheduledReport| (posted.arrives, posted.report.host, posted.report.sequence);
        self.under_way.sort_unstable_by_key(order);
        let arrived = self.under_way.partition_point(|posted| posted.arrives <= now);
        let reports = self.under_way.drain(..arrived).map(|posted| posted.report);
        reports.for_each(|report: SizeReport| self.controller.on_report(report));
        self.next += self.period;
        let at = now + self.delay;
        let update = |thresholds| ThresholdUpdate { at, thresholds: Arc::new(thresholds) };
        self.controller.solve(now).into_iter().map(update).collect()
    }
}
