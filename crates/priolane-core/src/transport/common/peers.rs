//! What a real host measures of the hosts that its flows go to; in a simulator all of it is known.
//!
//! ```text
//! rtt      the least of late                                  -> the base of paths of which it is not known
//! rate     bytes acknowledged in rounds in which every packet queued, the most of late    -> as their rate
//! offset   one-way delay - rtt = offset of the clocks - way back: the most of late is that of an empty way back, and
//!          one-way delay - that + way back = one-way delay by one clock, however long packets queue on the way there
//! age      a token's age by two clocks, less the least of late
//! ```
//!
//! *Of late* is one to two periods. Clocks that drift by 100 ppm err by 10 us in two periods of offsets.

use rustc_hash::FxHashMap;

use super::Stamp;
use crate::endpoint::{BaseDelay, Clocks, LocalHost, Path, PathInfo, RealHost};
use crate::ids::HostId;
use crate::units::{Rate, Span, Time, bits_per_second};

/// Periods of what changes with routes.
const PATH_PERIOD: Span = Span::from_ms(10_000);

/// The least period of what changes as clocks drift; else so many round trips.
const CLOCK_PERIOD: Span = Span::from_ms(50);
const CLOCK_ROUND_TRIPS: u64 = 8;

/// Links of a path of which it is not known: a switch between two hosts.
const UNKNOWN_HOPS: u32 = 2;

/// The first of the values of one to two periods, in an order.
#[derive(Clone, Copy, Debug)]
struct RecentExtreme<T> {
    /// Of the period before this and of this one.
    both: T,
    this: T,
    began: Time,
}

impl<T: Copy> RecentExtreme<T> {
    /// Takes a value into `kept`; `before` says which of two is kept.
    fn take(
        kept: &mut Option<Self>,
        value: T,
        (now, period): (Time, Span),
        before: impl Fn(T, T) -> bool,
    ) -> T {
        let new = Self { both: value, this: value, began: now };
        let Some(old) = kept.filter(|old| now.since(old.began) < period.times(2)) else {
            *kept = Some(new);
            return value;
        };
        let mut next = if now.since(old.began) < period { old } else { Self { both: old.this, ..new } };
        for held in [&mut next.both, &mut next.this] {
            if before(value, *held) {
                *held = value;
            }
        }
        *kept = Some(next);
        next.both
    }
}

/// Whether `a` is the lesser of two differences of stamps that are less than 2.2 s apart.
fn is_less(a: u32, b: u32) -> bool {
    Stamp::difference_ps(a.wrapping_sub(b)) < 0
}

/// Bytes acknowledged since an instant, and whether each ACK found a queue.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    bytes: u64,
    queued: bool,
}

/// Another host.
#[derive(Clone, Copy, Debug)]
struct Peer {
    rtt: Option<RecentExtreme<Span>>,
    rate: Option<RecentExtreme<u64>>,
    /// Round-trip time less one-way delay, in ticks.
    offset: Option<RecentExtreme<u32>>,
    age: Option<RecentExtreme<u32>>,
    round: Round,
}

/// The path of a flow: what is known of it, and what its sender goes by.
#[derive(Clone, Copy, Debug)]
struct PeerPath {
    peer: u32,
    known: PathInfo,
    used: Path,
}

/// The other hosts.
#[derive(Debug)]
pub(in crate::transport) struct Peers {
    line: Rate,
    real: Option<RealHost>,
    index: FxHashMap<HostId, u32>,
    peers: Vec<Peer>,
    /// By the place of the flow among the senders.
    ways: Vec<Option<PeerPath>>,
}

/// What an ACK tells.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Sample {
    pub(in crate::transport) now: Time,
    pub(in crate::transport) rtt: Span,
    /// Payload bytes acknowledged for the first time.
    pub(in crate::transport) acked: u64,
}

impl Peers {
    /// Nothing measured yet.
    pub(in crate::transport) fn new(host: &LocalHost) -> Self {
        let LocalHost { line, real, .. } = *host;
        Self { line, real, index: FxHashMap::default(), peers: Vec::new(), ways: Vec::new() }
    }

    /// Whether there is anything to measure: on a real host.
    #[inline]
    pub(in crate::transport) fn is_measuring(&self) -> bool {
        self.real.is_some()
    }

    /// The path to `dst` of which the driver knows `known`.
    pub(in crate::transport) fn path(&self, dst: HostId, known: &PathInfo) -> Path {
        let peer = self.index.get(&dst).and_then(|&peer| self.peers.get(peer as usize));
        self.complete(peer, known)
    }

    fn complete(&self, peer: Option<&Peer>, known: &PathInfo) -> Path {
        let first = self.real.unwrap_or(const { RealHost::new(0) }).first_rtt;
        let measured = peer.and_then(|peer| peer.rtt).map_or(first, |rtt| rtt.both);
        let estimate = BaseDelay { one_way: Span(measured.0 / 2), round_trip: measured };
        let rate = || peer.and_then(|peer| peer.rate).and_then(|rate| Rate::from_bps(rate.both));
        let data = known.data.unwrap_or(estimate);
        Path {
            hops: known.hops.unwrap_or(UNKNOWN_HOPS),
            rate: known.rate.unwrap_or_else(|| rate().map_or(self.line, |rate| rate.min(self.line))),
            data,
            control: known.control.unwrap_or(data),
        }
    }

