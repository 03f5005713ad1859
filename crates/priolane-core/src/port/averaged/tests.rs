//! The average in closed form after arrivals and after idle time, and the frequency of marks by it.

use super::*;
use crate::ids::{FlowId, LinkId};
use crate::packet::{Frame, Offset, Packet};
use crate::port::{AnyDiscipline, DisciplineSpec, FifoSpec, Ramp, Returns, StrictSpec};
use crate::units::Span;

const RATE: Rate = Rate::from_gbps(10);

fn context(buffer: Buffer) -> PortContext {
    PortContext {
        link: LinkId(0),
        rate: RATE,
        buffer,
        sort_by: SortBy::Class,
        frame: Frame::ETHERNET,
        returns: Returns::Dropped,
        seed: 1,
    }
}

type Port = Averaged<AnyDiscipline<Packet<()>>>;

fn port(inner: impl Into<DisciplineSpec>, weight: u32, buffer: Buffer) -> Port {
    AveragedSpec { inner: Box::new(inner.into()), weight }.build(&context(buffer))
}

fn packet(class: u8, id: u64) -> Packet<()> {
    let header = Header {
        class,
        wire: 1_000,
        marks: Marks::ECN_CAPABLE,
        flow: FlowId((id % 7) as u32),
        offset: Offset::new(id * 1_000),
        ..Header::default()
    };
    Packet { header, body: () }
}

