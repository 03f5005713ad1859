use priolane_core::units::Span;

use super::*;
use crate::parts::RUN;

/// Limits for messages of up to 100 kB: a reserve of 178,036 bytes and a pool of 684,464 bytes, of which 114,077 are
/// for each of three senders and 342,233 are shared.
const ROOM: ReceiveLimits =
    ReceiveLimits { message: 100_000, sender: 80_000, ahead: 40_000, receiving: 1_150_000, senders: 3 };
const A: (HostId, FlowId) = (HostId(1), FlowId(1));
const B: (HostId, FlowId) = (HostId(1), FlowId(2));
const NOW: Time = Time(5);

fn kept() -> Option<u32> {
    None
}

/// Stores bytes as if all bytes before them could be read.
fn store(assembly: &mut Assembly, of: (HostId, FlowId), at: u64, len: usize) -> StoreOutcome {
    store_at(assembly, of, (at, len), NOW)
}

fn store_at(
    assembly: &mut Assembly,
    of: (HostId, FlowId),
    (at, len): (u64, usize),
    now: Time,
) -> StoreOutcome {
    assembly.readable(of.0, of.1, at);
    let stored = assembly.store(of, at, &vec![7; len], now, kept);
    check(assembly);
    stored
}

/// Checks that all counts agree with the stored messages and stay within the limits.
fn check(assembly: &Assembly) {
    let Assembly { partial, senders, room, .. } = assembly;
    let kept: u64 = partial.values().map(Partial::kept).sum();
    let reserved: u64 = partial.values().map(|partial| partial.reserved).sum();
    assert_eq!((assembly.kept, assembly.reserved), (kept, reserved));
    // A sender without messages has no entry, and its order does not grow without bound.
    for sender in senders.values() {
        assert!(sender.messages > 0 && sender.order.len() <= 65 + 2 * sender.messages as usize, "{sender:?}");
    }
    let mut pool = FairPool::new(room.pool(), room.senders);
    for (src, sender) in senders {
        let of = || partial.iter().filter(|((host, _), _)| host == src).map(|(_, partial)| partial);
        assert_eq!(sender.kept, of().map(Partial::kept).sum::<u64>());
        assert_eq!(sender.pooled, of().map(|partial| partial.kept() - partial.reserved).sum::<u64>());
        assert_eq!(sender.messages as usize, of().count());
        pool.change(0, sender.pooled);
    }
    assert_eq!(assembly.pool, pool);
    let freeing: u64 = assembly.to_free.iter().map(Parts::kept).sum();
    assert!(assembly.freeing >= freeing);
    assert!(assembly.bytes() <= room.pool() + room.reserve(), "{} bytes", assembly.bytes());
    assert!(reserved <= room.reserve());
}

#[test]
fn bytes_are_put_together_in_whatever_order_they_come() {
    let mut assembly = Assembly::new(ROOM);
    let came = [(100, 50, 3), (0, 50, 1), (50, 50, 2), (0, 50, 1)];
    let stored = came.map(|(at, len, byte)| assembly.store(A, at, &vec![byte; len], NOW, kept));
    assert_eq!(stored, [StoreOutcome::First, StoreOutcome::Yes, StoreOutcome::Yes, StoreOutcome::Yes]);
    assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (MESSAGE + 2 * RUN + 150, 1));
    let expected: Vec<u8> = [1u8, 2, 3].into_iter().flat_map(|byte| [byte; 50]).collect();
    assembly.readable(A.0, A.1, 150);
    let taken = assembly.take(A.0, A.1, NOW).unwrap();
    assert_eq!((taken.readable, taken.counted, taken.parts.into_bytes(150)), (150, None, expected));
    assert_eq!((assembly.take(A.0, A.1, NOW).is_none(), assembly.bytes()), (true, 0));
}

#[test]
fn no_message_is_longer_than_it_may_be_and_none_far_beyond_what_can_be_read() {
    let mut assembly = Assembly::new(ReceiveLimits { ahead: 200, ..ROOM });
    assert_eq!(assembly.store(A, 99_999, &[0; 2], NOW, kept), StoreOutcome::TooLong);
    assert_eq!(assembly.store(A, u64::MAX, &[0; 2], NOW, kept), StoreOutcome::TooLong);
    assert_eq!(assembly.store(A, 150, &[0; 51], NOW, kept), StoreOutcome::NoRoom);
    assert_eq!(assembly.bytes(), 0);
    assert_eq!(assembly.store(A, 150, &[0; 50], NOW, kept), StoreOutcome::First);
    assembly.readable(A.0, A.1, 1);
    assert_eq!(assembly.store(A, 150, &[0; 51], NOW, kept), StoreOutcome::Yes);
}

#[test]
fn a_message_that_no_memory_has_room_for_is_counted_or_refused() {
    let room = ReceiveLimits { message: 1 << 40, receiving: 1 << 20, ahead: u64::MAX, ..ROOM };
    let mut assembly = Assembly::new(room);
    assert_eq!(assembly.store(A, 1 << 19, &[0; 1], NOW, kept), StoreOutcome::TooLong);
    assert_eq!(assembly.store(A, 1 << 39, &[0; 1], NOW, || Some(1)), StoreOutcome::First);
}

