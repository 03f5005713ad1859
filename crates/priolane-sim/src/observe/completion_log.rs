//! Flow records written during a run.
//!
//! ```text
//! times      of all flows, in one list shared by all parts of the network: 16 B per flow
//! the rest   lists of entries by part, without entries for default values
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use priolane_core::endpoint::FlowReport;
use priolane_core::ids::{Class, FlowId};
use priolane_core::units::{Span, Time};

use crate::model::scenario::Scenario;
use crate::observe::outcome::{FlowSample, Outcome};
use crate::observe::records::{ClassSpan, FlowRecord, FlowTimes, OptionalSpan, StartTime};

/// The completion times of all flows.
///
/// Each word is written by one host, the receiver or the sender of the flow, and read after the run.
#[derive(Debug, Default)]
struct CompletionTimes(Vec<Completion>);

/// Time from zero to the delivery of a flow, and from its start to its end at the sender.
#[derive(Debug, Default)]
struct Completion {
    delivered: AtomicU64,
    elapsed: AtomicU64,
}

impl CompletionTimes {
    /// Creates the times of `flows` flows, none of which has ended.
    fn new(flows: usize) -> Self {
        Self((0..flows).map(|_| Completion::default()).collect())
    }

    fn delivered(&self, flow: FlowId, at: Time) {
        note(&self.0[flow.index()].delivered, at.since(Time::ZERO));
    }

    fn completed(&self, flow: FlowId, elapsed: Span) {
        note(&self.0[flow.index()].elapsed, elapsed);
    }

    /// Returns the recorded times, flow by flow.
    fn into_times(self) -> Vec<FlowTimes> {
        let known = |word: AtomicU64| OptionalSpan::from_bits(word.into_inner());
        let times =
            |flow: Completion| FlowTimes { fct: known(flow.delivered), fct_acked: known(flow.elapsed) };
        // In place: both types have the same size, and a collected vector reuses the memory of its source.
        self.0.into_iter().map(times).collect()
    }
}

fn note(word: &AtomicU64, span: Span) {
    word.store(OptionalSpan::from(Some(span)).bits(), Ordering::Relaxed);
}

/// The flows that record their classes at their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeepClasses {
    /// Flows whose class differs from the requested one.
    #[default]
    Changed,
    /// All flows, since admission control may have changed the class.
    All,
}

/// The flow records of one part of a run.
#[derive(Debug, Default)]
pub(crate) struct FlowLog {
    times: Arc<CompletionTimes>,
    keep_classes: KeepClasses,
    started: Vec<(FlowId, Time)>,
    admitted: Vec<(FlowId, Class, Span)>,
    moved: Vec<(FlowId, Class)>,
    missing: Vec<(FlowId, u64)>,
    duplicates: Vec<(FlowId, u32)>,
    ended: Vec<FlowEnd>,
    samples: Vec<FlowSample>,
}

/// The last report of a flow without its time.
#[derive(Clone, Copy, Debug)]
struct FlowEnd {
    flow: FlowId,
    retransmits: u32,
    timeouts: u32,
    initial_timeouts: u32,
    spurious: u32,
    /// Classes of the first and of the last payload packet.
    classes: (Class, Class),
}

impl FlowLog {
    /// Creates a log for each of `parts` parts of a run.
    pub(crate) fn by_part(scenario: &Scenario, parts: usize) -> Vec<Self> {
        let times = Arc::new(CompletionTimes::new(scenario.flows.len()));
        let admits = scenario.admission.part().levels().is_some();
        let keep_classes = if admits { KeepClasses::All } else { KeepClasses::Changed };
        (0..parts).map(|_| Self { times: Arc::clone(&times), keep_classes, ..Self::default() }).collect()
    }

    /// Records the start of a dependent flow at `at`.
    pub(crate) fn started(&mut self, flow: FlowId, at: Time) {
        self.started.push((flow, at));
    }

    /// Records the class assigned to a flow instead of the requested one, `held` after its first request.
    pub(crate) fn admitted(&mut self, flow: FlowId, (asked, given): (Class, Class), held: Span) {
        if asked != given || held != Span::ZERO {
            self.admitted.push((flow, given, held));
        }
    }