    fn peer(&mut self, host: HostId) -> u32 {
        let next = self.peers.len() as u32;
        let peer = *self.index.entry(host).or_insert(next);
        if peer == next {
            let round = Round { began: Time::ZERO, bytes: 0, queued: false };
            self.peers.push(Peer { rtt: None, rate: None, offset: None, age: None, round });
        }
        peer
    }

    /// A flow to `dst` opened at a place among the senders, on a path of which `known` is known.
    pub(in crate::transport) fn opened(&mut self, slot: u32, dst: HostId, known: PathInfo) {
        let peer = self.peer(dst);
        let used = self.path(dst, &known);
        let slot = slot as usize;
        if slot >= self.ways.len() {
            self.ways.resize(slot + 1, None);
        }
        self.ways[slot] = Some(PeerPath { peer, known, used });
    }

    /// The first answer of a host came `rtt` after it was called for.
    pub(in crate::transport) fn answered(&mut self, host: HostId, rtt: Span, now: Time) {
        let peer = self.peer(host);
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            RecentExtreme::take(&mut peer.rtt, rtt, (now, PATH_PERIOD), |a, b| a < b);
        }
    }

    /// An ACK for the flow at `slot` arrived: its path, if it is now known to be another than that which its sender goes by.
    pub(in crate::transport) fn acknowledged(&mut self, slot: u32, sample: Sample) -> Option<Path> {
        let way = (*self.ways.get(slot as usize)?)?;
        let peer = self.peers.get_mut(way.peer as usize)?;
        let Sample { now, rtt, acked } = sample;
        let least = RecentExtreme::take(&mut peer.rtt, rtt, (now, PATH_PERIOD), |a, b| a < b);
        peer.rate = peer.rate.filter(|rate| now.since(rate.began) < PATH_PERIOD.times(2));
        let round = &mut peer.round;
        round.bytes += acked;
        round.queued &= rtt.0 >= least.0 + least.0 / 2;
        let elapsed = now.since(round.began);
        if elapsed >= least.times(4) {
            // A round of silence says nothing of the path.
            if round.queued && elapsed < least.times(64) {
                let rate = bits_per_second(round.bytes, elapsed);
                RecentExtreme::take(&mut peer.rate, rate, (now, PATH_PERIOD), |a, b| a > b);
            }
            *round = Round { began: now, bytes: 0, queued: true };
        }
        let path = self.complete(self.peers.get(way.peer as usize), &way.known);
        let differs = |a: u64, b: u64| a.abs_diff(b) > b / 8;
        let old = way.used;
        if !differs(path.data.round_trip.0, old.data.round_trip.0)
            && !differs(path.rate.bps(), old.rate.bps())
        {
            return None;
        }
        self.ways[slot as usize] = Some(PeerPath { used: path, ..way });
        Some(path)
    }

    /// The one-way delay of a packet of the flow at `slot` by one clock, in picoseconds, where the stamps of its two ends are
    /// `ticks` apart and its answer was here `rtt` after it was sent.
    pub(in crate::transport) fn one_way(&mut self, slot: u32, ticks: u32, (now, rtt): (Time, Span)) -> i64 {
        let by_stamps = Stamp::difference_ps(ticks);
        let Some(RealHost { clocks: Clocks::Independent, .. }) = self.real else { return by_stamps };
        let Some(&Some(way)) = self.ways.get(slot as usize) else { return by_stamps };
        let Some(peer) = self.peers.get_mut(way.peer as usize) else { return by_stamps };
        let period = CLOCK_PERIOD.max(rtt.times(CLOCK_ROUND_TRIPS));
        let rest = Stamp::ticks(rtt).wrapping_sub(ticks);
        let offset = RecentExtreme::take(&mut peer.offset, rest, (now, period), is_less);
        let there_and_back = Stamp::difference_ps(ticks.wrapping_add(offset));
        let BaseDelay { one_way, round_trip } = way.used.data;
        there_and_back.saturating_sub_unsigned(round_trip.0.saturating_sub(one_way.0))
    }

    /// How long a packet from `host` was on its way, where the stamps of the two hosts are `ticks` apart, beyond the least of
    /// late if the clocks differ; ticks, below zero as a signed number where the sender's clock is ahead.
    pub(in crate::transport) fn age(&mut self, host: HostId, ticks: u32, now: Time) -> u32 {
        let Some(RealHost { clocks: Clocks::Independent, .. }) = self.real else { return ticks };
        let peer = self.peer(host) as usize;
        let Some(peer) = self.peers.get_mut(peer) else { return ticks };
        ticks.wrapping_sub(RecentExtreme::take(&mut peer.age, ticks, (now, CLOCK_PERIOD), is_less))
    }
}

#[cfg(test)]
mod tests;