#[test]
fn only_the_oldest_message_of_a_sender_goes_beyond_its_share() {
    let mut assembly = Assembly::new(ROOM);
    // 256 + 128 + 30,000 each, of 80,000.
    assert_eq!(store(&mut assembly, A, 0, 30_000), StoreOutcome::First);
    assert_eq!(store(&mut assembly, B, 0, 30_000), StoreOutcome::First);
    assert_eq!(store(&mut assembly, B, 30_000, 30_000), StoreOutcome::NoRoom);
    assert_eq!(store(&mut assembly, B, 0, 30_000), StoreOutcome::Yes, "what is here needs no room");
    assert_eq!(store(&mut assembly, A, 30_000, 30_000), StoreOutcome::Yes);
    // Another sender has a share of its own.
    assert_eq!(store(&mut assembly, (HostId(2), A.1), 0, 30_000), StoreOutcome::First);
    assembly.take(A.0, A.1, NOW);
    let within = store(&mut assembly, B, 30_000, 30_000);
    assert_eq!(within, StoreOutcome::Yes, "B is the oldest now, within its share");
    assert_eq!(store(&mut assembly, B, 60_000, 30_000), StoreOutcome::Yes, "and beyond");
    assembly.forget(B.0, NOW);
    assert_eq!((assembly.messages_of(B.0), assembly.free_some()), (0, false));
    assert_eq!(assembly.bytes(), MESSAGE + RUN + 30_000);
    check(&assembly);
}

#[test]
fn in_whatever_order_older_messages_end_the_next_goes_beyond_its_share() {
    for ends in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
        let mut assembly = Assembly::new(ROOM);
        let of = |flow| (HostId(1), FlowId(flow));
        for flow in 1..=5 {
            assert_eq!(store(&mut assembly, of(flow), 0, 10_000), StoreOutcome::First);
        }
        for flow in ends {
            assert!(assembly.take(HostId(1), FlowId(flow), NOW).is_some());
        }
        // With 10,384 bytes of flow 5, flow 4 would exceed 80,000 at its end.
        let stored = [10_000, 40_000, 70_000].map(|at| store(&mut assembly, of(4), at, 30_000));
        assert_eq!(stored, [StoreOutcome::Yes; 3], "{ends:?}");
        assert_eq!(store(&mut assembly, of(5), 10_000, 10_000), StoreOutcome::NoRoom, "{ends:?}");
    }
}

#[test]
fn of_a_message_that_is_counted_nothing_is_kept() {
    let mut assembly = Assembly::new(ReceiveLimits { message: 10_000, ..ROOM });
    assert_eq!(assembly.store(A, 0, &[1; 150], NOW, || Some(7)), StoreOutcome::First);
    // Beyond the room of a message and of its sender; where it is counted is asked once.
    assert_eq!(assembly.store(A, 9_000, &[1; 900], NOW, || None), StoreOutcome::Yes);
    assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (0, 1));
    assert_eq!(assembly.store(B, 0, &[1; 150], NOW, kept), StoreOutcome::First);
    assert_eq!((assembly.counted(A.0, A.1), assembly.counted(B.0, B.1)), (Some(7), None));
    assembly.readable(A.0, A.1, 10_000);
    let taken = assembly.take(A.0, A.1, NOW).unwrap();
    assert_eq!((taken.parts.is_empty(), taken.readable, taken.counted), (true, 10_000, Some(7)));
    assert_eq!((assembly.bytes(), assembly.messages_of(A.0)), (MESSAGE + RUN + 150, 1));
}

/// Fills the free part of the pool with messages of two senders that do not end.
fn full() -> Assembly {
    let mut assembly = Assembly::new(ReceiveLimits { sender: 10_000_000, ..ROOM });
    for host in [1, 2] {
        let mut flow = 0;
        while store(&mut assembly, (HostId(host), FlowId(flow)), 0, 20_000) == StoreOutcome::First {
            flow += 1;
        }
        assert!(flow >= 2, "{flow} messages of sender {host}");
    }
    assembly
}

#[test]
fn a_sender_that_has_little_finds_room_although_others_fill_all_they_may() {
    let mut assembly = full();
    let honest = (HostId(3), FlowId(1));
    for (at, stored) in [(0, StoreOutcome::First), (40_000, StoreOutcome::Yes)] {
        assert_eq!(store(&mut assembly, honest, at, 40_000), stored);
    }
    let taken = assembly.take(honest.0, honest.1, NOW).unwrap();
    assert_eq!(taken.parts.into_bytes(80_000), [7; 80_000]);
}

