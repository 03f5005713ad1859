//! What a run was, once it is known when flows that waited started.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::units::Span;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::scenario::ScenarioSpec;

use super::build::{Load, Measured, ResolvedRun};
use super::deadlines;

/// A run as it came about. Where nothing waited and no deadline depends on what was active, it is the run as planned.
#[derive(Clone, Debug)]
pub struct ActualRun<'a> {
    /// The run as planned.
    pub built: &'a ResolvedRun,
    /// What was run. Where flows waited it is no scenario: ids are not places any more.
    pub scenario: Cow<'a, ScenarioSpec>,
    /// Per flow: inside the measured window.
    pub measured: Cow<'a, [bool]>,
    /// Per flow, as [`ResolvedRun::bare_fct`].
    pub bare_fct: Cow<'a, [Span]>,
    /// Per flow, as [`ResolvedRun::with_handshake`].
    pub with_handshake: Option<Cow<'a, [Span]>>,
    /// Load asked for and offered.
    pub load: Cow<'a, Load>,
}

impl ResolvedRun {
    /// This run as it came about: flows that waited start when they did, flows that were never issued are gone, from
    /// `outcome` too, and what is measured and offered is reckoned from that. Ids stay. Where nothing waits, itself.
    ///
    /// Deadlines that hang on what was active are those that came about.
    pub fn realized(&self, outcome: &mut Outcome) -> ActualRun<'_> {
        let mut realized =
            if self.scenario.waits.is_empty() { self.planned() } else { self.started(outcome) };
        if self.deadlines.iter().any(Option::is_some) {
            let flows = &mut realized.scenario.to_mut().flows;
            deadlines::set(flows, &outcome.flows, &self.deadlines);
        }
        realized
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
            Measured::All => Measured::All.offered(&started),
            window => window.offered(&FlowList::default()),
        };
        let load = self.load.clone().offered(&self.scenario, &started, window);
        outcome.flows.retain(|record| record.began != StartTime::NotIssued);
        let planned = ScenarioSpec::clone(&self.scenario);
        let scenario = ScenarioSpec { flows, waits: Vec::new(), controls: Vec::new(), ..planned };
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
