//! When flows were delivered, and how long they took their senders: written by hosts as it happens.

use std::sync::atomic::{AtomicU64, Ordering};

use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};

use crate::records::{Known, Times};

/// The ends of all flows.
///
/// One list for all hosts, whichever thread drives them: each word is written by one host, the flow's receiver or its sender,
/// and read when no thread is left.
#[derive(Debug, Default)]
pub(crate) struct Fates(Vec<Fate>);

/// What is known of a flow: from time zero to its delivery, and from its start to its end at the sender.
#[derive(Debug, Default)]
struct Fate {
    delivered: AtomicU64,
    elapsed: AtomicU64,
}

impl Fates {
    /// Of so many flows, none of which has ended.
    pub(crate) fn of(flows: usize) -> Self {
        Self((0..flows).map(|_| Fate::default()).collect())
    }

    /// The last byte of `flow` arrived at `at`, but for those that were given up.
    pub(crate) fn delivered(&self, flow: FlowId, at: Time) {
        note(&self.0[flow.index()].delivered, at.since(Time::ZERO));
    }

    /// The sender of `flow` reported its end, so long after its start.
    pub(crate) fn ended(&self, flow: FlowId, elapsed: Span) {
        note(&self.0[flow.index()].elapsed, elapsed);
    }

    /// All that is known, flow by flow, reckoned as it was noted.
    pub(crate) fn into_times(self) -> Vec<Times> {
        let known = |word: AtomicU64| Known::from_bits(word.into_inner());
        let times = |fate: Fate| Times { fct: known(fate.delivered), fct_acked: known(fate.elapsed) };
        // In place: both are as large, and a vector that is collected from another takes its memory.
        self.0.into_iter().map(times).collect()
    }
}

fn note(word: &AtomicU64, span: Span) {
    word.store(Known::from(Some(span)).bits(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_kept_where_they_were_noted_even_at_time_zero() {
        let fates = Fates::of(3);
        fates.delivered(FlowId(1), Time(0));
        fates.ended(FlowId(2), Span(7));
        let before = fates.0.as_ptr() as usize;
        let times = fates.into_times();
        assert_eq!(times.as_ptr() as usize, before, "in place");
        let spans: Vec<_> = times.iter().map(|times| (times.fct.span(), times.fct_acked.span())).collect();
        assert_eq!(spans, [(None, None), (Some(Span(0)), None), (None, Some(Span(7)))]);
    }
}
