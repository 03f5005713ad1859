//! Tests of incoming datagrams.
#![expect(clippy::disallowed_methods, reason = "the time of a message is compared with the clock")]

use std::collections::HashMap;
use std::time::{Duration, Instant};

use priolane_core::endpoint::{PayloadStats, Rejection};

use super::*;
use crate::config::Limits;
use crate::dscp::Dscp;
use crate::meter::Meter;

const FLOW: u32 = 9;

fn limited(limits: Limits) -> Driver<Scripted> {
    driver(Config { limits, ..config() })
}

/// Reports that all bytes of a flow have arrived.
fn deliver(driver: &mut Driver<Scripted>, src: HostId, (flow, bytes, missing): (u32, u64, u64)) {
    let flow = FlowId(flow);
    driver.endpoint.events.push_back(Event::Readable { src, flow, bytes });
    driver.endpoint.events.push_back(Event::Delivered { src, flow, at: Time::ZERO, missing });
    driver.tell();
}

fn end_received(src: HostId, flow: u32) -> String {
    format!("{:?}", Command::EndReceived { src, flow: FlowId(flow) })
}

#[test]
fn the_endpoint_learns_class_mark_sender_and_time_of_a_packet_and_marks_are_counted() {
    let mut of_class = [0; 16];
    of_class[3] = 21;
    let mut driver = driver(Config { dscp: Dscp::new(of_class).unwrap(), ..config() });
    let (peer, host) = Peer::known_to(&mut driver);
    let received = driver.stats.datagrams_received;
    for (n, ecn) in [0u8, 2, 3, 1].into_iter().enumerate() {
        peer.send(&mut driver, 21 << 2 | ecn, &payload(FLOW, 10 * n as u64, b"0123456789"));
        let (now, meta, packet) = driver.endpoint.arrived[n];
        let Header { flow, src, dst, class, payload, offset, marks, .. } = packet.header;
        assert_eq!((flow, src, class, payload, offset.get()), (FlowId(FLOW), host, 3, 10, 10 * n as u64));
        assert_eq!(dst, crate::peers::SELF);
        assert_eq!(marks.has(Marks::CONGESTED), ecn == 3, "codepoint {ecn}");
        // Without a delay of this host, the time of the call is that of the arrival.
        assert_eq!((meta.noise, meta.stamp), (Span::ZERO, now));
    }
    assert_eq!((driver.stats.marked, driver.stats.datagrams_received - received), (1, 4));
    assert_eq!((driver.stats.malformed, driver.stats.strangers, driver.stats.no_room), (0, 0, 0));
}

#[test]
fn each_datagram_that_is_not_taken_is_counted_for_its_reason() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    let stranger = Peer::new();
    let counts = |driver: &Driver<Scripted>| (driver.stats.malformed, driver.stats.strangers);
    stranger.send(&mut driver, 0, &payload(FLOW, 0, b"x"));
    assert_eq!(counts(&driver), (0, 1));
    // A packet that is cut, a message of no kind, a sealed datagram for a host without a key, and nothing.
    for (n, wrong) in [&payload(FLOW, 0, b"")[..9], &[15; 21], &[0x20; 60], &[]].into_iter().enumerate() {
        peer.send(&mut driver, 0, wrong);
        assert_eq!(counts(&driver), (1 + n as u64, 1), "{wrong:?}");
    }
    assert!(driver.endpoint.arrived.is_empty());
}

#[test]
fn a_datagram_that_is_held_back_arrives_later_or_is_counted_where_there_is_no_room() {
    let near = Peer::new();
    let limits = Limits { held: 400, ..Limits::default() };
    let delays = HashMap::from([(near.address, Duration::from_secs(3_600))]);
    let mut driver = driver(Config { delays, limits, ..config() });
    for _ in 0..3 {
        near.send(&mut driver, 0, &[0xff; 60]);
    }
    // 128 bytes count besides those of a datagram, so two of them fit.
    assert_eq!((driver.stats.no_room, driver.stats.malformed), (1, 0));
    let next = driver.held.next();
    assert!(next > driver.given + Span::from_ms(3_500_000), "{next:?}");
    // A step that releases one is work, after which counters are published.
    for malformed in [1, 2] {
        assert_eq!(driver.receive(), Turn::Idle);
        driver.given = driver.held.next();
        assert_eq!((driver.receive(), driver.stats.malformed), (Turn::Busy, malformed));
    }
    assert_eq!((driver.receive(), driver.held.next()), (Turn::Idle, Time::NEVER));
}

