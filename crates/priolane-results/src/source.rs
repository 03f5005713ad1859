//! The input of the rows of a run's tables.

use priolane_core::units::Span;
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
}

impl<'a> Source<'a> {
    /// Returns, per flow, the denominator of its slowdown.
    pub fn denominators(&self) -> &'a [Span] {
        self.with_handshake.unwrap_or(self.bare_fct)
    }

    /// Returns the name of a group; `None` if there is no group with this number.
    pub fn group(&self, number: u16) -> Option<&'a str> {
        self.groups.get(usize::from(number)).map(String::as_str)
    }
}
