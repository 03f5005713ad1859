use std::net::SocketAddr;

use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Span, Time};

use super::message::Message;
use super::table::{ANSWERS, ANSWERS_AT_ONCE, NoRoom};
use super::*;
use crate::key::Key;

const PATIENCE: Patience = Patience {
    greeting: Span::from_ms(2_000),
    silence: Span::from_ms(5_000),
    idle: Span::from_ms(2_000),
    most: 3,
};

/// Hosts and what is between them: nothing, or a loss of every n-th message.
struct Net {
    hosts: Vec<(SocketAddr, Peers)>,
    now: Time,
    lose_each: usize,
    carried: usize,
}

fn address(n: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + n as u8], 7_300))
}

fn host(name: &str, key: Option<u8>) -> Peers {
    let key = key.map(|byte| Key::new(&[byte; 32]).unwrap());
    Peers::new(Speaks::new(name, 1_500), key, PATIENCE)
}

impl Net {
    fn new(keys: &[Option<u8>]) -> Self {
        let hosts = keys.iter().enumerate().map(|(n, &key)| (address(n), host("window", key))).collect();
        Self { hosts, now: Time(PS_PER_S), lose_each: usize::MAX, carried: 0 }
    }

    fn peers(&mut self, n: usize) -> &mut Peers {
        &mut self.hosts[n].1
    }

    fn greet(&mut self, from: usize, to: usize) -> HostId {
        let now = self.now;
        self.peers(from).greet(address(to), now).unwrap()
    }

    /// Carries all that hosts say until they say no more.
    fn settle(&mut self) {
        loop {
            let mut sent = Vec::new();
            for (from, host) in &mut self.hosts {
                sent.extend(
                    std::iter::from_fn(|| host.pop()).map(|(to, bytes, len)| (*from, to, bytes, len)),
                );
            }
            if sent.is_empty() {
                return;
            }
            for (from, to, bytes, len) in sent {
                self.carried += 1;
                if self.carried.is_multiple_of(self.lose_each) {
                    continue;
                }
                if let Some((_, host)) = self.hosts.iter_mut().find(|(address, _)| *address == to) {
                    host.take(from, &bytes[..len], self.now);
                }
            }
        }
    }

    /// Lets time go by in steps of 5 ms.
    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.now += Span::from_ms(5);
            let now = self.now;
            self.hosts.iter_mut().for_each(|(_, host)| host.look(now));
            self.settle();
        }
    }

    /// Whether a sealed datagram gets from one host to another.
    fn passes(&mut self, from: usize, to: usize) -> bool {
        let now = self.now;
        let name = self.peers(from).by_address[&address(to)];
        let mut datagram = [7; SEAL_BYTES + 10];
        let (peers, mut scratch) = (self.peers(from), Vec::new());
        peers.seal(name, &mut datagram)
            && self
                .peers(to)
                .open(address(from), &datagram, &mut scratch, now)
                .is_some_and(|(_, text)| text == [7; 10])
    }
}

#[test]
fn a_greeting_makes_both_known() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key, key]);
        let name = net.greet(0, 1);
        assert!(!net.peers(0).is_known(name));
        net.settle();
        assert_eq!(net.peers(0).changes(), [Change::Known(name)]);
        let other = net.peers(1).by_address[&address(0)];
        assert_eq!(net.peers(1).changes(), [Change::Known(other)]);
        assert_eq!(net.carried, 6, "HELLO, CHALLENGE, HELLO, WELCOME, PING, PONG");
        assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0));
        net.run(Span::from_ms(3_000));
        assert_eq!((net.carried, net.peers(0).next_look()), (6, Time::NEVER), "then both are quiet");
    }
}