#[test]
fn bytes_of_a_message_that_the_endpoint_does_not_receive_are_not_kept() {
    let mut driver = driver(config());
    let (peer, host) = Peer::known_to(&mut driver);
    driver.endpoint.receives = false;
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"late"));
    assert_eq!((driver.endpoint.arrived.len(), driver.assembly.messages_of(host)), (1, 0));
    driver.endpoint.receives = true;
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"new"));
    assert_eq!(driver.assembly.messages_of(host), 1);
    assert_eq!(driver.stats.dropped, 0);
}

#[test]
fn a_message_that_is_too_long_is_counted_refused_and_its_sender_told() {
    let mut driver = limited(Limits { message: 100, ..Limits::default() });
    let (peer, host) = Peer::known_to(&mut driver);
    peer.send(&mut driver, 0, &payload(FLOW, 90, &[1; 10]));
    peer.send(&mut driver, 0, &payload(FLOW, 91, &[1; 10]));
    driver.transmit();
    assert_eq!((driver.stats.too_long, driver.stats.dropped), (1, 1));
    assert_eq!(driver.endpoint.take_commands(), [end_received(host, FLOW)]);
    assert_eq!(peer.messages(), [(TOO_LONG, FLOW)]);
    // The same where the endpoint says it.
    for (why, said, too_long) in [(Rejection::TooLong, TOO_LONG, 2), (Rejection::GivenUp, GIVEN_UP, 2)] {
        report(&mut driver, Event::Rejected { src: host, flow: FlowId(FLOW), why });
        driver.transmit();
        assert_eq!((peer.messages(), driver.stats.too_long), (vec![(said, FLOW)], too_long));
    }
}

#[test]
fn payload_without_room_is_counted_and_the_endpoint_told_and_it_never_sees_the_packet() {
    let mut driver = limited(Limits { ahead: 1_500, ..Limits::default() });
    let (peer, host) = Peer::known_to(&mut driver);
    peer.send(&mut driver, 0, &payload(FLOW, 1_490, &[1; 11]));
    let no_room = format!("{:?}", Command::NoRoom { src: host, flow: FlowId(FLOW) });
    assert_eq!((driver.stats.no_room, driver.endpoint.take_commands()), (1, vec![no_room]));
    assert!(driver.endpoint.arrived.is_empty());
    peer.send(&mut driver, 0, &payload(FLOW, 1_490, &[1; 10]));
    assert_eq!((driver.stats.no_room, driver.endpoint.arrived.len()), (1, 1));
}

#[test]
fn no_payload_is_taken_while_arrived_messages_fill_their_memory() {
    let mut driver = limited(Limits { arrived: 1, ..Limits::default() });
    let (peer, host) = Peer::known_to(&mut driver);
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"first"));
    deliver(&mut driver, host, (FLOW, 5, 0));
    peer.send(&mut driver, 0, &payload(FLOW + 1, 0, b"second"));
    assert_eq!((driver.stats.no_room, driver.endpoint.arrived.len()), (1, 1));
    // A packet without payload needs no room.
    let mut ack = [0; 100];
    let len = driver.codec.encode(&acknowledgement(host, FLOW + 1), Time::ZERO, &mut ack).unwrap();
    peer.send(&mut driver, 0, &ack[..len]);
    assert_eq!((driver.stats.no_room, driver.endpoint.arrived.len()), (1, 2));
    driver.shared.take_message().unwrap().unwrap();
    peer.send(&mut driver, 0, &payload(FLOW + 1, 0, b"second"));
    assert_eq!((driver.stats.no_room, driver.endpoint.arrived.len()), (1, 3));
}

