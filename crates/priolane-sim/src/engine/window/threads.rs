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
//! Threads that wait long for each other, for example because another program uses a core, are slower than one thread.
//! A run therefore starts with at most as many threads as cores are idle (`cores.rs`). From time to time the first
//! thread compares the wall-clock time with the work of all threads (`pace.rs`). If one thread would be faster, the
//! first takes over all parts (docs/performance.md#several-threads). Clocks and idle cores decide which thread works,
//! never the outcome.

use std::num::NonZeroU8;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::barrier::{Barrier, BrokenBarrier};
use super::cores;
use super::exchange::{ExchangeBuffers, PartStatus, Request, locked};
use super::pace::{Advice, Clocks, SpeedCheck, Work};
use super::part::{Part, REPORT_EVERY, WindowOutcome};
use super::part_times::{PartTimer, PartTimes};
use crate::device::fabric::Fabric;
use crate::engine::stop::{CompletionCount, OnProgress};
use crate::observe::outcome::RunError;

/// The number of threads of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Maximum number of threads; limited by the number of racks.
    pub most: NonZeroU8,
    /// The condition on which one thread takes over from all others.
    pub fallback: Fallback,
}

/// The condition on which one thread takes over from several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// One thread takes over when several threads are slower than one would be.
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

    /// Returns the number of threads to start: as many as cores are idle, if one thread may take over where several
    /// are slower.
    pub(crate) fn to_start(self) -> usize {
        let most = usize::from(self.most.get());
        match self.fallback {
            Fallback::WhenSlower if most > 1 => cores::idle(most),
            Fallback::WhenSlower | Fallback::After(_) | Fallback::Never => most,
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::ONE
    }
}

/// State shared by all threads.
struct SharedState<'a, B> {
    fabric: &'a Fabric<'a>,
    parts: Vec<Mutex<Part<B>>>,
    buffers: [ExchangeBuffers<B>; 2],
    barrier: Barrier,
    fallback: Fallback,
}

impl<'a, B> SharedState<'a, B> {
    fn new(parts: Vec<Part<B>>, fabric: &'a Fabric<'a>, fallback: Fallback) -> Self {
        let count = parts.len();
        Self {
            fabric,
            parts: parts.into_iter().map(Mutex::new).collect(),
            buffers: [ExchangeBuffers::new(count), ExchangeBuffers::new(count)],
            barrier: Barrier::new(count),
            fallback,
        }
    }

    /// Returns the parts after the run, which was `interrupted` or not.
    fn into_parts(self, interrupted: Interrupted) -> Result<Vec<Part<B>>, RunError> {
        let own = |part: Mutex<Part<B>>| part.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut parts: Vec<Part<B>> = self.parts.into_iter().map(own).collect();
        if let Some(error) = parts.iter_mut().find_map(|part| part.sink.error.take()) {
            return Err(error);
        }
        if interrupted == Interrupted::Yes { Err(RunError::Interrupted) } else { Ok(parts) }
    }
}

/// Runs `parts` to the end of the run, and returns them.
pub(super) fn run<B: Body>(
    parts: Vec<Part<B>>,
    fabric: &Fabric,
    fallback: Fallback,
    progress: OnProgress,
) -> Result<Vec<Part<B>>, RunError> {
    let count = parts.len();
    let exchange = SharedState::new(parts, fabric, fallback);
    let mut interrupted = Interrupted::No;
    std::thread::scope(|scope| {
        for own in 1..count {
            let exchange = &exchange;
            scope.spawn(move || Worker::new(exchange, own).work(&mut |_| ControlFlow::Continue(())));
        }
        interrupted = Worker::new(&exchange, 0).work(progress);
    });
    exchange.into_parts(interrupted)
}

/// As [`run`], but this thread runs all parts in turn and measures them.
pub(super) fn run_in_turn<B: Body>(
    parts: Vec<Part<B>>,
    fabric: &Fabric,
    progress: OnProgress,
) -> Result<(Vec<Part<B>>, PartTimes), RunError> {
    let exchange = SharedState::new(parts, fabric, Fallback::Never);
    let mut timer = PartTimer::start(exchange.parts.len());
    let mut worker = Worker::new(&exchange, 0);
    worker.take_over();
    worker.timer = Some(&mut timer);
    let interrupted = worker.work(progress);
    let parts = exchange.into_parts(interrupted)?;
    Ok((parts, timer.finish()))
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
    pace: SpeedCheck,
    publish_work: PublishWork,
    /// Measures the parts, if requested.
    timer: Option<&'a mut PartTimer>,
    interrupted: Interrupted,
}