#[test]
fn a_greeting_succeeds_whichever_messages_are_lost() {
    for key in [None, Some(1)] {
        // Each second would be all answers.
        for each in 3..8 {
            let mut net = Net { lose_each: each, ..Net::new(&[key, key]) };
            let name = net.greet(0, 1);
            net.settle();
            net.run(Span::from_ms(1_900));
            assert!(net.peers(0).is_known(name), "each {each}th lost");
            net.lose_each = usize::MAX;
            assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0), "each {each}th lost");
        }
    }
}

#[test]
fn both_may_greet_at_once() {
    for key in [None, Some(1)] {
        for each in [usize::MAX, 5, 7, 9] {
            let mut net = Net { lose_each: each, ..Net::new(&[key, key]) };
            let names = [net.greet(0, 1), net.greet(1, 0)];
            net.settle();
            net.run(Span::from_ms(1_900));
            for (n, name) in names.into_iter().enumerate() {
                assert_eq!(net.peers(n).changes(), [Change::Known(name)]);
            }
            net.lose_each = usize::MAX;
            for _ in 0..3 {
                assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0), "each {each}th lost");
            }
        }
    }
}

#[test]
fn a_host_that_was_started_again_is_told_apart_from_one_that_greets_again() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key, key]);
        let name = net.greet(0, 1);
        net.settle();
        let other = net.peers(1).by_address[&address(0)];
        net.hosts.iter_mut().for_each(|(_, host)| drop(host.changes()));
        // Someone says that host 0 is not known: it is greeted again, and is the same.
        let now = net.now;
        let key_of = |net: &Net| net.hosts[1].1.control_key().cloned();
        let (unknown, len) = Message::Unknown.encode(key_of(&net).as_ref());
        net.peers(0).take(address(1), &unknown[..len], now);
        net.settle();
        assert_eq!((net.peers(0).changes(), net.peers(1).changes()), (vec![], vec![]));
        assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0));
        // Host 1 is started again. It hears a packet, and says that it does not know its sender.
        net.hosts[1].1 = host("window", key);
        net.run(Span::from_ms(200));
        let now = net.now;
        match key {
            None => assert_eq!(net.peers(1).from(address(0), now), None),
            Some(_) => assert!(!net.passes(0, 1)),
        }
        net.settle();
        assert_eq!(net.peers(0).changes(), [Change::Restarted(name)]);
        assert_eq!(net.peers(1).changes(), [Change::Known(other)]);
        assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0));
        // Host 0 is started again and greets: host 1 learns of it.
        net.hosts[0].1 = host("window", key);
        net.greet(0, 1);
        net.settle();
        assert_eq!(net.peers(1).changes(), [Change::Restarted(other)]);
        assert!(key.is_none() || net.passes(0, 1) && net.passes(1, 0));
    }
}

#[test]
fn a_hello_that_is_played_again_changes_nothing_where_there_is_a_key() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.greet(0, 1);
    // The first HELLO, and the one with the cookie.
    let (_, first, len) = net.peers(0).pop().unwrap();
    let now = net.now;
    net.peers(1).take(address(0), &first[..len], now);
    let (_, challenge, of) = net.peers(1).pop().unwrap();
    net.peers(0).take(address(1), &challenge[..of], now);
    let (_, hello, _) = net.peers(0).pop().unwrap();
    net.peers(1).take(address(0), &hello[..len], now);
    net.settle();
    // Host 0 is started again; then its old HELLO comes once more, within the time of the cookie.
    net.hosts[0].1 = host("window", Some(1));
    net.greet(0, 1);
    net.settle();
    net.peers(1).changes();
    let now = net.now;
    for _ in 0..5 {
        assert!(net.peers(1).take(address(0), &hello[..len], now));
        while net.peers(1).pop().is_some() {}
    }
    assert_eq!(net.peers(1).changes(), []);
    assert!(net.passes(0, 1) && net.passes(1, 0));
}

