//! What is cut, what is dropped, who is served, by hand and over random arrivals.

use super::*;
use crate::packet::Packet;
use crate::rng::Purpose;

fn port(data: Limit, headers: Limit) -> Trimming<Packet<()>> {
    let buffer = Buffer { limit: data, ..Buffer::UNLIMITED };
    let spec = TrimmingSpec { headers, trimmed_wire: 84, overflow: Overflow::Drop };
    Trimming::new(spec, buffer, Stream::new(1, Purpose::Port, 0))
}

fn data(id: u64, wire: u16) -> Packet<()> {
    let payload = wire - 78;
    Packet { header: Header { rank: id, wire, payload, ..Header::default() }, body: () }
}

fn ack(id: u64) -> Packet<()> {
    Packet { header: Header { rank: id, wire: 84, kind: Kind::Ack, ..Header::default() }, body: () }
}

fn drain(port: &mut Trimming<Packet<()>>) -> Vec<(u64, u16)> {
    std::iter::from_fn(|| port.start(Time::ZERO).map(|p| (p.header.rank, p.header.wire))).collect()
}

#[test]
fn what_is_trimmed_keeps_its_name_and_loses_its_payload() {
    let mut port = port(Limit::Packets(2), Limit::Unlimited);
    for id in 0..3 {
        assert_eq!(port.enqueue(Time::ZERO, &data(id, 1538)), Admission::Queued);
    }
    let cut = port.pop_cut().unwrap();
    // The third arrives or the second was the last: one of them is cut.
    assert!([1, 2].contains(&cut.before.rank) && cut.before.rank == cut.after.rank);
    assert_eq!((cut.before.wire, cut.after.wire, cut.after.payload), (1538, 84, 0));
    assert!(cut.after.marks.has(Marks::TRIMMED) && !cut.before.marks.has(Marks::TRIMMED));
    assert!(port.pop_cut().is_none());
    assert_eq!((port.packets(), port.bytes()), (3, 2 * 1538 + 84));
    let other = 3 - cut.before.rank;
    assert_eq!(drain(&mut port), [(cut.before.rank, 84), (0, 1538), (other, 1538)]);
}

#[test]
fn the_coin_is_fair_and_the_arrival_or_the_last_is_cut() {
    let mut arrivals = 0;
    for id in 0..10_000 {
        let mut port = port(Limit::Packets(1), Limit::Unlimited);
        port.coin = Stream::new(3, Purpose::Port, id);
        port.enqueue(Time::ZERO, &data(7, 1538));
        port.enqueue(Time::ZERO, &data(8, 1538));
        let cut = port.pop_cut().unwrap().before.rank;
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
        port.coin = Stream::new(3, Purpose::Port, id);
        port.enqueue(Time::ZERO, &data(0, 1000));
        port.enqueue(Time::ZERO, &data(1, 500));
        // 1500 queued: 1538 does not fit even without the last 500.
        port.enqueue(Time::ZERO, &data(2, 1538));
        assert_eq!(port.pop_cut().unwrap().before.rank, 2);
    }
}

#[test]
fn ten_headers_go_for_each_payload_packet_while_both_wait() {
    let mut port = port(Limit::Packets(8), Limit::Unlimited);
    for id in 0..4 {
        port.enqueue(Time::ZERO, &data(id, 1538));
    }
    for id in 100..125 {
        port.enqueue(Time::ZERO, &ack(id));
    }
    let served = drain(&mut port);
    let places: Vec<usize> = (0..served.len()).filter(|&i| served[i].1 == 1538).collect();
    // After 10 headers, after 10 more, and the rest when the last 5 headers are gone.
    assert_eq!(places, [10, 21, 27, 28]);
}

#[test]
fn without_room_for_a_header_the_packet_is_dropped_whole() {
    let (mut dropped, mut evicted) = (0, 0);
    for id in 0..200 {
        let mut port = port(Limit::Packets(1), Limit::Packets(1));
        port.coin = Stream::new(5, Purpose::Port, id);
        port.enqueue(Time::ZERO, &ack(0));
        assert_eq!(port.enqueue(Time::ZERO, &ack(1)), Admission::Dropped);
        port.enqueue(Time::ZERO, &data(2, 1538));
        match port.enqueue(Time::ZERO, &data(3, 1000)) {
            Admission::Dropped => dropped += 1,
            _ => {
                let gone = port.pop_evicted().unwrap();
                assert_eq!((gone.header.rank, gone.header.wire), (2, 1538));
                evicted += 1;
            }
        }
        assert!(port.pop_cut().is_none() && port.pop_evicted().is_none());
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
            if port.enqueue(Time::ZERO, &packet) == Admission::Dropped {
                ended += u64::from(packet.header.wire);
            }
            ended += port.pop_evicted().map_or(0, |p| u64::from(p.header.wire));
            if let Some(cut) = port.pop_cut() {
                ended += u64::from(cut.before.wire - cut.after.wire);
                cuts += 1;
            }
        } else if let Some(packet) = port.start(Time::ZERO) {
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
    port.enqueue(Time::ZERO, &data(1, 1538));
    port.enqueue(Time::ZERO, &trimmed);
    assert!(port.pop_cut().is_none());
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
    assert_eq!(port.enqueue(Time::ZERO, &from(0, 3, 5)), Admission::Queued);
    assert_eq!(port.enqueue(Time::ZERO, &from(1, 3, 5)), Admission::Queued);
    assert!(port.pop_cut().is_some() && port.pop_returned().is_none());
    // Neither payload nor header has room: the arriving one goes back, whatever the coin.
    for id in 2..40 {
        assert_eq!(port.enqueue(Time::ZERO, &from(id, 3, 5)), Admission::Returned);
        let (cut, back) = (port.pop_cut().unwrap(), port.pop_returned().unwrap());
        let header = back.header;
        assert_eq!((header.src.0, header.dst.0, header.rank, header.wire), (5, 3, id, 84));
        assert!(header.marks.has(Marks::RETURNED.with(Marks::TRIMMED)));
        assert_eq!((cut.before.wire, cut.after.wire), (1538, 84));
        // On its way back it is dropped where there is no room.
        assert_eq!(port.enqueue(Time::ZERO, &back), Admission::Dropped);
        assert!(port.pop_returned().is_none());
    }
    // One that was trimmed before goes back as it is; what never was payload does not.
    let mut trimmed = from(50, 3, 5);
    (trimmed.header.wire, trimmed.header.marks) = (84, Marks::TRIMMED);
    assert_eq!(port.enqueue(Time::ZERO, &trimmed), Admission::Returned);
    assert!(port.pop_cut().is_none() && port.pop_returned().is_some());
    assert_eq!(port.enqueue(Time::ZERO, &ack(51)), Admission::Dropped);
    assert!(port.pop_returned().is_none());
}
