//! The window engine with several threads: each runs a part of the network, and all meet at a barrier once per window.
//!
//! Nodes run alone through a window on any thread, and arrivals are sorted when they are read. The outcome is
//! therefore the same to the bit for any number of threads.
//!
//! ```text
//! each thread, for its part   run through window w; find the next window with work for the part; put the packets for
//!                             other parts in that window into outboxes, and publish the status of the part
//! all                         wait at the barrier
//! each                        read all statuses: the next window of the run is the earliest of theirs; merge packets
//!                             sent to it, and restore those sent for a later window
//! ```
//!
//! There are two alternating sets of outboxes and statuses: a thread may start the next round before another has read
//! the first set.
//!
//! Threads that wait long for each other, for example because another program uses a core, are slower than one thread.
//! Every few thousand rounds the first thread therefore compares the wall-clock time with the total processor time
//! spent on windows. If the wall-clock time is larger twice in a row, the first thread takes over all parts
//! (docs/performance.md#several-threads). Clocks decide which thread works, never the outcome.
#![expect(clippy::disallowed_methods, reason = "clocks decide who works, never what comes out")]

use std::num::NonZeroU8;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::barrier::{Barrier, BrokenBarrier};
use super::calendar::Bucket;
use super::part::{Part, REPORT_EVERY, WindowOutcome};
use super::scheduler::Overflow;
use crate::device::fabric::Fabric;
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::engine::stop::{CompletionCount, OnProgress};
use crate::observe::outcome::RunError;

/// Rounds between two checks of the clocks.
const CHECK_EVERY: u64 = 4_096;

/// The number of threads of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Maximum number of threads; limited by the number of racks.
    pub most: NonZeroU8,
    /// When one thread takes over from all others.
    pub fallback: Fallback,
}

/// When one thread takes over from several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// When they are slower than one thread would be.
    #[default]
    WhenSlower,
    /// After this number of windows, whatever the clocks say: for tests.
    After(u64),
    /// Never: for measurements.
    Never,
}

impl Threads {
    /// A single thread.
    pub const ONE: Self = Self { most: NonZeroU8::MIN, fallback: Fallback::WhenSlower };

    /// Allows at most `most` threads.
    pub fn up_to(most: NonZeroU8) -> Self {
        Self { most, ..Self::ONE }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::ONE
    }
}

/// What one part sends to another.
struct Outbox<B> {
    /// The window of `bucket`.
    window: Option<u64>,
    bucket: Bucket<B>,
    far: Vec<Overflow<B>>,
    signals: Vec<DependencySignal>,
}

impl<B> Default for Outbox<B> {
    fn default() -> Self {
        Self { window: None, bucket: Bucket::default(), far: Vec::new(), signals: Vec::new() }
    }
}

/// What one part publishes to all others.
#[derive(Default)]
struct PartStatus {
    /// The next window in which it has work.
    next: Option<u64>,
    count: CompletionCount,
    reports: Vec<ScheduledReport>,
    request: StopRequest,
    /// Processor time spent on windows since the last check of the clocks.
    worked: Duration,
}

/// Which threads shall stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum StopRequest {
    #[default]
    GoOn,
    /// All but the first thread, which takes over all parts.
    OneOnly,
    /// All threads: the run ended in this window, an invariant was violated, or a stop was requested.
    All,
}

/// Buffers that exist twice.
struct ExchangeBuffers<B> {
    /// By source, then destination.
    outboxes: Vec<Mutex<Outbox<B>>>,
    statuses: Vec<Mutex<PartStatus>>,
}

/// State shared by all threads.
struct SharedState<'a, B> {
    fabric: &'a Fabric<'a>,
    parts: Vec<Mutex<Part<B>>>,
    buffers: [ExchangeBuffers<B>; 2],
    barrier: Barrier,
    fallback: Fallback,
}

/// The combined statuses of a round.
struct Consensus {
    next: Option<u64>,
    request: StopRequest,
    worked: Duration,
}

/// Runs `parts` to the end of the run, and returns them.
pub(super) fn run<B: Body>(
    parts: Vec<Part<B>>,
    fabric: &Fabric,
    fallback: Fallback,
    progress: OnProgress,
) -> Result<Vec<Part<B>>, RunError> {
    let count = parts.len();
    let buffers = || ExchangeBuffers {
        outboxes: (0..count * count).map(|_| Mutex::default()).collect(),
        statuses: (0..count).map(|_| Mutex::default()).collect(),
    };
    let exchange = SharedState {
        fabric,
        parts: parts.into_iter().map(Mutex::new).collect(),
        buffers: [buffers(), buffers()],
        barrier: Barrier::new(count),
        fallback,
    };
    let mut interrupted = Interrupted::No;
    std::thread::scope(|scope| {
        for own in 1..count {
            let exchange = &exchange;
            scope.spawn(move || Worker::new(exchange, own).work(&mut |_| ControlFlow::Continue(())));
        }
        interrupted = Worker::new(&exchange, 0).work(progress);
    });
    let own = |part: Mutex<Part<B>>| part.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut parts: Vec<Part<B>> = exchange.parts.into_iter().map(own).collect();
    if let Some(error) = parts.iter_mut().find_map(|part| part.sink.error.take()) {
        return Err(error);
    }
    if interrupted == Interrupted::Yes { Err(RunError::Interrupted) } else { Ok(parts) }
}