#[test]
fn the_sender_of_a_message_that_was_dropped_for_others_is_told() {
    // A pool of at least 192 KiB, a reserve of 680 KiB.
    let limits = Limits {
        message: 600_000,
        sender: 1 << 40,
        receiving: 1 << 20,
        ahead: 400_000,
        peers: 1,
        ..Limits::default()
    };
    let mut driver = limited(limits);
    let (slow, host) = Peer::known_to(&mut driver);
    let other = HostId(host.0 + 1);
    let (held, asks) = ((host, FlowId(FLOW)), (other, FlowId(1)));
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let mut store = |of: (HostId, FlowId), offset, len, ms| {
        driver.assembly.readable(of.0, of.1, offset);
        driver.assembly.store(of, offset, &vec![1; len], at(ms), || None)
    };
    use crate::assembly::StoreOutcome;
    // The slow message fills the pool and takes some of the reserve.
    assert_eq!(store(held, 0, 1_000, 0), StoreOutcome::First);
    assert_eq!(store(asks, 0, 1_000, 0), StoreOutcome::First);
    for n in 1..400 {
        assert_eq!(store(held, 1_000 * n, 1_000, 0), StoreOutcome::Yes);
    }
    // The other needs more than the pool has, waits for ten seconds, and the slow one took nothing meanwhile.
    assert_eq!(store(asks, 1_000, 300_000, 0), StoreOutcome::NoRoom);
    assert_eq!(store(asks, 1_000, 300_000, 10_000), StoreOutcome::NoRoom);
    driver.endpoint.take_commands();
    // The next packet that finds no room brings the news.
    slow.send(&mut driver, 0, &payload(FLOW + 1, 450_000, &[1; 10]));
    driver.transmit();
    let commands = driver.endpoint.take_commands();
    assert!(commands.contains(&end_received(host, FLOW)), "{commands:?}");
    assert_eq!(slow.messages().last(), Some(&(GIVEN_UP, FLOW)));
    assert_eq!(driver.stats.dropped, 1);
}

#[test]
fn a_message_arrives_with_its_bytes_its_sender_and_its_time_and_is_counted() {
    let mut driver = driver(config());
    let (peer, host) = Peer::known_to(&mut driver);
    let before = Instant::now();
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"hello"));
    deliver(&mut driver, host, (FLOW, 5, 0));
    let message = driver.shared.take_message().unwrap().unwrap();
    assert_eq!((message.from, &message.bytes[..], message.missing), (peer.address, &b"hello"[..], 0));
    // The clock of arrivals may be set back by a microsecond or two.
    assert!(message.arrived + Duration::from_secs(1) > before && message.arrived <= Instant::now());
    let stats = driver.shared.stats();
    assert_eq!((stats.arrived, stats.arrived_bytes, stats.dropped), (1, 5, 0));
    assert_eq!(driver.assembly.messages_of(host), 0);
    // A second end of the same message, and one of a message that never came.
    deliver(&mut driver, host, (FLOW, 5, 0));
    deliver(&mut driver, host, (FLOW + 1, 5, 0));
    assert_eq!((driver.stats.arrived, driver.shared.take_message().unwrap()), (1, None));
}

#[test]
fn a_message_with_bytes_missing_arrives_only_where_the_transport_is_unreliable() {
    let key = ("reliable", priolane_core::keys::Value::Bool(false));
    for (scheme, arrives) in [(Scheme::with("dctcp", &[]), false), (Scheme::with("dctcp", &[key]), true)] {
        let Ok(scheme) = scheme else { continue };
        let mut driver = driver(Config { scheme, ..config() });
        driver.setup.unreliable = arrives;
        let (peer, host) = Peer::known_to(&mut driver);
        peer.send(&mut driver, 0, &payload(FLOW, 2, b"llo"));
        deliver(&mut driver, host, (FLOW, 5, 2));
        let message = driver.shared.take_message().unwrap();
        assert_eq!(
            message.map(|message| (message.bytes, message.missing)),
            arrives.then(|| (b"\0\0llo".to_vec(), 2))
        );
        assert_eq!((driver.stats.arrived, driver.stats.dropped), if arrives { (1, 0) } else { (0, 1) });
    }
}

#[test]
fn a_message_that_ends_beyond_the_longest_is_dropped() {
    for (longest, arrived) in [(5, 1), (4, 0)] {
        let mut driver = driver(config());
        let (peer, host) = Peer::known_to(&mut driver);
        peer.send(&mut driver, 0, &payload(FLOW, 0, b"hello"));
        driver.setup.limits.message = longest;
        deliver(&mut driver, host, (FLOW, 5, 0));
        assert_eq!((driver.stats.arrived, driver.stats.dropped), (arrived, 1 - arrived));
    }
}

#[test]
fn what_the_endpoint_forgets_is_dropped_and_counted_if_bytes_of_it_were_here() {
    let mut driver = driver(config());
    let (peer, host) = Peer::known_to(&mut driver);
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"part"));
    for flow in [FLOW, FLOW, FLOW + 1] {
        report(&mut driver, Event::Forgotten { src: host, flow: FlowId(flow) });
    }
    assert_eq!((driver.stats.dropped, driver.assembly.messages_of(host)), (1, 0));
    // Its sender gives one up.
    peer.send(&mut driver, 0, &payload(FLOW + 2, 0, b"part"));
    peer.say(&mut driver, ABORT, FLOW + 2);
    assert_eq!((driver.stats.dropped, driver.assembly.messages_of(host)), (2, 0));
    assert_eq!(driver.endpoint.take_commands(), [end_received(host, FLOW + 2)]);
}

