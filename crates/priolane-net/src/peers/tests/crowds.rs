//! Tests of a full table of peers, and of the hosts that give way.

use super::super::cookie::Cookie;
use super::super::message::{Message, Offer};
use super::super::places::{GRACE, Standing};
use super::super::table::NoRoom;
use super::*;

const CROWD: Patience = Patience { idle: Span::from_ms(16_000), ..PATIENCE };

/// A hostile machine with one address, which greets from each of its ports, without a key.
struct Crowd {
    from: [u8; 4],
    runs: u64,
}

impl Crowd {
    fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::from((self.from, 1_024 + port))
    }

    /// Sends HELLO to `host` from a port, and returns the last answer.
    fn hello(&self, port: u16, cookie: Cookie, (host, now): (&mut Peers, Time)) -> Option<Message> {
        let offer = Offer::Open { run: self.runs, speaks: Speaks::new("window", 1_500) };
        let (bytes, len) = Message::Hello { nonce: 1, cookie, offer }.encode(None);
        host.take(Question { from: self.address(port), len, now }, &bytes[..len]);
        let (_, bytes, len) = std::iter::from_fn(|| host.pop()).last()?;
        Message::decode(&bytes[..len], None)
    }

    /// Greets `host` from a port, with the cookie that the host hands out.
    fn greet(&mut self, port: u16, host: &mut Peers, now: Time) {
        self.runs += 1;
        if let Some(Message::Challenge { cookie, .. }) = self.hello(port, Cookie::default(), (host, now)) {
            self.hello(port, cookie, (host, now));
        }
    }
}

/// Creates a host with a table of `most` places, the hostile machine that fills the table, and an honest host.
fn crowded(most: u16) -> (Net, Crowd) {
    let mut net = Net::new(&[None, None]);
    net.hosts[0].1 = host_with("window", None, Patience { most, ..CROWD });
    let mut crowd = Crowd { from: [66, 6, 6, 6], runs: 1 << 40 };
    for port in 0..most {
        // As many as the rate of answers allows.
        net.now += Span::from_us(60);
        let now = net.now;
        crowd.greet(port, net.peers(0), now);
    }
    assert_eq!(net.peers(0).count(), usize::from(most));
    net.peers(0).changes();
    net.collect();
    (net, crowd)
}

/// The behaviour of the hostile machine with its places.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Tactic {
    /// The machine greets from more and more ports.
    Greets,
    /// The machine also has a part of a message under way from each port.
    StartsMessages,
    /// The machine has also sent a whole message from each port before.
    SendsMessages,
}

impl Net {
    /// Records the messages of the hostile machine as the runtime would.
    fn act(&mut self, crowd: &Crowd, tactic: Tactic) {
        let now = self.now;
        let peers = self.peers(0).by_address.iter();
        let known: Vec<HostId> = peers
            .filter(|(address, _)| address.ip() == std::net::IpAddr::from(crowd.from))
            .map(|(_, &host)| host)
            .collect();
        for host in known {
            match tactic {
                Tactic::Greets => {}
                Tactic::StartsMessages => self.peers(0).set_under_way(host, (0, 1), now),
                Tactic::SendsMessages => self.peers(0).note_exchanged(host, now),
            }
        }
    }
}

#[test]
fn a_host_is_let_in_at_its_first_greeting_and_stays_while_one_machine_holds_all_other_places() {
    for most in [64, 4_096] {
        for tactic in [Tactic::Greets, Tactic::StartsMessages, Tactic::SendsMessages] {
            let (mut net, mut crowd) = crowded(most);
            net.act(&crowd, tactic);
            let name = net.greet(1, 0);
            net.settle();
            assert_eq!(net.peers(1).changes(), [Change::Known(name)], "{most}, {tactic:?}");
            assert_eq!(net.messages(3).len(), 0, "it was refused at no time");
            // A message of it is under way from its first packet on, and done 200 ms later.
            assert!(net.passes(1, 0));
            let (other, now) = (net.name(0, 1), net.now);
            net.peers(0).set_under_way(other, (0, 1), now);
            for round in 0..250u16 {
                for n in 0..20 {
                    let now = net.now;
                    crowd.greet(most + 20 * round + n, net.peers(0), now);
                }
                net.collect();
                net.run(Span::from_ms(5));
                if round % 100 == 0 {
                    net.act(&crowd, tactic);
                }
                if round == 40 {
                    let now = net.now;
                    net.peers(0).note_exchanged(other, now);
                    net.peers(0).set_under_way(other, (0, 0), now);
                }
                assert!(net.passes_both_ways(0, 1), "{most}, {tactic:?}, round {round}");
            }
            assert_eq!(net.peers(1).changes(), [], "{most}, {tactic:?}");
            assert!(net.peers(0).count() <= usize::from(most));
        }
    }
}

