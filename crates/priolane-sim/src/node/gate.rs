//! The admission policy of one host: what it gives flows as they open, and what it learns of them.

use std::collections::BTreeMap;

use priolane_core::admit::{Account, Admission, Notice};
use priolane_core::endpoint::{Control, FlowReport, FlowSpec};
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::applications::{Answer, Applications};
use crate::outcome::Notices;
use crate::scenario::Scenario;

/// The gate between the applications of a host and its transport.
#[derive(Debug)]
pub(crate) struct Gate {
    host: HostId,
    policy: Box<dyn Admission>,
    dice: Stream,
    lowest: Class,
    applications: Applications,
    given: BTreeMap<FlowId, Given>,
}

/// What a flow was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) at_start: Class,
    pub(crate) now: Class,
    pub(crate) moves: u32,
    /// How long its application held it back.
    pub(crate) held: Span,
}

impl Gate {
    /// The gate of `host`; `None` where every flow gets the class it asks for.
    pub(crate) fn new(scenario: &Scenario, host: HostId) -> Option<Box<Self>> {
        let mut policy = scenario.admission.at_host()?;
        scenario.admission_every.into_iter().for_each(|every| policy.watch(every));
        let dice = Stream::new(scenario.seed, Purpose::Admission, u64::from(host.0));
        let lowest = scenario.admission.levels().map_or(0, |levels| levels.saturating_sub(1));
        let applications = Applications::new(&scenario.on_downgrade);
        Some(Box::new(Self { host, policy, dice, lowest, applications, given: BTreeMap::new() }))
    }

    /// A flow is to start at `now`, its `start`: the class it gets; `None` if its application holds it back.
    pub(crate) fn open(&mut self, flow: &FlowSpec, now: Time) -> Option<Class> {
        let asked = self.applications.asks(flow).min(self.lowest);
        let class = self.policy.open(&FlowSpec { class: asked, ..*flow }, now, &mut self.dice);
        if let Some(notice) = Notice::about(asked, class)
            && self.applications.told(flow, notice, class) == Answer::Later
        {
            self.policy.aborted(flow.id);
            return None;
        }
        let held = self.applications.issued(flow);
        self.given.insert(flow.id, Given { at_start: class, now: class, moves: 0, held });
        Some(class)
    }

    /// The next flow that was held back and asks again, and when.
    pub(crate) fn next(&self) -> Option<(Time, FlowId)> {
        self.applications.next()
    }

    /// That flow asks again now.
    pub(crate) fn ask_again(&mut self) {
        self.applications.ask_again();
    }

    /// A monitor interval of a flow ended: what its sender is to be told, if anything.
    pub(crate) fn report(&mut self, report: &FlowReport, now: Time) -> Option<Control> {
        let class = self.policy.report(report, now)?;
        let given = self.given.get_mut(&report.flow).filter(|given| given.now != class)?;
        let up = class < given.now;
        (given.now, given.moves) = (class, given.moves + 1);
        // What overtakes its own flow's packets would pass for loss.
        Some(if up { Control::Promote(class) } else { Control::Class(class) })
    }

    /// A flow completed.
    pub(crate) fn completed(&mut self, report: &FlowReport, now: Time) {
        self.policy.completed(report, now);
    }

    /// A flow was aborted.
    pub(crate) fn aborted(&mut self, flow: FlowId) {
        self.policy.aborted(flow);
        self.applications.abort(flow);
    }

    /// What flows were given, in order of flows.
    pub(crate) fn given(&self) -> impl Iterator<Item = (FlowId, Given)> {
        self.given.iter().map(|(&flow, &given)| (flow, given))
    }

    /// What the applications were told and did, by group.
    pub(crate) fn notices(&self) -> impl Iterator<Item = (HostId, u16, Notices)> {
        self.applications.notices().map(|(group, notices)| (self.host, group, notices))
    }

    /// What the policy has come to; `None` if no flow was opened here.
    pub(crate) fn account(&self) -> Option<(HostId, Account)> {
        (!self.given.is_empty()).then(|| (self.host, self.policy.account()))
    }
}
