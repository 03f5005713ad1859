use super::*;
use crate::transport::receiver_driven::bench::{self, Bench, SLOT, local, number, spec};

fn host(id: u16, config: Config) -> Bench<PHost> {
    Bench::new(PHost::new(local(id), Arc::new(Config { bdp: Some(3), ..config })))
}

fn request(flow: u32, from: u16, packets: u64) -> Packet<ControlMessage> {
    let body = ControlMessage {
        size: packets * 1_460,
        window: 3,
        message_type: MessageType::Request,
        ..ControlMessage::default()
    };
    bench::packet(flow, (from, 1), 0, body)
}

fn token(flow: u32, packet: u64, number: u32) -> Packet<ControlMessage> {
    bench::packet(
        flow,
        (1, 0),
        packet,
        ControlMessage { count: number, message_type: MessageType::Token, ..ControlMessage::default() },
    )
}

#[test]
fn free_tokens_go_after_the_request_and_expire() {
    let mut sender = host(0, Config::new(Frame::ETHERNET));
    sender.open(0, spec(0, 9));
    assert_eq!(sender.poll(0).unwrap().body.message_type, MessageType::Request);
    let sent: Vec<u64> = (0..2).map(|i| number(&sender.poll(i * SLOT).unwrap())).collect();
    assert_eq!(sent, [0, 1]);
    // Three free tokens are valid for (3 + 1.5) packet times.
    assert!(sender.poll(9 * SLOT / 2 + 1).is_none());
}

#[test]
fn a_token_is_used_until_it_expires_and_the_flow_with_least_left_goes_first() {
    let mut sender = host(0, Config { free: Free::ShortOnly, ..Config::new(Frame::ETHERNET) });
    sender.open(0, spec(0, 9));
    sender.open(0, spec(1, 7));
    assert_eq!((0..2).filter_map(|_| sender.poll(0)).count(), 2);
    assert!(sender.poll(0).is_none(), "long flows have no free tokens here");
    for (flow, number) in [(0, 1), (1, 1), (0, 2)] {
        sender.give(100, &token(flow, u64::from(number), number));
    }
    let first = sender.poll(100).unwrap();
    assert_eq!((first.header.flow, number(&first), first.body.count), (FlowId(1), 1, 1));
    // 1.5 packet times after its arrival the token is still valid, a picosecond later it is not.
    let last = 100 + 3 * SLOT / 2;
    assert_eq!(number(&sender.poll(last).unwrap()), 1);
    assert!(sender.poll(last + 1).is_none());
}

#[test]
fn one_token_goes_per_packet_time_to_the_shortest_flow_until_its_window_is_unused() {
    let mut receiver = host(1, Config { free: Free::ShortOnly, ..Config::new(Frame::ETHERNET) });
    receiver.give(0, &request(0, 0, 20));
    receiver.give(0, &request(1, 2, 10));
    let given: Vec<_> = (0..16)
        .filter_map(|half| receiver.poll(half * SLOT / 2).map(|t| (half, t.header.flow.0, number(&t))))
        .collect();
    // Three tokens of each flow are unused; then both are downgraded.
    assert_eq!(given, [(0, 1, 0), (2, 1, 1), (4, 1, 2), (6, 0, 0), (8, 0, 1), (10, 0, 2)]);
    // Flow 1 was downgraded in slot 3: 9 packet times later it gets another token for its first missing packet.
    assert_eq!(receiver.host.next_timeout(), Some(Time(12 * SLOT)));
    receiver.ring(12 * SLOT);
    let again = receiver.poll(12 * SLOT).unwrap();
    assert_eq!((again.header.flow, number(&again)), (FlowId(1), 0));
}

#[test]
fn what_is_missing_after_a_round_is_given_tokens_again_and_one_ack_ends_the_flow() {
    let mut receiver = host(1, Config { free: Free::ShortOnly, ..Config::new(Frame::ETHERNET) });
    let mut sender = host(0, Config { free: Free::ShortOnly, ..Config::new(Frame::ETHERNET) });
    sender.open(0, spec(0, 4));
    receiver.give(0, &sender.poll(0).unwrap());
    let mut lost = 0;
    for n in 0..4 {
        let token = receiver.poll(n * SLOT).unwrap();
        sender.give(n * SLOT, &token);
        let data = sender.poll(n * SLOT).unwrap();
        assert_eq!((number(&data), data.header.class), (n, 2));
        if n == 1 { lost += 1 } else { receiver.give(n * SLOT, &data) }
    }
    // The round is over, which is detected in the fifth slot; BDP + 1 = 4 packet times later packet 1 gets a token.
    assert!(receiver.poll(4 * SLOT).is_none());
    assert_eq!(receiver.host.next_timeout(), Some(Time(8 * SLOT)));
    receiver.ring(8 * SLOT);
    let token = receiver.poll(8 * SLOT).unwrap();
    sender.give(8 * SLOT, &token);
    let data = sender.poll(8 * SLOT).unwrap();
    assert_eq!((number(&data), lost), (1, 1));
    receiver.give(9 * SLOT, &data);
    assert_eq!(
        receiver.host.poll_event(),
        Some(Event::Delivered {
            src: crate::ids::HostId(0),
            flow: FlowId(0),
            at: Time(9 * SLOT),
            missing: 0
        })
    );
    let ack = receiver.poll(9 * SLOT).unwrap();
    sender.give(10 * SLOT, &ack);
    match sender.host.poll_event() {
        Some(Event::Completed(report)) => assert_eq!((report.retransmits, report.bytes), (1, 4 * 1_460)),
        other => panic!("{other:?}"),
    }
    assert!(sender.host.next_timeout().is_none() && receiver.host.next_timeout().is_none());
}

