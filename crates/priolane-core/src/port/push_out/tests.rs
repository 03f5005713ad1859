//! Push-out on small examples, and against a linear search over a list.

use super::*;
use crate::packet::{Marks, Packet};
use crate::port::tests::Log;
use crate::rng::{Purpose, Stream};
use crate::units::Limit;

const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns packet `id` of `class`, of `wire` bytes.
fn packet((class, id): (u8, u64), wire: u16) -> Packet<()> {
    let marks = Marks::ECN_CAPABLE;
    Packet { header: Header { class, rank: id, wire, marks, ..Header::default() }, body: () }
}

fn name(packet: &Packet<()>) -> (u8, u64) {
    (packet.header.class, packet.header.rank)
}

fn port(queues: u8, limit: Limit) -> PushOut<Packet<()>> {
    let buffer = Buffer { limit, limit_scope: Scope::Queue, ..Buffer::UNLIMITED };
    PushOut::new(queues, IDENTITY, SortBy::Class, buffer)
}

/// Offers a packet of 1000 bytes; returns the outcome and the evicted packets.
fn offer(port: &mut PushOut<Packet<()>>, packet: &Packet<()>) -> (Admission, Vec<(u8, u64)>) {
    let mut log = Log::default();
    let admission = port.enqueue(Time::ZERO, packet, &mut log);
    (admission, log.evicted.iter().map(|h| (h.class, h.rank)).collect())
}

fn drain(port: &mut PushOut<Packet<()>>) -> Vec<(u8, u64)> {
    std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(name)).collect()
}

#[test]
fn the_tail_of_the_worst_queue_makes_way() {
    let mut port = port(3, Limit::Packets(4));
    for (class, id) in [(2, 0), (1, 1), (2, 2), (1, 3)] {
        assert_eq!(offer(&mut port, &packet((class, id), 1000)), (Admission::Queued, vec![]));
    }
    assert_eq!(offer(&mut port, &packet((0, 4), 1000)), (Admission::Queued, vec![(2, 2)]));
    assert_eq!(offer(&mut port, &packet((1, 5), 1000)), (Admission::Queued, vec![(2, 0)]));
    assert_eq!(offer(&mut port, &packet((0, 6), 1000)), (Admission::Queued, vec![(1, 5)]));
    assert_eq!((port.packets(), port.bytes()), (4, 4000));
    assert_eq!(drain(&mut port), [(0, 4), (0, 6), (1, 1), (1, 3)]);
    assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
}

#[test]
fn equals_and_betters_do_not_make_way() {
    let mut port = port(3, Limit::Packets(2));
    offer(&mut port, &packet((1, 0), 1000));
    offer(&mut port, &packet((0, 1), 1000));
    assert_eq!(offer(&mut port, &packet((1, 2), 1000)), (Admission::Dropped, vec![]));
    assert_eq!(offer(&mut port, &packet((2, 3), 1000)), (Admission::Dropped, vec![]));
    // Classes 2 and 7 share the last queue, so they are equal.
    assert_eq!(offer(&mut port, &packet((0, 4), 1000)), (Admission::Queued, vec![(1, 0)]));
    assert_eq!(offer(&mut port, &packet((7, 5), 1000)), (Admission::Dropped, vec![]));
    assert_eq!(drain(&mut port), [(0, 1), (0, 4)]);
}

#[test]
fn as_many_make_way_as_the_bytes_need_and_none_in_vain() {
    let mut port = port(3, Limit::Bytes(3000));
    for (class, id, wire) in [(0, 0, 1400), (2, 1, 700), (2, 2, 100), (1, 3, 300)] {
        offer(&mut port, &packet((class, id), wire));
    }
    // 2500 of 3000 are used. 1600 needs 1100 more: 100 + 700 + 300, which fits exactly.
    assert_eq!(offer(&mut port, &packet((0, 4), 1601)), (Admission::Dropped, vec![]));
    assert_eq!(port.bytes(), 2500);
    let (admission, made_way) = offer(&mut port, &packet((0, 5), 1600));
    assert_eq!((admission, made_way), (Admission::Queued, vec![(2, 2), (2, 1), (1, 3)]));
    assert_eq!(port.bytes(), 3000);
}

