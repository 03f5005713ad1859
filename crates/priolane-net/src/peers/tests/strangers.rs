//! Tests of the answers to hosts that are not known.

use proptest::prelude::*;

use super::super::cookie::Cookie;
use super::super::message::{Message, Offer};
use super::super::say::{ANSWERS, ANSWERS_AT_ONCE};
use super::*;
use crate::key::FIRST;

/// The start of a stranger's datagram: a kind and the number of a message or format, or a well-formed message.
#[derive(Clone, Debug)]
enum Start {
    Any,
    First(u8),
    Hello(Option<u8>),
}

fn start() -> impl Strategy<Value = Start> {
    let kinds = prop::sample::select(vec![0x00u8, 0x10, 0xf0]);
    let first = (kinds, 0..16u8).prop_map(|(kind, number)| Start::First(kind | number));
    let keys = prop::sample::select(vec![None, Some(1), Some(2)]);
    prop_oneof![Just(Start::Any), first, keys.prop_map(Start::Hello)]
}

fn hello(key: Option<u8>) -> Vec<u8> {
    let offer = match key {
        None => Offer::Open { run: 5, speaks: Speaks::new("window", 1_500) },
        Some(_) => Offer::Sealed([3; FIRST]),
    };
    let message = Message::Hello { nonce: 7, cookie: Cookie::default(), offer };
    let (bytes, len) = message.encode(host("window", key).control_key());
    bytes[..len].to_vec()
}

/// Returns the bytes of all answers to a stranger's datagram.
fn answered(net: &mut Net, bytes: &[u8]) -> usize {
    net.deliver(&Datagram { from: address(5), to: address(0), bytes: bytes.to_vec() });
    net.collect().iter().map(|answer| answer.bytes.len()).sum()
}

proptest! {
    #[test]
    fn answers_to_a_stranger_are_no_longer_than_what_they_answer(
        start in start(),
        rest in prop::collection::vec(any::<u8>(), 1..1_500),
        len in 1..60usize,
        short in any::<bool>(),
    ) {
        for key in [None, Some(1)] {
            let mut net = Net::new(&[key]);
            let mut bytes = rest.clone();
            if short {
                bytes.truncate(len);
            }
            match start {
                Start::Any => {}
                Start::First(first) => bytes[0] = first,
                Start::Hello(key) => bytes = hello(key),
            }
            let answers = answered(&mut net, &bytes);
            prop_assert!(answers <= bytes.len(), "{answers} bytes for {}: {:02x?}", bytes.len(), bytes);
            prop_assert_eq!(net.peers(0).count(), 0);
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "it says how close the worst answer comes")]
fn every_length_of_every_kind_is_answered_with_no_more() {
    let mut worst = (0.0f64, 0, 0, None);
    for key in [None, Some(1)] {
        for first in 0..=255u8 {
            let mut net = Net::new(&[key]);
            for len in (1..120).chain([500, 1_500]) {
                net.now += Span::from_ms(1);
                let bytes = vec![first; len];
                let ratio = answered(&mut net, &bytes) as f64 / len as f64;
                if ratio > worst.0 {
                    worst = (ratio, first, len, key);
                }
            }
        }
    }
    let (ratio, first, len, key) = worst;
    println!("worst ratio {ratio}: {len} bytes of {first:#04x}, key {key:?}");
    assert!(ratio <= 1.0 && ratio > 0.9, "an UNKNOWN is as long as the shortest packet: {ratio}");
}

#[test]
fn with_a_key_only_hosts_that_have_it_are_challenged() {
    let mut net = Net::new(&[Some(1)]);
    let kinds = [None, Some(1), Some(2)].map(|key| {
        net.deliver(&Datagram { from: address(5), to: address(0), bytes: hello(key) });
        net.collect().iter().map(|answer| answer.bytes[0]).collect::<Vec<u8>>()
    });
    assert_eq!(kinds, [vec![3], vec![1], vec![]], "REFUSED, CHALLENGE, nothing");
}

#[test]
fn strangers_are_answered_no_more_often_than_the_rate_of_answers_allows() {
    for key in [None, Some(1)] {
        let mut net = Net::new(&[key]);
        let now = net.now;
        let bytes = [if key.is_some() { SEALED } else { 0x10 }; 60];
        let mut answers = |now| {
            net.now = now;
            for port in 0..10_000 {
                let from = SocketAddr::from(([9, 9, 9, 9], port));
                assert!(!net.deliver(&Datagram { from, to: address(0), bytes: bytes.to_vec() }));
            }
            net.collect().len() as u64
        };
        let first = answers(now);
        assert!((ANSWERS_AT_ONCE..=ANSWERS_AT_ONCE + 1).contains(&first), "{first}");
        assert!(answers(now + Span::from_ms(10)) <= ANSWERS / 100 + 1);
        assert!(answers(now + Span::from_ms(3_000)) <= ANSWERS_AT_ONCE + 1);
    }
}
