//! Tests of outgoing datagrams.

use super::*;
use crate::dscp::Dscp;

const OF_CLASS: [u8; 16] = [40, 33, 28, 21, 18, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5];

fn with_dscp() -> Driver<Scripted> {
    driver(Config { dscp: Dscp::new(OF_CLASS).unwrap(), ..config() })
}

#[test]
fn a_packet_has_the_dscp_of_its_class_and_the_codepoint_of_its_marks() {
    let mut driver = with_dscp();
    let (peer, host) = Peer::known_to(&mut driver);
    send(&mut driver, 0, Request::to(peer.address), b"0123456789");
    let flow = flow(&driver, 0);
    // Not-ECT is 0, ECT(0) is 2, CE is 3 (RFC 3168 section 5).
    let (ect, congested) = (Marks::ECN_CAPABLE, Marks::ECN_CAPABLE.with(Marks::CONGESTED));
    let cases = [(3, Marks::none(), 21 << 2), (15, ect, 5 << 2 | 2), (0, congested, 40 << 2 | 3)];
    for (place, &(class, marks, _)) in cases.iter().enumerate() {
        let mut packet = data(host, flow, (place as u64, 4));
        (packet.header.class, packet.header.marks) = (class, marks);
        driver.endpoint.to_send.push_back(sending(packet));
    }
    let sent = driver.stats.datagrams_sent;
    assert_eq!(driver.transmit(), Turn::Busy);
    assert_eq!(driver.stats.datagrams_sent - sent, 3);
    let came = peer.received();
    let heads: Vec<(u8, &[u8])> = came.iter().map(|(tos, bytes)| (*tos, &bytes[bytes.len() - 4..])).collect();
    let expected: Vec<(u8, &[u8])> = cases
        .iter()
        .zip([&b"0123"[..], b"1234", b"2345"])
        .map(|(&(_, _, tos), bytes)| (tos, bytes))
        .collect();
    assert_eq!(heads, expected);
    assert_eq!(driver.transmit(), Turn::Idle);
}

#[test]
fn a_control_message_has_the_dscp_of_the_best_class_and_is_not_ecn_capable() {
    let mut driver = with_dscp();
    let (peer, _) = Peer::known_to(&mut driver);
    peer.say(&mut driver, PING, 77);
    let sent = driver.stats.datagrams_sent;
    driver.transmit();
    let came = peer.received();
    assert_eq!(driver.stats.datagrams_sent - sent, 1);
    let [(tos, pong)] = &came[..] else { panic!("{came:?}") };
    assert_eq!((*tos, pong[0], &pong[17..]), (40 << 2, 6, &[77, 0, 0, 0][..]));
}

#[test]
fn a_packet_without_a_receiver_or_a_message_is_not_sent_and_not_counted() {
    let mut driver = with_dscp();
    let (peer, host) = Peer::known_to(&mut driver);
    send(&mut driver, 0, Request::to(peer.address), b"0123456789");
    let of = flow(&driver, 0);
    let sent = driver.stats.datagrams_sent;
    for packet in [
        data(HostId(host.0 + 1), of, (0, 4)),
        data(host, of.wrapping_add(1), (0, 4)),
        data(host, of, (8, 3)),
        // No packet of data is without payload.
        data(host, of, (0, 0)),
        // The last one goes: an acknowledgement needs no message.
        acknowledgement(host, of.wrapping_add(1)),
    ] {
        driver.endpoint.to_send.push_back(sending(packet));
    }
    driver.transmit();
    assert_eq!((driver.stats.datagrams_sent - sent, peer.received().len()), (1, 1));
}

#[test]
fn a_host_whose_endpoint_waits_sleeps_until_then() {
    let mut driver = driver(config());
    let at = driver.now() + Span::from_ms(40_000);
    driver.endpoint.to_send.push_back(Tx::NotBefore(at));
    driver.transmit();
    assert_eq!(driver.line_at, at);
    driver.transmit();
    assert_eq!(driver.line_at, Time::NEVER);
}

#[test]
fn datagrams_that_the_system_refuses_are_counted_and_hold_nothing_up() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    // No datagram can go to port 0.
    driver.peers.greet("127.0.0.1:0".parse().unwrap(), Time::ZERO).unwrap();
    driver.transmit();
    assert_eq!((driver.stats.refused, driver.blocked), (1, false));
    driver.peers.greet("127.0.0.2:0".parse().unwrap(), Time::ZERO).unwrap();
    peer.say(&mut driver, PING, 5);
    driver.transmit();
    assert_eq!((driver.stats.refused, driver.stats.blocked, driver.blocked), (2, 0, false));
    assert_eq!(peer.messages(), [(6, 5)]);
}

#[test]
fn a_line_that_the_system_holds_up_sets_no_timer() {
    let mut driver = driver(config());
    driver.setup.spin = std::time::Duration::ZERO;
    // The line may send since the beginning: there is work, and no sleep.
    driver.line_at = Time::ZERO;
    driver.sleep();
    assert_eq!(driver.stats.wakeups, 0);
    // Held up, the driver sleeps until the socket has room, which is at once.
    driver.blocked = true;
    driver.sleep();
    assert_eq!(driver.stats.wakeups, 1);
}
