use super::*;
use crate::transport::receiver_driven::bench::{self, Bench, SLOT, local, number, spec};
use crate::units::Span;

fn host(id: u16) -> Bench<Ndp> {
    let config = Config { init_window: Some(4), rto: Span(100 * SLOT), ..Config::new(Frame::ETHERNET) };
    Bench::new(Ndp::new(local(id), Arc::new(config)))
}

fn answer_to(n: u64, message_type: MessageType, pulls: u32) -> Packet<ControlMessage> {
    bench::packet(0, (1, 0), n, ControlMessage { message_type, count: pulls, ..ControlMessage::default() })
}

fn data(flow: u32, n: u64, packets: u64) -> Packet<ControlMessage> {
    bench::packet(
        flow,
        (0, 1),
        n,
        ControlMessage { size: packets * 1_460, window: 4, ..ControlMessage::default() },
    )
}

fn trimmed(flow: u32, n: u64, packets: u64) -> Packet<ControlMessage> {
    let mut packet = data(flow, n, packets);
    packet.header.payload = 0;
    packet.header.marks = Marks::TRIMMED;
    packet
}

#[test]
fn the_first_window_goes_unasked_then_a_packet_for_each_pull_trimmed_ones_first() {
    let mut sender = host(0);
    sender.open(0, spec(0, 10));
    assert_eq!(sender.poll_all(0).iter().map(number).collect::<Vec<_>>(), [0, 1, 2, 3]);
    sender.give(10, &answer_to(0, MessageType::Ack, 0));
    sender.give(10, &answer_to(2, MessageType::Nack, 0));
    assert!(sender.poll(10).is_none());
    // Two pulls: the count is two ahead. Trimmed packets are sent first, then new ones.
    sender.give(20, &answer_to(0, MessageType::Pull, 2));
    assert_eq!(sender.poll_all(20).iter().map(number).collect::<Vec<_>>(), [2, 4]);
    // An older count has no effect.
    sender.give(30, &answer_to(0, MessageType::Pull, 1));
    assert!(sender.poll(30).is_none());
    // An ACK with a higher count acts as a pull.
    sender.give(40, &answer_to(1, MessageType::Ack, 3));
    assert_eq!(sender.poll_all(40).iter().map(number).collect::<Vec<_>>(), [5]);
}

#[test]
fn a_pull_that_overtakes_its_nack_is_kept_for_it() {
    let mut sender = host(0);
    sender.open(0, spec(0, 4));
    assert_eq!(sender.poll_all(0).len(), 4);
    sender.give(10, &answer_to(0, MessageType::Pull, 1));
    assert!(sender.poll(10).is_none());
    sender.give(20, &answer_to(3, MessageType::Nack, 0));
    assert_eq!(sender.poll_all(20).iter().map(number).collect::<Vec<_>>(), [3]);
}

#[test]
fn what_is_not_heard_of_goes_again_and_silence_is_waited_for_ever_longer() {
    let mut sender = host(0);
    sender.open(0, spec(0, 9));
    sender.poll_all(0);
    (0..3).for_each(|n| sender.give(10, &answer_to(n, MessageType::Ack, 0)));
    assert!(sender.host.next_timeout().unwrap() <= Time(100 * SLOT));
    sender.ring(100 * SLOT);
    assert_eq!(sender.poll_all(100 * SLOT).iter().map(number).collect::<Vec<_>>(), [3]);
    sender.give(110 * SLOT, &answer_to(3, MessageType::Ack, 0));
    // Nothing is in flight and there are no pulls: one packet after one timeout.
    let mut sent = Vec::new();
    for at in 110..800 {
        sender.ring(at * SLOT);
        sent.extend(sender.poll_all(at * SLOT).iter().map(|packet| (at, number(packet))));
    }
    // There is no reply to it either: again after each timeout.
    assert_eq!(sent[..3], [(210, 4), (310, 4), (410, 4)]);
}

#[test]
fn a_receiver_answers_at_once_and_pulls_one_per_packet_time_in_turns() {
    let mut receiver = host(1);
    // The pacer is idle: the pull is sent with the ACK.
    receiver.give(0, &data(0, 0, 20));
    let ack = receiver.poll(0).unwrap();
    assert_eq!((ack.body.message_type, ack.body.count), (MessageType::Ack, 1));
    for n in 1..4 {
        receiver.give(1, &data(0, n, 20));
        receiver.give(1, &trimmed(1, n, 20));
    }
    let answers: Vec<_> = (0..6).map(|_| receiver.poll(1).unwrap().body.message_type).collect();
    assert_eq!(
        answers,
        [
            MessageType::Ack,
            MessageType::Nack,
            MessageType::Ack,
            MessageType::Nack,
            MessageType::Ack,
            MessageType::Nack
        ]
    );
    let pulls: Vec<_> = (0..16)
        .filter_map(|half| receiver.poll(half * SLOT / 2).map(|p| (half, p.header.flow.0, p.body.count)))
        .collect();
    assert_eq!(pulls, [(2, 0, 2), (4, 1, 1), (6, 0, 3), (8, 1, 2), (10, 0, 4), (12, 1, 3)]);
}