/// Whether `progress` requested a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupted {
    No,
    Yes,
}

/// A thread and the parts that it runs: its own, or all of them after a takeover.
struct Worker<'a, B> {
    exchange: &'a SharedState<'a, B>,
    own: usize,
    mine: Vec<(usize, MutexGuard<'a, Part<B>>)>,
    clocks: Clocks,
    /// Consecutive checks that found the threads slower than one.
    slower: u32,
    interrupted: Interrupted,
}

/// Clock values at the last check.
struct Clocks {
    wall: Instant,
    processor: ThreadTime,
    waited: Duration,
}

impl Clocks {
    fn new() -> Self {
        Self { wall: Instant::now(), processor: ThreadTime::now(), waited: Duration::ZERO }
    }
}

/// Breaks the barrier if its thread panics, so that the others do not wait forever.
struct PanicGuard<'a>(&'a Barrier);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, B: Body> Worker<'a, B> {
    fn new(exchange: &'a SharedState<'a, B>, own: usize) -> Self {
        let mine = vec![(own, locked(&exchange.parts[own]))];
        let (clocks, interrupted) = (Clocks::new(), Interrupted::No);
        Self { exchange, own, mine, clocks, slower: 0, interrupted }
    }

    fn is_alone(&self) -> bool {
        self.mine.len() == self.exchange.parts.len()
    }

    /// Works until the run is over, or another thread takes over.
    fn work(mut self, progress: OnProgress) -> Interrupted {
        let guard = PanicGuard(&self.exchange.barrier);
        let mut next = 0;
        let mut request = StopRequest::GoOn;
        for round in 0_u64.. {
            let buffers = &self.exchange.buffers[(round % 2) as usize];
            self.post(buffers, next, request, round);
            if self.wait_at_barrier().is_err() {
                break;
            }
            let consensus = read(buffers);
            self.merge(buffers, consensus.next);
            if !self.exchange.fabric.scenario.waits.is_empty() && self.agree_on_dependents(buffers).is_err() {
                break;
            }
            let stop = self.mine[0].1.sink.stop.stop_at();
            let Some(window) = consensus.next.filter(|&window| self.start_of(window) < stop) else { break };
            if consensus.request == StopRequest::All
                || (consensus.request == StopRequest::OneOnly && self.own > 0)
            {
                break;
            }
            if consensus.request == StopRequest::OneOnly {
                self.take_over();
            }
            request = self.check_speedup(round, consensus.worked);
            for (_, part) in &mut self.mine {
                if part.live(self.exchange.fabric, window, stop) == WindowOutcome::UpToTheEnd
                    || part.sink.error.is_some()
                {
                    request = StopRequest::All;
                }
            }
            if round.is_multiple_of(REPORT_EVERY) {
                let now = self.start_of(window);
                if progress(self.mine[0].1.sink.stop.progress(now)) == ControlFlow::Break(()) {
                    (request, self.interrupted) = (StopRequest::All, Interrupted::Yes);
                }
            }
            next = window + 1;
        }
        drop(guard);
        self.interrupted
    }

    fn start_of(&self, window: u64) -> Time {
        Time(window * self.mine[0].1.sink.length())
    }

    /// Fills outboxes and publishes statuses. The parts have no work before window `from`.
    fn post(&mut self, buffers: &ExchangeBuffers<B>, from: u64, request: StopRequest, round: u64) {
        let worked = match self.is_check(round + 1) {
            true => self.clocks.processor.elapsed().saturating_sub(self.clocks.waited),
            false => Duration::ZERO,
        };
        let parts = self.exchange.parts.len();
        for (own, part) in &mut self.mine {
            let wire = &mut part.sink;
            let signalled = wire.signals.iter().map(|signal| wire.window_of(signal.at)).min();
            let next = wire.next_window(from).into_iter().chain(signalled).min();
            for other in (0..parts).filter(|other| other != own) {
                let mut post = locked(&buffers.outboxes[*own * parts + other]);
                post.window = next;
                if let Some(window) = next {
                    std::mem::swap(&mut post.bucket, wire.bucket(other, window));
                }
                post.far.append(wire.remote_overflow(other));
            }
            let mut signals = std::mem::take(&mut wire.signals);
            for signal in signals.drain(..) {
                let to = self.exchange.fabric.scenario.topology.node_of(signal.to);
                let to = self.exchange.fabric.partition.part_of(to);
                locked(&buffers.outboxes[*own * parts + to]).signals.push(signal);
            }
            wire.signals = signals;
            let reports = std::mem::take(&mut wire.reports);
            *locked(&buffers.statuses[*own]) =
                PartStatus { next, count: wire.stop.own(), reports, request, worked };
        }
    }

    /// Waits for all other threads, if any.
    fn wait_at_barrier(&mut self) -> Result<(), BrokenBarrier> {
        if self.is_alone() {
            return Ok(());
        }
        let began = Instant::now();
        let met = self.exchange.barrier.wait();
        self.clocks.waited += began.elapsed();
        met
    }

    /// Merges the packets sent to these parts, and restores those they sent for a window that is not the next.
    fn merge(&mut self, buffers: &ExchangeBuffers<B>, next: Option<u64>) {
        let parts = self.exchange.parts.len();
        for (own, part) in &mut self.mine {
            for other in (0..parts).filter(|other| other != own) {
                let mut sent = locked(&buffers.outboxes[*own * parts + other]);
                if let Some(window) = sent.window.filter(|_| sent.window != next) {
                    std::mem::swap(&mut sent.bucket, part.sink.bucket(other, window));
                }
                drop(sent);
                let mut post = locked(&buffers.outboxes[other * parts + *own]);
                if let Some(window) = next.filter(|_| post.window == next) {
                    part.sink.merge(window, &mut post.bucket);
                }
                post.far.drain(..).for_each(|far| part.sink.keep_overflow(far));
            }
            let mut others = CompletionCount::default();
            for (source, status) in buffers.statuses.iter().enumerate() {
                let status = locked(status);
                status.reports.iter().for_each(|posted| part.sink.control_plane.post(posted.clone()));
                if source != *own {
                    others = others.and(status.count);
                }
            }
            part.sink.stop.set_others(others);
            for source in 0..parts {
                let mut post = locked(&buffers.outboxes[source * parts + *own]);
                let mut signals = std::mem::take(&mut post.signals);
                signals.drain(..).for_each(|signal| part.signal(self.exchange.fabric, &signal));
                post.signals = signals;
            }
        }
    }

    /// Exchanges the counts of dependent flows that signals have scheduled, before any thread checks whether all flows
    /// are done.
    fn agree_on_dependents(&mut self, buffers: &ExchangeBuffers<B>) -> Result<(), BrokenBarrier> {
        self.wait_at_barrier()?;
        for (own, part) in &self.mine {
            locked(&buffers.statuses[*own]).count = part.sink.stop.own();
        }
        self.wait_at_barrier()?;
        for (own, part) in &mut self.mine {
            let others = buffers.statuses.iter().enumerate().filter(|(source, _)| source != own);
            let others =
                others.fold(CompletionCount::default(), |sum, (_, status)| sum.and(locked(status).count));
            part.sink.stop.set_others(others);
        }
        Ok(())
    }

    /// Returns whether this round checks the clocks.
    fn is_check(&self, round: u64) -> bool {
        self.exchange.fallback == Fallback::WhenSlower
            && !self.is_alone()
            && round.is_multiple_of(CHECK_EVERY)
    }

    /// Returns what the first thread requests of the others; `worked` is their processor time as of this round.
    fn check_speedup(&mut self, round: u64, worked: Duration) -> StopRequest {
        if self.is_alone() {
            return StopRequest::GoOn;
        }
        let slow = match self.exchange.fallback {
            Fallback::Never => false,
            Fallback::After(rounds) => round >= rounds,
            Fallback::WhenSlower if self.is_check(round + 1) => {
                self.slower = if self.clocks.wall.elapsed() > worked { self.slower + 1 } else { 0 };
                self.clocks = Clocks::new();
                self.slower >= 2
            }
            Fallback::WhenSlower => false,
        };
        if slow && self.own == 0 { StopRequest::OneOnly } else { StopRequest::GoOn }
    }

    /// Takes over all parts: the other threads have released theirs, or will at once.
    fn take_over(&mut self) {
        for (own, part) in self.exchange.parts.iter().enumerate().skip(1) {
            self.mine.push((own, locked(part)));
        }
    }
}

/// Combines all statuses.
fn read<B>(buffers: &ExchangeBuffers<B>) -> Consensus {
    let mut consensus = Consensus { next: None, request: StopRequest::GoOn, worked: Duration::ZERO };
    for status in &buffers.statuses {
        let status = locked(status);
        consensus.next = consensus.next.into_iter().chain(status.next).min();
        consensus.request = consensus.request.max(status.request);
        consensus.worked += status.worked;
    }
    consensus
}
