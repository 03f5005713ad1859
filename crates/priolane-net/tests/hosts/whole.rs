//! Tests that messages arrive whole and once.

use std::net::SocketAddr;

use priolane_net::{Config, Host, Request};

use crate::digest::{ExpectedMessages, message};
use crate::transports::every_transport;
use crate::wait::PATIENCE;

/// Creates two hosts with this configuration.
pub(crate) fn pair(config: &Config) -> [Host; 2] {
    [(); 2].map(|()| Host::bind(config.clone()).unwrap())
}

/// The path from one host to another.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    pub(crate) from: &'a Host,
    pub(crate) to: &'a Host,
    /// The address at which the first host reaches the second.
    pub(crate) address: SocketAddr,
}

impl<'a> Path<'a> {
    /// Creates a path without anything between the hosts.
    pub(crate) fn direct([from, to]: [&'a Host; 2]) -> Self {
        Self { from, to, address: to.address() }
    }
}

/// Sends messages of these lengths from one host to another, all at once, and receives them. No datagram may be
/// malformed.
pub(crate) fn carry(name: &str, path: Path<'_>, lengths: impl IntoIterator<Item = usize>) {
    carry_damaged(name, path, lengths);
    let (sent, received) = (path.from.stats(), path.to.stats());
    assert_eq!((sent.malformed, received.malformed), (0, 0), "{name}");
}

/// Sends messages of these lengths from one host to another, all at once, and receives them.
pub(crate) fn carry_damaged(name: &str, path: Path<'_>, lengths: impl IntoIterator<Item = usize>) {
    let Path { from, to, address } = path;
    let mut expected = ExpectedMessages::default();
    let mut receipts = Vec::new();
    for (number, len) in lengths.into_iter().enumerate() {
        let bytes = message(number as u64, len);
        expected.add(&bytes);
        receipts.push(from.send_with_receipt(Request::to(address), bytes).unwrap());
    }
    while !expected.is_empty() {
        let came = to.recv_timeout(PATIENCE).unwrap();
        let came = came.unwrap_or_else(|| {
            panic!("{name}: {} do not come; {:#?} {:#?}", expected.count(), from.stats(), to.stats())
        });
        expected.arrived(name, &came);
    }
    for receipt in receipts {
        let outcome = receipt.wait_for(PATIENCE);
        let delivery = outcome.unwrap_or_else(|| panic!("{name}: no news of {:?}", receipt.id()));
        assert_eq!(delivery.unwrap_or_else(|error| panic!("{name}: {error}")).id, receipt.id());
    }
    assert_eq!(to.try_recv().unwrap(), None, "{name}: more than was sent");
}

#[test]
fn short_and_long_messages_arrive_with_every_transport() {
    for (name, config) in every_transport() {
        let [a, b] = pair(&config);
        for lengths in [&[1][..], &[1_448], &[2_000_000], &[1, 2, 1_448, 1_449, 100_000]] {
            let began = std::time::Instant::now();
            carry(name, Path::direct([&a, &b]), lengths.iter().copied());
            println!("{name}: {lengths:?} in {:?}", began.elapsed());
        }
    }
}

/// Sends `count` messages in each direction at once, with every transport.
fn carry_at_once(count: usize) {
    for (name, config) in every_transport() {
        let began = std::time::Instant::now();
        let [a, b] = pair(&config);
        std::thread::scope(|scope| {
            scope.spawn(|| carry(name, Path::direct([&a, &b]), (0..count).map(|n| 1 + n * 7)));
            carry(name, Path::direct([&b, &a]), (0..count).map(|n| 1 + n * 5));
        });
        println!("{name}: {count} each way in {:?}", began.elapsed());
    }
}

#[test]
fn two_hundred_messages_at_once_arrive_with_every_transport_both_ways() {
    carry_at_once(200);
}

#[test]
#[ignore = "some 20 s on a busy machine: make soak"]
fn a_thousand_messages_at_once_arrive_with_every_transport_both_ways() {
    carry_at_once(1_000);
}
