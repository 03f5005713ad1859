//! Reactions of the applications of one host to downgrades, when a flow would run at a lower class than requested.
//!
//! ```text
//! ignore       the flow runs at the assigned class
//! defer        it is held back for `by`, then requests admission again, at most `times` and not beyond its deadline;
//!              then as `ignore`
//! reclassify   it runs at the assigned class; for the duration `lasts`, flows of the group to the same destination
//!              request no higher class unless they are as urgent: size / (deadline - start) at least as large
//! ```
//!
//! For the network, a deferred flow starts when it is issued; its completion time counts from its original start
//! (docs/assumptions.md#on-downgrade).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::admission::Notice;
use crate::endpoint::FlowSpec;
use crate::ids::{Class, FlowId, HostId};
use crate::units::{Span, Time};

/// Reaction of an application when admission control would run a flow at a lower class than requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnDowngrade {
    /// None: the flow runs at the assigned class.
    #[default]
    Ignore,
    /// Holds the flow back, and requests admission again.
    Defer {
        /// Delay of each attempt, above zero.
        by: Span,
        /// Maximum number of attempts, at least 1; then the flow runs at the assigned class.
        times: u32,
    },
    /// Runs the flow at the assigned class; less urgent flows to the same destination request no higher class for some
    /// time.
    Reclassify {
        /// Duration, above zero.
        lasts: Span,
    },
}

/// Notifications to the applications of a host about the classes of their flows, and their reactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Notifications of a lower class than requested, including those answered by a deferral.
    pub downgraded: u64,
    /// Notifications of a higher class than requested.
    pub upgraded: u64,
    /// Number of deferrals of flows.
    pub deferrals: u64,
    /// Total time of deferrals.
    pub held: Span,
    /// Flows that requested a lower class than planned, after a notification.
    pub reclassified: u64,
}

/// The applications of one host, by group.
#[derive(Debug)]
pub(super) struct Applications {
    reactions: Vec<OnDowngrade>,
    held: BTreeMap<FlowId, DeferredFlow>,
    again: BinaryHeap<Reverse<(Time, FlowId)>>,
    restraints: BTreeMap<(u16, HostId), ClassCap>,
    notices: BTreeMap<u16, Notices>,
}

/// A deferred flow.
#[derive(Clone, Copy, Debug)]
struct DeferredFlow {
    first_asked: Time,
    times: u32,
}

/// A temporary cap on the classes that flows to a destination request.
#[derive(Clone, Copy, Debug)]
struct ClassCap {
    until: Time,
    class: Class,
    urgency: Option<RequiredRate>,
}

/// Bytes over available time; flows without one are less urgent than any other.
#[derive(Clone, Copy, Debug)]
struct RequiredRate {
    bytes: u64,
    within: Span,
}

impl RequiredRate {
    fn of(flow: &FlowSpec) -> Option<Self> {
        let within = flow.deadline?.since(flow.start);
        Some(Self { bytes: flow.size?, within })
    }

    fn at_least(self, other: Self) -> bool {
        let product = |bytes: u64, within: Span| u128::from(bytes) * u128::from(within.0);
        product(self.bytes, other.within) >= product(other.bytes, self.within)
    }
}

/// The response of an application to its flow's assigned class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DowngradeResponse {
    /// Issues the flow.
    Issue,
    /// Requests admission again later.
    Later,
}

impl Applications {
    /// Creates the applications of a host; groups beyond the list ignore downgrades.
    pub(super) fn new(reactions: &[OnDowngrade]) -> Self {
        Self {
            reactions: reactions.to_vec(),
            held: BTreeMap::new(),
            again: BinaryHeap::new(),
            restraints: BTreeMap::new(),
            notices: BTreeMap::new(),
        }
    }

    /// Returns the class that the application requests for `flow`, which it wants to issue now.
    pub(super) fn asks(&mut self, flow: &FlowSpec) -> Class {
        let Some(restraint) = self.restraints.get(&(flow.group, flow.dst)) else { return flow.class };
        let urgent = match (RequiredRate::of(flow), restraint.urgency) {
            (Some(own), Some(other)) => own.at_least(other),
            (own, None) => own.is_some(),
            (None, Some(_)) => false,
        };
        if flow.start >= restraint.until || urgent || flow.class >= restraint.class {
            return flow.class;
        }
        let class = restraint.class;
        self.notices_of(flow).reclassified += 1;
        class
    }

    /// Notifies the application of the class that `flow`, which wants to start now, would get instead of the requested
    /// one.
    pub(super) fn notify(&mut self, flow: &FlowSpec, notice: Notice, given: Class) -> DowngradeResponse {
        let reaction = self.reactions.get(usize::from(flow.group)).copied().unwrap_or_default();
        match (notice, reaction) {
            (Notice::Upgraded, _) => self.notices_of(flow).upgraded += 1,
            (Notice::Downgraded, OnDowngrade::Ignore) => self.notices_of(flow).downgraded += 1,
            (Notice::Downgraded, OnDowngrade::Defer { by, times }) => {
                self.notices_of(flow).downgraded += 1;
                return self.defer(flow, by, times);
            }
            (Notice::Downgraded, OnDowngrade::Reclassify { lasts }) => {
                self.notices_of(flow).downgraded += 1;
                let restraint =
                    ClassCap { until: flow.start + lasts, class: given, urgency: RequiredRate::of(flow) };
                self.restraints.insert((flow.group, flow.dst), restraint);
            }
        }
        DowngradeResponse::Issue
    }

    fn defer(&mut self, flow: &FlowSpec, by: Span, times: u32) -> DowngradeResponse {
        let again = flow.start + by;
        let held = self.held.entry(flow.id).or_insert(DeferredFlow { first_asked: flow.start, times: 0 });
        if held.times >= times || flow.deadline.is_some_and(|deadline| again >= deadline) {
            return DowngradeResponse::Issue;
        }
        held.times += 1;
        self.again.push(Reverse((again, flow.id)));
        let notices = self.notices_of(flow);
        notices.deferrals += 1;
        notices.held += by;
        DowngradeResponse::Later
    }

    fn notices_of(&mut self, flow: &FlowSpec) -> &mut Notices {
        self.notices.entry(flow.group).or_default()
    }

    /// Issues `flow` at its start; returns how long it was held back.
    pub(super) fn issued(&mut self, flow: &FlowSpec) -> Span {
        self.held.remove(&flow.id).map_or(Span::ZERO, |held| flow.start.since(held.first_asked))
    }

    /// Returns the next flow that requests admission again, and when.
    pub(super) fn next(&self) -> Option<(Time, FlowId)> {
        self.again.peek().map(|&Reverse(next)| next)
    }

    /// Removes that flow from the waiting list.
    pub(super) fn ask_again(&mut self) {
        self.again.pop();
    }

    /// Cancels `flow`.
    pub(super) fn abort(&mut self, flow: FlowId) {
        self.held.remove(&flow);
        self.again.retain(|&Reverse((_, held))| held != flow);
    }

    /// Iterates over the notifications and reactions, by group.
    pub(super) fn notices(&self) -> impl Iterator<Item = (u16, Notices)> {
        self.notices.iter().map(|(&group, &notices)| (group, notices))
    }
}

#[cfg(test)]
mod tests;