/// Whether the next status has the work since the last check of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PublishWork {
    No,
    Yes,
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

impl<'a, B: Body> Worker<'a, B> {
    fn new(exchange: &'a SharedState<'a, B>, own: usize) -> Self {
        let mine = vec![(own, locked(&exchange.parts[own]))];
        Self {
            exchange,
            own,
            mine,
            clocks: Clocks::start(),
            pace: SpeedCheck::START,
            publish_work: PublishWork::No,
            timer: None,
            interrupted: Interrupted::No,
        }
    }

    fn is_alone(&self) -> bool {
        self.mine.len() == self.exchange.parts.len()
    }

    /// Works until the run is over, or another thread takes over.
    fn work(mut self, progress: OnProgress) -> Interrupted {
        let guard = PanicGuard(&self.exchange.barrier);
        let mut next = 0;
        let mut request = Request::GoOn;
        for round in 0_u64.. {
            let buffers = &self.exchange.buffers[(round % 2) as usize];
            self.post(buffers, next, request);
            if self.wait_at_barrier().is_err() {
                break;
            }
            let consensus = buffers.consensus();
            self.merge(buffers, consensus.next);
            if !self.exchange.fabric.scenario.waits.is_empty() && self.agree_on_dependents(buffers).is_err() {
                break;
            }
            let stop = self.mine[0].1.sink.stop.stop_at();
            let Some(window) = consensus.next.filter(|&window| self.start_of(window) < stop) else { break };
            match consensus.request {
                Request::Stop => break,
                Request::OneOnly if self.own > 0 => break,
                Request::OneOnly => self.take_over(),
                Request::PublishWork => self.publish_work = PublishWork::Yes,
                Request::GoOn => {}
            }
            request = self.check_speedup(round, consensus.worked);
            if let Some(timer) = &mut self.timer {
                timer.exchanged();
            }
            for (_, part) in &mut self.mine {
                if part.live(self.exchange.fabric, window, stop) == WindowOutcome::UpToTheEnd
                    || part.sink.error.is_some()
                {
                    request = Request::Stop;
                }
                if let Some(timer) = &mut self.timer {
                    timer.lived();
                }
            }
            if round.is_multiple_of(REPORT_EVERY) {
                let now = self.start_of(window);
                if progress(self.mine[0].1.sink.stop.progress(now)) == ControlFlow::Break(()) {
                    (request, self.interrupted) = (Request::Stop, Interrupted::Yes);
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
    fn post(&mut self, buffers: &ExchangeBuffers<B>, from: u64, request: Request) {
        let worked = self.work_to_publish();
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
        self.clocks.waiting(|| self.exchange.barrier.wait())
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

    /// Returns the work since the last check of the clocks, if it was requested; else zero.
    fn work_to_publish(&mut self) -> Duration {
        match std::mem::replace(&mut self.publish_work, PublishWork::No) {
            PublishWork::No => Duration::ZERO,
            PublishWork::Yes => {
                let Work { wall, worked } = self.clocks.take_work();
                self.pace.published(wall);
                worked
            }
        }
    }

    /// Returns what the first thread requests of the others; `worked` is the work that all published in this round.
    fn check_speedup(&mut self, round: u64, worked: Duration) -> Request {
        if self.is_alone() || self.own > 0 {
            return Request::GoOn;
        }
        match self.exchange.fallback {
            Fallback::Never => Request::GoOn,
            Fallback::After(rounds) if round < rounds => Request::GoOn,
            Fallback::After(_) => Request::OneOnly,
            Fallback::WhenSlower => match self.pace.advise(self.clocks.elapsed(), worked) {
                Advice::GoOn => Request::GoOn,
                Advice::PublishWork => Request::PublishWork,
                Advice::OneThread => Request::OneOnly,
            },
        }
    }

    /// Takes over all parts: the other threads have released theirs, or will at once.
    fn take_over(&mut self) {
        for (own, part) in self.exchange.parts.iter().enumerate().skip(1) {
            self.mine.push((own, locked(part)));
        }
    }
}