/// Offers so many packets at the beginning.
fn offer(port: &mut Port, packets: u64) {
    for id in 0..packets {
        port.enqueue(Time::ZERO, &packet(0, id), &mut ());
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

const PACKETS: Buffer = Buffer { mark_above: Limit::Packets(5), ..Buffer::UNLIMITED };

/// Floyd and Jacobson's Eq. 2: after L arrivals at an empty queue that sends nothing, the average is
/// L + 1 + ((1 - w)^(L + 1) - 1) / w.
#[test]
fn the_average_after_a_burst_is_that_of_the_paper() {
    for weight in [2_000, 4_200, 250_000, 1_000_000] {
        let w = f64::from(weight) / 1e6;
        let mut port = port(FifoSpec, weight, PACKETS);
        for burst in 1..=100_u32 {
            port.enqueue(Time::ZERO, &packet(0, burst.into()), &mut ());
            let next = f64::from(burst) + 1.0;
            let closed = next + (libm::pow(1.0 - w, next) - 1.0) / w;
            near(port.average.of[0].value, closed);
            if burst == 50 && weight == 4_200 {
                // §4.2: with min_th = 5 a burst of 50 packets is allowed up to w = 0.0042.
                assert!((closed - 5.0).abs() < 0.01, "{closed}");
            }
        }
    }
}

/// A burst of 1,000 packets, and then a constant queue: the average comes within (1 - w)^n of that queue.
#[test]
fn a_constant_queue_is_approached_by_the_weight_with_each_arrival() {
    let mut port = port(FifoSpec, 2_000, PACKETS);
    offer(&mut port, 1_000);
    let before = port.average.of[0].value;
    for n in 1..=2_000_u32 {
        port.dequeue(Time::ZERO, &mut ());
        port.enqueue(Time::ZERO, &packet(0, 1_000 + u64::from(n)), &mut ());
        near(port.average.of[0].value, 1_000.0 + (before - 1_000.0) * libm::pow(0.998, f64::from(n)));
    }
}

/// A full frame of 1,538 B takes 1,230.4 ns: ten of them after the end of the last transmission leave (1 - w)^10.
#[test]
fn an_idle_line_lowers_the_average_by_the_frames_that_it_could_have_sent() {
    let mut port = port(FifoSpec, 100_000, PACKETS);
    offer(&mut port, 30);
    let sent = Span(800_000);
    let mut now = Time::ZERO;
    for _ in 0..30 {
        port.dequeue(now, &mut ());
        now += sent;
    }
    let before = port.average.of[0].value;
    let later = now + Span(12_304_000);
    port.try_bypass(later, &packet(0, 99).header).unwrap();
    let idle = before * libm::pow(0.9, 10.0);
    near(port.average.of[0].value, idle + 0.1 * (1.0 - idle));
    // The packet that passed takes 800 ns, in which the line is not idle.
    let before = port.average.of[0].value;
    port.try_bypass(later + sent, &packet(0, 100).header).unwrap();
    near(port.average.of[0].value, before + 0.1 * (1.0 - before));
}

#[test]
fn each_queue_has_its_average_or_all_have_one() {
    // Halves: queue 0 has 0.5, 1.25; queue 1 has 0.5, 1.25, 2.125; all together have 0.5, 1.25, 2.125, 3.0625, 4.03125.
    for (mark_scope, expected) in [(Scope::Queue, [1.25, 2.125, 0.0]), (Scope::Port, [4.031_25, 0.0, 0.0])] {
        let buffer = Buffer { mark_scope, ..PACKETS };
        let mut port = port(StrictSpec { queues: 3, map: crate::port::CLASS_IS_QUEUE }, 500_000, buffer);
        for (class, id) in [0, 1, 0, 1, 1].into_iter().zip(0..) {
            port.enqueue(Time::ZERO, &packet(class, id), &mut ());
        }
        assert_eq!([0, 1, 2].map(|place| port.average.of[place].value), expected);
    }
}

/// A queue of `packets` that is served as fast as packets come; returns the part of 40,000 that is marked.
fn marked_part(packets: u32, unit: fn(u32) -> Limit) -> f64 {
    let ramp = Some(Ramp { full: unit(205), most: 200_000 });
    let mut port = port(FifoSpec, 50_000, Buffer { mark_above: unit(5), ramp, ..Buffer::UNLIMITED });
    let arrive = |port: &mut Port, id| port.enqueue(Time::ZERO, &packet(0, id), &mut ()) == Admission::Marked;
    offer(&mut port, u64::from(packets));
    let mut next = |id| {
        port.dequeue(Time::ZERO, &mut ());
        arrive(&mut port, id)
    };
    // 0.95^1000 is 5e-23.
    for id in 1_000..2_000 {
        next(id);
    }
    (2_000..42_000).filter(|&id| next(id)).count() as f64 / 40_000.0
}

/// 40,000 draws at p = 0.2 have a deviation of 0.002; four of them are tolerated.
#[test]
fn marks_are_as_frequent_as_the_average_says() {
    let units: [fn(u32) -> Limit; 2] = [Limit::Packets, |packets| Limit::Bytes(u64::from(packets) * 1_000)];
    for unit in units {
        for (packets, expected) in [(5, 0.0), (55, 0.05), (105, 0.1), (204, 0.199), (207, 1.0)] {
            let found = marked_part(packets, unit);
            let deviation = (expected * (1.0 - expected) / 40_000.0_f64).sqrt();
            assert!((found - expected).abs() <= 4.0 * deviation, "{packets}: {found}, not {expected}");
        }
    }
}

/// With a threshold of 5 packets, 20 of them at once are marked from the seventh on by the queue; with w = 0.01 none is.
#[test]
fn a_burst_that_the_queue_would_mark_passes_the_average() {
    let marked = |port: &mut dyn Discipline<Packet<()>>| {
        (0..20).filter(|&id| port.enqueue(Time::ZERO, &packet(0, id), &mut ()) == Admission::Marked).count()
    };
    let mut by_queue = FifoSpec.build::<Packet<()>>(&context(PACKETS));
    assert_eq!(marked(&mut by_queue), 15);
    assert_eq!(marked(&mut port(FifoSpec, 10_000, PACKETS)), 0);
}

/// The queue of 21 packets alone is 4.2 at w = 0.2, below the threshold; with the arrivals before it is 17.0 by Eq. 2.
#[test]
fn packets_that_cannot_be_marked_count_in_the_average() {
    let mut port = port(FifoSpec, 200_000, PACKETS);
    let mut plain = packet(0, 0);
    plain.header.marks = Marks::none();
    for _ in 0..20 {
        assert_eq!(port.enqueue(Time::ZERO, &plain, &mut ()), Admission::Queued);
    }
    assert_eq!(port.enqueue(Time::ZERO, &packet(0, 1), &mut ()), Admission::Marked);
    let kept = (0..).map_while(|_| port.dequeue(Time::ZERO, &mut ()).copied()).last().unwrap();
    assert!(kept.header.marks.has(Marks::CONGESTED));
}
