//! The contract with an admission policy.

use std::fmt::Debug;

use super::account::AdmissionState;
use super::monitor::Interval;
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId};
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// A policy as files state it.
pub trait AdmissionPolicy: Debug {
    /// The policy of `source`, which has not sent a flow yet; `None` if every flow gets the class it asks for.
    fn at_host(&self, source: &Source) -> Option<Box<dyn Admission>>;

    /// The number of classes, 2 to 16, among which it moves flows; `None` if it moves none.
    fn levels(&self) -> Option<u8>;

    /// Its monitor interval. Default: a whole flow.
    fn interval(&self) -> Interval {
        Interval::Rpc
    }

    /// Why it has no effect if no flow has a deadline. Default: it does not depend on deadlines.
    fn without_deadlines(&self) -> Option<&'static str> {
        None
    }

    /// A warning for experiments in which only some flows have deadlines. Default: none.
    fn with_some_deadlines(&self) -> Option<&'static str> {
        None
    }
}

/// The host that a policy runs at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Payload bytes of an MTU, above 0.
    pub mtu: u32,
    /// The rate of its line; in a simulation that of the first host, which stands for all.
    pub line: Rate,
}

/// Decides, at one source host, which class a flow gets.
pub trait Admission: Send + Debug {
    /// `flow` opens at `now` and asks for `flow.class`; the class it is given. Draws from `rng`, a stream of this
    /// host's own, as often for one outcome as for another.
    fn open(&mut self, flow: &FlowSpec, now: Time, rng: &mut Stream) -> Class;

    /// A monitor interval of a flow ended at `now`; its class from now on, if it is to change. Reports of flows that
    /// were not opened here, or have ended, are ignored. Default: nothing changes.
    fn report(&mut self, report: &FlowReport, now: Time) -> Option<Class> {
        let _ = (report, now);
        None
    }

    /// The sender of a flow knows all of it delivered, at `now`.
    fn completed(&mut self, report: &FlowReport, now: Time);

    /// A flow was aborted: it never completes, and teaches nothing.
    fn aborted(&mut self, flow: FlowId);

    /// From now on, before the first flow, keeps what probabilities were at the end of each `every`, above zero, for
    /// [`Key::watched`]. Default: there are none.
    fn watch(&mut self, every: Span) {
        let _ = every;
    }

    /// What it has come to.
    fn account(&self) -> AdmissionState;
}

/// The notice to an application whose flow got another class than it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It got a lower one.
    Downgraded,
    /// It got a higher one.
    Upgraded,
}

impl Notice {
    /// The notice about `given` instead of `asked`; none if they are the same level.
    pub fn about(asked: Class, given: Class) -> Option<Self> {
        match given.cmp(&asked) {
            std::cmp::Ordering::Greater => Some(Self::Downgraded),
            std::cmp::Ordering::Less => Some(Self::Upgraded),
            std::cmp::Ordering::Equal => None,
        }
    }
}

/// The lowest of `levels` classes.
pub(super) fn lowest(levels: u8) -> Class {
    levels.saturating_sub(1)
}
