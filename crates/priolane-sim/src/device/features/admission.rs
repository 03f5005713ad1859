//! Admission control at one host: assigns classes to flows as they open, and moves running flows if the policy does.

use priolane_core::admit::{Admission, Notice, Source};
use priolane_core::endpoint::{Control, FlowReport, FlowSpec};
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use rustc_hash::FxHashMap;

use super::applications::{Applications, DowngradeResponse};
use super::host_feature::{
    AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, StartDecision, TransportCommand,
};
use crate::model::scenario::Scenario;
use crate::observe::collector::Collector;

/// The admission policy between the applications of a host and its transport.
#[derive(Debug)]
pub(super) struct AdmissionControl {
    host: HostId,
    policy: Box<dyn Admission>,
    rng: Stream,
    lowest: Class,
    applications: Applications,
    /// The current class of each running flow.
    active: FxHashMap<FlowId, Class>,
    /// Whether any flow requested admission here.
    used: bool,
}

impl AdmissionControl {
    /// Creates the admission control of `host`; `None` if every flow gets its requested class.
    pub(super) fn new(scenario: &Scenario, host: HostId) -> Option<Self> {
        let line = scenario.topology.host_capacity(HostId(0));
        let source = Source { mtu: u32::from(scenario.frame.mss()), line };
        let mut policy = scenario.admission.part().at_host(&source)?;
        scenario.admission_every.into_iter().for_each(|every| policy.watch(every));
        let rng = Stream::new(scenario.seed, Purpose::Admission, u64::from(host.0));
        let lowest = scenario.admission.part().levels().map_or(0, |levels| levels.saturating_sub(1));
        let applications = Applications::new(&scenario.on_downgrade);
        Some(Self { host, policy, rng, lowest, applications, active: FxHashMap::default(), used: false })
    }

    /// Processes the report of a monitor interval. Returns a command for the sender if the flow's class changes.
    fn report(&mut self, report: &FlowReport, cx: &mut FeatureContext) -> Option<TransportCommand> {
        let class = self.policy.report(report, cx.now)?;
        let present = self.active.get_mut(&report.flow).filter(|present| **present != class)?;
        // Packets of a better class would overtake the flow's earlier packets, which would be taken for loss.
        let control = if class < *present { Control::Promote(class) } else { Control::Class(class) };
        *present = class;
        cx.sink.flow_log().moved(report.flow, class);
        Some(TransportCommand::Control(report.flow, control))
    }
}

impl HostFeature for AdmissionControl {
    fn on_open(&mut self, flow: &mut FlowSpec, cx: &mut FeatureContext) -> StartDecision {
        let asked = flow.class;
        let requested = self.applications.asks(flow).min(self.lowest);
        let class = self.policy.open(&FlowSpec { class: requested, ..*flow }, cx.now, &mut self.rng);
        if let Some(notice) = Notice::about(requested, class)
            && self.applications.notify(flow, notice, class) == DowngradeResponse::Later
        {
            self.policy.aborted(flow.id);
            return StartDecision::Later;
        }
        let held = self.applications.issued(flow);
        self.active.insert(flow.id, class);
        self.used = true;
        cx.sink.flow_log().admitted(flow.id, (asked, class), held);
        flow.class = class;
        StartDecision::Now
    }

    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        match event {
            FlowEvent::Delivered(_) => {}
            FlowEvent::Report(report) => {
                let command = self.report(report, cx);
                cx.commands.extend(command);
            }
            FlowEvent::Completed(report) => {
                self.policy.completed(report, cx.now);
                self.active.remove(&report.flow);
            }
        }
    }

    fn on_abort(&mut self, flow: FlowId, _cx: &mut FeatureContext) -> AbortedFlow {
        self.policy.aborted(flow);
        self.applications.abort(flow);
        self.active.remove(&flow);
        AbortedFlow::Scheduled
    }

    fn next_deadline(&self) -> Deadline {
        self.applications.next().map_or(Deadline::NEVER, Deadline::start)
    }

    /// Lets the deferred flow request admission again.
    fn on_timer(&mut self, _cx: &mut FeatureContext) {
        self.applications.ask_again();
    }

    fn finish(&self, out: &mut Collector) {
        let notices = self.applications.notices();
        out.notices(notices.map(|(group, notices)| (self.host, group, notices)));
        if self.used {
            out.admission(self.host, self.policy.account());
        }
    }
}
