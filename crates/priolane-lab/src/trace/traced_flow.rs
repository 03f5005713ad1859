//! A traced flow and its outcome.

use priolane_core::ids::FlowId;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::trace::Trace;
use serde::Serialize;

use crate::plan::{ResolvedRun, Run};

/// A flow and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow id.
    pub id: u32,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes; `None` for a long-lived flow.
    pub bytes: Option<u64>,
    /// Start time, set by the application.
    pub start_ps: u64,
    /// Requested class.
    pub class_asked: u8,
    /// Time from its start to the arrival of its last byte, if it arrived.
    pub fct_ps: Option<u64>,
    /// Time from its start to its last ACK, if it arrived.
    pub fct_acked_ps: Option<u64>,
    /// Ports on the paths of its packets in both directions, in the order in which they were first reached.
    pub ports: Vec<String>,
}

/// A traced flow with its run and trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedFlow<'a> {
    pub(super) run: &'a Run,
    pub(super) built: &'a ResolvedRun,
    pub(super) ports: &'a [String],
    pub(super) flow: FlowId,
    pub(super) trace: &'a Trace,
}

impl TracedFlow<'_> {
    /// Returns the flow's report.
    pub(super) fn flow_report(&self, outcome: &Outcome) -> Flow {
        let spec = self.built.scenario.flows.at(self.flow.index());
        let record = outcome.flows.at(self.flow.index());
        let mut ports: Vec<String> = Vec::new();
        for hop in &self.trace.hops {
            let name = &self.ports[hop.link.index()];
            if !ports.contains(name) {
                ports.push(name.clone());
            }
        }
        Flow {
            id: self.flow.0,
            src: u32::from(spec.src.0),
            dst: u32::from(spec.dst.0),
            bytes: spec.size,
            start_ps: if let StartTime::At(start) = record.began { start.0 } else { spec.start.0 },
            class_asked: spec.class,
            fct_ps: record.fct.map(|span| span.0),
            fct_acked_ps: record.fct_acked.map(|span| span.0),
            ports,
        }
    }
}