#[test]
fn no_more_is_pulled_than_is_still_to_be_sent() {
    let mut receiver = host(1);
    // Six packets, four of them sent without pulls: two pulls, and one for the trimmed packet.
    receiver.give(0, &data(0, 0, 6));
    receiver.give(0, &data(0, 1, 6));
    receiver.give(0, &data(0, 2, 6));
    receiver.give(0, &trimmed(0, 3, 6));
    let count = |receiver: &mut Bench<Ndp>, from: u64| {
        (from..from + 20).flat_map(|slot| receiver.poll_all(slot * SLOT)).map(|p| p.body.count).max()
    };
    assert_eq!(count(&mut receiver, 0), Some(3));
    for n in [4, 5, 3] {
        receiver.give(20 * SLOT, &data(0, n, 6));
    }
    assert_eq!(count(&mut receiver, 20), Some(3));
    assert!(matches!(receiver.host.poll_event(), Some(Event::Delivered { missing: 0, .. })));
    // A copy of a packet of a completed flow is acknowledged.
    receiver.give(50 * SLOT, &trimmed(0, 3, 6));
    assert_eq!(receiver.poll(50 * SLOT).unwrap().body.message_type, MessageType::Ack);
}

#[test]
fn the_last_ack_completes_the_flow_and_nothing_is_left_of_it() {
    let mut sender = host(0);
    sender.open(0, spec(0, 3));
    sender.poll_all(0);
    for n in [2, 0, 1] {
        sender.give(10, &answer_to(n, MessageType::Ack, 0));
    }
    match sender.host.poll_event() {
        Some(Event::Completed(report)) => assert_eq!((report.bytes, report.retransmits), (4_380, 0)),
        other => panic!("{other:?}"),
    }
    assert_eq!((sender.host.next_timeout(), sender.poll(20).is_none()), (None, true));
}

/// Returns packet `n`, returned by a switch.
fn returned(n: u64) -> Packet<ControlMessage> {
    let mut packet = trimmed(0, n, 10);
    (packet.header.src, packet.header.dst) = (packet.header.dst, packet.header.src);
    packet.header.marks = packet.header.marks.with(Marks::RETURNED);
    packet
}

#[test]
fn what_comes_back_waits_for_a_pull_that_the_receiver_is_told_of() {
    let mut sender = host(0);
    sender.open(0, spec(0, 10));
    sender.poll_all(0);
    // Three are still in flight, and their pulls will arrive.
    sender.give(1, &returned(1));
    assert!(sender.poll(1).is_none());
    sender.give(2, &answer_to(0, MessageType::Ack, 1));
    let again = sender.poll_all(2);
    assert_eq!(again.iter().map(|p| (number(p), p.body.count)).collect::<Vec<_>>(), [(1, 1)]);
    // The receiver pulls six packets beyond the first window, and this one.
    let mut receiver = host(1);
    for n in [0, 2, 3] {
        receiver.give(0, &data(0, n, 10));
    }
    let mut packet = data(0, 1, 10);
    packet.body.count = 1;
    receiver.give(0, &packet);
    (4..9).for_each(|n| receiver.give(n, &data(0, n, 10)));
    let most = (1..30).flat_map(|slot| receiver.poll_all(slot * SLOT)).map(|p| p.body.count).max();
    assert_eq!(most, Some(7));
}

#[test]
fn what_comes_back_goes_at_once_where_nothing_else_would_be_answered() {
    // The whole first window is returned: its last packet is retransmitted immediately.
    let mut sender = host(0);
    sender.open(0, spec(0, 10));
    sender.poll_all(0);
    (0..4).for_each(|n| sender.give(1, &returned(n)));
    assert_eq!(sender.poll_all(1).iter().map(number).collect::<Vec<_>>(), [3]);
    // A flow that fits the first window needs no pulls: the returned packet is sent after the last reply.
    let mut sender = host(0);
    sender.open(0, spec(0, 2));
    sender.poll_all(0);
    sender.give(1, &returned(1));
    assert!(sender.poll(1).is_none());
    sender.give(2, &answer_to(0, MessageType::Ack, 0));
    assert_eq!(sender.poll_all(2).iter().map(number).collect::<Vec<_>>(), [1]);
}

#[test]
fn packets_below_the_highest_arrived_are_counted_as_reordered_and_trimmed_ones_are_not() {
    let mut receiver = host(1);
    receiver.give(0, &trimmed(0, 15, 20));
    receiver.assert_counts_reordered(|n| data(0, n, 20));
}

#[test]
fn payload_that_comes_again_is_a_duplicate_and_a_trimmed_packet_is_not() {
    let cut = [0, 1, 2].map(|n| trimmed(0, n, 3));
    host(1).assert_counts_duplicates(|n| data(0, n, 3), &cut);
}
