//! The interface of admission policies.

use std::fmt::Debug;

use super::account::AdmissionState;
use super::monitor::Interval;
use crate::endpoint::{FlowReport, FlowSpec};
use crate::file_code::FileCode;
use crate::ids::{Class, FlowId};
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// A policy as written in files.
pub trait AdmissionPolicy: Debug {
    /// Returns the policy of `source`, before its first flow; `None` if every flow gets its requested class.
    fn at_host(&self, source: &Source) -> Option<Box<dyn Admission>>;

    /// Returns the number of classes, 2 to 16, among which it moves flows; `None` if it moves none.
    fn levels(&self) -> Option<u8>;

    /// Returns its monitor interval. Default: a whole flow.
    fn interval(&self) -> Interval {
        Interval::Rpc
    }

    /// Returns why it has no effect if no flow has a deadline. Default: it does not depend on deadlines.
    fn without_deadlines(&self) -> Option<&'static str> {
        None
    }

    /// Returns a warning for experiments in which only some flows have deadlines. Default: none.
    fn with_some_deadlines(&self) -> Option<&'static str> {
        None
    }

    /// Returns its code that is in a file. Default: none, the code is compiled.
    fn file_code(&self) -> Option<&dyn FileCode> {
        None
    }

    /// As [`Self::file_code`].
    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        None
    }
}

/// The host of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Payload bytes per MTU, above 0.
    pub mtu: u32,
    /// The rate of its link; in a simulation, that of the first host for all hosts.
    pub line: Rate,
}

/// An admission policy at one source host. It decides which class a flow gets.
pub trait Admission: Send + Debug {
    /// Opens `flow` at `now`, which requests `flow.class`, and returns its class. Draws the same number of values from
    /// `rng`, a stream of this host, for every outcome.
    fn open(&mut self, flow: &FlowSpec, now: Time, rng: &mut Stream) -> Class;

    /// Processes the report of a monitor interval that ended at `now`, and returns the flow's new class if it changes.
    /// Ignores reports of flows that were not opened here or have ended. Default: no change.
    fn report(&mut self, report: &FlowReport, now: Time) -> Option<Class> {
        let _ = (report, now);
        None
    }

    /// Reports that the sender of a flow knows at `now` that it is fully delivered.
    fn completed(&mut self, report: &FlowReport, now: Time);

    /// Reports that a flow was aborted: it never completes, and updates nothing.
    fn aborted(&mut self, flow: FlowId);

    /// Samples the probabilities at the end of each `every`, above zero, for [`Key::watched`]. Called before the first
    /// flow. Default: there are no probabilities.
    fn watch(&mut self, every: Span) {
        let _ = every;
    }

    /// Returns its final state.
    fn account(&self) -> AdmissionState;
}

/// Notification to an application whose flow got another class than it requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It got a lower class.
    Downgraded,
    /// It got a higher class.
    Upgraded,
}

impl Notice {
    /// Returns the notification for `given` instead of `asked`; `None` if they are equal.
    pub fn about(asked: Class, given: Class) -> Option<Self> {
        match given.cmp(&asked) {
            std::cmp::Ordering::Greater => Some(Self::Downgraded),
            std::cmp::Ordering::Less => Some(Self::Upgraded),
            std::cmp::Ordering::Equal => None,
        }
    }
}

/// Returns the lowest of `levels` classes.
pub(super) fn lowest(levels: u8) -> Class {
    levels.saturating_sub(1)
}
