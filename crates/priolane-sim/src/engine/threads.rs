//! The window engine on several threads: each drives a part of the network, and all meet once per window.
//!
//! Nodes live through a window alone, whoever drives them, and arrivals are put in order when they are read: the outcome is
//! the same for any number of threads, to the bit.
//!
//! ```text
//! each thread, for its part        live through window w; find the next window in which the part has anything to do;
//!                                  post what that window holds for other parts, and a notice
//! all                              meet
//! each                             read all notices: the next window of the run is the least of theirs; take in what was
//!                                  posted for it, and back what was posted for a later one
//! ```
//!
//! Posts and notices are kept twice and used in turns, as a thread may be back before another has read them.
//!
//! Threads that wait much for each other, as where another program wants a core, are slower than one: now and then the first
//! compares the time that went by with the processor time that all spent on windows together, and where it exceeds that
//! twice in a row takes all parts over (docs/performance.md#several-threads). Clocks decide who works and never what comes
//! out.
#![expect(clippy::disallowed_methods, reason = "clocks decide who works, never what comes out")]

use std::num::NonZeroU8;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::barrier::{Barrier, Broken};
use super::mail::Far;
use super::part::{Part, REPORT_EVERY, WindowOutcome};
use super::sheaf::Sheaf;
use super::stop::{CompletionCount, OnProgress};
use crate::node::fabric::Fabric;
use crate::node::messages::{DependencySignal, ScheduledReport};
use crate::outcome::RunError;

/// Rounds between two looks at the clocks.
const CHECK_EVERY: u64 = 4_096;

/// How many threads a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// At most so many; no more than there are racks.
    pub most: NonZeroU8,
    /// When one takes over from all.
    pub fallback: Fallback,
}

/// When one thread takes over from several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// When they are slower than one would be.
    #[default]
    WhenSlower,
    /// After so many windows, whatever clocks say: for tests.
    After(u64),
    /// Never: for measurements.
    Never,
}

impl Threads {
    /// One thread.
    pub const ONE: Self = Self { most: NonZeroU8::MIN, fallback: Fallback::WhenSlower };

    /// At most `most` threads.
    pub fn up_to(most: NonZeroU8) -> Self {
        Self { most, ..Self::ONE }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::ONE
    }
}

/// What one part posts for another.
struct Post<B> {
    /// The window that `sheaf` is for.
    window: Option<u64>,
    sheaf: Sheaf<B>,
    far: Vec<Far<B>>,
    signals: Vec<DependencySignal>,
}

impl<B> Default for Post<B> {
    fn default() -> Self {
        Self { window: None, sheaf: Sheaf::default(), far: Vec::new(), signals: Vec::new() }
    }
}

/// What one part tells all.
#[derive(Default)]
struct Notice {
    /// The next window in which it has anything to do.
    next: Option<u64>,
    count: CompletionCount,
    reports: Vec<ScheduledReport>,
    halt: Halt,
    /// Processor time spent on windows since the clocks were last looked at.
    worked: Duration,
}

/// Whether all are to stop, or all but the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Halt {
    #[default]
    GoOn,
    /// The first thread takes all parts.
    OneOnly,
    /// The run is over: it came to its end in this window, an invariant broke, or somebody asked.
    All,
}

/// What is kept twice.
struct Board<B> {
    /// By source, then destination.
    posts: Vec<Mutex<Post<B>>>,
    notices: Vec<Mutex<Notice>>,
}

/// What all threads share.
struct Exchange<'a, B> {
    fabric: &'a Fabric<'a>,
    parts: Vec<Mutex<Part<B>>>,
    boards: [Board<B>; 2],
    barrier: Barrier,
    fallback: Fallback,
}

/// What all notices of a round come to.
struct Agreed {
    next: Option<u64>,
    halt: Halt,
    worked: Duration,
}

