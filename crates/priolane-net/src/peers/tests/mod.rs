//! Hosts and the network between them, in simulated time.

mod crowds;
mod greetings;
mod numbers;
mod randomness;
mod replays;
mod strangers;

use std::net::SocketAddr;
use std::sync::Arc;

use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Span, Time};
use ring::rand::SystemRandom;

use super::*;
use crate::key::Key;

const PATIENCE: Patience = Patience {
    greeting: Span::from_ms(2_000),
    silence: Span::from_ms(5_000),
    idle: Span::from_ms(2_000),
    most: 3,
};

/// The text of the packets that hosts send here. It is not a control message.
const TEXT: [u8; 10] = [0x17; 10];

/// A datagram on its way.
#[derive(Clone, Debug)]
struct Datagram {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// Hosts, and a network between them that loses nothing or every n-th datagram.
struct Net {
    hosts: Vec<(SocketAddr, Peers)>,
    now: Time,
    lose_each: usize,
    /// All datagrams so far, including lost ones.
    log: Vec<Datagram>,
}

fn address(n: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + n as u8], 7_300))
}

fn host_with(name: &str, key: Option<u8>, patience: Patience) -> Peers {
    let key = key.map(|byte| Key::new(&[byte; 32]).unwrap());
    let random = Arc::new(SystemRandom::new());
    Peers::new(Speaks::new(name, 1_500), key.as_ref(), patience, random).unwrap()
}

fn host(name: &str, key: Option<u8>) -> Peers {
    host_with(name, key, PATIENCE)
}

impl Net {
    fn new(keys: &[Option<u8>]) -> Self {
        let hosts = keys.iter().enumerate().map(|(n, &key)| (address(n), host("window", key))).collect();
        Self { hosts, now: Time(PS_PER_S), lose_each: usize::MAX, log: Vec::new() }
    }

    fn peers(&mut self, n: usize) -> &mut Peers {
        &mut self.hosts[n].1
    }

    fn greet(&mut self, from: usize, to: usize) -> HostId {
        let now = self.now;
        self.peers(from).greet(address(to), now).unwrap()
    }

    /// Returns the name by which a host knows another.
    fn name(&self, at: usize, of: usize) -> HostId {
        self.hosts[at].1.by_address[&address(of)]
    }

    /// Delivers a datagram to the host at its address, if there is one, and returns whether it contained a packet.
    fn deliver(&mut self, datagram: &Datagram) -> bool {
        let Datagram { from, to, bytes } = datagram;
        let question = Question { from: *from, len: bytes.len(), now: self.now };
        let Some((_, host)) = self.hosts.iter_mut().find(|(address, _)| address == to) else { return false };
        if bytes[0] >> 4 == SEALED >> 4 {
            let mut text = Vec::new();
            matches!(host.open(question, bytes, &mut text), Opened::Packet(_, text) if text == TEXT)
        } else if bytes[0] >> 4 == 0 {
            host.take(question, bytes);
            false
        } else {
            host.from(question).is_some()
        }
    }

    /// Returns all datagrams that the hosts send now.
    fn collect(&mut self) -> Vec<Datagram> {
        let mut sent = Vec::new();
        for (from, host) in &mut self.hosts {
            let waiting = std::iter::from_fn(|| host.pop());
            sent.extend(waiting.map(|(to, bytes, len)| Datagram {
                from: *from,
                to,
                bytes: bytes[..len].to_vec(),
            }));
        }
        sent
    }

    /// Delivers all datagrams until the hosts send no more.
    fn settle(&mut self) {
        loop {
            let sent = self.collect();
            if sent.is_empty() {
                return;
            }
            for datagram in sent {
                self.log.push(datagram.clone());
                if !self.log.len().is_multiple_of(self.lose_each) {
                    self.deliver(&datagram);
                }
            }
        }
    }

    /// Advances the time in steps of 5 ms.
    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.now += Span::from_ms(5);
            let now = self.now;
            self.hosts.iter_mut().for_each(|(_, host)| host.look(now));
            self.settle();
        }
    }

    /// Returns a packet from one host to another, sealed if there is a key, or `None` if it cannot be sealed.
    fn packet(&mut self, from: usize, to: usize) -> Option<Datagram> {
        let (now, name) = (self.now, self.name(from, to));
        let peers = self.peers(from);
        let bytes = if peers.key.is_some() {
            let mut out = [0; SEAL_BYTES + TEXT.len()];
            peers.seal(name, &TEXT, &mut out, now)?;
            out.to_vec()
        } else {
            TEXT.to_vec()
        };
        Some(Datagram { from: address(from), to: address(to), bytes })
    }

    /// Returns whether a packet gets from one host to another.
    fn passes(&mut self, from: usize, to: usize) -> bool {
        let Some(packet) = self.packet(from, to) else { return false };
        self.log.push(packet.clone());
        self.deliver(&packet)
    }

    fn passes_both_ways(&mut self, a: usize, b: usize) -> bool {
        self.passes(a, b) && self.passes(b, a)
    }

    /// Returns all unsealed datagrams so far that are the control message with this number.
    fn messages(&self, number: u8) -> Vec<Datagram> {
        self.log.iter().filter(|datagram| datagram.bytes[0] == number).cloned().collect()
    }
}
