//! Datagrams that are held back when they arrive, as if the line from their sender were longer.
//!
//! Of one sender they keep their order: each is due after the one before it.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use priolane_core::units::{Span, Time};

use crate::clock::span_of;

/// A datagram that is held back.
#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    pub(super) from: SocketAddr,
    pub(super) tos: u8,
    /// When it is to arrive.
    pub(super) due: Time,
}

/// Datagrams that are held back, by when they are due, then by the order in which they came.
#[derive(Debug)]
pub(super) struct Held {
    delays: HashMap<SocketAddr, Span>,
    waiting: BTreeMap<(Time, u64), Datagram>,
    /// Datagrams that were held back so far.
    count: u64,
}

impl Held {
    pub(super) fn new(delays: &HashMap<SocketAddr, Duration>) -> Self {
        let delays = delays.iter().filter(|(_, delay)| !delay.is_zero());
        let delays = delays.map(|(&from, &delay)| (from, span_of(delay))).collect();
        Self { delays, waiting: BTreeMap::new(), count: 0 }
    }

    /// Holds a datagram back that came at `at`; whether its sender is one of those.
    pub(super) fn hold(&mut self, bytes: &[u8], from: SocketAddr, (tos, at): (u8, Time)) -> bool {
        let Some(&delay) = self.delays.get(&from) else { return false };
        let due = at + delay;
        self.count += 1;
        self.waiting.insert((due, self.count), Datagram { bytes: bytes.to_vec(), from, tos, due });
        true
    }

    /// When the next is due.
    pub(super) fn next(&self) -> Time {
        self.waiting.first_key_value().map_or(Time::NEVER, |(&(due, _), _)| due)
    }

    /// The next that is due at `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Datagram> {
        if self.next() > now {
            return None;
        }
        self.waiting.pop_first().map(|(_, datagram)| datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_arrive_so_much_later_and_in_the_order_in_which_they_came() {
        let [near, far, other] = [1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let delays = [(near, Duration::from_micros(10)), (far, Duration::from_micros(30))];
        let mut held = Held::new(&delays.into());
        let at = |us| Time(Span::from_us(us).0);
        assert!(held.hold(b"a", far, (0, at(0))));
        assert!(held.hold(b"b", near, (0, at(5))));
        assert!(held.hold(b"c", near, (0, at(5))));
        assert!(!held.hold(b"d", other, (0, at(5))), "no delay from there");
        assert_eq!(held.next(), at(15));
        assert!(held.pop(at(14)).is_none());
        let mut popped = |us| held.pop(at(us)).map(|datagram| datagram.bytes);
        assert_eq!(popped(15), Some(b"b".to_vec()));
        assert_eq!(popped(15), Some(b"c".to_vec()));
        assert_eq!((popped(29), popped(30)), (None, Some(b"a".to_vec())));
        assert_eq!(held.next(), Time::NEVER);
    }
}
