//! The input of the rows of a run's tables.

use priolane_core::units::{Span, Time};
use priolane_sim::scenario::ScenarioSpec;

/// The input of the rows of a run's tables.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The parameters of the run.
    pub scenario: &'a ScenarioSpec,
    /// Names of groups, by `FlowSpec::group`.
    pub groups: &'a [String],
    /// Per flow: whether it started inside the measured window.
    pub measured: &'a [bool],
    /// Per flow: its ideal completion time; meaningless for an endless flow.
    pub bare_fct: &'a [Span],
    /// Per flow: the same with a handshake, if slowdowns are relative to it.
    pub with_handshake: Option<&'a [Span]>,
    /// Per flow that was under way when the run began, in order: the denominator of the slowdown of the whole flow.
    pub under_way: &'a [Span],
    /// The measured window; `None` if a number of flows is measured.
    pub window: Option<(Time, Time)>,
    /// Whether flows go on to start after the window, so that a steady state is claimed in it.
    pub arrivals_continue: bool,
}

impl<'a> Source<'a> {
    /// Returns the measured window, if a steady state is claimed in it.
    pub fn steady_window(&self) -> Option<(Time, Time)> {
        self.window.filter(|_| self.arrivals_continue)
    }

    /// Returns, per flow, the denominator of its slowdown.
    pub fn denominators(&self) -> &'a [Span] {
        self.with_handshake.unwrap_or(self.bare_fct)
    }

    /// Returns the name of a group; `None` if there is no group with this number.
    pub fn group(&self, number: u16) -> Option<&'a str> {
        self.groups.get(usize::from(number)).map(String::as_str)
    }
}
