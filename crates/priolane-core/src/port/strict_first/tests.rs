//! Strict queues are never behind weighted ones, and the weighted ones share what is left as under plain `wfq`.

use super::*;
use crate::ids::LinkId;
use crate::packet::{Frame, Header, Packet};
use crate::port::{
    Admission, Buffer, CLASS_IS_QUEUE, Discipline, DisciplineSpec, Returns, SortBy, StrictSpec, WfqSpec,
};
use crate::rng::{Purpose, Stream};
use crate::units::{Limit, Rate, Time};

fn context(buffer: Buffer) -> PortContext {
    PortContext {
        link: LinkId(0),
        rate: Rate::from_gbps(10),
        buffer,
        sort_by: SortBy::Class,
        frame: Frame::ETHERNET,
        returns: Returns::Dropped,
        seed: 1,
    }
}

fn spec(strict: u8, weights: &[u32]) -> StrictFirstSpec {
    StrictFirstSpec { strict, weights: QueueWeights::new(weights).unwrap(), map: CLASS_IS_QUEUE }
}

type Port = MultiQueue<Packet<()>, StrictFirst<VirtualClock>>;

fn port(strict: u8, weights: &[u32]) -> Port {
    spec(strict, weights).build(&context(Buffer::UNLIMITED))
}

fn packet(class: u8, wire: u16) -> Packet<()> {
    Packet { header: Header { class, wire, ..Header::default() }, body: () }
}

fn offer(port: &mut Port, class: u8, wire: u16) {
    assert_eq!(port.enqueue(Time::ZERO, &packet(class, wire), &mut ()), Admission::Queued);
}

fn serve(port: &mut Port) -> Option<(u8, u16)> {
    port.dequeue(Time::ZERO, &mut ()).map(|p| (p.header.class, p.header.wire))
}

#[test]
fn a_strict_class_is_never_behind_a_weighted_one() {
    for (seed, (strict, weights)) in [(1, &[8, 4, 1][..]), (3, &[1, 5]), (2, &[7])].into_iter().enumerate() {
        let queues = strict + weights.len() as u8;
        let mut draw = Stream::new(seed as u64, Purpose::Ties, 0);
        let mut port = port(strict, weights);
        let mut waiting = vec![0u32; usize::from(queues)];
        let (mut behind_none, mut behind_strict) = (0, 0);
        for _ in 0..40_000 {
            // On average as many packets come as leave, so that queues are empty now and then.
            if draw.below(2) == 0 {
                let class = draw.below(u64::from(queues)) as u8;
                offer(&mut port, class, 84 + draw.below(1_455) as u16);
                waiting[usize::from(class)] += 1;
            } else if let Some((class, _)) = serve(&mut port) {
                let first = waiting.iter().position(|&packets| packets > 0).unwrap() as u8;
                assert!(class == first || first >= strict, "queue {class} goes before queue {first}");
                behind_strict += u32::from(first < strict);
                behind_none += u32::from(first >= strict);
                waiting[usize::from(class)] -= 1;
            } else {
                assert!(waiting.iter().all(|&packets| packets == 0));
            }
        }
        assert!(behind_none > 1_000 && behind_strict > 1_000, "{behind_none} {behind_strict}");
    }
}

/// Serves 13,000 packets of three backlogged queues with the weights 8, 4, 1, which are behind one strict queue that gets
/// `strict` packets of the same size after each of them; returns the packets served of each queue.
fn shares(strict: u32) -> [u32; 4] {
    let mut port = port(1, &[8, 4, 1]);
    for class in [1, 2, 3, 1, 2, 3] {
        offer(&mut port, class, 1_000);
    }
    let mut served = [0; 4];
    for _ in 0..13_000 * (1 + strict) {
        let (class, wire) = serve(&mut port).unwrap();
        served[usize::from(class)] += 1;
        if class > 0 {
            offer(&mut port, class, wire);
            (0..strict).for_each(|_| offer(&mut port, 0, wire));
        }
    }
    served
}

/// 13,000 packets are 1,000 rounds of 8 + 4 + 1; a queue is off by two packets at most, those that the end cuts off.
#[test]
fn weighted_queues_share_by_weight_what_strict_ones_leave() {
    for strict in 0..3 {
        for (found, expected) in shares(strict).into_iter().zip([strict * 13_000, 8_000, 4_000, 1_000]) {
            assert!(found.abs_diff(expected) <= 2, "{strict}: {found}, not {expected}");
        }
    }
}

/// The outcome of each arrival, and the packet that leaves after it.
fn story(
    spec: impl Into<DisciplineSpec>,
    first_class: u8,
    classes: u8,
) -> Vec<(Admission, Option<(u8, u16)>)> {
    let buffer = Buffer { limit: Limit::Packets(40), mark_above: Limit::Packets(12), ..Buffer::UNLIMITED };
    let mut port = spec.into().build::<Packet<()>>(&context(buffer));
    let mut draw = Stream::new(7, Purpose::Ties, 1);
    let mut all = Vec::new();
    for _ in 0..30_000 {
        let class = draw.below(u64::from(classes)) as u8;
        let wire = 84 + draw.below(1_455) as u16;
        let item = packet(first_class + class, wire);
        let admission = match port.packets() {
            0 => port.try_bypass(Time::ZERO, &item.header).unwrap(),
            _ => port.enqueue(Time::ZERO, &item, &mut ()),
        };
        if port.packets() == 0 && draw.below(3) == 0 {
            port.enqueue(Time::ZERO, &item, &mut ());
        }
        let leaves = draw.below(9) > 3;
        let left = if leaves { port.dequeue(Time::ZERO, &mut ()) } else { None };
        all.push((admission, left.map(|p| (p.header.class - first_class, p.header.wire))));
    }
    assert!(all.iter().any(|(admission, _)| *admission == Admission::Dropped));
    all
}

#[test]
fn without_strict_queues_or_with_one_weighted_queue_it_is_a_plain_port_to_the_bit() {
    let weights = QueueWeights::new(&[8, 4, 1]).unwrap();
    let wfq = story(WfqSpec { weights, map: CLASS_IS_QUEUE }, 0, 3);
    assert_eq!(story(spec(0, &[8, 4, 1]), 0, 3), wfq);
    // Strict queues that hold nothing change nothing.
    assert_eq!(story(spec(5, &[8, 4, 1]), 5, 3), wfq);
    let strict = story(StrictSpec { queues: 4, map: CLASS_IS_QUEUE }, 0, 4);
    assert_eq!(story(spec(3, &[9]), 0, 4), strict);
    assert_ne!(story(spec(2, &[1, 1]), 0, 4), strict);
}

#[test]
fn classes_beyond_the_queues_join_the_last_weighted_one() {
    let of = spec(2, &[4, 1]);
    assert_eq!((0..6).map(|class| of.queue_of(class)).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 3]);
}