#[test]
fn a_sender_that_does_not_answer_is_counted_and_asked_whether_it_is_there() {
    let mut driver = driver(config());
    let (peer, host) = Peer::known_to(&mut driver);
    for count in 1..=2 {
        report(&mut driver, Event::Unanswered { src: host });
        driver.transmit();
        assert_eq!(driver.stats.unanswered, count);
        // At most once a second.
        assert_eq!(
            peer.messages().iter().filter(|(number, _)| *number == PING).count(),
            usize::from(count == 1)
        );
    }
}

/// Counts messages of flows with an even first byte, at the place of that number.
#[derive(Debug, Default)]
struct Places(std::sync::Mutex<Vec<(u32, u64)>>);

impl Meter for Places {
    fn place(&self, _: SocketAddr, _: u64, payload: &[u8]) -> Option<u32> {
        payload[0].is_multiple_of(2).then_some(u32::from(payload[0]))
    }

    fn count(&self, place: u32, bytes: u64, _: Instant) {
        self.0.lock().unwrap().push((place, bytes));
    }
}

#[test]
fn a_counted_message_is_counted_by_new_payload_and_never_received() {
    let meter = Arc::new(Places::default());
    let as_meter: Arc<dyn Meter> = Arc::<Places>::clone(&meter);
    let mut driver = driver(Config { meter: Some(as_meter), ..config() });
    let (peer, host) = Peer::known_to(&mut driver);
    // The scripted endpoint counts no packet as new, so the meter counts none.
    peer.send(&mut driver, 0, &payload(FLOW, 0, &[4; 30]));
    assert!(meter.0.lock().unwrap().is_empty());
    assert_eq!(driver.assembly.counted(host, FlowId(FLOW)), Some(4));
    deliver(&mut driver, host, (FLOW, 30, 0));
    assert_eq!((driver.stats.arrived, driver.stats.arrived_bytes), (1, 30));
    assert_eq!(driver.shared.stats().arrived, 1, "the application sees it at once");
    assert_eq!(driver.shared.take_message().unwrap(), None);
    peer.send(&mut driver, 0, &payload(FLOW + 2, 0, &[6; 40]));
    deliver(&mut driver, host, (FLOW + 2, 40, 0));
    assert_eq!((driver.stats.arrived, driver.stats.arrived_bytes), (2, 70));
    // A message that is not counted is kept.
    peer.send(&mut driver, 0, &payload(FLOW + 1, 0, &[5; 3]));
    deliver(&mut driver, host, (FLOW + 1, 3, 0));
    assert_eq!(driver.shared.take_message().unwrap().unwrap().bytes, [5; 3]);
    assert_eq!((driver.stats.arrived, driver.stats.arrived_bytes), (3, 73));
}

#[test]
fn datagrams_that_the_socket_lost_are_counted() {
    let mut driver = limited(Limits { socket: 1, ..Limits::default() });
    let (peer, _) = Peer::known_to(&mut driver);
    let before = driver.stats.datagrams_received;
    for _ in 0..400 {
        peer.send_only(&driver, 0, &[0xff; 1_000]);
    }
    while driver.receive() == Turn::Busy {}
    // The next one carries the count.
    peer.send(&mut driver, 0, &[0xff; 1_000]);
    let stats = driver.stats;
    assert!(stats.lost_in_socket > 0, "{stats:?}");
    assert_eq!(stats.lost_in_socket + stats.datagrams_received - before, 401);
    peer.send(&mut driver, 0, &[0xff; 1_000]);
    assert_eq!(driver.stats.lost_in_socket, stats.lost_in_socket, "nothing was lost since");
}

#[test]
fn what_the_endpoint_counts_is_published() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    driver.endpoint.stats = Stats { receiving: 3, payload: PayloadStats::default(), credits: None };
    peer.send(&mut driver, 0, &payload(FLOW, 0, b"part"));
    driver.publish();
    let stats = driver.shared.stats();
    assert_eq!((stats.receiving, stats.peers, stats.receiving_bytes), (3, 1, driver.assembly.bytes()));
    assert!(stats.receiving_bytes > 4);
}
