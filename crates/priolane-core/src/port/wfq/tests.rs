//! Property 2 (shares, no credit, no debt, delay), and a model that stores a tag for every packet.

use std::collections::VecDeque;

use super::*;
use crate::ids::ClassSet;
use crate::packet::{Header, Packet};
use crate::port::{Admission, Discipline, Scope};
use crate::rng::{Purpose, Stream};
use crate::units::Time;

const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn packet(class: u8, wire: u16) -> Packet<()> {
    Packet { header: Header { class, wire, ..Header::default() }, body: () }
}

fn port(weights: &[u32]) -> Wfq<Packet<()>> {
    Wfq::new(&QueueWeights::new(weights).unwrap(), IDENTITY, SortBy::Class, Buffer::UNLIMITED)
}

fn offer(port: &mut Wfq<Packet<()>>, class: u8, wire: u16) {
    assert_eq!(port.enqueue(Time::ZERO, &packet(class, wire), &mut ()), Admission::Queued);
}

/// Serves a packet and returns its class and size.
fn serve(port: &mut Wfq<Packet<()>>) -> Option<(usize, u16)> {
    port.dequeue(Time::ZERO, &mut ()).map(|p| (usize::from(p.header.class), p.header.wire))
}

/// Returns a random size from 84 to 1538 bytes.
fn draw_wire(draw: &mut Stream) -> u16 {
    84 + draw.below(1455) as u16
}

#[test]
fn weights_are_whole_above_zero_and_not_too_unlike() {
    assert!(QueueWeights::new(&[]).is_none());
    assert!(QueueWeights::new(&[4, 0]).is_none());
    assert!(QueueWeights::new(&[1; 17]).is_none());
    assert_eq!(QueueWeights::new(&[8, 4, 1]).unwrap().as_slice(), [8, 4, 1]);
    // lcm(1048573, 1048571) = 1.0995e12 < 2^40; times 7 it is above.
    assert!(QueueWeights::new(&[1_048_573, 1_048_571]).is_some());
    assert!(QueueWeights::new(&[1_048_573, 1_048_571, 7]).is_none());
}

#[test]
fn equal_packets_of_8_4_1_are_served_8_4_1() {
    let mut port = port(&[8, 4, 1]);
    for class in [2, 1, 0].repeat(100) {
        offer(&mut port, class, 1000);
    }
    let mut served = [0; 3];
    for _ in 0..130 {
        served[serve(&mut port).unwrap().0] += 1;
    }
    // 130 packets are 10 rounds of 13.
    assert_eq!(served, [80, 40, 10]);
}

/// Returns the largest difference of S_i/w_i - S_j/w_j over all intervals in which all queues are backlogged,
/// relative to the bound.
fn widest_gap(port: &mut Wfq<Packet<()>>, weights: &[u32], draw: &mut Stream, rounds: u32) -> f64 {
    let mut sent = vec![0u64; weights.len()];
    let mut extremes = vec![vec![(0f64, 0f64); weights.len()]; weights.len()];
    for _ in 0..rounds {
        let (q, wire) = serve(port).unwrap();
        sent[q] += u64::from(wire);
        offer(port, q as u8, draw_wire(draw));
        let share = |k: usize| sent[k] as f64 / f64::from(weights[k]);
        for (i, row) in extremes.iter_mut().enumerate() {
            for (j, (low, high)) in row.iter_mut().enumerate() {
                *low = low.min(share(i) - share(j));
                *high = high.max(share(i) - share(j));
            }
        }
    }
    // The difference over an interval is that of its end points; the bound is L_i/w_i + L_j/w_j.
    let slack = |i: usize, j: usize| {
        let (low, high) = extremes[i][j];
        (high - low) / (1538.0 / f64::from(weights[i]) + 1538.0 / f64::from(weights[j]))
    };
    (0..weights.len()).flat_map(|i| (0..weights.len()).map(move |j| slack(i, j))).fold(0.0, f64::max)
}

