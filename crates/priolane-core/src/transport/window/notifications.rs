//! Congestion notification packets (CNPs) of a receiver: at most one per interval and connection (DCQCN, SIGCOMM 2015
//! §3.1).
//!
//! ```text
//! marked data, none sent for its connection within N . CNP now; N begins
//! marked data, sooner ................................ nothing
//! ```

use rustc_hash::FxHashMap;

use crate::ids::Class;
use crate::transport::common::FlowKey;
use crate::units::{Span, Time};

/// CNPs as packets of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The class of the packets.
    pub class: Class,
    /// N, the least time between two of a connection, or of a flow by itself.
    pub interval: Span,
}

/// The number of flows from which on those with an old CNP are forgotten.
const LEAST: usize = 64;

/// The last CNP of each connection that a host receives, by its first flow.
#[derive(Debug, Default)]
pub(super) struct Notified {
    last: FxHashMap<FlowKey, Time>,
    /// The number of flows at which old ones are forgotten again.
    room: usize,
}

impl Notified {
    /// Returns whether a CNP is due for the connection that begins with `flow`, of which a marked packet arrived at `now`,
    /// and counts it as sent.
    pub(super) fn is_due(&mut self, flow: FlowKey, now: Time, interval: Span) -> bool {
        if self.last.get(&flow).is_some_and(|&last| now.since(last) < interval) {
            return false;
        }
        if self.last.len() >= self.room {
            // A flow whose interval is over gets a CNP whether it is known or not.
            self.last.retain(|_, last| now.since(*last) < interval);
            self.room = LEAST.max(2 * self.last.len());
        }
        self.last.insert(flow, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, HostId};

    const N: Span = Span::from_us(50);

    fn us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn a_flow_has_one_per_interval_and_other_flows_have_their_own() {
        let [a, b] = [1, 2].map(|flow| FlowKey::new(HostId(0), FlowId(flow)));
        let mut notified = Notified::default();
        let due: Vec<bool> =
            [0, 1, 49, 50, 51, 99, 100].iter().map(|&at| notified.is_due(a, us(at), N)).collect();
        assert_eq!(due, [true, false, false, true, false, false, true]);
        assert!(notified.is_due(b, us(100), N) && !notified.is_due(b, us(149), N));
    }

    /// A flow every microsecond: 50 of them had a CNP within the interval.
    #[test]
    fn flows_that_ended_are_forgotten() {
        let mut notified = Notified::default();
        for flow in 0..100_000 {
            assert!(notified.is_due(FlowKey::new(HostId(0), FlowId(flow)), us(flow.into()), N));
        }
        assert!(notified.last.len() <= 2 * LEAST, "{}", notified.last.len());
    }
}
