//! Bounds on a small example, and the number of inversions in the order of service.

use super::*;
use crate::packet::Packet;
use crate::port::Scope;
use crate::rng::{Purpose, Stream};
use crate::units::Limit;

fn packet(rank: u64) -> Packet<()> {
    Packet { header: Header { rank, wire: 1000, ..Header::default() }, body: () }
}

fn offer(port: &mut SpPifo<Packet<()>>, rank: u64) -> Admission {
    port.enqueue(Time::ZERO, &packet(rank), &mut ())
}

fn serve(port: &mut SpPifo<Packet<()>>) -> Option<u64> {
    port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.header.rank)
}

fn drain(port: &mut SpPifo<Packet<()>>) -> Vec<u64> {
    std::iter::from_fn(|| serve(port)).collect()
}

fn bounds(port: &SpPifo<Packet<()>>) -> Vec<u64> {
    port.queues.iter().map(|queue| queue.bound).collect()
}

#[test]
fn a_rank_pushes_its_bound_up_and_an_inversion_pushes_all_down() {
    let mut port = SpPifo::new(3, Buffer::UNLIMITED);
    // 5, 3 and 1 each take a queue; 4 joins the queue of 3; 0 is 1 below the bound of the first queue; then 4
    // equals the last bound.
    let steps =
        [(5, [0, 0, 5]), (3, [0, 3, 5]), (4, [0, 4, 5]), (1, [1, 4, 5]), (0, [0, 3, 4]), (4, [0, 3, 4])];
    for (rank, after) in steps {
        assert_eq!(offer(&mut port, rank), Admission::Queued);
        assert_eq!(bounds(&port), after, "{rank}");
    }
    assert_eq!((port.packets(), port.bytes()), (6, 6000));
    assert_eq!(port.bytes_before(&packet(3).header), 2000);
    assert_eq!(drain(&mut port), [1, 0, 3, 4, 5, 4]);
    assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
}

#[test]
fn what_is_dropped_moves_no_bound() {
    let buffer = Buffer { limit: Limit::Packets(1), limit_scope: Scope::Queue, ..Buffer::UNLIMITED };
    let mut port = SpPifo::new(2, buffer);
    assert_eq!(offer(&mut port, 5), Admission::Queued);
    // With a bound of 6, rank 5 would have joined the first queue, which is empty.
    assert_eq!((offer(&mut port, 6), offer(&mut port, 5)), (Admission::Dropped, Admission::Dropped));
    assert_eq!(offer(&mut port, 4), Admission::Queued);
    assert_eq!(drain(&mut port), [4, 5]);
}

#[test]
fn what_passes_an_empty_port_moves_bounds_too() {
    let mut port = SpPifo::<Packet<()>>::new(2, Buffer::UNLIMITED);
    assert_eq!(port.try_bypass(Time::ZERO, &packet(5).header), Some(Admission::Queued));
    // The bounds are 0 and 5: 4 joins the first queue, and so does 3, 1 below it.
    offer(&mut port, 4);
    offer(&mut port, 3);
    assert_eq!(bounds(&port), [3, 4]);
    assert_eq!(drain(&mut port), [4, 3]);
}

/// Returns the sum of the differences between served ranks and the smallest queued rank, over 20,000 services of
/// uniform ranks below 100.
fn inversions(queues: u8) -> u64 {
    let mut port = SpPifo::new(queues, Buffer::UNLIMITED);
    let mut stream = Stream::new(1, Purpose::Port, 0);
    let mut queued = Vec::new();
    let mut sum = 0;
    for step in 0..20_000 {
        // 30 packets are queued.
        for _ in 0..if step == 0 { 30 } else { 1 } {
            let rank = u64::from(stream.below(100) as u32);
            offer(&mut port, rank);
            queued.push(rank);
        }
        let rank = serve(&mut port).unwrap();
        sum += rank - queued.iter().min().unwrap();
        queued.swap_remove(queued.iter().position(|&other| other == rank).unwrap());
    }
    sum
}

#[test]
fn more_queues_are_closer_to_a_sorted_one() {
    let [fifo, two, eight] = [1, 2, 8].map(inversions);
    // The smallest of 30 uniform ranks below 100 is about 3, the first in FIFO order is 50 on average.
    assert!((40..55).contains(&(fifo / 20_000)), "{fifo}");
    assert!(3 * two < 2 * fifo && 3 * eight < two, "{fifo} {two} {eight}");
}