#[test]
fn backlogged_queues_stay_within_a_packet_each_of_their_shares() {
    for (seed, weights) in
        [&[8, 4, 1][..], &[1, 1], &[100, 1], &[3, 7, 11, 13, 17, 19, 23, 29]].iter().enumerate()
    {
        let mut draw = Stream::new(seed as u64, Purpose::Ties, 0);
        let mut port = port(weights);
        for q in 0..weights.len() as u8 {
            offer(&mut port, q, draw_wire(&mut draw));
            offer(&mut port, q, draw_wire(&mut draw));
        }
        let gap = widest_gap(&mut port, weights, &mut draw, 30_000);
        assert!(gap > 0.5 && gap <= 1.0, "{weights:?}: {gap}");
    }
}

#[test]
fn neither_idleness_nor_having_been_alone_is_repaid() {
    let weights = [8, 4, 1];
    for alone in 0..3u8 {
        let mut port = port(&weights);
        let mut draw = Stream::new(3, Purpose::Ties, u64::from(alone));
        offer(&mut port, alone, 1538);
        offer(&mut port, alone, 1538);
        // 10,000 packets of one queue; the others are idle, the port never is.
        for _ in 0..10_000 {
            offer(&mut port, alone, 1538);
            serve(&mut port).unwrap();
        }
        for q in 0..3 {
            offer(&mut port, q, draw_wire(&mut draw));
            offer(&mut port, q, draw_wire(&mut draw));
        }
        let gap = widest_gap(&mut port, &weights, &mut draw, 3_000);
        assert!(gap <= 1.0, "{alone} was alone: {gap}");
    }
}

/// Golestani's bound: a packet leaves by EAT + L/r_i + one largest packet of each other queue, where EAT_k =
/// max(arrival, EAT_{k-1} + L_{k-1}/r_i) and r_i is the queue's share. One byte takes one tick.
#[test]
fn no_packet_leaves_later_than_its_share_and_a_packet_of_each_other_queue() {
    let weights = [8u32, 4, 1];
    let total: u32 = weights.iter().sum();
    let mut port = port(&weights);
    let mut draw = Stream::new(9, Purpose::Ties, 0);
    let mut due: [VecDeque<f64>; 3] = Default::default();
    let mut last = [0f64; 3];
    let (mut now, mut next_arrival, mut checked, mut worst) = (0u64, 0u64, 0, f64::MIN);
    while checked < 30_000 {
        while next_arrival <= now {
            let (q, wire) = (draw.below(3) as usize, draw_wire(&mut draw));
            offer(&mut port, q as u8, wire);
            let own = f64::from(wire) * f64::from(total) / f64::from(weights[q]);
            last[q] = last[q].max(next_arrival as f64) + own;
            due[q].push_back(last[q] + 2.0 * 1538.0);
            next_arrival += draw.below(1700);
        }
        let Some((q, wire)) = serve(&mut port) else {
            now = next_arrival;
            continue;
        };
        now += u64::from(wire);
        let late = now as f64 - due[q].pop_front().unwrap();
        worst = worst.max(late);
        assert!(late <= 1e-6, "{late} too late at {now}");
        checked += 1;
    }
    assert!(worst > -3076.0, "the bound is far from tight: {worst}");
}

/// SCFQ by definition: every packet has a finish tag, in 128 bits.
struct Model {
    queues: Vec<VecDeque<(u128, u16)>>,
    last: Vec<u128>,
    cost: Vec<u128>,
    now: u128,
}

impl Model {
    fn new(weights: &[u32]) -> Self {
        let multiple = u128::from(QueueWeights::new(weights).unwrap().multiple().unwrap());
        let cost = weights.iter().map(|&w| multiple / u128::from(w)).collect();
        let n = weights.len();
        Self { queues: vec![VecDeque::new(); n], last: vec![0; n], cost, now: 0 }
    }

    fn offer(&mut self, q: usize, wire: u16) {
        self.last[q] = self.last[q].max(self.now) + u128::from(wire) * self.cost[q];
        self.queues[q].push_back((self.last[q], wire));
    }

