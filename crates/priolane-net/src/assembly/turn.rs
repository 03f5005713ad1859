//! Whose message may use the reserve.

use std::collections::VecDeque;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{PS_PER_S, Span, Time};

/// Time after which a holder that took nothing loses the turn, if others wait.
const UNUSED: Span = Span::from_ms(1_000);

/// Time after which a holder that took something must have been fast enough, if others wait.
const SLOW_AFTER: Span = Span::from_ms(10_000);

/// Bytes per second that are fast enough.
const FAST: u64 = 1 << 20;

/// What becomes of a message that asks for the turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TurnOutcome {
    /// It has the turn.
    Held,
    /// Another has it.
    Wait,
    /// The turn of the other is over; its message is to be dropped if there is one here.
    Over { dropped: Option<(HostId, FlowId)> },
}

/// The message that has the turn.
#[derive(Clone, Copy, Debug)]
struct Holder {
    of: (HostId, FlowId),
    /// Since when others wait, or since when it has the turn if that is later; `None` while nobody waits.
    contested: Option<Time>,
    /// Bytes that it took, in all and since then.
    taken: u64,
    taken_since: u64,
}

/// The turn, and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    holder: Option<Holder>,
    /// Senders, each once.
    waiting: VecDeque<HostId>,
}

impl Turn {
    /// A message finds no room elsewhere.
    pub(super) fn ask(&mut self, of: (HostId, FlowId), now: Time) -> TurnOutcome {
        let Some(holder) = &mut self.holder else {
            self.give(of, now);
            return TurnOutcome::Held;
        };
        if holder.of == of {
            return TurnOutcome::Held;
        }
        let since = *holder.contested.get_or_insert(now);
        if !self.waiting.contains(&of.0) {
            self.waiting.push_back(of.0);
        }
        let (waited, holder) = (now.since(since), *holder);
        if holder.taken == 0 {
            return if waited >= UNUSED { TurnOutcome::Over { dropped: None } } else { TurnOutcome::Wait };
        }
        let due = u128::from(FAST) * u128::from(waited.0) / u128::from(PS_PER_S);
        if waited >= SLOW_AFTER && u128::from(holder.taken_since) < due {
            return TurnOutcome::Over { dropped: Some(holder.of) };
        }
        TurnOutcome::Wait
    }

    /// The holder took `bytes`.
    pub(super) fn took(&mut self, bytes: u64) {
        if let Some(holder) = &mut self.holder {
            holder.taken += bytes;
            if holder.contested.is_some() {
                holder.taken_since += bytes;
            }
        }
    }

    pub(super) fn is_held_by(&self, of: (HostId, FlowId)) -> bool {
        self.holder.is_some_and(|holder| holder.of == of)
    }

    /// Gives the turn to a message.
    pub(super) fn give(&mut self, of: (HostId, FlowId), now: Time) {
        let contested = (!self.waiting.is_empty()).then_some(now);
        self.holder = Some(Holder { of, contested, taken: 0, taken_since: 0 });
    }

    /// Nobody has the turn.
    pub(super) fn give_up(&mut self) {
        self.holder = None;
    }

    /// The sender that waited for longest.
    pub(super) fn next_waiting(&mut self) -> Option<HostId> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(host: u16) -> (HostId, FlowId) {
        (HostId(host), FlowId(7))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_holder_that_takes_nothing_loses_the_turn_and_keeps_its_message() {
        let mut turn = Turn::default();
        assert_eq!([of(1), of(1)].map(|of| turn.ask(of, at(0))), [TurnOutcome::Held; 2]);
        // Its time counts from when another waits.
        assert_eq!(turn.ask(of(2), at(5_000)), TurnOutcome::Wait);
        assert_eq!(turn.ask(of(3), at(5_999)), TurnOutcome::Wait);
        assert_eq!(turn.ask(of(2), at(6_000)), TurnOutcome::Over { dropped: None });
        assert_eq!([(); 3].map(|()| turn.next_waiting()), [Some(HostId(2)), Some(HostId(3)), None]);
    }

    #[test]
    fn a_holder_that_is_slow_while_others_wait_is_dropped_and_one_that_is_fast_is_not() {
        // 1 MiB/s for 10 s, and a byte less.
        for (taken, outcome) in
            [(10 << 20, TurnOutcome::Wait), ((10 << 20) - 1, TurnOutcome::Over { dropped: Some(of(1)) })]
        {
            let mut turn = Turn::default();
            turn.ask(of(1), at(0));
            // What it took before does not count.
            turn.took(1 << 30);
            assert_eq!(turn.ask(of(2), at(1_000)), TurnOutcome::Wait);
            turn.took(taken);
            assert_eq!(turn.ask(of(2), at(10_999)), TurnOutcome::Wait);
            assert_eq!(turn.ask(of(2), at(11_000)), outcome, "{taken}");
        }
    }

    #[test]
    fn the_next_is_contested_from_its_start_if_others_wait() {
        let mut turn = Turn::default();
        turn.ask(of(1), at(0));
        [of(2), of(3)].into_iter().for_each(|of| assert_eq!(turn.ask(of, at(10)), TurnOutcome::Wait));
        assert_eq!(turn.next_waiting(), Some(HostId(2)));
        turn.give(of(2), at(100));
        assert!(turn.is_held_by(of(2)) && !turn.is_held_by(of(1)));
        assert_eq!(turn.ask(of(1), at(1_099)), TurnOutcome::Wait);
        assert_eq!(turn.ask(of(1), at(1_100)), TurnOutcome::Over { dropped: None });
        turn.give_up();
        assert_eq!(turn.ask(of(1), at(1_101)), TurnOutcome::Held);
    }

    #[test]
    fn all_that_a_holder_took_since_others_wait_counts() {
        let mut turn = Turn::default();
        turn.ask(of(1), at(0));
        assert_eq!(turn.ask(of(2), at(0)), TurnOutcome::Wait);
        // 1 MiB each second, in parts.
        for second in 1..=10 {
            (0..1 << 10).for_each(|_| turn.took(1 << 10));
            assert_eq!(turn.ask(of(2), at(1_000 * second)), TurnOutcome::Wait, "after {second} s");
        }
        assert_eq!(turn.ask(of(2), at(10_001)), TurnOutcome::Over { dropped: Some(of(1)) });
    }
}
