//! Peers that lie in every field. The host that they talk to goes on to serve others.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use priolane_net::core::rng::{Purpose, Stream};
use priolane_net::{Config, Host, Limits, Request};

use crate::digest::message;
use crate::proxy::{Faults, Proxy};
use crate::transports::{config, every_transport};
use crate::wait::{PATIENCE, eventually};
use crate::whole::{Path, carry, pair};

/// A peer that speaks by hand.
pub(crate) struct ByHand {
    socket: UdpSocket,
}

/// Bytes of HELLO from its number to its cookie, and of all of it.
const BEFORE_COOKIE: usize = 17;
const HELLO: usize = 44;

impl ByHand {
    /// One at an address of its own.
    pub(crate) fn new(address: &str) -> Self {
        Self { socket: UdpSocket::bind(address).unwrap() }
    }

    fn hello(run: u64, transport: &str, mtu: u16) -> [u8; HELLO] {
        let mut hello = [0; HELLO];
        hello[1..9].copy_from_slice(&run.to_le_bytes());
        hello[9..17].copy_from_slice(&7u64.to_le_bytes());
        hello[26..26 + transport.len()].copy_from_slice(transport.as_bytes());
        hello[42..].copy_from_slice(&mtu.to_le_bytes());
        hello
    }

    fn receive(&self) -> Vec<u8> {
        self.receive_within(PATIENCE).unwrap_or_else(|| panic!("no answer to {:?}", self.socket.local_addr()))
    }

    fn receive_within(&self, time: Duration) -> Option<Vec<u8>> {
        let mut buffer = [0; 2_048];
        self.socket.set_read_timeout(Some(time)).unwrap();
        let len = self.socket.recv(&mut buffer).ok()?;
        Some(buffer[..len].to_vec())
    }

    /// Sends `bytes` once a second until there is an answer: the kernel may drop one while another test floods it.
    fn ask(&self, host: &Host, bytes: &[u8]) -> Vec<u8> {
        let began = Instant::now();
        loop {
            self.send(host, bytes);
            if let Some(answer) = self.receive_within(Duration::from_secs(1)) {
                return answer;
            }
            assert!(began.elapsed() < PATIENCE, "no answer to {:?}", self.socket.local_addr());
        }
    }

    fn send(&self, host: &Host, bytes: &[u8]) {
        self.socket.send_to(bytes, host.address()).unwrap();
    }

    /// Greets a host; the first byte of its last answer: 2 if it is known now, 3 if it is refused.
    pub(crate) fn greet(&self, host: &Host, run: u64, transport: &str, mtu: u16) -> u8 {
        let mut hello = Self::hello(run, transport, mtu);
        let challenge = self.ask(host, &hello);
        assert_eq!((challenge[0], challenge.len()), (1, 18));
        assert!(challenge.len() <= HELLO, "no answer is longer than what it answers");
        hello[BEFORE_COOKIE..26].copy_from_slice(&challenge[9..18]);
        let mut answer = self.ask(host, &hello);
        // An answer to a HELLO that was sent again: another CHALLENGE.
        while answer[0] == 1 {
            answer = self.receive();
        }
        answer[0]
    }

    /// Sends a packet of payload of the window transports, all of a flow, and waits for its ACK.
    pub(crate) fn deliver(&self, host: &Host, flow: u32, payload: &[u8]) {
        let mut answer = self.ask(host, &packet(flow, 0, payload));
        while answer[1] & 0xf != 1 {
            answer = self.receive();
        }
    }
}

/// The only packet of a flow of the window transports: version 1, format 0, LAST, DATA.
fn packet(flow: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let head = [0x10, 0x20].into_iter().chain(flow.to_le_bytes());
    let fields = offset.to_le_bytes().into_iter().take(6).chain([1, 2, 3, 4]);
    head.chain(fields).chain(payload.iter().copied()).collect()
}

fn window_host() -> Host {
    Host::bind(config("dctcp")).unwrap()
}

#[test]
fn nothing_is_kept_of_a_peer_before_it_sends_its_cookie_back() {
    let host = window_host();
    let peer = ByHand::new("127.0.0.1:0");
    // A packet of a peer that is not known: UNKNOWN, one byte, and nothing of it is kept.
    peer.send(&host, &packet(1, 0, &[9; 100]));
    assert_eq!(peer.receive(), [4]);
    // HELLO with a cookie of one's own.
    let mut hello = ByHand::hello(1, "window", 1_500);
    for wrong in 0..50u8 {
        hello[BEFORE_COOKIE..26].fill(wrong);
        peer.send(&host, &hello);
        assert_eq!(peer.receive()[0], 1, "another CHALLENGE");
    }
    // A cookie that another address was given.
    let other = ByHand::new("127.0.0.1:0");
    let mut theirs = ByHand::hello(1, "window", 1_500);
    other.send(&host, &theirs);
    theirs[BEFORE_COOKIE..26].copy_from_slice(&other.receive()[9..18]);
    peer.send(&host, &theirs);
    assert_eq!(peer.receive()[0], 1);
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    peer.deliver(&host, 1, b"now it is taken");
    assert_eq!(host.recv().unwrap().bytes, b"now it is taken");
    let stats = host.stats();
    assert_eq!((stats.peers, stats.strangers, stats.arrived), (1, 1, 1));
}