    fn serve(&mut self) -> Option<(usize, u16)> {
        let head = |q: &usize| self.queues[*q].front().map(|head| head.0);
        let q = (0..self.queues.len()).filter(|q| head(q).is_some()).min_by_key(|q| (head(q), *q))?;
        let (tag, wire) = self.queues[q].pop_front()?;
        self.now = tag;
        Some((q, wire))
    }
}

#[test]
fn the_tag_of_the_first_packet_is_enough() {
    // The last weights add up to 2^56 per packet of queue 0: the clock is rebased every 64 packets.
    for weights in [&[8, 4, 1][..], &[1, 1, 1, 1], &[5, 3], &[1, 1_048_573, 1_048_571]] {
        let (mut port, mut model) = (port(weights), Model::new(weights));
        let mut draw = Stream::new(4, Purpose::Ties, weights.len() as u64);
        let mut served = 0;
        for step in 0..60_000 {
            let busy = step / 700 % 2 == 0;
            if draw.chance(if busy { 0.6 } else { 0.4 }) {
                let (q, wire) = (draw.below(weights.len() as u64) as usize, 84 + draw.below(65_000) as u16);
                offer(&mut port, q as u8, wire);
                model.offer(q, wire);
            } else {
                let next = serve(&mut port);
                assert_eq!(next, model.serve(), "{weights:?}, step {step}");
                served += u32::from(next.is_some());
            }
        }
        assert!(served > 20_000);
    }
}

#[test]
fn a_port_that_idled_starts_as_a_new_one() {
    let mut used = port(&[8, 4, 1]);
    for class in [2, 2, 2, 0, 1, 1] {
        offer(&mut used, class, 1500);
    }
    while serve(&mut used).is_some() {}
    let mut fresh = port(&[8, 4, 1]);
    for port in [&mut used, &mut fresh] {
        assert_eq!(port.try_bypass(Time::ZERO, &packet(1, 500).header), Some(Admission::Queued));
        for class in [2, 1, 0, 2, 1, 0, 0, 0] {
            offer(port, class, 1000);
        }
    }
    let all = |port: &mut Wfq<_>| std::iter::from_fn(|| serve(port)).collect::<Vec<_>>();
    assert_eq!(all(&mut used), all(&mut fresh));
}

#[test]
fn a_paused_queue_waits_and_saves_up_nothing() {
    let mut port = port(&[1, 1]);
    for class in [0, 1].repeat(50) {
        offer(&mut port, class, 1000);
    }
    let paused = ClassSet::NONE.with(0);
    for _ in 0..20 {
        assert_eq!(port.dequeue_unpaused(Time::ZERO, paused, &mut ()).unwrap().header.class, 1);
    }
    assert!(port.is_ready(paused) && !port.is_ready(paused.with(1)));
    assert!(port.dequeue_unpaused(Time::ZERO, paused.with(1), &mut ()).is_none());
    // Both continue alternately: the 20 packets are not made up.
    let mut served = [0; 2];
    for _ in 0..10 {
        served[serve(&mut port).unwrap().0] += 1;
    }
    assert_eq!(served, [5, 5]);
}

#[test]
fn limits_and_marks_may_count_a_queue_by_itself() {
    let buffer = Buffer {
        limit: crate::units::Limit::Packets(2),
        limit_scope: Scope::Queue,
        mark_above: crate::units::Limit::Packets(1),
        mark_scope: Scope::Queue,
        ramp: None,
    };
    let weights = QueueWeights::new(&[8, 4, 1]).unwrap();
    let mut port: Wfq<Packet<()>> = Wfq::new(&weights, IDENTITY, SortBy::Class, buffer);
    let mut offer = |class| {
        let mut packet = packet(class, 1000);
        packet.header.marks = crate::packet::Marks::ECN_CAPABLE;
        port.enqueue(Time::ZERO, &packet, &mut ())
    };
    let seen = [1, 1, 1, 0, 2, 0].map(&mut offer);
    use Admission::{Dropped, Marked, Queued};
    assert_eq!(seen, [Queued, Marked, Dropped, Queued, Queued, Marked]);
    assert_eq!((port.packets(), port.bytes_before(&packet(1, 84).header)), (5, 2000));
}
