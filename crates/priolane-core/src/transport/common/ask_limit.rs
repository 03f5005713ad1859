//! Limits how much data a real host asks of a sender that sends none, by tokens, grants and requests for retransmission.
//!
//! ```text
//! first flow of a sender       it may be asked for `budget` packets: two bandwidth-delay products
//! n packets asked for          n less
//! a packet with new data       ANSWER more, at most `budget`
//! a repeated request           at least 1 more
//! nothing left                 Event::Unanswered once; flows that would ask wait until there is more
//! ```
//!
//! The limit is that of a sender and not of a flow, so that many flows of one sender share it. A flow whose data arrives never
//! notices it: each packet that was asked for allows [`ANSWER`] others. This factor covers the loss of seven of eight
//! permissions, and a sender gains nothing from it, since each packet that it sends costs it more bytes than the permissions
//! that follow. After a pause of the network, the sender's timeout repeats its request. The request allows one packet, which
//! allows more.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::flow_key::FlowKey;
use crate::endpoint::LocalHost;
use crate::ids::HostId;
use crate::units::{Rate, Span};

/// Packets that may be asked for when new data arrives.
const ANSWER: u64 = 8;

/// Bounds of the round-trip time that a budget is for, unless the driver knows a longer one
/// ([`RealHost::first_rtt`](crate::endpoint::RealHost::first_rtt)). Processes wake up late by up to a millisecond, and a
/// sender cannot raise its budget beyond the upper bound by late answers.
const SHORTEST_RTT: Span = Span::from_ms(1);
const LONGEST_RTT: Span = Span::from_ms(10);

/// The least budget, in packets, for slow lines.
const LEAST: u64 = 16;

/// Whether a sender may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Ask {
    Yes,
    /// Yes, and this was the rest of its budget.
    Last,
    /// Its budget is spent.
    No,
}

/// A sender that was asked for data.
#[derive(Clone, Debug)]
struct Sender {
    budget: u64,
    left: u64,
    /// Flows that wait until more may be asked for.
    waiting: VecDeque<FlowKey>,
}

/// The budgets of all senders.
#[derive(Debug)]
pub(in crate::transport) struct AskLimit {
    line: Rate,
    /// Bytes of a full packet on a link.
    wire: u64,
    /// Round-trip time of paths without a measurement.
    first_rtt: Span,
    senders: FxHashMap<HostId, Sender>,
}

impl AskLimit {
    /// Creates the limit of a real host; `None` in a simulator, whose senders answer.
    pub(in crate::transport) fn new(host: &LocalHost, wire: u16) -> Option<Box<Self>> {
        let first_rtt = host.real?.first_rtt;
        let senders = FxHashMap::default();
        Some(Box::new(Self { line: host.line, wire: u64::from(wire.max(1)), first_rtt, senders }))
    }

    /// Returns the budget for a path with the base round-trip time `rtt`, in packets.
    fn budget(&self, rtt: Option<Span>) -> u64 {
        let [shortest, longest] = [SHORTEST_RTT, LONGEST_RTT].map(|bound| bound.max(self.first_rtt));
        let rtt = rtt.unwrap_or(shortest).clamp(shortest, longest);
        (2 * self.line.bytes_in(rtt) / self.wire).max(LEAST)
    }

    /// Records that `src` requested a new flow, or repeated its request. `rtt` is the measured base round-trip time, if
    /// any.
    pub(in crate::transport) fn requested(&mut self, src: HostId, rtt: Option<Span>) {
        let budget = self.budget(rtt);
        let new = || Sender { budget, left: budget, waiting: VecDeque::new() };
        let sender = self.senders.entry(src).or_insert_with(new);
        sender.budget = budget;
        sender.left = sender.left.clamp(1, budget);
    }

    /// Returns true if the budget of `src` is spent.
    #[inline]
    pub(in crate::transport) fn is_spent(&self, src: HostId) -> bool {
        self.senders.get(&src).is_some_and(|sender| sender.left == 0)
    }

    /// Returns true if `src` may be asked for packets; always without a limit, as in a simulator.
    #[inline]
    pub(in crate::transport) fn permits(limit: Option<&Self>, src: HostId) -> bool {
        limit.is_none_or(|limit| !limit.is_spent(src))
    }

    /// Asks `src` for `packets` packets.
    pub(in crate::transport) fn ask(&mut self, src: HostId, packets: u64) -> Ask {
        let Some(sender) = self.senders.get_mut(&src) else { return Ask::Yes };
        if sender.left == 0 {
            return Ask::No;
        }
        sender.left = sender.left.saturating_sub(packets);
        if sender.left == 0 { Ask::Last } else { Ask::Yes }
    }

