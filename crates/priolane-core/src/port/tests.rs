//! Property 1 (strict priority, conservation), 4 (order within a queue) and the limits, on small examples.

use super::limiter::RateLimited;
use super::*;
use crate::ids::CLASSES;
use crate::packet::{Header, Marks, Packet};
use crate::units::{Limit, Rate, Time};

const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn packet(class: u8, id: u64) -> Packet<()> {
    let marks = Marks::ECN_CAPABLE;
    Packet { header: Header { class, rank: id, wire: 1000, marks, ..Header::default() }, body: () }
}

fn drain(port: &mut impl Discipline<Packet<()>>) -> Vec<(u8, u64)> {
    std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|p| (p.header.class, p.header.rank)))
        .collect()
}

/// The packets that a port reported to its sink, by header.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) evicted: Vec<Header>,
    /// Headers before and after.
    pub(super) trimmed: Vec<(Header, Header)>,
    pub(super) returned: Vec<Header>,
    pub(super) expired: Vec<Header>,
}

impl PortSink<Packet<()>> for Log {
    fn evicted(&mut self, packet: &Packet<()>) {
        self.evicted.push(packet.header);
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        self.trimmed.push((*before, *after));
    }

    fn returned(&mut self, packet: &Packet<()>) {
        self.returned.push(packet.header);
    }

    fn expired(&mut self, packet: &Packet<()>) {
        self.expired.push(packet.header);
    }
}

#[test]
fn strict_serves_the_best_class_and_keeps_order_within_it() {
    let mut port = Strict::new(8, IDENTITY, SortBy::Class, Buffer::UNLIMITED);
    for (class, id) in [(3, 0), (1, 1), (3, 2), (0, 3), (1, 4)] {
        assert_eq!(port.enqueue(Time::ZERO, &packet(class, id), &mut ()), Admission::Queued);
    }
    assert_eq!((port.packets(), port.bytes()), (5, 5000));
    assert_eq!(drain(&mut port), [(0, 3), (1, 1), (1, 4), (3, 0), (3, 2)]);
    assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
}

#[test]
fn classes_beyond_the_last_queue_share_it() {
    let mut port = Strict::new(3, IDENTITY, SortBy::Class, Buffer::UNLIMITED);
    for (class, id) in [(7, 0), (2, 1), (0, 2), (1, 3)] {
        port.enqueue(Time::ZERO, &packet(class, id), &mut ());
    }
    assert_eq!(drain(&mut port), [(0, 2), (1, 3), (7, 0), (2, 1)]);
}

#[test]
fn a_transmit_queue_sorts_by_host_level() {
    let mut port = Strict::new(8, IDENTITY, SortBy::HostLevel, Buffer::UNLIMITED);
    let mut low = packet(0, 1);
    low.header.host_level = 5;
    port.enqueue(Time::ZERO, &low, &mut ());
    port.enqueue(Time::ZERO, &packet(1, 2), &mut ());
    assert_eq!(drain(&mut port), [(1, 2), (0, 1)]);
}

#[test]
fn a_shared_buffer_lets_low_priority_crowd_out_high_a_split_one_does_not() {
    let buffer = |limit_scope| Buffer { limit: Limit::Packets(2), limit_scope, ..Buffer::UNLIMITED };
    for (scope, expected) in [(Scope::Port, Admission::Dropped), (Scope::Queue, Admission::Queued)] {
        let mut port = Strict::new(2, IDENTITY, SortBy::Class, buffer(scope));
        port.enqueue(Time::ZERO, &packet(1, 0), &mut ());
        port.enqueue(Time::ZERO, &packet(1, 1), &mut ());
        assert_eq!(port.enqueue(Time::ZERO, &packet(0, 2), &mut ()), expected, "{scope:?}");
    }
}

