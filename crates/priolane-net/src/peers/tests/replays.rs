//! Tests with datagrams that are recorded and replayed, to their receivers and to other hosts.

use super::super::message::{Message, SessionMessage};
use super::*;

/// Returns all state that a host keeps of other hosts, as text.
fn state(peers: &Peers) -> String {
    format!("{:?} {:?}", peers.peers, peers.changes)
}

fn states(net: &Net) -> Vec<String> {
    net.hosts.iter().map(|(_, peers)| state(peers)).collect()
}

impl Net {
    /// Delivers a datagram, all answers to it, and the answers to those, without recording any of them.
    fn play(&mut self, datagram: &Datagram) {
        self.deliver(datagram);
        loop {
            let answers = self.collect();
            if answers.is_empty() {
                return;
            }
            answers.iter().for_each(|answer| {
                self.deliver(answer);
            });
        }
    }

    fn clear_changes(&mut self) {
        self.hosts.iter_mut().for_each(|(_, host)| drop(host.changes()));
    }
}

/// Creates three hosts with a key. The first two have exchanged all their datagrams, packets included, and are in their
/// third session. The third knows both, and has refused another host.
fn conversation() -> Net {
    let key = Some(1);
    let mut net = Net::new(&[key, key, key]);
    let name = net.greet(0, 1);
    net.settle();
    for _ in 0..3 {
        assert!(net.passes_both_ways(0, 1));
    }
    let now = net.now;
    net.peers(0).set_under_way(name, (1, 0), now);
    net.run(Span::from_ms(3_000));
    net.peers(0).tell_aborted(name, 77);
    net.settle();
    assert!(net.peers(1).changes().contains(&Change::Aborted(net.name(1, 0), 77)));
    // Host 1 is started again, and says so when a packet comes.
    net.hosts[1].1 = host("window", key);
    assert!(!net.passes(0, 1));
    net.settle();
    assert!(net.passes_both_ways(0, 1));
    // They greet again.
    net.run(Span::from_ms(200));
    let now = net.now;
    net.peers(0).greet_again(name, now);
    net.settle();
    assert!(net.passes_both_ways(0, 1));
    // The third knows both, and refuses one that speaks otherwise.
    for other in [0, 1] {
        net.greet(2, other);
        net.settle();
        assert!(net.passes_both_ways(2, other));
    }
    net.hosts.push((address(3), host("homa", key)));
    net.greet(3, 2);
    net.settle();
    net.hosts.pop();
    net.clear_changes();
    for number in 0..5 {
        assert!(!net.messages(number).is_empty(), "control message {number} was said");
    }
    net
}

/// Replays each recorded datagram to its receiver, back to its sender, to a third host, and as from a third host, and
/// then all datagrams in the same order. Checks that none of the hosts in `at` changes.
fn play_all(net: &mut Net, at: &[usize], moment: &str) {
    let log = net.log.clone();
    let third = address(2);
    let routes = |datagram: &Datagram| {
        let Datagram { from, to, .. } = *datagram;
        [(from, to), (to, from), (from, third), (third, to)]
    };
    let before = states(net);
    for (place, datagram) in log.iter().enumerate() {
        for (from, to) in routes(datagram) {
            net.play(&Datagram { from, to, bytes: datagram.bytes.clone() });
            let after = states(net);
            for &host in at {
                assert_eq!(after[host], before[host], "{moment}, {from} to {to}, {place}: {datagram:?}");
            }
        }
    }
    log.iter().for_each(|datagram| net.play(datagram));
    let after = states(net);
    at.iter().for_each(|&host| assert_eq!(after[host], before[host], "{moment}, all of them"));
}

#[test]
fn with_a_key_a_recorded_datagram_changes_nothing_between_hosts_that_know_each_other() {
    let mut net = conversation();
    play_all(&mut net, &[0, 1, 2], "at the end");
    assert!(net.passes_both_ways(0, 1));
    // Later, when a datagram that cannot be opened would be answered.
    net.run(Span::from_ms(1_500));
    play_all(&mut net, &[0, 1, 2], "later");
    assert!(net.passes_both_ways(0, 1));
}

