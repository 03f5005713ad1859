//! What the rows of a run's tables are made of.

use priolane_core::units::Span;
use priolane_sim::scenario::ScenarioSpec;

/// What the rows of a run's tables are made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What was run.
    pub scenario: &'a ScenarioSpec,
    /// Names of the groups that `FlowSpec::group` points at.
    pub groups: &'a [String],
    /// Per flow: whether it started inside the measured window.
    pub measured: &'a [bool],
    /// Per flow: its completion time alone in the network; meaningless for a flow without end.
    pub bare_fct: &'a [Span],
    /// Per flow: the same with a handshake, where slowdowns are over it.
    pub with_handshake: Option<&'a [Span]>,
}

impl<'a> Source<'a> {
    /// Per flow: what its slowdown is over.
    pub fn denominators(&self) -> &'a [Span] {
        self.with_handshake.unwrap_or(self.bare_fct)
    }

    /// The name of a group; `None` if there is none of that number.
    pub fn group(&self, number: u16) -> Option<&'a str> {
        self.groups.get(usize::from(number)).map(String::as_str)
    }
}
