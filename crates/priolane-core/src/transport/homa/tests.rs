use super::*;
use crate::transport::receiver_driven::bench::{self, Bench, SLOT, local, number, spec};
use crate::units::Span;

fn host(id: u16, overcommit: u8) -> Bench<Homa> {
    let levels = Levels::new(&[3_000], 6).unwrap();
    let config = Config {
        levels,
        rtt_bytes: Some(4 * 1_460),
        overcommit,
        resend: Span(100 * SLOT),
        retry: Span(200 * SLOT),
        ..Config::new(Frame::ETHERNET)
    };
    Bench::new(Homa::new(local(id), Arc::new(config)))
}

/// Returns packet `n` of a message of `packets` packets from host `from`.
fn data(flow: u32, from: u16, n: u64, packets: u64) -> Packet<ControlMessage> {
    bench::packet(
        flow,
        (from, 1),
        n,
        ControlMessage { size: packets * 1_460, window: 4, ..ControlMessage::default() },
    )
}

fn tell(n: u64, message_type: MessageType, end: u64) -> Packet<ControlMessage> {
    let body = ControlMessage { message_type, size: end * 1_460, class: 6, ..ControlMessage::default() };
    bench::packet(0, (1, 0), n, body)
}

/// Returns the packets that a receiver sends at one time: flow, message type, packets granted, class.
fn sent_messages(receiver: &mut Bench<Homa>, at: u64) -> Vec<(u32, MessageType, u64, u8)> {
    let sent_messages =
        |p: Packet<ControlMessage>| (p.header.flow.0, p.body.message_type, number(&p), p.body.class);
    receiver.poll_all(at).into_iter().map(sent_messages).collect()
}

#[test]
fn the_first_rtt_goes_unasked_and_the_rest_as_granted_in_the_class_of_the_grant() {
    let mut sender = host(0, 7);
    sender.open(0, spec(0, 6));
    let blind: Vec<_> = sender.poll_all(0).iter().map(|p| (number(p), p.header.class)).collect();
    assert_eq!(blind, [(0, 1), (1, 1), (2, 1), (3, 1)]);
    sender.give(1, &tell(5, MessageType::Grant, 0));
    let granted: Vec<_> = sender.poll_all(1).iter().map(|p| (number(p), p.header.class)).collect();
    assert_eq!(granted, [(4, 6)]);
    // An older grant has no effect.
    sender.give(2, &tell(4, MessageType::Grant, 0));
    assert!(sender.poll(2).is_none());
}

#[test]
fn a_sender_sends_the_message_with_least_left_first() {
    let mut sender = host(0, 7);
    sender.open(0, spec(0, 4));
    assert_eq!(sender.poll(0).unwrap().header.flow, FlowId(0));
    sender.open(1, spec(1, 2));
    let order: Vec<_> = sender.poll_all(1).iter().map(|p| (p.header.flow.0, p.header.class)).collect();
    // Two packets are below the first cut-off.
    assert_eq!(order, [(1, 0), (1, 0), (0, 1), (0, 1), (0, 1)]);
}

#[test]
fn no_more_than_an_rtt_is_granted_beyond_what_arrived_and_a_lone_message_uses_the_last_class() {
    let mut receiver = host(1, 7);
    for n in 0..20 {
        receiver.give(n, &data(0, 0, n, 30));
        assert_eq!(sent_messages(&mut receiver, n), [(0, MessageType::Grant, n + 5, 7)]);
    }
    // A duplicate changes nothing.
    receiver.give(20, &data(0, 0, 3, 30));
    assert!(sent_messages(&mut receiver, 20).is_empty());
}

#[test]
fn the_best_messages_are_granted_one_per_sender_in_order_of_what_is_left() {
    let mut receiver = host(1, 2);
    receiver.give(0, &data(0, 2, 0, 30));
    assert_eq!(sent_messages(&mut receiver, 0), [(0, MessageType::Grant, 5, 7)]);
    receiver.give(0, &data(1, 3, 0, 20));
    // Two are granted, the shorter in the better of the two last classes; the longer needs no new grant.
    assert_eq!(sent_messages(&mut receiver, 0), [(1, MessageType::Grant, 5, 6)]);
    // A shorter message of the same sender replaces it, one of a third sender replaces the other.
    receiver.give(0, &data(2, 3, 0, 10));
    assert_eq!(sent_messages(&mut receiver, 0), [(2, MessageType::Grant, 5, 6)]);
    receiver.give(0, &data(3, 4, 0, 8));
    assert_eq!(sent_messages(&mut receiver, 0), [(3, MessageType::Grant, 5, 6)]);
    for (flow, from, packets) in [(0, 2, 30), (1, 3, 20)] {
        receiver.give(1, &data(flow, from, 1, packets));
        assert!(sent_messages(&mut receiver, 1).is_empty(), "flow {flow} is not among the best");
    }
    // The third sender's message is fully granted when four of its packets are missing: another sender's is next.
    for n in 1..4 {
        receiver.give(2, &data(3, 4, n, 8));
    }
    let grants = sent_messages(&mut receiver, 2);
    assert_eq!(
        grants[..3],
        [(3, MessageType::Grant, 6, 6), (3, MessageType::Grant, 7, 6), (3, MessageType::Grant, 8, 6)]
    );
    receiver.give(3, &data(2, 3, 1, 10));
    assert_eq!(
        sent_messages(&mut receiver, 3),
        [(2, MessageType::Grant, 6, 6), (0, MessageType::Grant, 6, 7)]
    );
}

