//! Tests of hosts with keys.

use std::time::Duration;

use priolane_net::{Config, Host, Key, Patience, Request, SendError};

use crate::digest::message;
use crate::transports::{config, every_transport};
use crate::whole::{Path, carry};

fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).unwrap()
}

#[test]
fn messages_arrive_with_every_transport_and_a_key() {
    for (name, config) in every_transport() {
        let [a, b] = [(); 2].map(|()| Host::bind(config.clone().key(key(1))).unwrap());
        carry(name, Path::direct([&a, &b]), [1, 1_427, 1_000_000, 5_000]);
        carry(name, Path::direct([&b, &a]), (0..100).map(|n| 1 + 100 * n));
    }
}

#[test]
fn a_host_with_another_key_or_none_gets_nothing_through() {
    let patience = Patience { greeting: Duration::from_millis(300), ..Patience::default() };
    let config = Config { patience, ..config("dctcp") };
    let server = Host::bind(config.clone().key(key(1))).unwrap();
    let open = Host::bind(config.clone()).unwrap();
    let peer = server.address();
    let sent = |from: &Host, to| from.send_with_receipt(Request::to(to), message(1, 100)).unwrap().wait();
    let no_answer = |peer| Err(SendError::NoAnswer { peer, after: patience.greeting });
    let other = Host::bind(config.clone().key(key(2))).unwrap();
    assert_eq!(sent(&other, peer), no_answer(peer));
    assert!(server.stats().malformed > 0);
    assert_eq!(sent(&Host::bind(config.clone()).unwrap(), peer), Err(SendError::NeedsKey(peer)));
    assert_eq!(sent(&other, open.address()), no_answer(open.address()));
    assert_eq!((server.stats().arrived, open.stats().arrived), (0, 0));
    assert!(sent(&Host::bind(config.key(key(1))).unwrap(), peer).is_ok());
}

#[test]
fn a_recorded_conversation_that_is_played_again_delivers_nothing() {
    use std::net::UdpSocket;
    // Between the two, whatever goes to the server is kept.
    let config = config("dctcp").key(key(1));
    let server = Host::bind(config.clone()).unwrap();
    let [front, back] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let (through, mut recorded) = (front.local_addr().unwrap(), Vec::new());
    for socket in [&front, &back] {
        socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    let client = Host::bind(config).unwrap();
    let receipt = client.send_with_receipt(Request::to(through), message(1, 5_000)).unwrap();
    let mut buffer = [0; 2_048];
    while receipt.outcome().is_none() {
        if let Ok((len, _)) = front.recv_from(&mut buffer) {
            recorded.push(buffer[..len].to_vec());
            back.send_to(&buffer[..len], server.address()).unwrap();
        }
        if let Ok((len, _)) = back.recv_from(&mut buffer) {
            front.send_to(&buffer[..len], client.address()).unwrap();
        }
    }
    assert_eq!(server.recv().unwrap().bytes, message(1, 5_000));
    for _ in 0..3 {
        for datagram in &recorded {
            back.send_to(datagram, server.address()).unwrap();
        }
    }
    assert_eq!(server.recv_timeout(Duration::from_millis(200)).unwrap(), None);
    let stats = server.stats();
    assert_eq!((stats.arrived, stats.peers), (1, 1));
    // And the client still gets through.
    drop(receipt);
    let receipt = client.send_with_receipt(Request::to(server.address()), message(2, 5_000)).unwrap();
    assert!(receipt.wait().is_ok());
}

/// A relay at whose address one host sees the other, and which records all datagrams.
struct Relay {
    front: std::net::UdpSocket,
    back: std::net::UdpSocket,
    /// The datagrams to the host that is greeted, and those from it.
    there: Vec<Vec<u8>>,
    here: Vec<Vec<u8>>,
}

impl Relay {
    fn new() -> Self {
        let [front, back] = [(); 2].map(|()| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        }
        Self { front, back, there: Vec::new(), here: Vec::new() }
    }

    fn carry(&mut self, client: &Host, server: &Host) {
        let mut buffer = [0; 2_048];
        if let Ok((len, _)) = self.front.recv_from(&mut buffer) {
            self.there.push(buffer[..len].to_vec());
            self.back.send_to(&buffer[..len], server.address()).unwrap();
        }
        if let Ok((len, _)) = self.back.recv_from(&mut buffer) {
            self.here.push(buffer[..len].to_vec());
            self.front.send_to(&buffer[..len], client.address()).unwrap();
        }
    }
}

#[test]
fn a_host_that_is_gone_is_given_up_although_all_that_it_said_is_played_again() {
    let config = config("dctcp").key(key(1));
    let patience = Patience { silence: Duration::from_secs(3), ..Patience::default() };
    let server = Host::bind(config.clone()).unwrap();
    let client = Host::bind(Config { patience, ..config }).unwrap();
    let mut relay = Relay::new();
    let to = Request::to(relay.front.local_addr().unwrap());
    let receipt = client.send_with_receipt(to, message(1, 50_000)).unwrap();
    while receipt.outcome().is_none() {
        relay.carry(&client, &server);
    }
    receipt.wait().unwrap();
    drop(server);
    let receipt = client.send_with_receipt(to, message(2, 50_000)).unwrap();
    let began = std::time::Instant::now();
    let outcome = loop {
        if let Some(outcome) = receipt.wait_for(Duration::from_millis(100)) {
            break outcome;
        }
        assert!(began.elapsed() < crate::wait::PATIENCE, "it is taken for alive");
        for datagram in &relay.here {
            relay.front.send_to(datagram, client.address()).unwrap();
        }
    };
    assert!(matches!(outcome, Err(SendError::Silent { .. })), "{outcome:?}");
}

#[test]
fn a_stranger_gets_no_longer_answer_from_a_host_with_a_key_than_it_sent() {
    let host = Host::bind(config("dctcp").key(key(1))).unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    // One byte of each kind; then a sealed datagram, to which the answer is UNKNOWN.
    for kind in [0x00, 0x10, 0xf0] {
        socket.send_to(&[kind], host.address()).unwrap();
    }
    socket.send_to(&[0xf0; 40], host.address()).unwrap();
    let mut buffer = [0; 100];
    socket.set_read_timeout(Some(crate::wait::PATIENCE)).unwrap();
    assert_eq!(socket.recv(&mut buffer).unwrap(), 25);
    crate::wait::eventually(|| host.stats().malformed == 4);
    assert_eq!(host.stats().datagrams_sent, 1);
}