#[test]
fn a_token_for_a_flow_that_was_aborted_ends_it_at_the_receiver() {
    let mut receiver = host(1, Config::new(Frame::ETHERNET));
    let mut sender = host(0, Config::new(Frame::ETHERNET));
    receiver.give(0, &request(0, 0, 20));
    receiver.ring(SLOT);
    let token = receiver.poll(SLOT).unwrap();
    sender.give(SLOT, &token);
    let unknown = sender.poll(SLOT).unwrap();
    assert_eq!(unknown.body.message_type, MessageType::Unknown);
    receiver.give(2 * SLOT, &unknown);
    assert!(receiver.poll(9 * SLOT).is_none());
}

#[test]
fn packets_below_the_highest_arrived_are_counted_as_reordered() {
    let data = |n| {
        bench::packet(
            0,
            (0, 1),
            n,
            ControlMessage { size: 20 * 1_460, window: 3, ..ControlMessage::default() },
        )
    };
    host(1, Config::new(Frame::ETHERNET)).assert_counts_reordered(data);
}

/// Whether a flow of 100 packets arrives within `slots` packet times at a receiver to which twenty shorter flows were announced
/// whose sender is gone. They stated a BDP of `window` packets.
fn arrives_beside_dead_flows(local: LocalHost, window: u16, slots: u64) -> bool {
    let mut receiver = Bench::new(PHost::new(local, Arc::new(Config::new(Frame::ETHERNET))));
    for flow in 1..=20 {
        let mut announced = request(flow, 2, 90);
        announced.body.window = window;
        receiver.give(0, &announced);
    }
    receiver.give(0, &request(0, 0, 100));
    let mut arrived = 0;
    for at in (0..slots).map(|slot| slot * SLOT) {
        while receiver.host.next_timeout().is_some_and(|due| due <= Time(at)) {
            receiver.ring(at);
        }
        let token = receiver.poll(at).filter(|token| token.body.message_type == MessageType::Token);
        if let Some(token) = token.filter(|token| token.header.flow == FlowId(0)) {
            let body = ControlMessage {
                size: 100 * 1_460,
                count: token.body.count,
                window: 3,
                message_type: MessageType::Data,
                ..ControlMessage::default()
            };
            receiver.give(at, &bench::packet(0, (0, 1), number(&token), body));
            arrived += 1;
        }
    }
    arrived >= 100
}

#[test]
fn on_a_real_host_flows_whose_sender_is_gone_do_not_take_all_tokens() {
    let real = LocalHost::real(HostId(1), bench::local(1).line, 1);
    // What was announced as sent without tokens gets some after 5 ms: 4,065 packet times.
    assert!(arrives_beside_dead_flows(real, 3, 7_000));
    // At most 8,127 packets are taken for a BDP: 10 ms of the line. Each dead flow has 90 packets.
    assert!(arrives_beside_dead_flows(real, u16::MAX, 7_000));
    // In a simulation no sender is gone, and nothing doubles.
    assert!(!arrives_beside_dead_flows(bench::local(1), 3, 7_000));
}

#[test]
fn a_real_host_asks_again_for_a_packet_only_after_it_may_have_been_late() {
    let tokens_within = |local: LocalHost, end: u64| {
        let mut receiver = Bench::new(PHost::new(local, Arc::new(Config::new(Frame::ETHERNET))));
        let mut announced = request(0, 0, 2);
        announced.body.window = 8;
        receiver.give(0, &announced);
        let mut tokens = 0;
        for at in (0..end / SLOT).map(|slot| slot * SLOT) {
            while receiver.host.next_timeout().is_some_and(|due| due <= Time(at)) {
                receiver.ring(at);
            }
            let token = receiver.poll(at).filter(|token| token.body.message_type == MessageType::Token);
            tokens += u32::from(token.is_some());
        }
        tokens
    };
    // Both packets are free. A simulated host sends tokens for them after four packet times, a real one after 5 ms.
    let (ms, real) = (Span::from_ms(1).0, LocalHost::real(HostId(1), bench::local(1).line, 1));
    assert!(tokens_within(bench::local(1), ms) > 10);
    assert_eq!((tokens_within(real, 4 * ms), tokens_within(real, 9 * ms)), (0, 2));
}

#[test]
fn payload_that_comes_again_is_a_duplicate_and_a_request_is_not() {
    let of = |n, message_type| {
        let body = ControlMessage { size: 3 * 1_460, window: 3, message_type, ..ControlMessage::default() };
        bench::packet(0, (0, 1), n, body)
    };
    let data = |n| of(n, MessageType::Data);
    host(1, Config::new(Frame::ETHERNET)).assert_counts_duplicates(data, &[of(0, MessageType::Request)]);
}
