//! Tests with a host that is frozen for a while, and with one that is killed.

use std::collections::BTreeSet;
use std::time::Duration;

use priolane_net::{Config, Host, Patience, Request, SendError};
use priolane_rounds::stride;

use crate::digest::{ExpectedMessages, message};
use crate::process::{COUNT, HostProcess, length};
use crate::transports::{config, every_transport};
use crate::wait::PATIENCE;

const FREEZE: Duration = Duration::from_millis(100);

#[test]
fn a_receiver_that_freezes_gets_every_message_whole_and_once() {
    for (name, config) in every_transport().into_iter().step_by(stride(3)) {
        let host = Host::bind(config).unwrap();
        let other = HostProcess::start(name, "127.0.0.1:0", None);
        let lengths = (0..COUNT).map(|number| length(number) * 2);
        let mut receipts = Vec::new();
        let mut left: BTreeSet<(u64, usize)> = BTreeSet::new();
        for (number, len) in (0..).zip(lengths) {
            receipts.push(host.send_with_receipt(Request::to(other.address), message(number, len)).unwrap());
            left.insert((number, len));
        }
        let first = other.arrived();
        assert!(left.remove(&first), "{name}: {first:?}");
        other.freeze(FREEZE);
        while !left.is_empty() {
            let came = other.arrived();
            assert!(left.remove(&came), "{name}: {came:?} twice or never sent");
        }
        for receipt in receipts {
            let outcome = receipt.wait_for(PATIENCE).unwrap();
            outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn every_message_of_a_sender_that_freezes_arrives_whole_and_once() {
    for (name, config) in every_transport().into_iter().step_by(stride(3)) {
        let host = Host::bind(config).unwrap();
        let other = HostProcess::start(name, "127.0.0.1:0", Some(host.address()));
        let mut expected = ExpectedMessages::default();
        (0..COUNT).for_each(|number| expected.add(&message(number, length(number))));
        for n in 0..COUNT {
            let came = host.recv_timeout(PATIENCE).unwrap();
            expected
                .arrived(name, &came.unwrap_or_else(|| panic!("{name}: {} are missing", expected.count())));
            if n == 0 {
                other.freeze(FREEZE);
            }
        }
        assert!(expected.is_empty());
        assert_eq!(host.recv_timeout(Duration::from_millis(1)), Ok(None), "{name}: more than was sent");
    }
}

#[test]
fn messages_to_a_host_that_was_killed_and_started_again_fail_and_can_be_sent_again() {
    for name in ["dctcp", "top", "homa", "ndp"] {
        let host = Host::bind(config(name)).unwrap();
        let other = HostProcess::start(name, "127.0.0.1:0", None);
        let address = other.address;
        let send = |number, len| host.send_with_receipt(Request::to(address), message(number, len)).unwrap();
        let whole = send(1, 1_000);
        assert_eq!(other.arrived(), (1, 1_000));
        whole.wait().unwrap();
        // A message that takes longer than it takes to kill its receiver.
        let broken = send(2, 60_000_000);
        std::thread::sleep(Duration::from_millis(20));
        drop(other);
        let after = send(3, 500_000);
        let other = HostProcess::start(name, &address.to_string(), None);
        assert_eq!(broken.wait(), Err(SendError::Restarted(address)), "{name}");
        assert_eq!(after.wait(), Err(SendError::Restarted(address)), "{name}");
        let again = send(4, 500_000);
        again.wait().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(other.arrived(), (4, 500_000), "{name}");
    }
}

#[test]
fn messages_to_a_host_that_is_no_more_fail_after_a_while() {
    let patience = Patience { silence: Duration::from_millis(1_500), ..Patience::default() };
    let host = Host::bind(Config { patience, ..config("dctcp") }).unwrap();
    let other = HostProcess::start("dctcp", "127.0.0.1:0", None);
    let peer = other.address;
    // A host that never answered would be reported as such: this one answers before it ends.
    host.send_with_receipt(Request::to(peer), message(1, 1_000)).unwrap().wait().unwrap();
    let receipt = host.send_with_receipt(Request::to(peer), message(2, 400_000_000)).unwrap();
    drop(other);
    assert_eq!(receipt.wait(), Err(SendError::Silent { peer, after: patience.silence }));
}
