//! The yardstick: what one ideal event per packet-hop costs on this machine.
//!
//! `Y(N, F) = hold(N) + 3 touch(F)` nanoseconds: one hold operation (take the earliest of `N` pending events
//! of 32 bytes, put one back later) and three independent visits to a cache line of a state of `F` bytes.

use std::hint::black_box;

use cpu_time::ThreadTime;
use serde::Serialize;

/// How large a scenario is, as far as the yardstick is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeOf {
    /// Packets in flight and timers.
    pub(super) pending: usize,
    /// Bytes of ports, queues and flows that are visited.
    pub(super) state: usize,
}

/// The parts of the yardstick, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// A hold operation with 1,000 pending events.
    pub hold_1e3: f64,
    /// A hold operation with 10,000 pending events.
    pub hold_1e4: f64,
    /// A visit to a line of 1.5 MB.
    pub touch_1_5mb: f64,
    /// A visit to a line of 8 MB.
    pub touch_8mb: f64,
}

impl Limit {
    /// Measures all parts, each the median of five.
    pub(super) fn measure() -> Self {
        Self {
            hold_1e3: median(|| hold(1_000)),
            hold_1e4: median(|| hold(10_000)),
            touch_1_5mb: median(|| touch(3 << 19)),
            touch_8mb: median(|| touch(8 << 20)),
        }
    }

    /// The yardstick of a scenario, in nanoseconds per packet-hop.
    pub(super) fn yardstick(&self, size: SizeOf) -> f64 {
        let hold = if size.pending <= 3_000 { self.hold_1e3 } else { self.hold_1e4 };
        let touch = if size.state <= 4 << 20 { self.touch_1_5mb } else { self.touch_8mb };
        hold + 3.0 * touch
    }
}

fn median(mut once: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..5).map(|_| once()).collect();
    all.sort_by(f64::total_cmp);
    all[2]
}

/// An event: a key that orders totally, and a payload.
#[derive(Clone, Copy)]
struct Event {
    key: u128,
    payload: [u64; 2],
}

/// One level of buckets of a fixed tick, sorted when opened; enough for the delays below.
struct Wheel {
    buckets: Vec<Vec<Event>>,
    open: Vec<Event>,
    tick: u64,
}

const BUCKETS: u64 = 1 << 12;
/// Delays are drawn below 2^22 ps, so that 4096 buckets of 2^11 ps hold them twice over.
const TICK: u32 = 11;

impl Wheel {
    fn push(&mut self, event: Event) {
        let tick = (event.key >> 64) as u64 >> TICK;
        if tick <= self.tick {
            let place = self.open.partition_point(|other| other.key > event.key);
            self.open.insert(place, event);
        } else {
            self.buckets[(tick % BUCKETS) as usize].push(event);
        }
    }

    fn pop(&mut self) -> Event {
        loop {
            if let Some(event) = self.open.pop() {
                return event;
            }
            self.tick += 1;
            let bucket = &mut self.buckets[(self.tick % BUCKETS) as usize];
            std::mem::swap(&mut self.open, bucket);
            self.open.sort_unstable_by_key(|event| std::cmp::Reverse(event.key));
        }
    }
}

/// Delays of a data-centre fabric, in picoseconds: serialization of data and ACKs, with and without a link.
fn delays() -> Vec<u64> {
    let mix =
        [(120_000, 25), (1_120_000, 25), (5_120, 10), (1_005_120, 15), (1_200_000, 10), (2_200_000, 15)];
    let mut all: Vec<u64> = mix.iter().flat_map(|&(delay, share)| vec![delay; share * 40]).collect();
    let mut random = 1;
    for i in (1..all.len()).rev() {
        all.swap(i, (next(&mut random) % (i as u64 + 1)) as usize);
    }
    all
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Nanoseconds of a hold operation with `pending` events.
fn hold(pending: usize) -> f64 {
    const OPERATIONS: usize = 400_000;
    let delays = delays();
    let mut wheel = Wheel { buckets: vec![Vec::new(); BUCKETS as usize], open: Vec::new(), tick: 0 };
    let mut random = 7;
    for i in 0..pending as u64 {
        let at = next(&mut random) % 1_500_000 + 4_096;
        wheel.push(Event { key: u128::from(at) << 64 | u128::from(i), payload: [i, 0] });
    }
    let mut sequence = pending as u64;
    let mut once = |operations: usize| {
        let start = ThreadTime::now();
        for i in 0..operations {
            let event = wheel.pop();
            sequence += 1;
            let at = (event.key >> 64) as u64 + delays[i % delays.len()];
            wheel.push(Event { key: u128::from(at) << 64 | u128::from(sequence), payload: event.payload });
        }
        start.elapsed().as_secs_f64() * 1e9 / operations as f64
    };
    once(OPERATIONS / 4);
    once(OPERATIONS)
}

/// Nanoseconds of an independent visit to a random line of `bytes` of memory.
fn touch(bytes: usize) -> f64 {
    const OPERATIONS: usize = 2_000_000;
    let mut lines = vec![[0u64; 8]; bytes / 64];
    let mut random = 99;
    let mut once = |operations: usize| {
        let start = ThreadTime::now();
        for _ in 0..operations {
            let place = ((u128::from(next(&mut random)) * lines.len() as u128) >> 64) as usize;
            lines[place][1] += 1;
        }
        start.elapsed().as_secs_f64() * 1e9 / operations as f64
    };
    once(OPERATIONS / 4);
    let ns = once(OPERATIONS);
    black_box(&lines);
    ns
}
