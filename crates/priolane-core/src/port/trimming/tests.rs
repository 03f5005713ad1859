//! Trimming, drops and service order, on small examples and with random arrivals.

use super::*;
use crate::packet::Packet;
use crate::port::tests::Log;
use crate::rng::{CounterRng, Purpose, Stream};

fn port(data: Limit, headers: Limit) -> Trimming<Packet<()>> {
    let buffer = Buffer { limit: data, ..Buffer::UNLIMITED };
    let spec = TrimmingSpec { headers, overflow: Overflow::Drop };
    Trimming::new(spec, 84, buffer, CounterRng::new(1, Purpose::Port, 0))
}

fn data(id: u64, wire: u16) -> Packet<()> {
    let payload = wire - 78;
    Packet { header: Header { rank: id, wire, payload, ..Header::default() }, body: () }
}

fn ack(id: u64) -> Packet<()> {
    Packet { header: Header { rank: id, wire: 84, kind: Kind::Ack, ..Header::default() }, body: () }
}

fn drain(port: &mut Trimming<Packet<()>>) -> Vec<(u64, u16)> {
    std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|p| (p.header.rank, p.header.wire))).collect()
}

#[test]
fn what_is_trimmed_keeps_its_name_and_loses_its_payload() {
    let mut port = port(Limit::Packets(2), Limit::Unlimited);
    let mut log = Log::default();
    for id in 0..3 {
        assert_eq!(port.enqueue(Time::ZERO, &data(id, 1538), &mut log), Admission::Queued);
    }
    let [(before, after)] = log.trimmed[..] else { panic!("one packet is trimmed: {log:?}") };
    // Either the arriving third packet or the second, the last in the queue, is trimmed.
    assert!([1, 2].contains(&before.rank) && before.rank == after.rank);
    assert_eq!((before.wire, after.wire, after.payload), (1538, 84, 0));
    assert!(after.marks.has(Marks::TRIMMED) && !before.marks.has(Marks::TRIMMED));
    assert_eq!((port.packets(), port.bytes()), (3, 2 * 1538 + 84));
    assert_eq!(drain(&mut port), [(before.rank, 84), (0, 1538), (3 - before.rank, 1538)]);
}

#[test]
fn the_coin_is_fair_and_the_arrival_or_the_last_is_cut() {
    let mut arrivals = 0;
    for id in 0..10_000 {
        let mut port = port(Limit::Packets(1), Limit::Unlimited);
        port.coin = CounterRng::new(3, Purpose::Port, id);
        port.enqueue(Time::ZERO, &data(7, 1538), &mut ());
        let mut log = Log::default();
        port.enqueue(Time::ZERO, &data(8, 1538), &mut log);
        let cut = log.trimmed[0].0.rank;
        assert!(cut == 7 || cut == 8);
        arrivals += u32::from(cut == 8);
    }
    // 5000 +- 4 standard deviations of 50.
    assert!((4_800..5_200).contains(&arrivals), "{arrivals}");
}

#[test]
fn the_last_is_not_cut_for_one_that_needs_more() {
    for id in 0..64 {
        let mut port = port(Limit::Bytes(2_000), Limit::Unlimited);
        port.coin = CounterRng::new(3, Purpose::Port, id);
        port.enqueue(Time::ZERO, &data(0, 1000), &mut ());
        port.enqueue(Time::ZERO, &data(1, 500), &mut ());
        // 1500 queued: 1538 does not fit even without the last 500.
        let mut log = Log::default();
        port.enqueue(Time::ZERO, &data(2, 1538), &mut log);
        assert_eq!(log.trimmed[0].0.rank, 2);
    }
}

#[test]
fn ten_headers_go_for_each_payload_packet_while_both_wait() {
    let mut port = port(Limit::Packets(8), Limit::Unlimited);
    for id in 0..4 {
        port.enqueue(Time::ZERO, &data(id, 1538), &mut ());
    }
    for id in 100..125 {
        port.enqueue(Time::ZERO, &ack(id), &mut ());
    }
    let served = drain(&mut port);
    let places: Vec<usize> = (0..served.len()).filter(|&i| served[i].1 == 1538).collect();
    // After 10 headers, after 10 more, and the rest when the last 5 headers are served.
    assert_eq!(places, [10, 21, 27, 28]);
}