    /// Records that admission control moved a flow to another class.
    pub(crate) fn moved(&mut self, flow: FlowId, class: Class) {
        self.moved.push((flow, class));
    }

    /// Records that the last byte of a flow arrived at `at`, except for `missing` bytes that were given up.
    pub(crate) fn delivered(&mut self, flow: FlowId, at: Time, missing: u64) {
        self.times.delivered(flow, at);
        if missing > 0 {
            self.missing.push((flow, missing));
        }
    }

    /// Records a packet of payload that its receiver already had.
    pub(crate) fn duplicated(&mut self, flow: FlowId) {
        match self.duplicates.last_mut() {
            Some((last, packets)) if *last == flow => *packets = packets.saturating_add(1),
            _ => self.duplicates.push((flow, 1)),
        }
    }

    /// Records the end of a flow that requested class `asked`, as its sender reported it.
    pub(crate) fn completed(&mut self, report: &FlowReport, asked: Class) {
        let &FlowReport { flow, retransmits, timeouts, initial_timeouts, spurious, .. } = report;
        self.times.completed(flow, report.elapsed);
        let classes = (report.class_first, report.class_last);
        let is_plain = retransmits == 0 && timeouts == 0 && classes == (asked, asked);
        if self.keep_classes == KeepClasses::All || !is_plain {
            self.ended.push(FlowEnd { flow, retransmits, timeouts, initial_timeouts, spurious, classes });
        }
    }

    /// Records acknowledged bytes of a flow.
    pub(crate) fn sampled(&mut self, sample: FlowSample) {
        self.samples.push(sample);
    }

    /// Returns the recorded times of all flows, flow by flow, at the end of a run with the logs of all parts.
    pub(crate) fn take_times(logs: &mut [Self]) -> Vec<FlowTimes> {
        let mut shared: Vec<_> = logs.iter_mut().map(|log| std::mem::take(&mut log.times)).collect();
        let last = shared.pop();
        drop(shared);
        last.and_then(Arc::into_inner).map_or(Vec::new(), CompletionTimes::into_times)
    }

    /// Adds everything except times to the records and reports of `outcome`.
    pub(crate) fn apply(mut self, outcome: &mut Outcome) {
        let mut edit = |flow: FlowId, change: &mut dyn FnMut(&mut FlowRecord)| {
            outcome.flows.edit(flow.index(), change);
        };
        for (flow, at) in self.started {
            edit(flow, &mut |record| record.began = StartTime::At(at));
        }
        for (flow, given, held) in self.admitted {
            edit(flow, &mut |record| {
                record.class = ClassSpan { given, first: given, last: given, ..record.class };
                record.held = held;
            });
        }
        for (flow, class) in self.moved {
            edit(flow, &mut |record| {
                record.class.last = class;
                record.moves += 1;
            });
        }
        for (flow, bytes) in self.missing {
            edit(flow, &mut |record| record.missing = bytes);
        }
        for (flow, packets) in self.duplicates {
            edit(flow, &mut |record| record.spurious = record.spurious.saturating_add(packets));
        }
        for FlowEnd { flow, retransmits, timeouts, initial_timeouts, spurious, classes } in self.ended {
            edit(flow, &mut |record| {
                (record.class.first, record.class.last) = classes;
                (record.retransmits, record.timeouts) = (retransmits, timeouts);
                record.initial_timeouts = initial_timeouts;
                record.spurious = record.spurious.saturating_add(spurious);
            });
        }
        outcome.flow_samples.append(&mut self.samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_kept_where_they_were_noted_even_at_time_zero() {
        let ends = CompletionTimes::new(3);
        ends.delivered(FlowId(1), Time(0));
        ends.completed(FlowId(2), Span(7));
        let before = ends.0.as_ptr() as usize;
        let times = ends.into_times();
        assert_eq!(times.as_ptr() as usize, before, "in place");
        let spans: Vec<_> = times.iter().map(|times| (times.fct.span(), times.fct_acked.span())).collect();
        assert_eq!(spans, [(None, None), (Some(Span(0)), None), (None, Some(Span(7)))]);
    }
}