#[test]
fn peers_of_another_transport_or_mtu_are_refused() {
    let host = window_host();
    for (transport, mtu, answer) in [("homa", 1_500, 3), ("window", 9_000, 3), ("window", 1_500, 2)] {
        let peer = ByHand::new("127.0.0.1:0");
        assert_eq!(peer.greet(&host, 1, transport, mtu), answer, "{transport}, {mtu}");
    }
    eventually(|| host.stats().peers == 1);
}

#[test]
fn a_peer_that_was_started_again_begins_anew_and_one_that_greets_again_does_not() {
    let host = window_host();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    peer.deliver(&host, 5, b"first");
    assert_eq!(host.recv().unwrap().bytes, b"first");
    // The same run: flow 5 has ended, its packet is one that comes late.
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    peer.deliver(&host, 5, b"again");
    // Another run: flow 5 is a new one.
    assert_eq!(peer.greet(&host, 2, "window", 1_500), 2);
    peer.deliver(&host, 5, b"second");
    assert_eq!(host.recv().unwrap().bytes, b"second");
    assert_eq!(host.stats().peers, 1);
}

#[test]
fn a_peer_that_names_offsets_far_away_takes_no_memory() {
    let limits = Limits { sender: 1 << 20, ahead: 1 << 18, ..Limits::default() };
    let host = Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    let mut draw = Stream::new(3, Purpose::Loss, 0);
    for flow in 0..2_000u32 {
        let bits = 10 + draw.below(38);
        let offset = draw.below(1 << bits);
        peer.send(&host, &packet(flow, offset, &[1; 100]));
        if flow % 50 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // Another still gets through.
    let other = ByHand::new("127.0.0.1:0");
    assert_eq!(other.greet(&host, 1, "window", 1_500), 2);
    other.deliver(&host, 1, b"hello");
    assert!(std::iter::from_fn(|| host.try_recv().unwrap()).any(|message| message.bytes == b"hello"));
    let stats = host.stats();
    assert!(stats.receiving_bytes < 3 << 20, "{stats:#?}");
    assert!(stats.no_room + stats.too_long > 500, "{stats:#?}");
}

#[test]
fn bytes_drawn_at_random_are_counted_and_change_nothing() {
    let host = window_host();
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&host, 1, "window", 1_500), 2);
    let (mut draw, count) = (Stream::new(4, Purpose::Loss, 0), 3_000);
    for n in 0..count {
        let mut bytes: Vec<u8> = (0..draw.below(80)).map(|_| draw.below(256) as u8).collect();
        if let Some(first) = bytes.first_mut()
            && draw.chance(0.8)
        {
            // A control message, or a packet of the transport.
            *first = if draw.chance(0.5) { draw.below(16) as u8 } else { 0x10 };
        }
        peer.send(&host, &bytes);
        if n % 100 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let other = ByHand::new("127.0.0.1:0");
    assert_eq!(other.greet(&host, 1, "window", 1_500), 2);
    other.deliver(&host, 1, &message(1, 1_000));
    eventually(|| host.stats().datagrams_received >= count);
    let stats = host.stats();
    assert!(stats.malformed > count / 4, "{stats:#?}");
}

/// Honest hosts with a network between them that changes bytes: whatever becomes of their messages, nothing panics, and both
/// still serve others.
#[test]
fn changed_bytes_stop_no_host_of_any_transport() {
    let faults = Faults { changed: 0.3, lost: 0.02, twice: 0.05, held_up: 0.05 };
    let mut damaged = 0;
    for (seed, (name, config)) in (1..).zip(every_transport()) {
        let hosts = pair(&config);
        let proxy = Proxy::new(hosts[1].address(), faults, seed);
        for number in 0..60 {
            hosts[0].send(Request::to(proxy.second), message(number, 100 + 300 * number as usize)).unwrap();
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(200)
            && hosts.iter().any(|host| host.stats().datagrams_received < 100)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(proxy);
        let third = Host::bind(config).unwrap();
        while hosts[1].try_recv().unwrap().is_some() {}
        for host in &hosts {
            let receipt = third.send_with_receipt(Request::to(host.address()), message(1, 50_000)).unwrap();
            let outcome = receipt.wait_for(PATIENCE);
            outcome.unwrap_or_else(|| panic!("{name}: {:#?}", host.stats())).unwrap();
            damaged += host.stats().malformed;
        }
    }
    assert!(damaged > 50, "{damaged} datagrams were damaged beyond recognition");
}

#[test]
fn with_a_key_changed_bytes_are_as_good_as_lost() {
    let faults = Faults { changed: 0.05, ..Faults::NONE };
    let key = priolane_net::Key::new(&[3; 32]).unwrap();
    for (seed, name) in (1..).zip(["dctcp", "swift", "top", "ndp", "homa"]) {
        let config = config(name).key(key.clone());
        let hosts = [(); 2].map(|()| Host::bind(config.clone()).unwrap());
        let proxy = Proxy::new(hosts[1].address(), faults, seed);
        let path = Path { from: &hosts[0], to: &hosts[1], address: proxy.second };
        crate::whole::carry_damaged(name, path, [1, 1_448, 200_000, 40_001]);
        assert!(hosts[1].stats().malformed > 0, "{name}: {:#?}", hosts[1].stats());
    }
}

#[test]
fn without_faults_nothing_is_malformed() {
    let hosts = pair(&config("top"));
    let proxy = Proxy::new(hosts[1].address(), Faults::NONE, 1);
    carry("top", Path { from: &hosts[0], to: &hosts[1], address: proxy.second }, [1, 100_000]);
}