#[test]
fn bytes_that_left_make_room() {
    // Two packets of 1,000 B fill the buffer.
    let mut port = Fifo::new(Buffer { limit: Limit::Bytes(2_000), ..Buffer::UNLIMITED });
    for id in 0..10 {
        assert_eq!(port.enqueue(Time::ZERO, &packet(0, 2 * id), &mut ()), Admission::Queued, "{id}");
        assert_eq!(port.enqueue(Time::ZERO, &packet(0, 2 * id + 1), &mut ()), Admission::Queued, "{id}");
        assert_eq!(port.enqueue(Time::ZERO, &packet(0, 99), &mut ()), Admission::Dropped, "{id}");
        assert_eq!(port.bytes(), 2_000);
        assert_eq!(drain(&mut port).len(), 2);
    }
    assert_eq!(port.bytes(), 0);
}

#[test]
fn marks_start_above_the_threshold_with_the_arriving_packet_counted() {
    let buffer = Buffer { mark_above: Limit::Packets(2), ..Buffer::UNLIMITED };
    let mut port = Fifo::new(buffer);
    let seen: Vec<_> = (0..4).map(|id| port.enqueue(Time::ZERO, &packet(0, id), &mut ())).collect();
    assert_eq!(seen, [Admission::Queued, Admission::Queued, Admission::Marked, Admission::Marked]);
    let congested = std::iter::from_fn(|| {
        port.dequeue(Time::ZERO, &mut ()).map(|p| p.header.marks.has(Marks::CONGESTED))
    });
    assert_eq!(congested.collect::<Vec<_>>(), [false, false, true, true]);

    let mut bytes = Fifo::new(Buffer { mark_above: Limit::Bytes(1999), ..Buffer::UNLIMITED });
    let seen: Vec<_> = (0..2).map(|id| bytes.enqueue(Time::ZERO, &packet(0, id), &mut ())).collect();
    assert_eq!(seen, [Admission::Queued, Admission::Marked]);
}

#[test]
fn only_ecn_capable_packets_are_marked() {
    let mut port = Fifo::new(Buffer { mark_above: Limit::Packets(0), ..Buffer::UNLIMITED });
    let mut deaf = packet(0, 0);
    deaf.header.marks = Marks::none();
    assert_eq!(port.enqueue(Time::ZERO, &deaf, &mut ()), Admission::Queued);
    assert_eq!(port.enqueue(Time::ZERO, &packet(0, 1), &mut ()), Admission::Marked);
}

#[test]
fn marking_per_queue_ignores_the_other_queues() {
    let buffer = Buffer { mark_above: Limit::Packets(1), mark_scope: Scope::Queue, ..Buffer::UNLIMITED };
    let mut port = Strict::new(2, IDENTITY, SortBy::Class, buffer);
    port.enqueue(Time::ZERO, &packet(1, 0), &mut ());
    assert_eq!(port.enqueue(Time::ZERO, &packet(0, 1), &mut ()), Admission::Queued);
    assert_eq!(port.enqueue(Time::ZERO, &packet(0, 2), &mut ()), Admission::Marked);
}

#[test]
fn one_level_is_fifo_packet_for_packet() {
    let buffer = Buffer { limit: Limit::Packets(5), mark_above: Limit::Packets(3), ..Buffer::UNLIMITED };
    let mut fifo = Fifo::new(buffer);
    let mut strict = Strict::new(1, IDENTITY, SortBy::Class, buffer);
    for id in 0..40 {
        let p = packet((id % 4) as u8, id);
        assert_eq!(fifo.enqueue(Time::ZERO, &p, &mut ()), strict.enqueue(Time::ZERO, &p, &mut ()));
        if id % 3 == 0 {
            let (a, b) = (fifo.dequeue(Time::ZERO, &mut ()), strict.dequeue(Time::ZERO, &mut ()));
            assert_eq!(a.map(|p| p.header), b.map(|p| p.header));
        }
    }
}

#[test]
fn ranked_serves_the_smallest_rank_and_the_earliest_of_equals() {
    let mut port = Ranked::new(Buffer::UNLIMITED);
    for (class, rank) in [(0, 7), (1, 3), (2, 7), (3, 3)] {
        port.enqueue(Time::ZERO, &packet(class, rank), &mut ());
    }
    assert_eq!(drain(&mut port), [(1, 3), (3, 3), (0, 7), (2, 7)]);
}

