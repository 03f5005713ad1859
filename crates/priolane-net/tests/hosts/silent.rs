//! Tests of senders that open messages and then fall silent, or are killed: the datagrams sent to them are bounded, and
//! their messages end.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use priolane_net::core::ids::FlowId;
use priolane_net::core::keys::Value;
use priolane_net::core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_net::core::transport::receiver_driven::{ControlMessage, MessageType};
use priolane_net::core::transport::tokens::TokenMessage;
use priolane_net::core::transport::window::Segment;
use priolane_net::core::units::Time;
use priolane_net::core::wire::{Codec, IpVersion, WireBody};
use priolane_net::{Config, Host, Limits, Patience, Request, Scheme, SendError};

use crate::by_hand::ByHand;
use crate::digest::message;
use crate::transports::{config, every_transport};
use crate::wait::{PATIENCE, eventually};
use crate::whole::pair;

/// The length of a message of 128 TiB.
const HUGE: u64 = 1 << 47;

/// The length of the longest message that a host receives here, above the announced one.
const LONGEST: u64 = (1 << 48) - 1;

fn encode<B: WireBody>(header: Header, body: B) -> Vec<u8> {
    let codec = Codec::<B>::new(1_500, IpVersion::V4).unwrap();
    let mut bytes = vec![0; 256];
    let len = codec.encode(&Packet { header, body }, Time::ZERO, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes.resize(len + usize::from(header.payload), 7);
    bytes
}

/// Returns the name of a transport between two hosts, and the first datagram of a flow of `size` bytes.
fn opening(transport: &str, flow: u32, size: u64) -> (&str, Vec<u8>) {
    let flow = FlowId(flow);
    match transport {
        "expresspass" | "top" => {
            let body = TokenMessage::Sync { size, deadline: Time::NEVER, unscheduled: 0, asked: 0 };
            (transport, encode(Header { flow, kind: Kind::Syn, ..Header::default() }, body))
        }
        "phost" => {
            let body =
                ControlMessage { size, window: 1, message_type: MessageType::Request, ..Default::default() };
            (transport, encode(Header { flow, kind: Kind::Syn, ..Header::default() }, body))
        }
        "homa" | "ndp" => {
            let body = ControlMessage { size, window: 1, ..Default::default() };
            let header = Header {
                flow,
                payload: 1_448,
                offset: Offset::new(0),
                kind: Kind::Data,
                ..Header::default()
            };
            (transport, encode(header, body))
        }
        "hpcc" => ("window, INT", hpcc_data(flow)),
        _ => {
            let header =
                Header { flow, payload: 100, kind: Kind::Data, marks: Marks::none(), ..Header::default() };
            ("window", encode(header, Segment::<()>::default()))
        }
    }
}

/// Returns a datagram of HPCC, whose packets have room for telemetry.
fn hpcc_data(flow: FlowId) -> Vec<u8> {
    let header = Header { flow, payload: 100, kind: Kind::Data, ..Header::default() };
    encode(header, Segment::<priolane_net::core::telemetry::Path>::default())
}

/// Opens `flows` messages from a peer that then falls silent. Returns the bytes that the peer sent, and the datagrams
/// and bytes that it received.
fn silent(transport: &str, config: Config, flows: u32) -> (usize, usize, usize) {
    let patience = Patience { idle: Duration::from_millis(800), ..Patience::default() };
    let limits = Limits { message: LONGEST, ..config.limits };
    let host = Host::bind(Config { patience, limits, ..config }).unwrap();
    let peer = ByHand::new("127.0.0.1:0");
    let (speaks, _) = opening(transport, 0, HUGE);
    assert_eq!(peer.greet(&host, 1, speaks, 1_500), 2, "{transport}");
    let mut came = 0;
    for flow in 0..flows {
        let (_, datagram) = opening(transport, flow, HUGE);
        came += datagram.len();
        peer.send(&host, &datagram);
    }
    eventually(|| host.stats().datagrams_received >= u64::from(flows) + 2);
    assert_eq!(host.stats().malformed, 0, "{transport}");
    eventually(|| host.stats().receiving == 0);
    let stats = host.stats();
    assert_eq!((stats.receiving_bytes, stats.peers), (0, 1), "{transport}: {stats:#?}");
    // Whatever was sent is here by now.
    let (mut datagrams, mut bytes, mut pings) = (0, 0, 0);
    while let Some(datagram) = peer.receive_within(Duration::from_millis(20)) {
        // An answer to a HELLO that was sent again.
        if !(1..=2).contains(&datagram[0]) {
            (datagrams, bytes) = (datagrams + 1, bytes + datagram.len());
            pings += usize::from(datagram[0] == 5);
        }
    }
    assert_eq!(
        host.stats().datagrams_sent,
        stats.datagrams_sent,
        "{transport}: goes on after its messages ended"
    );
    // Where a peer was asked in vain, it is asked once whether it is there.
    assert_eq!(pings, usize::from(stats.unanswered > 0), "{transport}: {stats:#?}");
    (came, datagrams, bytes)
}

/// Returns the largest number of bytes for `flows` silent messages: 33 packets at 200 Mbit/s in 2 x 1 ms, each
/// requested by 18 bytes; two answers to each datagram; and a PING.
fn most(flows: u32) -> usize {
    33 * 18 + 2 * 18 * flows as usize + 17
}

#[test]
fn a_peer_that_opens_messages_and_falls_silent_gets_few_bytes_and_they_end_with_every_transport() {
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (name, config) in every_transport() {
            let rows = &rows;
            scope.spawn(move || {
                for flows in [1, 64] {
                    let (came, datagrams, bytes) = silent(name, config.clone(), flows);
                    assert!(bytes <= most(flows), "{name}: {bytes} bytes for {flows} messages");
                    rows.lock().unwrap().push((name, flows, came, datagrams, bytes));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_unstable();
    println!(
        "| transport | messages | bytes that came | datagrams that went | bytes | ratio |\n|---|---|---|---|---|---|"
    );
    for (name, flows, came, datagrams, bytes) in rows {
        let ratio = bytes as f64 / came as f64;
        println!("| {name} | {flows} | {came} | {datagrams} | {bytes} | {ratio:.1} |");
    }
}

#[test]
fn messages_of_a_sender_that_is_gone_end_with_every_transport() {
    std::thread::scope(|scope| {
        for (name, mut config) in every_transport() {
            config.patience.idle = Duration::from_millis(800);
            scope.spawn(move || {
                let [sender, receiver] = pair(&config);
                sender.send(Request::to(receiver.address()), message(1, 30_000_000)).unwrap();
                eventually(|| receiver.stats().receiving_bytes > 0);
                drop(sender);
                let before = receiver.stats().datagrams_sent;
                eventually(|| receiver.stats().receiving == 0);
                let stats = receiver.stats();
                assert_eq!((stats.receiving_bytes, stats.dropped), (0, 1), "{name}: {stats:#?}");
                // At most a budget, whatever of the last data was still to be acknowledged, and a PING.
                let after = stats.datagrams_sent - before;
                assert!(after <= 33 + stats.datagrams_received, "{name}: {after} datagrams to nobody");
            });
        }
    });
}

#[test]
fn a_message_that_is_longer_than_its_receiver_takes_fails_at_once_with_every_transport() {
    for (name, config) in every_transport() {
        let limits = Limits { message: 100_000, ..Limits::default() };
        let receiver = Host::bind(Config { limits, ..config.clone() }).unwrap();
        let sender = Host::bind(config).unwrap();
        let to = receiver.address();
        let long = sender.send_with_receipt(Request::to(to), message(1, 100_001)).unwrap();
        assert_eq!(long.wait_for(PATIENCE), Some(Err(SendError::TooLongForPeer(to))), "{name}");
        if ["expresspass", "top", "phost"].contains(&name) {
            // Announced before any data is sent: CHALLENGE, WELCOME and REJECT, some of them twice, and no token.
            assert!(receiver.stats().datagrams_sent <= 6, "{name}: {:#?}", receiver.stats());
        }
        let whole = sender.send_with_receipt(Request::to(to), message(2, 100_000)).unwrap();
        assert!(whole.wait_for(PATIENCE).is_some_and(|outcome| outcome.is_ok()), "{name}");
        assert_eq!(receiver.recv().unwrap().bytes, message(2, 100_000), "{name}");
        assert!(receiver.stats().too_long > 0, "{name}");
        let stats = sender.stats();
        assert_eq!((stats.failed, stats.delivered, stats.delivered_bytes), (1, 1, 100_000), "{name}");
        eventually(|| receiver.stats().receiving == 0);
    }
}

#[test]
fn a_peer_that_goes_on_with_a_message_that_ended_is_told() {
    let patience = Patience { idle: Duration::from_millis(100), ..Patience::default() };
    let host = Host::bind(Config { patience, ..config("dctcp") }).unwrap();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    let (_, datagram) = opening("dctcp", 5, 1_000);
    peer.send(&host, &datagram);
    assert_eq!(peer.receive()[1] & 0xf, 1, "an ACK");
    // Two HELLOs and the packet are counted when the message is.
    eventually(|| host.stats().datagrams_received >= 3);
    eventually(|| host.stats().receiving == 0);
    peer.send(&host, &datagram);
    let answer = peer.receive();
    // REJECT of a flow that was given up: number 9, two nonces, the flow.
    assert_eq!((answer[0], answer.len(), &answer[17..]), (9, 21, &[5, 0, 0, 0][..]));
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(50) {
        assert_eq!(host.stats().receiving, 0, "it is opened again");
    }
}

#[test]
fn a_message_for_which_there_is_no_room_is_not_idle() {
    // Retransmissions come more often than a message may be idle.
    let scheme =
        Scheme::with("dctcp", &["min_rto", "initial_rto", "max_rto"].map(|key| (key, Value::Text("20ms"))));
    let patience = Patience { idle: Duration::from_millis(600), ..Patience::default() };
    let limits = Limits { arrived: 100_000, ..Limits::default() };
    let [sender, receiver] = pair(&Config { patience, limits, ..Config::new(scheme.unwrap()) });
    for number in 0..20 {
        sender.send(Request::to(receiver.address()), message(number, 20_000)).unwrap();
    }
    eventually(|| receiver.stats().no_room > 0);
    // The application does not receive for longer than a message may be idle.
    std::thread::sleep(patience.idle * 3);
    let mut numbers: Vec<u64> = (0..20)
        .map(|_| receiver.recv_timeout(PATIENCE).unwrap().expect("another message"))
        .map(|came| u64::from_le_bytes(came.bytes[..8].try_into().unwrap()))
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert!(sender.flush(PATIENCE));
    assert_eq!((sender.stats().failed, receiver.stats().dropped), (0, 0));
}

#[test]
fn a_host_has_so_many_messages_under_way_to_another_and_no_more() {
    let limits = Limits { flows: 2, ..Limits::default() };
    let sender = Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let receiver = Host::bind(config("dctcp")).unwrap();
    for number in 0..12 {
        sender.send(Request::to(receiver.address()), message(number, 300_000)).unwrap();
    }
    let mut most = 0;
    while receiver.stats().arrived < 12 {
        most = most.max(receiver.stats().receiving);
    }
    assert!((1..=2).contains(&most), "{most} at once");
}

#[test]
fn of_messages_that_wait_for_a_host_those_of_the_best_class_go_first() {
    let limits = Limits { flows: 1, ..Limits::default() };
    let patience = Patience { greeting: PATIENCE, ..Patience::default() };
    let sender = Host::bind(Config { limits, patience, ..config("dctcp") }).unwrap();
    // No host is bound there before all messages wait.
    let to = ByHand::new("127.0.0.1:0").socket.local_addr().unwrap();
    for (number, class) in [(0, 9), (1, 2), (2, 5), (3, 2)] {
        sender.send(Request::to(to).class(class), message(number, 1_000)).unwrap();
    }
    let receiver = Host::bind(config("dctcp").at(to)).unwrap();
    let arrived = [(); 4].map(|()| {
        let came = receiver.recv_timeout(PATIENCE).unwrap().expect("another message");
        u64::from_le_bytes(came.bytes[..8].try_into().unwrap())
    });
    assert_eq!(arrived, [1, 3, 2, 0]);
}

#[test]
fn messages_without_payload_have_room_for_a_stated_number() {
    // A quarter of 1 MiB for four hosts: 32 KiB for each, and four fifths of the 128 KiB that they share; 512 bytes a message.
    let limits = Limits { receiving: 1 << 20, peers: 4, ..Limits::default() };
    let host = Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    for flow in 0..1_000 {
        let header = Header { flow: FlowId(flow), kind: Kind::Syn, ..Header::default() };
        peer.send(&host, &encode(header, Segment::<()>::default()));
        if flow % 50 == 0 {
            eventually(|| host.stats().datagrams_received + host.stats().lost_in_socket >= u64::from(flow));
        }
    }
    eventually(|| host.stats().datagrams_received + host.stats().lost_in_socket >= 1_002);
    let receiving = host.stats().receiving;
    assert!((100..=268).contains(&receiving), "{receiving} messages");
    // Another host still gets in.
    let other = ByHand::new("127.0.0.1:0");
    assert_eq!(other.greet(&host, 1, "window", 1_500), 2);
    other.deliver(&host, 1, b"hello");
    assert_eq!(host.recv().unwrap().bytes, b"hello");
}

#[test]
fn a_host_that_was_started_again_leaves_nothing_of_its_messages() {
    let host = Host::bind(config("dctcp")).unwrap();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    for flow in 0..3 {
        peer.send(&host, &opening("dctcp", flow, 1_000).1);
        assert_eq!(peer.receive()[1] & 0xf, 1, "an ACK");
    }
    eventually(|| host.stats().receiving == 3);
    assert!(host.stats().receiving_bytes > 300);
    assert_eq!(peer.greet(&host, 2, "window", 1_500), 2);
    peer.deliver(&host, 9, b"of the new one");
    eventually(|| host.stats().receiving_bytes == 0);
    let stats = host.stats();
    assert_eq!((stats.receiving, stats.dropped, stats.arrived), (0, 3, 1), "{stats:#?}");
}
