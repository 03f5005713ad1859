//! Tests of greetings, and of the events that end an acquaintance.

use super::super::cookie::Cookie;
use super::super::message::{Message, Offer};
use super::super::session::Session;
use super::super::watch::LOOKS;
use super::*;
use crate::key::mark_of;

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
        assert_eq!(net.log.len(), 6, "HELLO, CHALLENGE, HELLO, WELCOME, PING, PONG");
        assert!(net.passes_both_ways(0, 1));
        net.run(Span::from_ms(3_000));
        assert_eq!((net.log.len(), net.peers(0).next_look()), (8, Time::NEVER), "then both are quiet");
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
            assert!(net.passes_both_ways(0, 1), "each {each}th lost");
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
                assert!(net.passes_both_ways(0, 1), "each {each}th lost");
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
        let packet = net.packet(0, 1).unwrap();
        let unknown = Message::Unknown(key.and_then(|_| mark_of(&packet.bytes)));
        let (bytes, len) = unknown.encode(net.peers(1).control_key());
        net.deliver(&Datagram { from: address(1), to: address(0), bytes: bytes[..len].to_vec() });
        net.settle();
        assert_eq!(net.messages(0).len(), 4, "two for each greeting");
        assert_eq!((net.peers(0).changes(), net.peers(1).changes()), (vec![], vec![]));
        assert!(net.passes_both_ways(0, 1));
        // Host 1 is started again. It hears a packet, and says that it does not know its sender.
        net.hosts[1].1 = host("window", key);
        net.run(Span::from_ms(200));
        assert!(!net.passes(0, 1));
        net.settle();
        assert_eq!(net.peers(0).changes(), [Change::Restarted(name)]);
        assert_eq!(net.peers(1).changes(), [Change::Known(other)]);
        assert!(net.passes_both_ways(0, 1));
        // Host 0 is started again and greets: host 1 learns of it.
        net.hosts[0].1 = host("window", key);
        net.greet(0, 1);
        net.settle();
        assert_eq!(net.peers(1).changes(), [Change::Restarted(other)]);
        assert!(net.passes_both_ways(0, 1));
    }
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

/// Creates two hosts that know each other, without changes that are not fetched.
fn acquainted(key: Option<u8>) -> Net {
    let mut net = Net::new(&[key, key]);
    net.greet(0, 1);
    net.settle();
    net.hosts.iter_mut().for_each(|(_, host)| drop(host.changes()));
    net
}

#[test]
fn for_a_host_that_was_forgotten_the_other_was_started_again() {
    for key in [None, Some(1)] {
        let mut net = acquainted(key);
        let (name, now) = (net.name(0, 1), net.now);
        net.peers(0).set_under_way(name, (1, 0), now);
        // Host 1 is cut off until host 0 gives it up.
        let (other, away) = (net.name(1, 0), net.hosts.pop().unwrap());
        net.run(Span::from_ms(5_500));
        assert_eq!(net.peers(0).changes(), [Change::Silent(name)]);
        net.hosts.push(away);
        assert!(!net.passes(1, 0));
        net.settle();
        assert_eq!(net.peers(1).changes(), [Change::Restarted(other)]);
        assert!(net.passes_both_ways(0, 1));
    }
}

#[test]
fn a_host_that_never_confirmed_is_greeted_as_soon_as_there_is_a_message_to_it() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.greet(0, 1);
    // HELLO, CHALLENGE, HELLO; the WELCOME is lost, and host 0 is cut off.
    for _ in 0..3 {
        net.collect().iter().for_each(|datagram| {
            net.deliver(datagram);
        });
    }
    assert_eq!((net.collect().len(), net.peers(1).count(), net.peers(1).changes()), (1, 1, vec![]));
    net.hosts[0].1 = host("window", Some(1));
    let name = net.greet(1, 0);
    net.settle();
    assert_eq!(net.peers(1).changes(), [Change::Known(name)]);
}

#[test]
fn a_call_looks_after_a_bounded_number_of_hosts_and_none_is_left_out() {
    let patience = Patience { most: 1_000, ..PATIENCE };
    let mut peers = host_with("window", None, patience);
    let count = 5 * LOOKS as u16;
    let now = Time(PS_PER_S);
    for port in 0..count {
        peers.greet(SocketAddr::from(([10, 0, 0, 1], port + 1)), now).unwrap();
    }
    let greeted = |peers: &mut Peers| {
        let hellos: Vec<SocketAddr> = std::iter::from_fn(|| peers.pop()).map(|(to, ..)| to).collect();
        hellos
    };
    assert_eq!(greeted(&mut peers).len(), usize::from(count));
    let later = now + Span::from_ms(20);
    let mut again = Vec::new();
    while peers.next_look() <= later {
        peers.look(later);
        let hellos = greeted(&mut peers);
        assert!(hellos.len() <= LOOKS, "{} at once", hellos.len());
        again.extend(hellos);
    }
    again.sort_unstable();
    again.dedup();
    assert_eq!(again.len(), usize::from(count));
}