#[test]
fn with_a_key_a_recorded_datagram_changes_nothing_after_either_host_was_started_again() {
    let mut net = conversation();
    net.run(Span::from_ms(200));
    net.hosts[1].1 = host("window", Some(1));
    for other in [0, 2] {
        assert!(!net.passes(other, 1));
        net.settle();
    }
    net.clear_changes();
    play_all(&mut net, &[0, 1, 2], "host 1 was started again");
    net.hosts[0].1 = host("window", Some(1));
    net.run(Span::from_ms(200));
    assert!(!net.passes(2, 0));
    net.greet(0, 1);
    net.settle();
    net.clear_changes();
    play_all(&mut net, &[0, 1, 2], "both were started again");
    assert!(net.passes_both_ways(0, 1));
    // One that knows nobody keeps nothing. It says of the last packets that it does not know them, which is true.
    net.hosts[1].1 = host("window", Some(1));
    for datagram in net.log.clone().iter().filter(|datagram| datagram.to == address(1)) {
        net.deliver(datagram);
        assert!(net.collect().iter().all(|answer| [1, 4].contains(&answer.bytes[0])), "CHALLENGE or UNKNOWN");
    }
    assert_eq!(net.peers(1).count(), 0);
}

#[test]
fn with_a_key_a_recorded_datagram_does_not_end_a_greeting() {
    let mut net = conversation();
    let key = Some(1);
    // Host 1 is gone, and host 0 was started again: its greeting is not answered.
    net.hosts[1].0 = address(9);
    net.hosts[0].1 = host("window", key);
    net.run(Span::from_ms(200));
    assert!(!net.passes(2, 0));
    net.settle();
    net.clear_changes();
    let name = net.greet(0, 1);
    net.settle();
    play_all(&mut net, &[0], "host 0 greets");
    net.run(Span::from_ms(1_900));
    play_all(&mut net, &[0], "host 0 still greets");
    net.run(Span::from_ms(200));
    assert_eq!(net.peers(0).changes(), [Change::NoAnswer(name)]);
}

#[test]
fn with_a_key_a_recorded_challenge_of_a_greeting_under_way_is_not_answered_again() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.greet(0, 1);
    net.collect().iter().for_each(|hello| {
        net.deliver(hello);
    });
    let challenge = net.collect().pop().unwrap();
    net.deliver(&challenge);
    assert_eq!(net.collect().len(), 1, "HELLO with the cookie");
    let before = states(&net);
    for _ in 0..3 {
        net.deliver(&challenge);
        assert_eq!(net.collect().len(), 0);
    }
    assert_eq!(states(&net), before);
}

#[test]
fn with_a_key_a_host_that_is_gone_is_given_up_however_often_its_datagrams_are_played_again() {
    let mut net = conversation();
    let (name, now) = (net.name(0, 1), net.now);
    net.peers(0).set_under_way(name, (1, 0), now);
    // Some more PINGs and PONGs, of this session.
    net.run(Span::from_ms(2_500));
    net.clear_changes();
    let log = net.log.clone();
    net.hosts[1].0 = address(9);
    let heard = net.peers(0).get(name).unwrap().heard;
    while net.now.since(heard) < PATIENCE.silence {
        assert_eq!(net.peers(0).changes(), [], "after {:?}", net.now.since(heard));
        for datagram in log.iter().filter(|datagram| datagram.to == address(0)) {
            net.play(datagram);
        }
        net.run(Span::from_ms(100));
    }
    net.run(Span::from_ms(300));
    assert_eq!(net.peers(0).changes(), [Change::Silent(name)]);
}

#[test]
fn each_datagram_that_comes_twice_counts_once() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key, key]);
        let names = [net.greet(0, 1), net.greet(1, 0)];
        let mut aborted = false;
        for _ in 0..20 {
            for datagram in net.collect() {
                net.deliver(&datagram);
                net.deliver(&datagram);
            }
            if net.peers(0).is_known(names[0]) && !aborted {
                net.peers(0).tell_aborted(names[0], 5);
                aborted = true;
            }
        }
        let [first, second] = [0, 1].map(|n| net.peers(n).changes());
        assert_eq!(first, [Change::Known(names[0])]);
        let abort = Change::Aborted(names[1], 5);
        // Without a key, the flow that has ended does not end again, as its number is not used again.
        let expected = if key.is_some() { 1 } else { 2 };
        assert_eq!(second.iter().filter(|&&change| change == abort).count(), expected);
        assert_eq!(second.len(), 1 + expected);
    }
}

