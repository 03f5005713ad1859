//! The state of a port's watchdog of lossless classes (`priolane_core::port::pfc::watchdog`).

use priolane_core::ids::{CLASSES, Class, ClassSet, LinkId};
use priolane_core::port::pfc::watchdog::{StormAction, Watchdog};
use priolane_core::units::{Span, Time};

use crate::observe::outcome::{PacketCount, StormRecord};

/// Returns the time a span after `from`, or the last one that there is.
fn due(from: Time, span: Span) -> Time {
    Time(from.0.saturating_add(span.0))
}

/// Storms of one class.
#[derive(Clone, Copy, Debug, Default)]
struct StormCount {
    storms: u64,
    dropped: PacketCount,
}

/// The classes of a port that are in a storm, and what they lost.
#[derive(Debug)]
pub(crate) struct PortWatch {
    rule: Watchdog,
    storming: ClassSet,
    counts: [StormCount; CLASSES],
}

impl PortWatch {
    /// Creates the state of a port without a storm.
    pub(crate) fn new(rule: Watchdog) -> Self {
        Self { rule, storming: ClassSet::NONE, counts: [StormCount::default(); CLASSES] }
    }

    /// Returns the classes in a storm.
    pub(crate) fn storming(&self) -> ClassSet {
        self.storming
    }

    /// Returns the classes whose packets are dropped.
    pub(crate) fn dropping(&self) -> ClassSet {
        match self.rule.action {
            StormAction::Drop => self.storming,
            StormAction::Forward => ClassSet::NONE,
        }
    }

    /// Returns the classes that the port does not send while the next node pauses `paused`.
    pub(crate) fn held(&self, paused: ClassSet) -> ClassSet {
        match self.rule.action {
            StormAction::Drop => ClassSet(paused.0 | self.storming.0),
            StormAction::Forward => ClassSet(paused.0 & !self.storming.0),
        }
    }

    /// Returns when to look again after the pauses changed at `now` from `before` to `after`: one time for classes that
    /// may get into a storm, one for storms that may end.
    pub(crate) fn deadlines(&self, now: Time, before: ClassSet, after: ClassSet) -> [Option<Time>; 2] {
        let begun = after.0 & !before.0;
        let ended = before.0 & !after.0 & self.storming.0;
        [(begun, self.rule.after), (ended, self.rule.restore)]
            .map(|(classes, span)| (classes != 0).then(|| due(now, span)))
    }

    /// Begins and ends the storms that are due at `now`; `changed` has the times of the last change of each class.
    pub(crate) fn inspect(&mut self, now: Time, paused: ClassSet, changed: &[Time; CLASSES]) {
        for class in 0..CLASSES as Class {
            let since = changed[usize::from(class)];
            match (paused.has(class), self.storming.has(class)) {
                (true, false) if due(since, self.rule.after) <= now => {
                    self.storming = self.storming.with(class);
                    self.counts[usize::from(class)].storms += 1;
                }
                (false, true) if due(since, self.rule.restore) <= now => {
                    self.storming = self.storming.without(class);
                }
                _ => {}
            }
        }
    }

    /// Counts a packet that the watchdog dropped.
    pub(crate) fn dropped(&mut self, class: Class, wire: u16) {
        self.counts[usize::from(class) % CLASSES].dropped.add(wire);
    }

    /// Returns the records of classes with a storm.
    pub(crate) fn records(&self, link: LinkId) -> impl Iterator<Item = StormRecord> {
        let met = self.counts.iter().enumerate().filter(|(_, count)| count.storms > 0);
        met.map(move |(class, count)| StormRecord {
            link,
            class: class as Class,
            storms: count.storms,
            dropped: count.dropped,
        })
    }
}
