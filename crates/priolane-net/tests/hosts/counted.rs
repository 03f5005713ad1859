//! Tests of messages that are counted as they arrive and not kept.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use priolane_net::{Config, Host, Meter, Request, SendError};

use crate::proxy::{Faults, Proxy};
use crate::transports::{config, every_transport};
use crate::wait::eventually;

const PATTERN: &[u8; 4] = b"abcd";
const PLACE: u32 = 7;

/// Counts messages that repeat `PATTERN`.
#[derive(Debug, Default)]
struct Counter {
    bytes: AtomicU64,
    places: AtomicU64,
}

impl Counter {
    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Meter for Counter {
    fn place(&self, _: SocketAddr, offset: u64, payload: &[u8]) -> Option<u32> {
        self.places.fetch_add(1, Ordering::Relaxed);
        let is_one = (offset..).zip(payload).all(|(at, &byte)| byte == PATTERN[at as usize % PATTERN.len()]);
        is_one.then_some(PLACE)
    }

    fn count(&self, place: u32, bytes: u64, at: Instant) {
        assert!(place == PLACE && at <= Instant::now());
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Creates a sender, and a receiver that counts.
fn hosts(config: &Config) -> (Host, Host, Arc<Counter>) {
    let counter = Arc::new(Counter::default());
    let meter: Arc<dyn Meter> = Arc::<Counter>::clone(&counter);
    let receiver = Host::bind(Config { meter: Some(meter), ..config.clone() }).unwrap();
    (Host::bind(config.clone()).unwrap(), receiver, counter)
}

#[test]
fn bytes_that_come_again_are_not_counted_again() {
    let bad = Faults { lost: 0.05, twice: 0.05, held_up: 0.02, changed: 0.0 };
    for (seed, (name, config)) in (1..).zip(every_transport()) {
        let (sender, receiver, counter) = hosts(&config);
        let proxy = Proxy::new(receiver.address(), bad, seed);
        let to = Request::to(proxy.second);
        let receipt = sender.try_send_repeated(to, PATTERN, 300_001).unwrap();
        assert!(receipt.wait().is_ok(), "{name}");
        assert_eq!(counter.bytes(), 300_001, "{name}");
        // One that is kept, and what became of the other.
        sender.send(to, "hello").unwrap();
        assert_eq!(receiver.recv().unwrap().bytes, b"hello", "{name}");
        let stats = receiver.stats();
        assert_eq!((stats.arrived, stats.arrived_bytes, stats.receiving_bytes), (2, 300_006, 0), "{name}");
        assert_eq!(receiver.try_recv(), Ok(None), "{name}");
    }
}

#[test]
fn a_message_longer_than_any_memory_is_sent_until_its_abort_and_takes_none() {
    let mut config = config("dctcp");
    config.limits.message = 1 << 47;
    let (sender, receiver, counter) = hosts(&config);
    let receipt = sender.try_send_repeated(Request::to(receiver.address()), PATTERN, 1 << 47).unwrap();
    eventually(|| counter.bytes() > 1_000_000);
    assert_eq!(receiver.stats().receiving_bytes, 0);
    assert_eq!(counter.places.load(Ordering::Relaxed), 1, "asked once for a message");
    sender.abort(receipt.id());
    assert_eq!(receipt.wait_for(Duration::from_secs(10)), Some(Err(SendError::Aborted)));
    eventually(|| receiver.stats().dropped == 1);
    let seen = counter.bytes();
    sender.send_with_receipt(Request::to(receiver.address()), "after").unwrap().wait().unwrap();
    assert_eq!(counter.bytes(), seen, "what comes late of it is not counted");
    let empty = sender.try_send_repeated(Request::to(receiver.address()), b"", 5).map(|_| ());
    assert_eq!(empty, Err(SendError::Empty));
}