/// Runs `parts` to the end of the run, and gives them back.
pub(super) fn run<B: Body>(
    parts: Vec<Part<B>>,
    fabric: &Fabric,
    fallback: Fallback,
    progress: OnProgress,
) -> Result<Vec<Part<B>>, RunError> {
    let count = parts.len();
    let board = || Board {
        posts: (0..count * count).map(|_| Mutex::default()).collect(),
        notices: (0..count).map(|_| Mutex::default()).collect(),
    };
    let exchange = Exchange {
        fabric,
        parts: parts.into_iter().map(Mutex::new).collect(),
        boards: [board(), board()],
        barrier: Barrier::new(count),
        fallback,
    };
    let mut interrupted = Interrupted::No;
    std::thread::scope(|scope| {
        for own in 1..count {
            let exchange = &exchange;
            scope.spawn(move || Hand::new(exchange, own).work(&mut |_| ControlFlow::Continue(())));
        }
        interrupted = Hand::new(&exchange, 0).work(progress);
    });
    let own = |part: Mutex<Part<B>>| part.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut parts: Vec<Part<B>> = exchange.parts.into_iter().map(own).collect();
    if let Some(error) = parts.iter_mut().find_map(|part| part.wire.error.take()) {
        return Err(error);
    }
    if interrupted == Interrupted::Yes { Err(RunError::Interrupted) } else { Ok(parts) }
}

/// Whether `progress` asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupted {
    No,
    Yes,
}

/// One thread, and the parts that it drives: its own, or all of them once it is alone.
struct Hand<'a, B> {
    exchange: &'a Exchange<'a, B>,
    own: usize,
    mine: Vec<(usize, MutexGuard<'a, Part<B>>)>,
    clocks: Clocks,
    /// Looks at the clocks in a row that found the threads slower than one.
    slower: u32,
    interrupted: Interrupted,
}

/// When the last round of checks began.
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

