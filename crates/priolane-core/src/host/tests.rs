use super::*;
use crate::ids::FlowId;

fn candidate(slot: u32, level: u8, sent: u64, remaining: u64) -> Candidate {
    // Slots and flow ids have opposite orders, so that a tie broken by slot is detected.
    Candidate { slot, flow: FlowId(100 - slot), level, sent, remaining }
}

fn drain(scheduler: &mut impl HostScheduler) -> Vec<u32> {
    std::iter::from_fn(|| scheduler.next()).collect()
}

fn order(kind: SchedulerKind, offered: &[Candidate]) -> Vec<u32> {
    let mut scheduler = AnyScheduler::from(kind);
    offered.iter().for_each(|&c| scheduler.offer(c));
    drain(&mut scheduler)
}

/// Slot, level, sent, remaining.
fn crowd() -> [Candidate; 4] {
    [candidate(1, 2, 500, 90), candidate(2, 0, 900, 90), candidate(3, 0, 500, 10), candidate(4, 1, 0, 400)]
}

#[test]
fn round_robin_keeps_the_order_of_offers() {
    assert_eq!(order(SchedulerKind::RoundRobin, &crowd()), [1, 2, 3, 4]);
}

#[test]
fn mlfq_serves_strict_levels_and_turns_within() {
    assert_eq!(order(SchedulerKind::Mlfq, &crowd()), [2, 3, 4, 1]);
}

#[test]
fn srpt_serves_the_fewest_bytes_left_then_the_smaller_flow() {
    // Slots 1 and 2 tie at 90 bytes; slot 2 is flow 98, slot 1 flow 99.
    assert_eq!(order(SchedulerKind::Srpt, &crowd()), [3, 2, 1, 4]);
}

#[test]
fn las_serves_the_fewest_bytes_sent_then_the_smaller_flow() {
    assert_eq!(order(SchedulerKind::Las, &crowd()), [4, 3, 1, 2]);
}

#[test]
fn a_promoted_flow_has_one_place_only() {
    let mut mlfq = Mlfq::default();
    mlfq.offer(candidate(1, 3, 0, 0));
    mlfq.offer(candidate(2, 2, 0, 0));
    mlfq.promote(candidate(1, 0, 0, 0));
    assert_eq!(mlfq.next(), Some(1));
    // Offered again at its old level while its old entry is still queued there: behind slot 3.
    mlfq.offer(candidate(3, 3, 0, 0));
    mlfq.offer(candidate(1, 3, 0, 0));
    assert_eq!(drain(&mut mlfq), [2, 3, 1]);
}

#[test]
fn levels_beyond_the_last_share_the_last() {
    assert_eq!(order(SchedulerKind::Mlfq, &[candidate(1, 200, 0, 0), candidate(2, 15, 0, 0)]), [1, 2]);
}
