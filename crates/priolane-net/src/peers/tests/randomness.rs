//! Tests with a random source that fails.

use super::super::message::Message;
use super::*;
use crate::random::{FailingSource, RandomFailure};

fn failing(calls: usize, key: Option<u8>) -> Result<Peers, RandomFailure> {
    let key = key.map(|byte| Key::new(&[byte; 32]).unwrap());
    let random = Arc::new(FailingSource::after(calls));
    Peers::new(Speaks::new("window", 1_500), key.as_ref(), PATIENCE, random)
}

#[test]
fn a_host_without_random_numbers_is_not_made() {
    assert!(matches!(failing(0, None), Err(RandomFailure)));
    assert!(failing(1, Some(1)).is_ok());
}

#[test]
fn a_greeting_without_random_numbers_fails_and_says_nothing() {
    // The run; the nonce; with a key, an ephemeral key.
    for (key, needs) in [(None, 2), (Some(1), 3)] {
        for calls in 1..=needs {
            let mut net = Net::new(&[key, key]);
            net.hosts[0].1 = failing(calls, key).unwrap();
            let name = net.greet(0, 1);
            if calls < needs {
                assert_eq!(net.peers(0).changes(), [Change::RandomFailure(name)]);
                assert_eq!((net.peers(0).count(), net.collect().len()), (0, 0));
            } else {
                net.settle();
                assert_eq!(net.peers(0).changes(), [Change::Known(name)]);
            }
        }
    }
}

#[test]
fn a_host_that_is_greeted_without_random_numbers_does_not_answer() {
    // The run; the nonce of the session; with a key, an ephemeral key.
    for (key, needs) in [(None, 2), (Some(1), 3)] {
        for calls in 1..needs {
            let mut net = Net::new(&[key, key]);
            net.hosts[1].1 = failing(calls, key).unwrap();
            let name = net.greet(0, 1);
            net.settle();
            net.run(Span::from_ms(2_100));
            assert_eq!(net.peers(0).changes(), [Change::NoAnswer(name)]);
            assert_eq!((net.messages(2).len(), net.peers(1).changes()), (0, vec![]), "no WELCOME");
        }
    }
}

#[test]
fn new_keys_without_random_numbers_fail_as_a_greeting_does() {
    let mut net = Net::new(&[Some(1), Some(1)]);
    net.hosts[0].1 = failing(3, Some(1)).unwrap();
    let name = net.greet(0, 1);
    net.settle();
    net.run(Span::from_ms(200));
    net.peers(0).changes();
    let mark = crate::key::mark_of(&net.packet(0, 1).unwrap().bytes);
    let (bytes, len) = Message::Unknown(mark).encode(net.peers(1).control_key());
    net.deliver(&Datagram { from: address(1), to: address(0), bytes: bytes[..len].to_vec() });
    assert_eq!(net.peers(0).changes(), [Change::RandomFailure(name)]);
}