#[test]
fn marks_count_what_is_left_after_the_eviction() {
    let limits = |mark_scope| Buffer {
        limit: Limit::Packets(3),
        limit_scope: Scope::Port,
        mark_above: Limit::Packets(2),
        mark_scope,
        ramp: None,
    };
    for (scope, expected) in [(Scope::Port, Admission::Marked), (Scope::Queue, Admission::Queued)] {
        let mut port = PushOut::new(2, IDENTITY, SortBy::Class, limits(scope));
        for id in 0..3 {
            port.enqueue(Time::ZERO, &packet((1, id), 1000), &mut ());
        }
        // Two of class 1 stay; the arriving packet is the third of the port and the first of its queue.
        assert_eq!(offer(&mut port, &packet((0, 3), 1000)), (expected, vec![(1, 2)]), "{scope:?}");
    }
}

/// Queued packets in order of arrival, searched linearly.
struct Model {
    queued: Vec<Packet<()>>,
    limit: Limit,
    queues: u8,
}

impl Model {
    fn queue(&self, packet: &Packet<()>) -> u8 {
        packet.header.class.min(self.queues - 1)
    }

    fn too_much(&self, kept: &[Packet<()>], one: &Packet<()>) -> bool {
        let bytes: u64 = kept.iter().chain([one]).map(|p| u64::from(p.header.wire)).sum();
        self.limit.is_exceeded(kept.len() as u32 + 1, bytes)
    }

    fn offer(&mut self, packet: &Packet<()>) -> (Admission, Vec<(u8, u64)>) {
        let (mut kept, mut made_way) = (self.queued.clone(), vec![]);
        while self.too_much(&kept, packet) {
            // Of equals, `max_by_key` takes the last: the latest of the worst queue.
            let worst = (0..kept.len()).max_by_key(|&i| self.queue(&kept[i]));
            match worst.filter(|&i| self.queue(&kept[i]) > self.queue(packet)) {
                Some(i) => made_way.push(name(&kept.remove(i))),
                None => return (Admission::Dropped, vec![]),
            }
        }
        kept.push(*packet);
        self.queued = kept;
        (Admission::Queued, made_way)
    }

    fn start(&mut self) -> Option<(u8, u64)> {
        let best = (0..self.queued.len()).min_by_key(|&i| self.queue(&self.queued[i]))?;
        Some(name(&self.queued.remove(best)))
    }
}

#[test]
fn random_arrivals_and_services_are_those_of_the_searched_list() {
    let mut evictions = 0;
    for seed in 0..60 {
        let mut draw = Stream::new(seed, Purpose::Ties, 0);
        let queues = 1 + draw.below(16) as u8;
        let limit = [Limit::Packets(12), Limit::Bytes(9_000)][seed as usize % 2];
        let mut port = port(queues, limit);
        let mut model = Model { queued: vec![], limit, queues };
        for id in 0..800 {
            if draw.chance(0.6) {
                let packet = packet((draw.below(16) as u8, id), 84 + draw.below(1455) as u16);
                let found = offer(&mut port, &packet);
                evictions += found.1.len();
                assert_eq!(found, model.offer(&packet), "seed {seed}");
            } else {
                assert_eq!(port.dequeue(Time::ZERO, &mut ()).map(name), model.start(), "seed {seed}");
            }
            let bytes: u64 = model.queued.iter().map(|p| u64::from(p.header.wire)).sum();
            assert_eq!((port.packets() as usize, port.bytes()), (model.queued.len(), bytes));
        }
    }
    assert!(evictions > 2_000, "{evictions}");
}

#[test]
fn what_worse_classes_send_costs_a_class_no_packet() {
    // Two ports receive the same class-0 stream; the second also receives three times as much of classes 1 to 7.
    let mut draw = Stream::new(5, Purpose::Ties, 0);
    let (mut alone, mut crowded) = (port(8, Limit::Packets(10)), port(8, Limit::Packets(10)));
    let (mut kept, mut dropped, mut evicted) = (0, 0, 0);
    for id in 0..20_000 {
        for _ in 0..draw.below(4) {
            evicted += offer(&mut crowded, &packet((1 + draw.below(7) as u8, id), 1000)).1.len();
        }
        if draw.chance(0.6) {
            let best = packet((0, id), 1000);
            let (admission, made_way) = offer(&mut crowded, &best);
            assert_eq!(admission, alone.enqueue(Time::ZERO, &best, &mut ()));
            assert!(made_way.iter().all(|&(class, _)| class > 0));
            evicted += made_way.len();
            *(if admission == Admission::Dropped { &mut dropped } else { &mut kept }) += 1;
        }
        if draw.chance(0.58) {
            let first = crowded.dequeue(Time::ZERO, &mut ()).map(name);
            let own = alone.dequeue(Time::ZERO, &mut ()).map(name);
            assert!(own.is_none() || own == first);
        }
    }
    assert!(kept > 10_000 && dropped > 100 && evicted > 1_000, "{kept} {dropped} {evicted}");
}
