//! Tests with peers that lie in every field, while their host must go on to serve others.

use std::time::{Duration, Instant};

use priolane_net::core::rng::{Purpose, Stream};
use priolane_net::{Config, Host, Limits, Request};

use crate::by_hand::{BEFORE_COOKIE, ByHand, packet};
use crate::digest::message;
use crate::proxy::{Faults, Proxy};
use crate::transports::{config, every_transport};
use crate::wait::{PATIENCE, eventually};
use crate::whole::{Path, carry, pair};

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

/// Connects honest hosts by a network that changes bytes. Whatever the outcome of their messages, nothing panics, and
/// both hosts still serve others.
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

#[test]
fn strangers_of_one_machine_do_not_keep_another_host_out_of_a_full_table() {
    let limits = Limits { peers: 8, ..Limits::default() };
    let host = Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let strangers = [(); 20].map(|()| ByHand::new("127.0.0.2:0"));
    for (run, stranger) in (1..).zip(&strangers) {
        assert_eq!(stranger.greet(&host, run, "window", 1_500), 2);
    }
    eventually(|| host.stats().peers == 8);
    let honest = Host::bind(config("dctcp")).unwrap();
    let receipt = honest.send_with_receipt(Request::to(host.address()), message(1, 5_000)).unwrap();
    assert!(receipt.wait().is_ok());
    assert_eq!((host.recv().unwrap().bytes, host.stats().peers), (message(1, 5_000).to_vec(), 8));
}

#[test]
fn a_host_with_which_a_message_was_exchanged_keeps_its_place() {
    let limits = Limits { peers: 1, ..Limits::default() };
    let bind = || Host::bind(Config { limits, ..config("dctcp") }).unwrap();
    let (received, sent) = (bind(), bind());
    let peer = ByHand::new("127.0.0.1:0");
    assert_eq!(peer.greet(&received, 1, "window", 1_500), 2);
    peer.deliver(&received, 1, b"a whole message");
    received.recv().unwrap();
    let other = Host::bind(config("dctcp")).unwrap();
    sent.send_with_receipt(Request::to(other.address()), message(1, 5_000)).unwrap().wait().unwrap();
    for host in [&received, &sent] {
        assert_eq!(ByHand::new("127.0.0.1:0").greet(host, 2, "window", 1_500), 3, "it is refused");
        assert_eq!(host.stats().peers, 1);
    }
}
