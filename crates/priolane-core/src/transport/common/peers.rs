//! Measures paths and clocks of the peers of a real host; a simulator knows these values.
//!
//! ```text
//! rtt      the recent minimum, used as base delay of paths whose base delay is unknown
//! rate     bytes acknowledged in rounds in which every packet queued, at least a packet per base delay; the recent
//!          maximum is used as the path's rate
//! offset   one-way delay - rtt = clock offset - return delay. The recent maximum is that of an empty return path, and
//!          one-way delay - maximum + base return delay = one-way delay by one clock, however long packets queue
//! age      age of a token by two clocks, minus the recent minimum
//! ```
//!
//! *Recent* covers one to two periods. Clocks that drift by 100 ppm cause an error of 10 us in two periods of
//! offsets.

use rustc_hash::FxHashMap;

use super::Stamp;
use crate::endpoint::{BaseDelay, Clocks, LocalHost, Path, PathInfo, RealHost};
use crate::ids::HostId;
use crate::units::{Rate, Span, Time, bits_per_second};

/// Period of values that change with routes.
const PATH_PERIOD: Span = Span::from_ms(10_000);

/// Minimum period of values that change with clock drift; otherwise [`CLOCK_ROUND_TRIPS`] round trips.
const CLOCK_PERIOD: Span = Span::from_ms(50);
const CLOCK_ROUND_TRIPS: u64 = 8;

/// Bytes per base delay below which a round does not measure the path: with less than a packet in flight nothing of
/// this host queues. Its small messages and handshakes are answered late because hosts are busy.
const MIN_IN_FLIGHT: u64 = 1_000;

/// Assumed number of links of an unknown path: a switch between two hosts.
const UNKNOWN_HOPS: u32 = 2;

/// The extreme value over the last one to two periods, in some order.
#[derive(Clone, Copy, Debug)]
struct RecentExtreme<T> {
    /// Of the last period and this one together.
    both: T,
    this: T,
    began: Time,
}

impl<T: Copy> RecentExtreme<T> {
    /// Adds a value to `kept` and returns the extreme; `before(a, b)` is true if `a` is kept over `b`.
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

/// Returns true if `a` is the smaller of two stamp differences that are less than 2.2 s apart.
fn is_less(a: u32, b: u32) -> bool {
    Stamp::difference_ps(a.wrapping_sub(b)) < 0
}

/// Bytes acknowledged since a start time, and whether each ACK measured a queue.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    bytes: u64,
    queued: bool,
}

/// The measurements of a peer.
#[derive(Clone, Copy, Debug)]
struct Peer {
    rtt: Option<RecentExtreme<Span>>,
    rate: Option<RecentExtreme<u64>>,
    /// Round-trip time minus one-way delay, in ticks.
    offset: Option<RecentExtreme<u32>>,
    age: Option<RecentExtreme<u32>>,
    round: Round,
}

impl Peer {
    /// A host without any estimates.
    const NEW: Self = {
        let round = Round { began: Time::ZERO, bytes: 0, queued: false };
        Self { rtt: None, rate: None, offset: None, age: None, round }
    };
}

/// The path of a flow: the known parts, and the estimate that its sender uses.
#[derive(Clone, Copy, Debug)]
struct PeerPath {
    peer: u32,
    known: PathInfo,
    used: Path,
}

/// The measured peers of a host.
#[derive(Debug)]
pub(in crate::transport) struct Peers {
    line: Rate,
    real: Option<RealHost>,
    index: FxHashMap<HostId, u32>,
    peers: Vec<Peer>,
    /// Indexed by sender slot.
    ways: Vec<Option<PeerPath>>,
}

/// The measurement from an ACK.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Sample {
    pub(in crate::transport) now: Time,
    pub(in crate::transport) rtt: Span,
    /// Payload bytes acknowledged for the first time.
    pub(in crate::transport) acked: u64,
}

impl Peers {
    /// Creates the state of a host without measurements.
    pub(in crate::transport) fn new(host: &LocalHost) -> Self {
        let LocalHost { line, real, .. } = *host;
        Self { line, real, index: FxHashMap::default(), peers: Vec::new(), ways: Vec::new() }
    }

    /// Returns true on a real host, where there is something to measure.
    #[inline]
    pub(in crate::transport) fn is_measuring(&self) -> bool {
        self.real.is_some()
    }

    /// Returns the path to `dst`, with `known` from the driver completed by measurements.
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
            send_jitter: known.send_jitter,
        }
    }

    fn peer(&mut self, host: HostId) -> u32 {
        let next = self.peers.len() as u32;
        let peer = *self.index.entry(host).or_insert(next);
        if peer == next {
            self.peers.push(Peer::NEW);
        }
        peer
    }

    /// Discards all estimates of a host: another machine has taken its place.
    pub(in crate::transport) fn forget(&mut self, host: HostId) {
        if let Some(peer) = self.index.get(&host).and_then(|&peer| self.peers.get_mut(peer as usize)) {
            *peer = Peer::NEW;
        }
    }

    /// Records that a flow to `dst` was opened at sender slot `slot`; `known` is what the driver knows of its path.
    pub(in crate::transport) fn opened(&mut self, slot: u32, dst: HostId, known: PathInfo) {
        let peer = self.peer(dst);
        let used = self.path(dst, &known);
        let slot = slot as usize;
        if slot >= self.ways.len() {
            self.ways.resize(slot + 1, None);
        }
        self.ways[slot] = Some(PeerPath { peer, known, used });
    }

    /// Returns the base round-trip time to a host, if it was measured.
    pub(in crate::transport) fn base_rtt(&self, host: HostId) -> Option<Span> {
        let peer = self.peers.get(*self.index.get(&host)? as usize)?;
        peer.rtt.map(|rtt| rtt.both)
    }

    /// Records that the first reply of a host arrived `rtt` after the request.
    pub(in crate::transport) fn answered(&mut self, host: HostId, rtt: Span, now: Time) {
        let peer = self.peer(host);
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            RecentExtreme::take(&mut peer.rtt, rtt, (now, PATH_PERIOD), |a, b| a < b);
        }
    }

    /// Records an ACK for the flow at `slot`. Returns the path if it differs from the one that the sender uses by
    /// more than an eighth.
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
            // A round with little traffic tells nothing about the path.
            let fills = u128::from(round.bytes) * u128::from(least.0)
                >= u128::from(MIN_IN_FLIGHT) * u128::from(elapsed.0);
            if round.queued && fills && elapsed < least.times(64) {
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

    /// Returns the one-way delay of a packet of the flow at `slot`, relative to one clock, in picoseconds. The
    /// stamps of the two hosts are `ticks` apart, and the reply arrived `rtt` after the packet was sent.
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

    /// Returns how long a packet from `host` was in flight, in ticks, from the difference `ticks` of the stamps of
    /// the two hosts. If the clocks differ, the recent minimum is subtracted. As a signed number it is negative if
    /// the sender's clock is ahead.
    pub(in crate::transport) fn age(&mut self, host: HostId, ticks: u32, now: Time) -> u32 {
        let Some(RealHost { clocks: Clocks::Independent, .. }) = self.real else { return ticks };
        let peer = self.peer(host) as usize;
        let Some(peer) = self.peers.get_mut(peer) else { return ticks };
        ticks.wrapping_sub(RecentExtreme::take(&mut peer.age, ticks, (now, CLOCK_PERIOD), is_less))
    }
}

#[cfg(test)]
mod tests;