#[test]
fn without_a_key_a_pong_shows_once_that_the_other_is_there() {
    let mut net = Net::new(&[None, None]);
    let (name, now) = (net.greet(0, 1), net.now);
    net.settle();
    net.peers(0).set_under_way(name, (1, 0), now);
    net.run(Span::from_ms(3_000));
    net.clear_changes();
    let heard = net.peers(0).get(name).unwrap().heard;
    assert!(net.now.since(heard) < Span::from_ms(1_100), "PONGs show it");
    // Host 1 is gone. Its PINGs and PONGs are played again, and PONGs to PINGs that were not sent yet are made up.
    net.hosts[1].0 = address(9);
    net.run(Span::from_ms(900));
    let nonces = net.peers(0).get(name).unwrap().current().unwrap().nonces();
    let nonces = super::super::message::Nonces { from: nonces.to, to: nonces.from };
    let made_up =
        [SessionMessage::Ping(1), SessionMessage::Pong(100), SessionMessage::Pong(0)].map(|message| {
            let (bytes, len) = Message::Session(nonces, message).encode(None);
            Datagram { from: address(1), to: address(0), bytes: bytes[..len].to_vec() }
        });
    let log: Vec<Datagram> = net.log.iter().filter(|datagram| datagram.bytes[0] >= 5).cloned().collect();
    while net.now.since(heard) < PATIENCE.silence {
        assert_eq!(net.peers(0).changes(), []);
        log.iter()
            .chain(&made_up)
            .filter(|datagram| datagram.to == address(0))
            .for_each(|datagram| net.play(datagram));
        net.run(Span::from_ms(100));
    }
    net.run(Span::from_ms(300));
    assert_eq!(net.peers(0).changes(), [Change::Silent(name)]);
}

#[test]
fn a_hello_that_comes_again_gets_the_same_welcome_until_it_is_confirmed() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.greet(0, 1);
    for _ in 0..2 {
        net.collect().iter().for_each(|datagram| {
            net.deliver(datagram);
        });
    }
    let hello = net.collect().pop().unwrap();
    let welcomes: Vec<Vec<u8>> = (0..5)
        .map(|_| {
            net.deliver(&hello);
            net.collect().pop().unwrap().bytes
        })
        .collect();
    assert!(welcomes[0][0] == 2 && welcomes.iter().all(|welcome| *welcome == welcomes[0]));
    net.deliver(&Datagram { from: address(1), to: address(0), bytes: welcomes[0].clone() });
    net.settle();
    assert_eq!(net.peers(1).changes().len(), 1);
    net.deliver(&hello);
    assert_eq!(net.collect().pop().unwrap().bytes[0], 1, "a CHALLENGE: its cookie is for no session");
}

#[test]
fn a_host_greets_again_if_one_of_its_last_datagrams_is_not_known_and_only_once_for_each() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    let name = net.greet(0, 1);
    net.settle();
    let packets: Vec<Datagram> = (0..300).map(|_| net.packet(0, 1).unwrap()).collect();
    net.run(Span::from_ms(200));
    let unknown = |net: &mut Net, of: &Datagram| {
        let message = Message::Unknown(crate::key::mark_of(&of.bytes));
        let (bytes, len) = message.encode(net.peers(1).control_key());
        net.deliver(&Datagram { from: address(1), to: address(0), bytes: bytes[..len].to_vec() });
        net.peers(0).get(name).unwrap().greeting.is_some()
    };
    assert!(!unknown(&mut net, &packets[3]), "too old");
    assert!(unknown(&mut net, &packets[299]));
    net.settle();
    net.run(Span::from_ms(200));
    assert!(!unknown(&mut net, &packets[299]), "a second time");
    assert!(!unknown(&mut net, &packets[298]), "of the session before");
}
