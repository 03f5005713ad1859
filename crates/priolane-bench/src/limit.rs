//! Measures the yardstick: the cost of one ideal event per packet-hop on this machine.
//!
//! ```text
//! Y(N, F) = hold(N) + 3 touch(F)                                      [ns of thread CPU time per packet-hop]
//!
//! hold(N)   pop the earliest of N pending events of 32 bytes from a timing wheel, and push one with a later time
//! touch(F)  read, modify and write a random 64-byte line of F bytes, independent of the previous one
//! ```
//!
//! An engine that schedules each packet-hop once in a global order and accesses three cache lines of state for it (of a
//! port, a queue, an end of a flow) needs about Y. It is a yardstick, not a bound: an engine without a global event
//! order can need less.

use std::collections::BTreeMap;
use std::hint::black_box;

use cpu_time::ThreadTime;
use serde::Serialize;

/// Number of measurements of each part, of which the median is taken.
const REPEATS: usize = 5;
/// Hold operations per measurement.
const HOLDS: u64 = 400_000;
/// Memory accesses per measurement.
const TOUCHES: u64 = 2_000_000;
const LINE: usize = 64;

/// The size of a run, as input of the yardstick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// N: packets on links and armed timers, at a typical instant.
    pub pending: u32,
    /// F: working set of ports, queues and flows, in bytes.
    pub footprint: u32,
}

/// The yardstick and its parts, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// A hold operation with 1,000 pending events.
    pub hold_1e3: f64,
    /// A hold operation with 10,000 pending events.
    pub hold_1e4: f64,
    /// An access to a random cache line of 1.5 MiB.
    pub touch_1_5mib: f64,
    /// An access to a random cache line of 64 MiB.
    pub touch_64mib: f64,
    /// Y of each measured scenario, by name.
    #[serde(flatten)]
    pub yardsticks: BTreeMap<&'static str, f64>,
}

impl Limit {
    /// Measures the parts, and Y for each scenario, given by name and extent.
    pub fn measure(scenarios: impl Iterator<Item = (&'static str, Extent)>) -> Self {
        let mut parts = Parts::default();
        let yardsticks = scenarios.map(|(name, extent)| (name, parts.yardstick(extent))).collect();
        Self {
            hold_1e3: parts.hold(1_000),
            hold_1e4: parts.hold(10_000),
            touch_1_5mib: parts.touch(3 << 19),
            touch_64mib: parts.touch(64 << 20),
            yardsticks,
        }
    }
}

/// Cached measurements: each part is measured once, and Y is the sum of the reported parts.
#[derive(Debug, Default)]
struct Parts {
    holds: BTreeMap<u32, f64>,
    touches: BTreeMap<u32, f64>,
}

impl Parts {
    fn hold(&mut self, pending: u32) -> f64 {
        *self.holds.entry(pending).or_insert_with(|| median(|| hold(pending)))
    }

    fn touch(&mut self, footprint: u32) -> f64 {
        *self.touches.entry(footprint).or_insert_with(|| median(|| touch(footprint)))
    }

    /// Returns Y(N, F).
    fn yardstick(&mut self, extent: Extent) -> f64 {
        self.hold(extent.pending) + 3.0 * self.touch(extent.footprint)
    }
}

fn median(mut once: impl FnMut() -> f64) -> f64 {
    let mut all: [f64; REPEATS] = std::array::from_fn(|_| once());
    all.sort_by(f64::total_cmp);
    all[REPEATS / 2]
}

/// Returns the thread CPU time per operation of `work`, which performs `operations` of them, in nanoseconds.
fn per_operation(operations: u64, work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / operations as f64
}

/// An event: a unique key (time, sequence number) and a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    key: u128,
    carries: [u64; 2],
}

const _: () = assert!(size_of::<Event>() == 32);

impl Event {
    fn new(at: u64, number: u64) -> Self {
        Self { key: u128::from(at) << 64 | u128::from(number), carries: [number; 2] }
    }

    fn at(&self) -> u64 {
        (self.key >> 64) as u64
    }
}

const SLOTS: usize = 4096;
/// Range of the tick, as a power of two of a picosecond; the coarse ring must cover the longest timer.
const TICK_BITS: std::ops::RangeInclusive<u32> = 8..=20;