#[test]
fn a_gap_is_asked_for_after_a_while_and_sent_again_in_the_best_class() {
    let mut receiver = host(1, 7);
    for n in [0, 3] {
        receiver.give(0, &data(0, 0, n, 4));
    }
    assert_eq!(receiver.host.next_timeout(), Some(Time(100 * SLOT)));
    receiver.ring(100 * SLOT);
    let resend = receiver.poll(100 * SLOT).unwrap();
    assert_eq!(
        (resend.body.message_type, number(&resend), resend.body.size),
        (MessageType::Resend, 1, 3 * 1_460)
    );
    let mut sender = host(0, 7);
    sender.open(0, spec(0, 4));
    sender.poll_all(0);
    sender.give(101 * SLOT, &resend);
    sender.give(101 * SLOT, &resend);
    let again: Vec<_> = sender.poll_all(101 * SLOT).iter().map(|p| (number(p), p.header.class)).collect();
    assert_eq!(again, [(1, 0), (2, 0)]);
    for n in [1, 2] {
        receiver.give(102 * SLOT, &data(0, 0, n, 4));
    }
    assert!(matches!(receiver.host.poll_event(), Some(Event::Delivered { missing: 0, .. })));
    let ack = receiver.poll(102 * SLOT).unwrap();
    sender.give(103 * SLOT, &ack);
    match sender.host.poll_event() {
        Some(Event::Completed(report)) => assert_eq!((report.bytes, report.retransmits), (5_840, 2)),
        other => panic!("{other:?}"),
    }
    assert_eq!((sender.host.next_timeout(), receiver.host.next_timeout()), (None, None));
}

#[test]
fn duplicates_do_not_put_off_the_resend() {
    let mut receiver = host(1, 7);
    for (at, n) in [(0, 0), (50, 3), (90, 0), (140, 3)] {
        receiver.give(at * SLOT, &data(0, 0, n, 4));
    }
    receiver.ring(150 * SLOT);
    let resend = receiver.poll(150 * SLOT).map(|packet| (packet.body.message_type, number(&packet)));
    assert_eq!(resend, Some((MessageType::Resend, 1)));
}

#[test]
fn what_was_not_sent_yet_is_busy_and_a_lost_grant_is_made_good() {
    let mut sender = host(0, 7);
    sender.open(0, spec(0, 9));
    assert_eq!(sender.poll_all(0).len(), 4);
    sender.give(1, &tell(4, MessageType::Resend, 6));
    let sent_messages: Vec<_> = sender.poll_all(1).iter().map(|p| (p.body.message_type, number(p))).collect();
    assert_eq!(sent_messages, [(MessageType::Busy, 4), (MessageType::Data, 4), (MessageType::Data, 5)]);
    // BUSY postpones the next RESEND.
    let mut receiver = host(1, 7);
    receiver.give(0, &data(0, 0, 1, 4));
    let busy = bench::packet(
        0,
        (0, 1),
        0,
        ControlMessage { message_type: MessageType::Busy, ..ControlMessage::default() },
    );
    receiver.give(60 * SLOT, &busy);
    receiver.ring(100 * SLOT);
    assert!(receiver.poll(100 * SLOT).is_none());
    assert_eq!(receiver.host.next_timeout(), Some(Time(160 * SLOT)));
}

#[test]
fn a_sender_that_hears_nothing_sends_its_first_packet_again_and_a_late_copy_is_acknowledged() {
    let mut sender = host(0, 7);
    sender.open(0, spec(0, 2));
    sender.poll_all(0);
    sender.ring(200 * SLOT);
    let again = sender.poll(200 * SLOT).unwrap();
    assert_eq!((number(&again), again.header.class), (0, 0));
    let mut receiver = host(1, 7);
    for n in [0, 1, 0] {
        receiver.give(0, &data(0, 0, n, 2));
    }
    let acks: Vec<MessageType> = receiver.poll_all(0).iter().map(|p| p.body.message_type).collect();
    assert_eq!(acks, [MessageType::Ack, MessageType::Ack]);
}

#[test]
fn a_grant_for_a_message_that_was_aborted_ends_it_at_the_receiver() {
    let mut receiver = host(1, 1);
    receiver.give(0, &data(0, 0, 0, 30));
    receiver.give(0, &data(1, 2, 0, 40));
    assert_eq!(sent_messages(&mut receiver, 0), [(0, MessageType::Grant, 5, 7)]);
    let mut sender = host(0, 1);
    sender.give(1, &tell(5, MessageType::Grant, 0));
    let unknown = sender.poll(1).unwrap();
    assert_eq!(unknown.body.message_type, MessageType::Unknown);
    receiver.give(2, &unknown);
    // The other message is now the best.
    assert_eq!(sent_messages(&mut receiver, 2), [(1, MessageType::Grant, 5, 7)]);
}

#[test]
fn packets_below_the_highest_arrived_are_counted_as_reordered() {
    host(1, 1).assert_counts_reordered(|n| data(0, 0, n, 20));
}

#[test]
fn payload_that_comes_again_is_a_duplicate_and_a_sign_of_life_is_not() {
    let busy =
        ControlMessage { message_type: MessageType::Busy, size: 3 * 1_460, ..ControlMessage::default() };
    host(1, 1).assert_counts_duplicates(|n| data(0, 0, n, 3), &[bench::packet(0, (0, 1), 0, busy)]);
}
