//! The data that threads exchange between windows: packets for other parts, and the statuses of parts.
//!
//! There are two alternating sets of outboxes and statuses: a thread may start the next round before another has read
//! the first set.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::calendar::Bucket;
use super::scheduler::Overflow;
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::engine::stop::CompletionCount;

/// The packets that one part sends to another.
pub(super) struct Outbox<B> {
    /// The window of `bucket`.
    pub(super) window: Option<u64>,
    pub(super) bucket: Bucket<B>,
    pub(super) far: Vec<Overflow<B>>,
    pub(super) signals: Vec<DependencySignal>,
}

impl<B> Default for Outbox<B> {
    fn default() -> Self {
        Self { window: None, bucket: Bucket::default(), far: Vec::new(), signals: Vec::new() }
    }
}

/// The status that one part publishes to all others.
#[derive(Default)]
pub(super) struct PartStatus {
    /// The next window in which it has work.
    pub(super) next: Option<u64>,
    pub(super) count: CompletionCount,
    pub(super) reports: Vec<ScheduledReport>,
    pub(super) request: Request,
    /// Processor time of its thread's work since the last check of the clocks; zero unless requested.
    pub(super) worked: Duration,
}

/// The request of one thread to all others; the greatest request counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Request {
    #[default]
    GoOn,
    /// Publish the work since the last check of the clocks with the next status.
    PublishWork,
    /// All but the first thread stop; that one takes over all parts.
    OneOnly,
    /// All threads stop: the run ended in this window, an invariant was violated, or a stop was requested.
    Stop,
}

/// Buffers that exist twice.
pub(super) struct ExchangeBuffers<B> {
    /// By source, then destination.
    pub(super) outboxes: Vec<Mutex<Outbox<B>>>,
    pub(super) statuses: Vec<Mutex<PartStatus>>,
}

impl<B> ExchangeBuffers<B> {
    /// Creates the empty buffers of this number of parts.
    pub(super) fn new(parts: usize) -> Self {
        Self {
            outboxes: (0..parts * parts).map(|_| Mutex::default()).collect(),
            statuses: (0..parts).map(|_| Mutex::default()).collect(),
        }
    }

    /// Combines all statuses.
    pub(super) fn consensus(&self) -> Consensus {
        let mut consensus = Consensus { next: None, request: Request::GoOn, worked: Duration::ZERO };
        for status in &self.statuses {
            let status = locked(status);
            consensus.next = consensus.next.into_iter().chain(status.next).min();
            consensus.request = consensus.request.max(status.request);
            consensus.worked += status.worked;
        }
        consensus
    }
}

/// The combined statuses of a round.
pub(super) struct Consensus {
    pub(super) next: Option<u64>,
    pub(super) request: Request,
    pub(super) worked: Duration,
}

/// Locks a mutex. If another thread panicked with it, the run ends with that panic.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consensus_is_the_earliest_window_the_greatest_request_and_all_work() {
        let buffers = ExchangeBuffers::<()>::new(3);
        assert_eq!((buffers.outboxes.len(), buffers.statuses.len()), (9, 3));
        let consensus = |statuses: [(Option<u64>, Request, u64); 3]| {
            for (status, (next, request, worked)) in buffers.statuses.iter().zip(statuses) {
                *locked(status) = PartStatus {
                    next,
                    request,
                    worked: Duration::from_nanos(worked),
                    ..PartStatus::default()
                };
            }
            let Consensus { next, request, worked } = buffers.consensus();
            (next, request, worked.as_nanos())
        };
        use Request::{GoOn, OneOnly, PublishWork, Stop};
        assert_eq!(consensus([(None, GoOn, 0), (None, GoOn, 0), (None, GoOn, 0)]), (None, GoOn, 0));
        assert_eq!(
            consensus([(Some(7), GoOn, 1), (None, PublishWork, 20), (Some(5), GoOn, 300)]),
            (Some(5), PublishWork, 321)
        );
        assert_eq!(
            consensus([(Some(5), OneOnly, 1), (Some(6), PublishWork, 1), (Some(7), GoOn, 1)]),
            (Some(5), OneOnly, 3)
        );
        assert_eq!(consensus([(None, OneOnly, 0), (Some(9), Stop, 0), (None, GoOn, 4)]), (Some(9), Stop, 4));
    }
}