/// Tests the worst case: all memory is taken by messages that are each the oldest of their sender and need more.
#[test]
fn where_every_oldest_message_needs_more_room_they_end_one_after_another() {
    let mut assembly = Assembly::new(ReceiveLimits { sender: 10_000_000, ..ROOM });
    let flow = |host| (HostId(host), FlowId(0));
    let mut came = [1; 3];
    let mut now = Time::ZERO;
    // Fillers, so that no message has room to end in the pool.
    for host in 1..=3 {
        assert_eq!(store(&mut assembly, flow(host), 0, 1), StoreOutcome::First);
    }
    for (other, host) in (1..20).flat_map(|other| (1..=3).map(move |host| (other, host))) {
        // Until there is no room.
        let _ = store(&mut assembly, (HostId(host), FlowId(other)), 0, 30_000);
    }
    let mut ended = Vec::new();
    for round in 0..2_000 {
        now += Span::from_ms(10);
        for host in [1, 2, 3].into_iter().filter(|host| !ended.contains(host)).collect::<Vec<_>>() {
            let at = &mut came[usize::from(host) - 1];
            if store_at(&mut assembly, flow(host), (*at, 2_703), now) == StoreOutcome::NoRoom {
                continue;
            }
            *at += 2_703;
            if *at > 97_000 {
                assert!(assembly.take(HostId(host), FlowId(0), now).is_some());
                ended.push(host);
            }
        }
        if ended.len() == 3 {
            assert!(round > 60, "there was no want of room: {round} rounds");
            return;
        }
    }
    panic!("{ended:?} ended, {came:?} came: {:?}", assembly.turn);
}

#[test]
fn a_holder_of_the_turn_that_is_slow_is_dropped_for_one_that_waits() {
    // A pool of which the holder and the other have all that they may.
    let mut assembly = full();
    let (slow, fast) = ((HostId(1), FlowId(0)), (HostId(2), FlowId(0)));
    let mut now = Time::ZERO;
    let mut dropped = None;
    let (mut came, mut slowly) = (20_000, 20_000);
    while assembly.reserved == 0 {
        assert_eq!(store_at(&mut assembly, slow, (slowly, 1_000), now), StoreOutcome::Yes);
        slowly += 1_000;
    }
    for step in 0..12_000 {
        now += Span::from_ms(1);
        if step % 500 == 0 && dropped.is_none() {
            // A byte each half second.
            store_at(&mut assembly, slow, (slowly, 1), now);
            slowly += 1;
        }
        if came < 100_000 && store_at(&mut assembly, fast, (came, 5_000), now) == StoreOutcome::Yes {
            came += 5_000;
        }
        assembly.free_some();
        dropped = dropped.or_else(|| assembly.next_dropped().map(|of| (of, now)));
    }
    let (of, at) = dropped.expect("the slow one is dropped");
    assert_eq!(of, slow);
    assert!((10_000..10_100).contains(&(at.0 / Span::from_ms(1).0)), "at {at:?}");
    assert_eq!(came, 100_000, "the other ends");
}

#[test]
fn what_is_dropped_is_freed_little_by_little_and_counts_until_then() {
    let room =
        ReceiveLimits { message: 1 << 20, sender: 1 << 30, ahead: 1 << 20, receiving: 64 << 20, senders: 4 };
    let mut assembly = Assembly::new(room);
    for n in 0..5_000u64 {
        let stored = assembly.store(A, 2 * n, &[1], NOW, kept);
        assert_ne!(stored, StoreOutcome::NoRoom);
    }
    let before = assembly.bytes();
    assert_eq!(before, MESSAGE + 5_000 * (RUN + 1));
    assert!(assembly.discard(A, NOW));
    assert_eq!(assembly.bytes(), before - MESSAGE);
    let calls = (0..100).take_while(|_| assembly.free_some()).count();
    assert_eq!((calls, assembly.bytes()), (4, 0), "5000 runs, 1024 at once");
}

#[test]
fn a_turn_ends_with_its_message_if_nobody_waits() {
    let mut assembly = full();
    let holder = (HostId(1), FlowId(0));
    let mut at = 20_000;
    while assembly.reserved == 0 {
        assert_eq!(store(&mut assembly, holder, at, 1_000), StoreOutcome::Yes);
        at += 1_000;
    }
    assert!(assembly.turn.is_held_by(holder));
    assert!(assembly.take(holder.0, holder.1, NOW).is_some());
    assert!(!assembly.turn.is_held_by(holder), "{:?}", assembly.turn);
}

#[test]
fn nothing_is_left_of_senders_whose_messages_ended() {
    let mut assembly = Assembly::new(ROOM);
    for host in 1..=3 {
        for flow in 0..200 {
            let of = (HostId(host), FlowId(flow));
            assert_eq!(store(&mut assembly, of, 0, 10), StoreOutcome::First);
            assert!(if flow % 2 == 0 {
                assembly.take(of.0, of.1, NOW).is_some()
            } else {
                assembly.discard(of, NOW)
            });
            check(&assembly);
        }
    }
    while assembly.free_some() {}
    assert!(assembly.senders.is_empty() && assembly.partial.is_empty());
    assert_eq!((assembly.bytes(), assembly.reserved), (0, 0));
}
