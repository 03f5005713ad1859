//! The turn: which message may use the reserve.

use std::collections::VecDeque;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{PS_PER_S, Span, Time};

/// The time after which a holder that has used none of the reserve loses the turn, if others wait.
const UNUSED: Span = Span::from_ms(1_000);

/// The time after which a holder that has used some of the reserve must have been fast enough, if others wait.
const SLOW_AFTER: Span = Span::from_ms(10_000);

/// The rate in bytes per second above which a holder is fast enough.
const FAST: u64 = 1 << 20;

/// The outcome of a request for the turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TurnOutcome {
    /// The message has the turn.
    Held,
    /// Another message has the turn.
    Wait,
    /// The turn of the other message is over. If `dropped` names that message, it is to be dropped.
    Over { dropped: Option<(HostId, FlowId)> },
}

/// The message that has the turn.
#[derive(Clone, Copy, Debug)]
struct Holder {
    of: (HostId, FlowId),
    /// The time since which other messages wait, or since which this message has the turn if that is later; `None`
    /// while none waits.
    contested: Option<Time>,
    /// The bytes that the message has used, in all (`taken`) and since `contested` (`taken_since`).
    taken: u64,
    taken_since: u64,
}

/// The turn, and the queue of senders that wait for the turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    holder: Option<Holder>,
    /// The senders that wait. Each sender is listed once.
    waiting: VecDeque<HostId>,
}

impl Turn {
    /// Requests the turn for a message that finds no memory elsewhere.
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

    /// Records that the holder has used `bytes` more.
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

    /// Takes the turn away from its holder.
    pub(super) fn give_up(&mut self) {
        self.holder = None;
    }

    /// Removes the sender that has waited for longest from the queue and returns it.
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
