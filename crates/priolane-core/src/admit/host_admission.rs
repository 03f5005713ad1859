//! Admission at one host: what its applications ask, what its policy answers, and what flows become of that. Simulated
//! and real hosts call it alike.
//!
//! ```text
//! a flow starts ──▶ ask ──▶ Issue: it runs at this class ──▶ report ... completed, or aborted
//!                    ▲ └──▶ Later: it is held back
//!                    └──── ask_again, at `next`
//! ```

use rustc_hash::FxHashMap;

use super::account::AdmissionState;
use super::admission::{Admission, AdmissionPolicy, Notice, Source, lowest};
use super::applications::{Applications, DowngradeResponse, Notices, OnDowngrade};
use crate::endpoint::{Control, FlowReport, FlowSpec};
use crate::ids::{Class, FlowId, HostId};
use crate::rng::{Purpose, Stream};
use crate::units::{Span, Time};

/// The host of an admission, and its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionSite {
    /// The host.
    pub host: HostId,
    /// The properties of the host that a policy depends on.
    pub source: Source,
    /// The seed of the run.
    pub seed: u64,
    /// Interval at which probabilities are sampled, above zero; `None` for never.
    pub watch: Option<Span>,
}

/// The outcome for a flow that asked for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionDecision {
    /// It starts now.
    Issue {
        /// Its class.
        class: Class,
        /// The time for which the application held the flow back.
        held: Span,
    },
    /// Its application holds it back, and asks again.
    Later,
}

/// The admission policy between the applications of a host and its transport.
#[derive(Debug)]
pub struct HostAdmission {
    policy: Box<dyn Admission>,
    rng: Stream,
    lowest: Class,
    applications: Applications,
    /// The current class of each running flow.
    active: FxHashMap<FlowId, Class>,
    /// Whether any flow was issued here.
    used: bool,
}

impl HostAdmission {
    /// Creates the admission at `site`, whose applications react by group as `on_downgrade` says; groups beyond it ignore
    /// downgrades. `None` if every flow gets its requested class.
    pub fn new(
        policy: &dyn AdmissionPolicy,
        site: &AdmissionSite,
        on_downgrade: &[OnDowngrade],
    ) -> Option<Self> {
        let &AdmissionSite { host, source, seed, watch } = site;
        let lowest = lowest(policy.levels().unwrap_or(1));
        let mut policy = policy.at_host(&source)?;
        watch.into_iter().for_each(|every| policy.watch(every));
        let rng = Stream::new(seed, Purpose::Admission, u64::from(host.0));
        let applications = Applications::new(on_downgrade);
        Some(Self { policy, rng, lowest, applications, active: FxHashMap::default(), used: false })
    }

    /// Asks for the class of `flow`, which would start at `now`, its `start`.
    pub fn ask(&mut self, flow: &FlowSpec, now: Time) -> AdmissionDecision {
        let requested = self.applications.asks(flow).min(self.lowest);
        let class = self.policy.open(&FlowSpec { class: requested, ..*flow }, now, &mut self.rng);
        if let Some(notice) = Notice::about(requested, class)
            && self.applications.notify(flow, notice, class) == DowngradeResponse::Later
        {
            self.policy.aborted(flow.id);
            return AdmissionDecision::Later;
        }
        let held = self.applications.issued(flow);
        self.active.insert(flow.id, class);
        self.used = true;
        AdmissionDecision::Issue { class, held }
    }

    /// Returns the flow that is next to ask again, and when.
    pub fn next(&self) -> Option<(Time, FlowId)> {
        self.applications.next()
    }

    /// Lets that flow ask again: it is to be passed to [`Self::ask`].
    pub fn ask_again(&mut self) {
        self.applications.ask_again();
    }

    /// Processes the report of a monitor interval that ended at `now`. Returns the flow's new class and the message to
    /// its sender, if its class changes.
    pub fn report(&mut self, report: &FlowReport, now: Time) -> Option<(Class, Control)> {
        let class = self.policy.report(report, now)?;
        let present = self.active.get_mut(&report.flow).filter(|present| **present != class)?;
        // Packets of a better class would overtake the flow's earlier packets, which would be taken for loss.
        let control = if class < *present { Control::Promote(class) } else { Control::Class(class) };
        *present = class;
        Some((class, control))
    }

    /// Processes the last report of a flow, whose sender knows at `now` that it is fully delivered.
    pub fn completed(&mut self, report: &FlowReport, now: Time) {
        self.policy.completed(report, now);
        self.active.remove(&report.flow);
    }

    /// Processes the abort of a flow, possibly one that is held back or has ended.
    pub fn aborted(&mut self, flow: FlowId) {
        self.policy.aborted(flow);
        self.applications.abort(flow);
        self.active.remove(&flow);
    }

    /// Iterates over the notifications and reactions of applications, by group.
    pub fn notices(&self) -> impl Iterator<Item = (u16, Notices)> {
        self.applications.notices()
    }

    /// Returns the state of the policy; `None` if no flow was issued here.
    pub fn account(&self) -> Option<AdmissionState> {
        self.used.then(|| self.policy.account())
    }
}