#[test]
fn a_limiter_keeps_its_rate_to_the_picosecond_over_any_number_of_packets() {
    // 1000 B at 3 Gbps take 8000/3 ns = 2,666,666.67 ps: after 3000 packets exactly 8 ms.
    let rate = Rate::from_gbps(3);
    let mut port = RateLimited::new(Fifo::new(Buffer::UNLIMITED), rate, 0);
    for id in 0..=3000 {
        port.enqueue(Time::ZERO, &packet(0, id), &mut ());
    }
    let mut t = Time::ZERO;
    for _ in 0..=3000 {
        t = t.max(port.next_eligible_time().unwrap());
        port.dequeue(t, &mut ()).unwrap();
    }
    assert_eq!(t, Time(8_000_000_000));
}

#[test]
fn a_limiter_lets_its_burst_go_and_no_more() {
    // Burst of 2000 B: three 1000 B packets may start at 0 (the bucket may become exactly empty), then one per 8 us
    // at 1 Gbps.
    let mut port = RateLimited::new(Fifo::new(Buffer::UNLIMITED), Rate::from_gbps(1), 2000);
    for id in 0..5 {
        port.enqueue(Time::ZERO, &packet(0, id), &mut ());
    }
    let mut starts = vec![];
    let mut t = Time::ZERO;
    while let Some(next) = port.next_eligible_time() {
        t = t.max(next);
        port.dequeue(t, &mut ());
        starts.push(t.0 / 1_000_000);
    }
    assert_eq!(starts, [0, 0, 0, 8, 16]);
}

#[test]
fn a_limiter_charges_packets_of_every_size() {
    // At 8 Gbps a byte takes 1 ns. An ACK, a credit of 84 B and a packet of 100 B are charged like any other.
    for wire in [1, 40, 64, 84, 100, 101, 1500] {
        let mut port = RateLimited::new(Fifo::new(Buffer::UNLIMITED), Rate::from_gbps(8), 0);
        let mut small = packet(0, 0);
        small.header.wire = wire;
        for _ in 0..5 {
            port.enqueue(Time::ZERO, &small, &mut ());
        }
        let starts: Vec<u64> = (0..5)
            .map(|_| {
                let at = port.next_eligible_time().unwrap();
                port.dequeue(at, &mut ()).unwrap();
                at.0 / 1_000
            })
            .collect();
        let wire = u64::from(wire);
        assert_eq!(starts, [0, wire, 2 * wire, 3 * wire, 4 * wire]);
    }
}

#[test]
fn a_limit_in_bytes_is_room_for_so_many_and_not_one_more() {
    let room = |bytes| Buffer { limit: Limit::Bytes(bytes), ..Buffer::UNLIMITED };
    let third = |bytes| {
        let mut port = Fifo::new(room(bytes));
        port.enqueue(Time::ZERO, &packet(0, 0), &mut ());
        port.enqueue(Time::ZERO, &packet(0, 1), &mut ());
        port.enqueue(Time::ZERO, &packet(0, 2), &mut ())
    };
    assert_eq!((third(3000), third(2999)), (Admission::Queued, Admission::Dropped));
}

#[test]
fn ranked_marks_what_it_keeps() {
    let mut port = Ranked::new(Buffer { mark_above: Limit::Packets(1), ..Buffer::UNLIMITED });
    for rank in [5, 3] {
        port.enqueue(Time::ZERO, &packet(0, rank), &mut ());
    }
    let marked = std::iter::from_fn(|| {
        port.dequeue(Time::ZERO, &mut ()).map(|p| p.header.marks.has(Marks::CONGESTED))
    });
    // The second arrival finds one queued packet; it leaves first.
    assert_eq!(marked.collect::<Vec<_>>(), [true, false]);
}