#[test]
fn without_room_for_a_header_the_packet_is_dropped_whole() {
    let (mut dropped, mut evicted) = (0, 0);
    for id in 0..200 {
        let mut port = port(Limit::Packets(1), Limit::Packets(1));
        port.coin = CounterRng::new(5, Purpose::Port, id);
        port.enqueue(Time::ZERO, &ack(0), &mut ());
        assert_eq!(port.enqueue(Time::ZERO, &ack(1), &mut ()), Admission::Dropped);
        port.enqueue(Time::ZERO, &data(2, 1538), &mut ());
        let mut log = Log::default();
        let gone: &[(u64, u16)] = match port.enqueue(Time::ZERO, &data(3, 1000), &mut log) {
            Admission::Dropped => {
                dropped += 1;
                &[]
            }
            _ => {
                evicted += 1;
                &[(2, 1538)]
            }
        };
        assert_eq!(log.evicted.iter().map(|h| (h.rank, h.wire)).collect::<Vec<_>>(), gone);
        assert!(log.trimmed.is_empty());
        assert_eq!(port.packets(), 2);
    }
    assert!(dropped > 60 && evicted > 60, "{dropped} {evicted}");
}

#[test]
fn the_data_queue_keeps_its_limit_and_every_byte_is_accounted_for() {
    let mut port = port(Limit::Packets(8), Limit::Packets(20));
    let mut draw = Stream::new(2, Purpose::Ties, 0);
    let (mut offered, mut ended, mut cuts) = (0u64, 0u64, 0);
    for id in 0..50_000 {
        if draw.chance(0.55) {
            let packet = if draw.chance(0.8) { data(id, 100 + draw.below(1439) as u16) } else { ack(id) };
            offered += u64::from(packet.header.wire);
            let mut log = Log::default();
            if port.enqueue(Time::ZERO, &packet, &mut log) == Admission::Dropped {
                ended += u64::from(packet.header.wire);
            }
            ended += log.evicted.iter().map(|header| u64::from(header.wire)).sum::<u64>();
            ended += log.trimmed.iter().map(|(from, to)| u64::from(from.wire - to.wire)).sum::<u64>();
            cuts += log.trimmed.len();
        } else if let Some(packet) = port.dequeue(Time::ZERO, &mut ()) {
            ended += u64::from(packet.header.wire);
        }
        assert!(port.data_backlog.packets <= 8 && port.header_backlog.packets <= 20);
        assert_eq!(offered, ended + port.bytes());
    }
    assert!(cuts > 5_000, "{cuts}");
}

#[test]
fn what_was_trimmed_before_is_a_header() {
    let mut port = port(Limit::Packets(1), Limit::Packets(5));
    let mut trimmed = data(0, 1538);
    (trimmed.header.wire, trimmed.header.payload) = (84, 0);
    trimmed.header.marks = Marks::TRIMMED;
    port.enqueue(Time::ZERO, &data(1, 1538), &mut ());
    let mut log = Log::default();
    port.enqueue(Time::ZERO, &trimmed, &mut log);
    assert!(log.trimmed.is_empty());
    assert_eq!(drain(&mut port), [(0, 84), (1, 1538)]);
}

#[test]
fn a_header_without_room_goes_back_once_to_its_sender() {
    let mut port = port(Limit::Packets(1), Limit::Packets(1));
    port.spec.overflow = Overflow::Return;
    let from = |id, src: u16, dst: u16| {
        let mut packet = data(id, 1538);
        (packet.header.src, packet.header.dst) = (crate::ids::HostId(src), crate::ids::HostId(dst));
        packet
    };
    assert_eq!(port.enqueue(Time::ZERO, &from(0, 3, 5), &mut ()), Admission::Queued);
    let mut log = Log::default();
    assert_eq!(port.enqueue(Time::ZERO, &from(1, 3, 5), &mut log), Admission::Queued);
    assert_eq!((log.trimmed.len(), log.returned.len()), (1, 0));
    // Neither data nor header has room: the arriving packet is returned, regardless of the coin.
    for id in 2..40 {
        let mut log = Log::default();
        assert_eq!(port.enqueue(Time::ZERO, &from(id, 3, 5), &mut log), Admission::Returned);
        let ((before, after), header) = (log.trimmed[0], log.returned[0]);
        assert_eq!((header.src.0, header.dst.0, header.rank, header.wire), (5, 3, id, 84));
        assert!(header.marks.has(Marks::RETURNED.with(Marks::TRIMMED)));
        assert_eq!((before.wire, after.wire), (1538, 84));
        // On its way back it is dropped if there is no room.
        let (back, mut log) = (Packet { header, body: () }, Log::default());
        assert_eq!(port.enqueue(Time::ZERO, &back, &mut log), Admission::Dropped);
        assert!(log.returned.is_empty());
    }
    // A packet trimmed earlier is returned unchanged; a packet that was never data is not returned.
    let mut trimmed = from(50, 3, 5);
    (trimmed.header.wire, trimmed.header.marks) = (84, Marks::TRIMMED);
    let mut log = Log::default();
    assert_eq!(port.enqueue(Time::ZERO, &trimmed, &mut log), Admission::Returned);
    assert_eq!((log.trimmed.len(), log.returned.len()), (0, 1));
    assert_eq!(port.enqueue(Time::ZERO, &ack(51), &mut log), Admission::Dropped);
    assert_eq!(log.returned.len(), 1);
}
