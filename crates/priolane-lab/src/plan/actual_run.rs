//! Updates a run after its completion, when the start times of dependent flows are known.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::units::Span;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::scenario::ScenarioSpec;

use super::build::{Load, MeasuredFlows, ResolvedRun};
use super::deadlines;

/// A run after its completion. Without dependent flows and load-dependent deadlines, it equals the planned run.
#[derive(Clone, Debug)]
pub struct ActualRun<'a> {
    /// The planned run.
    pub built: &'a ResolvedRun,
    /// The scenario with actual starts. With dependent flows it cannot be run: flow ids are no longer indices.
    pub scenario: Cow<'a, ScenarioSpec>,
    /// Per flow, whether it is inside the measured window.
    pub measured: Cow<'a, [bool]>,
    /// Per flow, as [`ResolvedRun::bare_fct`].
    pub bare_fct: Cow<'a, [Span]>,
    /// Per flow, as [`ResolvedRun::with_handshake`].
    pub with_handshake: Option<Cow<'a, [Span]>>,
    /// Requested and offered load.
    pub load: Cow<'a, Load>,
}

impl ResolvedRun {
    /// Returns the completed run. Dependent flows have their actual start times, and flows that were never issued are
    /// removed, also from `outcome`. The measured flows and the offered load are computed from these. Ids do not
    /// change. Without dependent flows, it is the planned run.
    ///
    /// Deadlines that depend on the number of active flows are set.
    pub fn with_actual_starts(&self, outcome: &mut Outcome) -> ActualRun<'_> {
        let mut with_actual_starts =
            if self.scenario.waits.is_empty() { self.planned() } else { self.started(outcome) };
        if self.deadlines.iter().any(Option::is_some) {
            let flows = &mut with_actual_starts.scenario.to_mut().flows;
            deadlines::set(flows, &outcome.flows, &self.deadlines);
        }
        with_actual_starts
    }

    fn planned(&self) -> ActualRun<'_> {
        ActualRun {
            built: self,
            scenario: Cow::Borrowed(&self.scenario),
            measured: Cow::Borrowed(&self.measured),
            bare_fct: Cow::Borrowed(&self.bare_fct),
            with_handshake: self.with_handshake.as_deref().map(Cow::Borrowed),
            load: Cow::Borrowed(&self.load),
        }
    }

    fn started(&self, outcome: &mut Outcome) -> ActualRun<'_> {
        let began: Vec<StartTime> = outcome.flows.iter().map(|record| record.began).collect();
        let kept = || began.iter().enumerate().filter(|(_, began)| **began != StartTime::NotIssued);
        let flow = |(place, began): (usize, &StartTime)| {
            let planned = self.scenario.flows.at(place);
            match began {
                StartTime::At(start) => FlowSpec { start: *start, ..planned },
                _ => planned,
            }
        };
        let flows: FlowList = kept().map(flow).collect();
        let measured = kept()
            .zip(&flows)
            .map(|((_, began), flow)| *began != StartTime::Never && self.window.holds(flow.start));
        let measured = measured.collect();
        let bare_fct = kept().map(|(place, _)| self.bare_fct[place]).collect();
        let of_kept = |all: &Vec<Span>| kept().map(|(place, _)| all[place]).collect();
        let with_handshake = self.with_handshake.as_ref().map(of_kept);
        let started: FlowList = kept()
            .zip(&flows)
            .filter(|((_, began), _)| **began != StartTime::Never)
            .map(|(_, flow)| flow)
            .collect();
        let window = match self.window {
            MeasuredFlows::All => MeasuredFlows::All.offered(&started),
            window => window.offered(&FlowList::default()),
        };
        let load = self.load.clone().offered(&self.scenario, &started, window);
        outcome.flows.retain(|record| record.began != StartTime::NotIssued);
        let planned = ScenarioSpec::clone(&self.scenario);
        let scenario =
            ScenarioSpec { flows, waits: Vec::new(), steps: Vec::new(), controls: Vec::new(), ..planned };
        ActualRun {
            built: self,
            scenario: Cow::Owned(scenario),
            measured: Cow::Owned(measured),
            bare_fct: Cow::Owned(bare_fct),
            with_handshake: with_handshake.map(Cow::Owned),
            load: Cow::Owned(load),
        }
    }
}
