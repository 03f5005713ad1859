//! Admission control at one host: assigns classes to flows as they open, and moves running flows if the policy does.

use priolane_core::admit::{AdmissionDecision, AdmissionSite, HostAdmission, Source};
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{FlowId, HostId};

use super::host_feature::{
    AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, StartDecision, TransportCommand,
};
use crate::model::scenario::Scenario;
use crate::observe::collector::Collector;

/// The admission of a host.
#[derive(Debug)]
pub(super) struct AdmissionControl {
    host: HostId,
    admission: HostAdmission,
}

impl AdmissionControl {
    /// Creates the admission control of `host`; `None` if every flow gets its requested class.
    pub(super) fn new(scenario: &Scenario, host: HostId) -> Option<Self> {
        let line = scenario.topology.host_capacity(HostId(0));
        let source = Source { mtu: u32::from(scenario.frame.mss()), line };
        let site = AdmissionSite { host, source, seed: scenario.seed, watch: scenario.admission_every };
        let admission = HostAdmission::new(scenario.admission.part(), &site, &scenario.on_downgrade)?;
        Some(Self { host, admission })
    }
}

impl HostFeature for AdmissionControl {
    fn on_open(&mut self, flow: &mut FlowSpec, cx: &mut FeatureContext) -> StartDecision {
        match self.admission.ask(flow, cx.now) {
            AdmissionDecision::Later => StartDecision::Later,
            AdmissionDecision::Issue { class, held } => {
                cx.sink.flow_log().admitted(flow.id, (flow.class, class), held);
                flow.class = class;
                StartDecision::Now
            }
        }
    }

    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        match event {
            FlowEvent::Delivered(_) => {}
            FlowEvent::Report(report) => {
                if let Some((class, control)) = self.admission.report(report, cx.now) {
                    cx.sink.flow_log().moved(report.flow, class);
                    cx.commands.push(TransportCommand::Control(report.flow, control));
                }
            }
            FlowEvent::Completed(report) => self.admission.completed(report, cx.now),
        }
    }

    fn on_abort(&mut self, flow: FlowId, _cx: &mut FeatureContext) -> AbortedFlow {
        self.admission.aborted(flow);
        AbortedFlow::Scheduled
    }

    fn next_deadline(&self) -> Deadline {
        self.admission.next().map_or(Deadline::NEVER, Deadline::start)
    }

    /// Lets the deferred flow request admission again.
    fn on_timer(&mut self, _cx: &mut FeatureContext) {
        self.admission.ask_again();
    }

    fn finish(&self, out: &mut Collector) {
        let notices = self.admission.notices();
        out.notices(notices.map(|(group, notices)| (self.host, group, notices)));
        if let Some(account) = self.admission.account() {
            out.admission(self.host, account);
        }
    }
}