/// One level of the wheel: slots, and a bitmap of non-empty slots.
#[derive(Debug)]
struct Ring {
    slots: Vec<Vec<Event>>,
    filled: [u64; SLOTS / 64],
}

impl Ring {
    fn new() -> Self {
        Self { slots: vec![Vec::new(); SLOTS], filled: [0; SLOTS / 64] }
    }

    fn push(&mut self, slot: usize, event: Event) {
        self.slots[slot].push(event);
        self.filled[slot / 64] |= 1 << (slot % 64);
    }

    /// Returns the first non-empty slot at or after `from`.
    fn first_from(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = *self.filled.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.filled.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Swaps the slot with `other`, which is empty.
    fn take(&mut self, slot: usize, other: &mut Vec<Event>) {
        std::mem::swap(&mut self.slots[slot], other);
        self.filled[slot / 64] &= !(1 << (slot % 64));
    }
}

/// A two-level timing wheel: `near` has a slot per tick of the current page, `far` one per page of 4096 ticks. A slot
/// is sorted when its tick is reached.
#[derive(Debug)]
struct Wheel {
    near: Ring,
    far: Ring,
    /// Events of the ticks reached, the earliest last.
    open: Vec<Event>,
    spare: Vec<Event>,
    /// The tick after the last one reached.
    tick: u64,
    tick_bits: u32,
}

impl Wheel {
    fn new(tick_bits: u32) -> Self {
        let (near, far) = (Ring::new(), Ring::new());
        Self { near, far, open: Vec::new(), spare: Vec::new(), tick: 0, tick_bits }
    }

