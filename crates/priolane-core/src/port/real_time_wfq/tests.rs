//! Property 2: the virtual clock has it, stamps in real time do not.

use super::*;
use crate::packet::{Header, Packet};
use crate::port::Wfq;
use crate::units::Span;

const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const WEIGHTS: [u32; 3] = [8, 4, 1];
const WIRE: u16 = 1500;
/// 1500 bytes take 1.2 us.
const RATE: Rate = Rate::from_gbps(10);

fn weights() -> QueueWeights {
    QueueWeights::new(&WEIGHTS).unwrap()
}

fn stamped() -> RealTimeWfq<Packet<()>> {
    RealTimeWfq::new(&weights(), IDENTITY, (SortBy::Class, RATE), Buffer::UNLIMITED)
}

fn virtual_clock() -> Wfq<Packet<()>> {
    Wfq::new(&weights(), IDENTITY, SortBy::Class, Buffer::UNLIMITED)
}

fn packet(class: u8) -> Packet<()> {
    Packet { header: Header { class, wire: WIRE, ..Header::default() }, body: () }
}

/// Returns the packets of each class out of 130, all backlogged, after queue `alone` had the link for 1,000
/// packets.
fn served_after(port: &mut impl Discipline<Packet<()>>, alone: u8) -> [u32; 3] {
    let step = RATE.serialize(u64::from(WIRE));
    let mut now = Time::ZERO;
    port.enqueue(now, &packet(alone), &mut ());
    for _ in 0..1_000 {
        port.enqueue(now, &packet(alone), &mut ());
        assert_eq!(port.dequeue(now, &mut ()).unwrap().header.class, alone);
        now += step;
    }
    for class in [0, 1, 2].repeat(130) {
        port.enqueue(now, &packet(class), &mut ());
    }
    let mut served = [0; 3];
    for _ in 0..130 {
        served[usize::from(port.dequeue(now, &mut ()).unwrap().header.class)] += 1;
        now += step;
    }
    served
}

#[test]
fn who_was_alone_pays_for_it_with_real_stamps_and_owes_nothing_with_a_virtual_clock() {
    for alone in 0..3 {
        // 130 packets are ten rounds of 8, 4 and 1; the queue that is ahead may be off by one packet.
        let fair = served_after(&mut virtual_clock(), alone);
        let off = fair.iter().zip([80, 40, 10]).map(|(&is, should)| u32::abs_diff(is, should));
        assert!(off.max().unwrap() <= 1, "{alone} was alone: {fair:?}");
        // Its stamps are 1,000 (13 / w - 1) packet times ahead: 625, 2,250, 12,000; more than 130 packet times.
        let unfair = served_after(&mut stamped(), alone);
        assert_eq!(unfair[usize::from(alone)], 0, "{alone} was alone: {unfair:?}");
    }
}

#[test]
fn where_all_were_always_backlogged_real_stamps_serve_by_weight() {
    let mut port = stamped();
    for class in [2, 1, 0].repeat(100) {
        port.enqueue(Time::ZERO, &packet(class), &mut ());
    }
    let mut served = [0; 3];
    for _ in 0..130 {
        served[usize::from(port.dequeue(Time::ZERO, &mut ()).unwrap().header.class)] += 1;
    }
    assert_eq!(served, [80, 40, 10]);
    assert_eq!((port.packets(), port.bytes()), (170, 255_000));
    assert_eq!(port.bytes_before(&packet(0).header), 20 * 1500);
}

#[test]
fn a_packet_that_passes_an_idle_port_leaves_its_stamp_and_time_takes_it_away() {
    let all = |wait: Span| {
        let mut port = stamped();
        // One packet of class 2 bypasses: its queue's stamps end at 13 packet times.
        assert_eq!(port.try_bypass(Time::ZERO, &packet(2).header), Some(Admission::Queued));
        let now = Time::ZERO + wait;
        for class in [2, 0, 0, 0] {
            port.enqueue(now, &packet(class), &mut ());
        }
        std::iter::from_fn(move || port.dequeue(now, &mut ()).map(|p| p.header.class)).collect::<Vec<_>>()
    };
    // Stamps of class 0 are 13 / 8 apart: 1.6, 3.3, 4.9 packet times. That of class 2 is 26 immediately, and 13
    // later.
    assert_eq!(all(Span::ZERO), [0, 0, 0, 2]);
    assert_eq!(all(RATE.serialize(13 * 1500)), [0, 0, 0, 2]);
    let mut port = stamped();
    for class in [2, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
        port.enqueue(Time::ZERO, &packet(class), &mut ());
    }
    // A stamp of 13 equals that of the eighth packet of class 0, which is served first because its queue is the
    // smaller.
    let order: Vec<u8> =
        std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|p| p.header.class)).collect();
    assert_eq!(order, [0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
}