#[test]
fn pings_alone_keep_no_place() {
    let (mut net, _) = crowded(64);
    net.hosts.pop();
    // Each stranger goes on to send packets that are no message; each has been there for longer than an idle host may.
    for second in 0..20 {
        net.now += Span::from_ms(1_000);
        for port in 0..64 {
            let from = SocketAddr::from(([66, 6, 6, 6], 1_024 + port));
            let question = Question { from, len: TEXT.len(), now: net.now };
            assert!(net.peers(0).from(question).is_some(), "second {second}");
        }
    }
    net.hosts.push((address(1), host("window", None)));
    let name = net.greet(1, 0);
    net.settle();
    assert_eq!(net.peers(1).changes(), [Change::Known(name)]);
}

#[test]
fn hosts_that_were_served_make_room_after_a_time_and_are_told_when_they_come_back() {
    let mut net = Net::new(&[None; 5]);
    let names = [1, 2, 3].map(|from| {
        net.greet(from, 0);
        net.settle();
        net.name(0, from)
    });
    let now = net.now;
    names.into_iter().for_each(|name| net.peers(0).note_exchanged(name, now));
    assert_eq!(net.peers(0).greet(address(4), now), Err(NoRoom), "all were served just now");
    net.peers(0).set_under_way(names[0], (0, 1), now);
    net.run(Span::from_ms(2_100));
    net.hosts.iter_mut().for_each(|(_, host)| drop(host.changes()));
    let new = net.greet(0, 4);
    net.settle();
    assert!(!names.contains(&new), "a name is not used again before the caller knows");
    assert_eq!(net.peers(0).changes(), [Change::Evicted(names[1]), Change::Known(new)]);
    assert!(net.passes(1, 0) && net.passes(3, 0), "who is busy, and who was served later, stay");
    // Host 2 comes back. Host 3 gives way, and host 0 was started again for host 2, as it has forgotten what it knew.
    assert!(!net.passes(2, 0));
    net.settle();
    let other = net.name(2, 0);
    assert_eq!(net.peers(2).changes(), [Change::Restarted(other)]);
    assert!(net.passes(2, 0));
}

#[test]
fn a_host_that_is_refused_learns_it() {
    let mut net = Net::new(&[None; 5]);
    for from in [1, 2, 3] {
        net.greet(from, 0);
        net.settle();
        let (name, now) = (net.name(0, from), net.now);
        net.peers(0).set_under_way(name, (0, 1), now);
    }
    net.run(GRACE);
    let name = net.greet(4, 0);
    net.settle();
    let refused = Change::Refused(name, Reason::NoRoom, Speaks::new("window", 1_500));
    assert_eq!((net.peers(4).changes(), net.peers(0).count()), (vec![refused], 3));
}

#[test]
fn the_largest_table_lets_newcomers_in() {
    let mut net = Net::new(&[None]);
    net.hosts[0].1 = host_with("window", None, Patience { most: u16::MAX, ..CROWD });
    let (mut crowd, now) = (Crowd { from: [66, 6, 6, 6], runs: 1 << 40 }, net.now);
    for port in 1..u16::MAX {
        net.peers(0).add(SocketAddr::from((crowd.from, port)), Standing::Stranger, now).unwrap();
    }
    for _ in 0..10 {
        crowd.from[3] += 1;
        crowd.greet(0, net.peers(0), now);
        assert!(net.peers(0).by_address.contains_key(&crowd.address(0)));
        assert!(matches!(net.peers(0).changes()[..], [Change::Evicted(_), Change::Known(_)]));
    }
    assert_eq!(net.peers(0).count(), usize::from(u16::MAX - 1));
}