#[test]
fn a_host_that_exchanged_nothing_is_a_stranger_again() {
    // A table of one place. A message of host 1 was under way, and ended before it was whole.
    let mut net = Net::new(&[None; 3]);
    net.hosts[0].1 = host_with("window", None, Patience { most: 1, ..PATIENCE });
    net.greet(1, 0);
    net.settle();
    let (name, now) = (net.name(0, 1), net.now);
    net.peers(0).set_under_way(name, (0, 1), now);
    net.greet(2, 0);
    net.settle();
    assert_eq!(net.messages(3).len(), 1, "host 1 is busy");
    net.peers(0).set_under_way(name, (0, 0), now);
    net.greet(2, 0);
    net.settle();
    assert!(net.passes_both_ways(2, 0) && !net.passes(1, 0));
}

#[test]
fn hosts_may_greet_at_once_again_and_again() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key, key]);
        let names = [net.greet(0, 1), net.greet(1, 0)];
        net.settle();
        for round in 0..6 {
            net.run(Span::from_ms(200));
            let now = net.now;
            for (n, name) in names.into_iter().enumerate() {
                net.peers(n).greet_again(name, now);
            }
            net.settle();
            assert!(net.passes_both_ways(0, 1), "round {round}");
            // Messages of the session arrive.
            net.peers(0).tell_aborted(names[0], round);
            net.settle();
            assert_eq!(net.peers(1).changes().last(), Some(&Change::Aborted(names[1], round)));
        }
    }
}

#[test]
fn peers_restart_no_more_often_than_a_twentieth_of_the_time_allows() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key, key]);
        net.greet(0, 1);
        net.settle();
        let name = net.name(1, 0);
        net.peers(1).changes();
        let restart = |net: &mut Net| {
            net.hosts[0].1 = host("window", key);
            net.greet(0, 1);
            net.settle();
            net.peers(1).changes()
        };
        // Forgetting takes 10 ms; the next restart is possible 190 ms later. Each greeting is repeated.
        assert_eq!(restart(&mut net), [Change::Restarted(name)]);
        let until = net.now;
        net.peers(1).note_forgotten(Span::from_ms(10), until);
        let refused = restart(&mut net);
        assert_eq!(refused, [], "{key:?}");
        assert!(!net.passes_both_ways(0, 1));
        assert!(net.now.since(until) < Span::from_ms(190));
        net.run(Span::from_ms(1_000));
        // With a key, the next packet confirms the session.
        net.passes(0, 1);
        assert_eq!(net.peers(1).changes(), [Change::Restarted(name)], "{key:?}");
        assert!(net.passes_both_ways(0, 1));
    }
}

#[test]
fn newcomers_displace_no_more_strangers_than_a_twentieth_of_the_time_allows() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key; 5]);
        (0..3).for_each(|from| {
            net.greet(from, 4);
            net.settle();
        });
        net.run(Span::from_ms(3_000));
        net.peers(4).changes();
        let now = net.now;
        net.peers(4).note_forgotten(Span::from_ms(50), now);
        net.greet(3, 4);
        net.settle();
        net.run(Span::from_ms(940));
        assert_eq!((net.peers(4).changes(), net.peers(4).count()), (vec![], 3), "{key:?}");
        // The next HELLO is sent 1260 ms after the first.
        net.run(Span::from_ms(400));
        assert!(matches!(net.peers(4).changes()[..], [Change::Evicted(_), ..]), "{key:?}");
        assert!(net.passes_both_ways(3, 4));
    }
}

#[test]
fn a_host_does_not_answer_a_greeting_of_its_own() {
    let mut net = Net::new(&[None]);
    net.peers(0).forgotten = 3;
    for (ahead, answers) in [(0, 0), (1, 0), (3, 0), (4, 1), (u64::MAX, 1)] {
        let run = net.peers(0).run.wrapping_add(ahead);
        let offer = Offer::Open { run, speaks: Speaks::new("window", 1_500) };
        let (bytes, len) = Message::Hello { nonce: 1, cookie: Cookie::default(), offer }.encode(None);
        net.deliver(&Datagram { from: address(1), to: address(0), bytes: bytes[..len].to_vec() });
        assert_eq!(net.collect().len(), answers, "{ahead} ahead");
    }
}

#[test]
fn a_peer_keeps_four_sessions_however_often_it_greets() {
    let mut net = Net::new(&[None, None]);
    net.greet(0, 1);
    net.settle();
    let name = net.name(1, 0);
    for own in 0..20 {
        let peer = net.peers(1).get_mut(name).unwrap();
        let place = peer.add(Session::open(7, (own, own)));
        assert_eq!(place + 1, peer.sessions.len());
        assert!(peer.sessions.len() <= 4, "{} sessions", peer.sessions.len());
        // The session that datagrams are sent by stays.
        assert!(peer.is_known());
    }
}

#[test]
fn a_silent_peer_is_asked_once_a_second() {
    let mut net = Net::new(&[None, None]);
    let name = net.greet(0, 1);
    net.settle();
    let now = net.now;
    net.peers(0).set_under_way(name, (1, 0), now);
    let gone = net.hosts.pop().unwrap();
    let before = net.messages(5).len();
    // Pings go out after 1, 2, 3 and 4 s; after 5 s the peer is given up.
    net.run(Span::from_ms(4_900));
    assert_eq!(net.messages(5).len() - before, 4);
    net.run(Span::from_ms(400));
    assert_eq!(net.peers(0).changes().last(), Some(&Change::Silent(name)));
    assert_eq!(net.messages(5).len() - before, 4);
    drop(gone);
}
