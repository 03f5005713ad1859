//! Tests that keys are renewed before the numbers of datagrams end.

use super::*;
use crate::key::{HEAD, Numbers};

fn limited(numbers: Numbers) -> Net {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.hosts.iter_mut().for_each(|(_, host)| host.numbers = numbers);
    net.greet(0, 1);
    net.settle();
    net.hosts.iter_mut().for_each(|(_, host)| drop(host.changes()));
    net
}

fn number_of(datagram: &Datagram) -> u32 {
    u32::from_le_bytes(datagram.bytes[1..HEAD].try_into().unwrap())
}

#[test]
fn hosts_greet_again_for_new_keys_before_the_numbers_end() {
    let numbers = Numbers { renew: 50, end: 100 };
    let mut net = limited(numbers);
    let mut sessions = Vec::new();
    for _ in 0..2_000 {
        assert!(net.passes_both_ways(0, 1));
        let name = net.name(0, 1);
        let nonces = net.peers(0).get(name).unwrap().current().unwrap().nonces();
        if sessions.last() != Some(&nonces) {
            sessions.push(nonces);
        }
        net.run(Span::from_ms(5));
    }
    // 2,000 datagrams each way, fewer than 100 in a session. Both may greet at once after 50 of them.
    assert!((20..=90).contains(&sessions.len()), "{} sessions", sessions.len());
    assert_eq!((net.peers(0).changes(), net.peers(1).changes()), (vec![], vec![]), "no message notices");
    let highest = net.log.iter().filter(|datagram| datagram.bytes[0] >= SEALED).map(number_of).max();
    assert!(highest < Some(numbers.end), "{highest:?}");
}

#[test]
fn no_number_is_used_twice_with_a_key_even_if_nobody_answers() {
    let numbers = Numbers { renew: 50, end: 100 };
    let mut net = limited(numbers);
    let away = net.hosts.pop().unwrap();
    let mut sent = Vec::new();
    for _ in 0..300 {
        sent.extend(net.packet(0, 1).as_ref().map(number_of));
        net.collect();
    }
    // The first datagram of the session was a PING.
    assert_eq!(sent, (1..100).collect::<Vec<u32>>());
    net.hosts.push(away);
    net.run(Span::from_ms(500));
    assert!(net.passes_both_ways(0, 1), "after a greeting that is answered");
}

#[test]
fn the_limits_are_those_of_rfc_9001() {
    let Numbers { renew, end } = Numbers::DEFAULT;
    assert_eq!((renew, end), (1 << 22, 1 << 23));
}
