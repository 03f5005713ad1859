//! What a run was, once it is known when flows that waited started.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::units::Span;
use priolane_sim::outcome::{Began, Outcome};
use priolane_sim::scenario::Scenario;

use super::build::{Built, Measured};
use super::deadlines;

impl Built {
    /// This run as it came about: flows that waited start when they did, flows that were never issued are gone, from
    /// `outcome` too, and what is measured and offered is reckoned from that. Ids stay. Where nothing waits, itself.
    ///
    /// Deadlines that hang on what was active are those that came about.
    pub fn realized(&self, outcome: &mut Outcome) -> Cow<'_, Self> {
        let built = self.started(outcome);
        if self.deadlines.iter().all(Option::is_none) {
            return built;
        }
        let mut built = built.into_owned();
        deadlines::set(&mut built.scenario.flows, &outcome.flows, &self.deadlines);
        Cow::Owned(built)
    }

    fn started(&self, outcome: &mut Outcome) -> Cow<'_, Self> {
        if self.scenario.waits.is_empty() {
            return Cow::Borrowed(self);
        }
        let began: Vec<Began> = outcome.flows.iter().map(|record| record.began).collect();
        let kept = || began.iter().enumerate().filter(|(_, began)| **began != Began::NotIssued);
        let flow = |(place, began): (usize, &Began)| {
            let planned = self.scenario.flows.at(place);
            match began {
                Began::At(start) => FlowSpec { start: *start, ..planned },
                _ => planned,
            }
        };
        let flows: FlowList = kept().map(flow).collect();
        let measured = kept()
            .zip(&flows)
            .map(|((_, began), flow)| *began != Began::Never && self.window.holds(flow.start));
        let measured = measured.collect();
        let bare_fct = kept().map(|(place, _)| self.bare_fct[place]).collect();
        let of_kept = |all: &Vec<Span>| kept().map(|(place, _)| all[place]).collect();
        let with_handshake = self.with_handshake.as_ref().map(of_kept);
        let started: FlowList = kept()
            .zip(&flows)
            .filter(|((_, began), _)| **began != Began::Never)
            .map(|(_, flow)| flow)
            .collect();
        let window = match self.window {
            Measured::All => Measured::All.offered(&started),
            window => window.offered(&FlowList::default()),
        };
        let load = self.load.clone().offered(&self.scenario, &started, window);
        outcome.flows.retain(|record| record.began != Began::NotIssued);
        let scenario = Scenario { flows, waits: Vec::new(), controls: Vec::new(), ..self.scenario.clone() };
        Cow::Owned(Self { scenario, measured, bare_fct, with_handshake, load, ..self.clone() })
    }
}