#[test]
fn hosts_that_do_not_understand_each_other_say_why() {
    let mut net = Net::new(&[None, None, Some(1)]);
    net.hosts[1].1 = host("homa", None);
    let (homa, sealed) = (net.greet(0, 1), net.greet(0, 2));
    net.settle();
    let speaks = |name| Speaks::new(name, 1_500);
    assert_eq!(
        net.peers(0).changes(),
        [
            Change::Refused(sealed, Reason::NeedsKey, speaks("window")),
            Change::Refused(homa, Reason::Speech, speaks("homa")),
        ]
    );
    assert_eq!(
        (net.peers(0).count(), net.peers(1).count(), speaks("homa").name()),
        (0, 0, "homa".to_owned())
    );
}

#[test]
fn who_does_not_answer_or_is_heard_no_more_is_given_up() {
    let mut net = Net::new(&[None, None]);
    let name = net.greet(0, 1);
    net.hosts.pop();
    net.run(Span::from_ms(1_990));
    assert_eq!(net.peers(0).changes(), []);
    net.run(Span::from_ms(20));
    assert_eq!((net.peers(0).changes(), net.peers(0).count()), (vec![Change::NoAnswer(name)], 0));
    // One that was known.
    let mut net = Net::new(&[None, None]);
    let name = net.greet(0, 1);
    net.settle();
    let now = net.now;
    net.peers(0).set_under_way(name, (1, 0), now);
    net.run(Span::from_ms(20_000));
    assert_eq!(net.peers(0).changes(), [Change::Known(name)], "it answers when asked");
    net.hosts.pop();
    net.run(Span::from_ms(3_900));
    assert_eq!(net.peers(0).changes(), []);
    net.run(Span::from_ms(2_500));
    assert_eq!((net.peers(0).changes(), net.peers(0).next_look()), (vec![Change::Silent(name)], Time::NEVER));
}

#[test]
fn idle_hosts_make_room_and_others_do_not() {
    let mut net = Net::new(&[None; 5]);
    let names = [1, 2, 3].map(|to| net.greet(0, to));
    net.settle();
    let now = net.now;
    assert_eq!(net.peers(0).greet(address(4), now), Err(NoRoom), "all were heard just now");
    net.peers(0).set_under_way(names[0], (0, 1), now);
    net.run(Span::from_ms(2_100));
    let now = net.now;
    assert_eq!(net.peers(0).from(address(1), now), Some(names[0]));
    assert_eq!(net.peers(0).from(address(3), now), Some(names[2]));
    let new = net.greet(0, 4);
    net.settle();
    assert!(!names.contains(&new), "a name is not used again before the caller knows");
    let changes = net.peers(0).changes();
    assert_eq!(changes[3..], [Change::Evicted(names[1]), Change::Known(new)]);
    // Host 4 greets a host that knows three others, none of which is idle.
    let now = net.now;
    for to in [1, 2, 3] {
        net.peers(4).greet(address(to), now).unwrap_or(new);
    }
    net.settle();
    assert_eq!(net.peers(4).count(), 3);
    let name = net.greet(3, 4);
    net.settle();
    let changes = net.peers(3).changes();
    assert!(
        changes.contains(&Change::Known(name))
            || matches!(changes[..], [.., Change::Refused(_, Reason::NoRoom, _)])
    );
}

#[test]
fn strangers_are_answered_no_more_often_than_the_rate_of_answers_allows() {
    let mut net = Net::new(&[None]);
    let now = net.now;
    let mut answers = |now| {
        (0..10_000)
            .for_each(|n| assert_eq!(net.hosts[0].1.from(SocketAddr::from(([9, 9, 9, 9], n)), now), None));
        std::iter::from_fn(|| net.hosts[0].1.pop()).count() as u64
    };
    assert!(answers(now) <= ANSWERS_AT_ONCE + 1);
    assert!(answers(now + Span::from_ms(10)) <= ANSWERS / 100 + 1);
    assert!(answers(now + Span::from_ms(3_000)) <= ANSWERS_AT_ONCE + 1);
}
