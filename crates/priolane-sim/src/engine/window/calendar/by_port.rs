//! The arrivals of a switch whose ports are independent, port by port.
//!
//! ```text
//! key   egress port (17) | time since the window began (24) | index of the entry (23)
//! ```
//!
//! A port then meets all its arrivals of a window in a row. Its data stays in the cache, and whether its line is idle, or its
//! queue empty, is easier to predict than in order of time, where ports alternate.

use priolane_core::ids::Class;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::{
    ArrivalBatch, ArrivalBatches, Bucket, CHUNK, Chunk, INGRESS_BITS, INSTANT_BITS, LOW_BITS, instant, low,
    rank, since_start,
};
use crate::device::path_selector::Visit;
use crate::engine::window::arrival_order;

/// Bits of an egress port, of which a switch has as many as ingress links.
const PORT_BITS: u32 = INGRESS_BITS;
const _: () = assert!(PORT_BITS + INSTANT_BITS + LOW_BITS == u64::BITS);

/// Bits of a key below its port.
const BELOW_PORT: u32 = INSTANT_BITS + LOW_BITS;

/// Returns the time since the window began.
#[inline]
fn since(key: u64) -> u64 {
    key >> LOW_BITS & ((1 << INSTANT_BITS) - 1)
}

impl<'a, B: Body> ArrivalBatch<'a, B> {
    /// Returns the arrivals before `end`, sorted by port and time; `port` finds the port of a packet, of which it keeps the 17
    /// lowest bits. All ports are found first, in no order, so that their cache misses overlap.
    #[inline]
    pub(in crate::engine::window) fn open_by_port(
        self,
        end: Time,
        mut port: impl FnMut(&Packet<B>, Visit) -> u32,
    ) -> ArrivalsByPort<'a, B> {
        let ArrivalBatches { bucket: Bucket { chunks, .. }, keys, start, ties, .. } = self.batches;
        // Slices, so that lengths and the start stay in registers.
        let (chunks, keys, start) = (&chunks[..], &mut keys[..], *start);
        let (mut heads, mut count) = (self.heads, 0);
        while let Some(chunk) = chunks.get(heads.place() / CHUNK) {
            let place = heads.place();
            let entry = &chunk[place % CHUNK];
            heads.turn(entry.tag);
            let since = since_start(entry.tag.wrapping_sub(instant(start)));
            let at = Time(start.0 + since);
            let port = port(&entry.packet, Visit { at, from: rank(entry.tag) });
            keys[count] = u64::from(port) << BELOW_PORT | since << LOW_BITS | place as u64;
            // Only the last window of a run has later arrivals.
            count += usize::from(at < end);
        }
        let keys = &mut keys[..count];
        if arrival_order::sort::<LOW_BITS>(keys) {
            let (node, ties) = (self.node, *ties);
            order_ties(keys, chunks, move |key, from, class| {
                ties.place((Time(start.0 + since(key)), node), from, class)
            });
        }
        ArrivalsByPort { keys, chunks, start }
    }
}

/// Orders the arrivals of each port and instant by `place`, of key, rank and class.
#[cold]
#[inline(never)]
fn order_ties<B: Body>(keys: &mut [u64], chunks: &[Chunk<B>], place: impl Fn(u64, u32, Class) -> u64) {
    for same in keys.chunk_by_mut(|&a, &b| a >> LOW_BITS == b >> LOW_BITS).filter(|same| same.len() > 1) {
        same.sort_unstable_by_key(|&key| {
            let entry = &chunks[low(key) / CHUNK][low(key) % CHUNK];
            let rank = rank(entry.tag);
            (place(key, rank, entry.packet.header.class), rank)
        });
    }
}

/// A switch's arrivals in a window by port, and those of each port in order of time; those of one instant are in the order
/// of `device/tie_order.rs`.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::window) struct ArrivalsByPort<'a, B> {
    keys: &'a [u64],
    chunks: &'a [Chunk<B>],
    start: Time,
}

impl<'a, B> ArrivalsByPort<'a, B> {
    /// Iterates over ports, times, and packets.
    #[inline]
    pub(in crate::engine::window) fn iter(self) -> impl Iterator<Item = (usize, Time, &'a Packet<B>)> {
        let Self { keys, chunks, start } = self;
        keys.iter().map(move |&key| {
            let place = low(key);
            let at = Time(start.0 + since(key));
            ((key >> BELOW_PORT) as usize, at, &chunks[place / CHUNK][place % CHUNK].packet)
        })
    }

    /// Iterates over ports, with repetitions.
    pub(in crate::engine::window) fn ports(self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|&key| (key >> BELOW_PORT) as usize)
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::ids::NodeId;
    use priolane_core::packet::Header;
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::units::Span;

    use super::super::{ChunkPool, MAX_LENGTH};
    use super::*;
    use crate::device::event_sink::Ingress;
    use crate::device::tie_order::TieOrder;

    const NODE: NodeId = NodeId(1);
    /// A window in which the lowest bits of the time wrap around.
    const START: Time = Time(5 * MAX_LENGTH - 20);

    /// Some packets have no port: their index is the largest.
    fn port(rank: u64) -> u32 {
        [u32::MAX, 0, 1, 70_000][(rank % 4) as usize]
    }

    /// Compared with a sorted list: few instants, so that most packets share theirs, and an end before some of them.
    #[test]
    fn each_port_meets_its_arrivals_before_the_end_in_order_of_time_and_ties() {
        let (mut draw, mut pool) = (Stream::new(4, Purpose::Ties, 0), ChunkPool::new(2));
        let ties = TieOrder::new(9);
        let (mut tied, mut late) = (0, 0);
        for round in 0..2_000 {
            let (mut bucket, mut expected) = (Bucket::<()>::default(), Vec::new());
            let end = START + Span(if round % 3 == 0 { 6 } else { MAX_LENGTH });
            for rank in 0..draw.below(40) {
                let (at, class) = (START + Span(draw.below(9)), draw.below(2) as Class);
                let packet = Packet { header: Header { rank, class, ..Header::default() }, body: () };
                let to = Ingress::new(NODE, rank as u32, 0);
                bucket.push(at, to, &packet, &mut pool);
                if at < end {
                    expected.push((port(rank), at.0, ties.place((at, NODE), rank as u32, class), rank));
                }
                late += u32::from(at >= end);
            }
            expected.sort_unstable();
            tied +=
                expected.windows(2).filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)).count();
            let mut batches = ArrivalBatches::new(ties);
            batches.distribute(bucket, START);
            let arrivals = batches.of(NODE).open_by_port(end, |packet, visit| {
                assert_eq!(u64::from(visit.from), packet.header.rank);
                port(packet.header.rank)
            });
            let index = |port: u32| (port & ((1 << PORT_BITS) - 1)) as usize;
            let expected: Vec<_> =
                expected.iter().map(|&(port, at, _, rank)| (index(port), at, rank)).collect();
            let found = arrivals.iter().map(|(port, at, packet)| (port, at.0, packet.header.rank));
            assert_eq!(found.collect::<Vec<_>>(), expected);
            assert!(arrivals.ports().eq(expected.iter().map(|&(port, ..)| port)));
            batches.take_bucket().end(&mut pool);
        }
        assert!(tied > 2_000 && late > 2_000, "{tied} {late}");
    }
}
