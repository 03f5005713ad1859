//! Paces permissions, one per packet time, so that the permitted data arrives no faster than the host's link takes
//! it.

use crate::transport::common::pacing_base;
use crate::units::{Span, Time};

/// A host's pacer. A permission delayed by the host's own link does not delay the next, so that the rate of
/// permissions is one per packet time while there are flows to permit.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Pacer {
    slot: Span,
    next: Time,
    /// The lateness beyond a packet time that is made up for.
    catch_up: Span,
}

impl Pacer {
    /// Creates a pacer with packet times of `slot` that makes up `catch_up` of lateness.
    pub(in crate::transport) fn new(slot: Span, catch_up: Span) -> Self {
        Self { slot, next: Time::ZERO, catch_up }
    }

    /// Returns the packet time.
    pub(in crate::transport) fn slot(&self) -> Span {
        self.slot
    }

    /// Returns when the next permission may be sent.
    #[inline]
    pub(in crate::transport) fn next(&self) -> Time {
        self.next
    }

    /// Records that a permission is sent at `now`, not before `next`.
    #[inline]
    pub(in crate::transport) fn spend(&mut self, now: Time) {
        debug_assert!(now >= self.next, "a permission before its time");
        let late = now.since(self.next) >= self.slot;
        self.next = if late { pacing_base(self.next, now, self.catch_up) } else { self.next } + self.slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_keep_their_pace_when_the_line_delays_one_and_save_up_nothing() {
        let mut pacer = Pacer::new(Span(100), Span::ZERO);
        let mut spend = |at| (pacer.spend(Time(at)), pacer.next()).1;
        assert_eq!(spend(0), Time(100));
        // 60 late: the next one is on time.
        assert_eq!(spend(160), Time(200));
        // Idle for long: starts again from now.
        assert_eq!(spend(900), Time(1_000));
    }

    /// Returns the number of permissions sent at `now`.
    fn spent_at(pacer: &mut Pacer, now: Time) -> u32 {
        let mut count = 0;
        while pacer.next() <= now {
            pacer.spend(now);
            count += 1;
        }
        count
    }

    #[test]
    fn a_real_host_makes_up_what_its_scheduler_cost() {
        let mut pacer = Pacer::new(Span(100), Span(500));
        pacer.spend(Time(0));
        // Called 400 late: the five that were due are sent immediately.
        let at_once = spent_at(&mut pacer, Time(500));
        assert_eq!((at_once, pacer.next()), (5, Time(600)));
        // Idle for long: at most 500 are made up.
        let at_once = spent_at(&mut pacer, Time(9_000));
        assert_eq!((at_once, pacer.next()), (6, Time(9_100)));
    }
}