    /// Records that a flow waits until its sender may be asked for more.
    pub(in crate::transport) fn wait(&mut self, key: FlowKey) {
        if let Some(sender) = self.senders.get_mut(&key.src()) {
            sender.waiting.push_back(key);
        }
    }

    /// Records that new data of `src` arrived.
    #[inline]
    pub(in crate::transport) fn answered(&mut self, src: HostId) {
        if let Some(sender) = self.senders.get_mut(&src) {
            sender.left = (sender.left + ANSWER).min(sender.budget);
        }
    }

    /// Returns the next flow of `src` that waited and may ask now. Call it at most [`Self::WAKE_UPS`] times for a packet that
    /// arrives, so that no packet takes long.
    pub(in crate::transport) fn next_waiting(&mut self, src: HostId) -> Option<FlowKey> {
        let sender = self.senders.get_mut(&src).filter(|sender| sender.left > 0)?;
        sender.waiting.pop_front()
    }

    /// Flows that are woken up for a packet that arrives.
    pub(in crate::transport) const WAKE_UPS: usize = ANSWER as usize;

    /// Discards the state of a host: another machine has taken its place.
    pub(in crate::transport) fn forget(&mut self, host: HostId) {
        self.senders.remove(&host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    const A: HostId = HostId(1);

    fn limit(line: Rate) -> AskLimit {
        *AskLimit::new(&LocalHost::real(HostId(0), line, 1), 1_538).unwrap()
    }

    /// Packets that `src` is asked for one by one until its budget is spent.
    fn spend(limit: &mut AskLimit, src: HostId) -> u64 {
        let mut asked = 0;
        loop {
            match limit.ask(src, 1) {
                Ask::Yes => asked += 1,
                Ask::Last => return asked + 1,
                Ask::No => return asked,
            }
        }
    }

    #[test]
    fn a_sender_is_asked_for_two_bandwidth_delay_products() {
        // 2 x 1.25 MB of 10 Gbit/s in 1 ms, in packets of 1538 bytes.
        let line = Rate::from_gbps(10);
        let budget = |rtt| {
            let mut limit = limit(line);
            limit.requested(A, rtt);
            spend(&mut limit, A)
        };
        assert_eq!(budget(None), 1_625);
        assert_eq!(budget(Some(Span::from_us(20))), 1_625, "no shorter round trip than 1 ms");
        assert_eq!(budget(Some(Span::from_ms(4))), 6_501);
        assert_eq!(budget(Some(Span::from_ms(10_000))), 16_254, "no longer one than 10 ms");
        let mut known = limit(line);
        known.first_rtt = Span::from_ms(20);
        known.requested(A, Some(Span::from_ms(4)));
        assert_eq!(spend(&mut known, A), 32_509, "a path that the driver knows");
        let mut slow = limit(Rate::from_bps(2_000_000).unwrap());
        slow.requested(A, None);
        assert_eq!(spend(&mut slow, A), 16);
    }

    #[test]
    fn data_allows_eight_packets_and_a_request_one() {
        let mut limit = limit(Rate::from_gbps(10));
        limit.requested(A, None);
        limit.answered(A);
        assert_eq!(spend(&mut limit, A), 1_625, "no more than the budget");
        assert!(limit.is_spent(A));
        limit.requested(A, None);
        limit.requested(A, None);
        assert_eq!(spend(&mut limit, A), 1);
        limit.answered(A);
        limit.requested(A, None);
        assert_eq!(spend(&mut limit, A), 8);
        assert_eq!(limit.ask(A, 1), Ask::No);
        limit.forget(A);
        assert!(!limit.is_spent(A));
    }

    #[test]
    fn flows_wait_for_their_own_sender_and_go_on_in_order() {
        let mut limit = limit(Rate::from_gbps(10));
        let key = |host, flow| FlowKey::new(HostId(host), FlowId(flow));
        for host in [1, 2] {
            limit.requested(HostId(host), None);
            spend(&mut limit, HostId(host));
        }
        [key(1, 1), key(2, 2), key(1, 3)].into_iter().for_each(|key| limit.wait(key));
        assert_eq!(limit.next_waiting(A), None);
        limit.answered(A);
        assert_eq!([(); 3].map(|()| limit.next_waiting(A)), [Some(key(1, 1)), Some(key(1, 3)), None]);
    }

    #[test]
    fn a_simulated_host_has_no_limit() {
        assert!(AskLimit::new(&LocalHost::simulated(HostId(0), Rate::from_gbps(10)), 1_538).is_none());
    }
}
