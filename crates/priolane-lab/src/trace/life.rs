//! A traced flow, and what became of it.

use priolane_core::ids::FlowId;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::trace::Trace;
use serde::Serialize;

use crate::plan::{ResolvedRun, Run};

/// A flow, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Its id.
    pub id: u32,
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload bytes; `None` for a flow without end.
    pub bytes: Option<u64>,
    /// When the application started it.
    pub start_ps: u64,
    /// The class it asked for.
    pub class_asked: u8,
    /// Time to the arrival of its last byte, if that arrived.
    pub fct_ps: Option<u64>,
    /// Time to its last ACK, if that arrived.
    pub fct_acked_ps: Option<u64>,
    /// The ports its packets took, there and back, in the order in which they were first reached.
    pub ports: Vec<String>,
}

/// A traced flow with all that says what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life<'a> {
    pub(super) run: &'a Run,
    pub(super) built: &'a ResolvedRun,
    pub(super) ports: &'a [String],
    pub(super) flow: FlowId,
    pub(super) trace: &'a Trace,
}

impl Life<'_> {
    /// What became of the flow.
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