    #[inline]
    fn push(&mut self, event: Event) {
        let tick = event.at() >> self.tick_bits;
        let (page, slot) = (tick / SLOTS as u64, tick as usize % SLOTS);
        if tick < self.tick {
            let place = self.open.partition_point(|other| other.key > event.key);
            self.open.insert(place, event);
        } else if page == self.tick / SLOTS as u64 {
            self.near.push(slot, event);
        } else {
            self.far.push(page as usize % SLOTS, event);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        while self.open.is_empty() {
            self.advance()?;
        }
        self.open.pop()
    }

    /// Opens the next non-empty tick of this page, or turns to the next non-empty page.
    fn advance(&mut self) -> Option<()> {
        let page = self.tick / SLOTS as u64;
        if let Some(slot) = self.near.first_from(self.tick as usize % SLOTS) {
            self.near.take(slot, &mut self.open);
            self.open.sort_unstable_by_key(|event| std::cmp::Reverse(event.key));
            self.tick = page * SLOTS as u64 + slot as u64 + 1;
            // A tick past the page's last belongs to the next page, which must be turned to first.
            if self.tick.is_multiple_of(SLOTS as u64) {
                self.turn_to(page + 1);
            }
            return Some(());
        }
        let here = page as usize % SLOTS;
        let slot = self.far.first_from(here + 1).or_else(|| self.far.first_from(0))?;
        let ahead = (slot + SLOTS - here) % SLOTS;
        self.turn_to(page + ahead as u64);
        Some(())
    }

    fn turn_to(&mut self, page: u64) {
        self.tick = page * SLOTS as u64;
        let mut events = std::mem::take(&mut self.spare);
        self.far.take(page as usize % SLOTS, &mut events);
        for event in events.drain(..) {
            self.near.push((event.at() >> self.tick_bits) as usize % SLOTS, event);
        }
        self.spare = events;
    }
}

/// Delays in picoseconds and their frequencies in 1/2000: serialization of 1500 B at 100G and 10G and of a 64 B ACK at
/// 100G, each with and without a propagation delay of 1 us; and a timer of 1 ms.
const DELAYS: [(u64, u64); 7] = [
    (120_000, 500),
    (1_120_000, 500),
    (5_120, 200),
    (1_005_120, 300),
    (1_200_000, 200),
    (2_200_000, 299),
    (1_000_000_000, 1),
];

/// SplitMix64 of a counter: successive values have no data dependency.
#[inline]
fn mixed(counter: u64) -> u64 {
    let x = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[inline]
fn below(n: u64, counter: u64) -> u64 {
    ((u128::from(mixed(counter)) * u128::from(n)) >> 64) as u64
}

/// Returns the delays in random order, each as often as its frequency.
fn delays() -> Vec<u64> {
    let mut all: Vec<u64> =
        DELAYS.iter().flat_map(|&(delay, share)| std::iter::repeat_n(delay, share as usize)).collect();
    for i in (1..all.len()).rev() {
        all.swap(i, below(i as u64 + 1, i as u64) as usize);
    }
    all
}

/// Returns a wheel in steady state with `pending` events. A delay is pending with a probability proportional to its
/// frequency times its length, and its remaining time is uniform.
fn filled(pending: u32) -> Wheel {
    let long_term: u64 = DELAYS.iter().map(|(delay, share)| delay * share).sum();
    let mean_gap = long_term / 2_000 / u64::from(pending.max(1));
    // About four events per tick.
    let tick_bits = (4 * mean_gap).max(1).ilog2().clamp(*TICK_BITS.start(), *TICK_BITS.end());
    let mut wheel = Wheel::new(tick_bits);
    for number in 0..u64::from(pending) {
        let mut point = below(long_term, number);
        for (delay, share) in DELAYS {
            if point < delay * share {
                wheel.push(Event::new(point / share, number));
                break;
            }
            point -= delay * share;
        }
    }
    wheel
}

/// Measures a hold operation with `pending` events, in nanoseconds.
fn hold(pending: u32) -> f64 {
    let delays = delays();
    let mut wheel = filled(pending);
    let mut number = u64::from(pending);
    let mut operate = |operations: u64| {
        for (_, &delay) in (0..operations).zip(delays.iter().cycle()) {
            let Some(event) = wheel.pop() else { break };
            number += 1;
            wheel.push(Event { carries: event.carries, ..Event::new(event.at() + delay, number) });
        }
    };
    // The first round allocates the slots.
    operate(HOLDS);
    let ns = per_operation(HOLDS, || operate(HOLDS));
    black_box(&wheel);
    ns
}

/// Measures an independent access to a random cache line of `bytes` bytes, in nanoseconds.
fn touch(bytes: u32) -> f64 {
    let mut lines = vec![[1u64; LINE / 8]; (bytes as usize / LINE).max(1)];
    let count = lines.len() as u64;
    let mut operate = |from: u64| {
        for i in from..from + TOUCHES {
            let word = &mut lines[below(count, i) as usize][1];
            *word = word.wrapping_add(i);
        }
    };
    operate(0);
    let ns = per_operation(TOUCHES, || operate(TOUCHES));
    black_box(&lines);
    ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheel_yields_events_in_order_and_keeps_their_number() {
        for pending in [1, 10, 1_000, 30_000] {
            let delays = delays();
            let mut wheel = filled(pending);
            let mut last = None;
            for (number, delay) in (1 << 40..(1 << 40) + 200_000).zip(delays.iter().cycle()) {
                let event = wheel.pop().expect("as many events as at the start");
                assert!(Some(event.key) > last, "{event:?} after {last:?}, {pending} pending");
                last = Some(event.key);
                wheel.push(Event::new(event.at() + delay, number));
            }
            let left = std::iter::from_fn(|| wheel.pop()).count();
            assert_eq!(left, pending as usize);
        }
    }

    #[test]
    fn a_third_of_the_filled_wheel_is_timers() {
        // 1 ms x 1/2000 = 500 ns of 1,409 ns per cycle: 35 %, uniformly distributed over the millisecond.
        let mut wheel = filled(10_000);
        let late = std::iter::from_fn(|| wheel.pop()).filter(|event| event.at() > 2_200_000).count();
        assert!((3_300..3_800).contains(&late), "{late}");
    }

    #[test]
    fn yardstick_is_a_hold_and_three_touches_of_the_parts_told() {
        let extents = [("small", FABRIC), ("large", Extent { footprint: 64 << 20, ..FABRIC })];
        let limit = Limit::measure(extents.into_iter());
        assert_eq!(limit.yardsticks["small"], limit.hold_1e3 + 3.0 * limit.touch_1_5mib);
        assert_eq!(limit.yardsticks["large"], limit.hold_1e3 + 3.0 * limit.touch_64mib);
    }

    const FABRIC: Extent = Extent { pending: 1_000, footprint: 3 << 19 };

    #[test]
    fn delays_have_their_shares() {
        let delays = delays();
        assert_eq!(delays.len(), 2_000);
        assert_eq!(delays.iter().filter(|&&delay| delay == 1_120_000).count(), 500);
    }
}