/// Breaks the barrier if its thread panics, so that the others do not wait for ever.
struct Alarm<'a>(&'a Barrier);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, B: Body> Hand<'a, B> {
    fn new(exchange: &'a Exchange<'a, B>, own: usize) -> Self {
        let mine = vec![(own, locked(&exchange.parts[own]))];
        let (clocks, interrupted) = (Clocks::new(), Interrupted::No);
        Self { exchange, own, mine, clocks, slower: 0, interrupted }
    }

    fn is_alone(&self) -> bool {
        self.mine.len() == self.exchange.parts.len()
    }

    /// Works until the run is over, or another thread takes over.
    fn work(mut self, progress: OnProgress) -> Interrupted {
        let alarm = Alarm(&self.exchange.barrier);
        let mut next = 0;
        let mut halt = Halt::GoOn;
        for round in 0_u64.. {
            let board = &self.exchange.boards[(round % 2) as usize];
            self.post(board, next, halt, round);
            if self.meet().is_err() {
                break;
            }
            let agreed = read(board);
            self.take_in(board, agreed.next);
            if !self.exchange.fabric.scenario.waits.is_empty() && self.agree_on_dependents(board).is_err() {
                break;
            }
            let stop = self.mine[0].1.wire.stop.stop_at();
            let Some(window) = agreed.next.filter(|&window| self.start_of(window) < stop) else { break };
            if agreed.halt == Halt::All || (agreed.halt == Halt::OneOnly && self.own > 0) {
                break;
            }
            if agreed.halt == Halt::OneOnly {
                self.take_over();
            }
            halt = self.judge(round, agreed.worked);
            for (_, part) in &mut self.mine {
                if part.live(self.exchange.fabric, window, stop) == WindowOutcome::UpToTheEnd
                    || part.wire.error.is_some()
                {
                    halt = Halt::All;
                }
            }
            if round.is_multiple_of(REPORT_EVERY) {
                let now = self.start_of(window);
                if progress(self.mine[0].1.wire.stop.progress(now)) == ControlFlow::Break(()) {
                    (halt, self.interrupted) = (Halt::All, Interrupted::Yes);
                }
            }
            next = window + 1;
        }
        drop(alarm);
        self.interrupted
    }

    fn start_of(&self, window: u64) -> Time {
        Time(window * self.mine[0].1.wire.length())
    }

    /// Posts what the parts have for others, and their notices. They have nothing to do before window `from`.
    fn post(&mut self, board: &Board<B>, from: u64, halt: Halt, round: u64) {
        let worked = match self.is_check(round + 1) {
            true => self.clocks.processor.elapsed().saturating_sub(self.clocks.waited),
            false => Duration::ZERO,
        };
        let parts = self.exchange.parts.len();
        for (own, part) in &mut self.mine {
            let wire = &mut part.wire;
            let signalled = wire.signals.iter().map(|signal| wire.window_of(signal.at)).min();
            let next = wire.next_window(from).into_iter().chain(signalled).min();
            for other in (0..parts).filter(|other| other != own) {
                let mut post = locked(&board.posts[*own * parts + other]);
                post.window = next;
                if let Some(window) = next {
                    std::mem::swap(&mut post.sheaf, wire.sheaf(other, window));
                }
                post.far.append(wire.far_abroad(other));
            }
            let mut signals = std::mem::take(&mut wire.signals);
            for signal in signals.drain(..) {
                let to = self.exchange.fabric.scenario.topology.node_of(signal.to);
                let to = self.exchange.fabric.partition.part_of(to);
                locked(&board.posts[*own * parts + to]).signals.push(signal);
            }
            wire.signals = signals;
            let reports = std::mem::take(&mut wire.reports);
            *locked(&board.notices[*own]) = Notice { next, count: wire.stop.own(), reports, halt, worked };
        }
    }

    /// Waits for all, if there are others.
    fn meet(&mut self) -> Result<(), Broken> {
        if self.is_alone() {
            return Ok(());
        }
        let began = Instant::now();
        let met = self.exchange.barrier.wait();
        self.clocks.waited += began.elapsed();
        met
    }

    /// Takes in what was posted for these parts, and back what they posted for a window that is not the next.
    fn take_in(&mut self, board: &Board<B>, next: Option<u64>) {
        let parts = self.exchange.parts.len();
        for (own, part) in &mut self.mine {
            for other in (0..parts).filter(|other| other != own) {
                let mut sent = locked(&board.posts[*own * parts + other]);
                if let Some(window) = sent.window.filter(|_| sent.window != next) {
                    std::mem::swap(&mut sent.sheaf, part.wire.sheaf(other, window));
                }
                drop(sent);
                let mut post = locked(&board.posts[other * parts + *own]);
                if let Some(window) = next.filter(|_| post.window == next) {
                    part.wire.take_in(window, &mut post.sheaf);
                }
                post.far.drain(..).for_each(|far| part.wire.keep_far(far));
            }
            let mut others = CompletionCount::default();
            for (source, notice) in board.notices.iter().enumerate() {
                let notice = locked(notice);
                notice.reports.iter().for_each(|posted| part.wire.control_plane.post(posted.clone()));
                if source != *own {
                    others = others.and(notice.count);
                }
            }
            part.wire.stop.told(others);
            for source in 0..parts {
                let mut post = locked(&board.posts[source * parts + *own]);
                let mut signals = std::mem::take(&mut post.signals);
                signals.drain(..).for_each(|signal| part.signal(self.exchange.fabric, &signal));
                post.signals = signals;
            }
        }
    }

    /// Signals may have scheduled flows: all must know how many before anyone asks whether all flows are done.
    fn agree_on_dependents(&mut self, board: &Board<B>) -> Result<(), Broken> {
        self.meet()?;
        for (own, part) in &self.mine {
            locked(&board.notices[*own]).count = part.wire.stop.own();
        }
        self.meet()?;
        for (own, part) in &mut self.mine {
            let others = board.notices.iter().enumerate().filter(|(source, _)| source != own);
            let others =
                others.fold(CompletionCount::default(), |sum, (_, notice)| sum.and(locked(notice).count));
            part.wire.stop.told(others);
        }
        Ok(())
    }

    /// Whether clocks are looked at in this round.
    fn is_check(&self, round: u64) -> bool {
        self.exchange.fallback == Fallback::WhenSlower
            && !self.is_alone()
            && round.is_multiple_of(CHECK_EVERY)
    }

    /// What the first thread asks of the others; `worked` is their processor time as of this round.
    fn judge(&mut self, round: u64, worked: Duration) -> Halt {
        if self.is_alone() {
            return Halt::GoOn;
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
        if slow && self.own == 0 { Halt::OneOnly } else { Halt::GoOn }
    }

    /// Drives all parts from now on: the others have let go of theirs, or will at once.
    fn take_over(&mut self) {
        for (own, part) in self.exchange.parts.iter().enumerate().skip(1) {
            self.mine.push((own, locked(part)));
        }
    }
}

/// What all notices come to.
fn read<B>(board: &Board<B>) -> Agreed {
    let mut agreed = Agreed { next: None, halt: Halt::GoOn, worked: Duration::ZERO };
    for notice in &board.notices {
        let notice = locked(notice);
        agreed.next = agreed.next.into_iter().chain(notice.next).min();
        agreed.halt = agreed.halt.max(notice.halt);
        agreed.worked += notice.worked;
    }
    agreed
}
