//! A rule that assigns classes to flows when they start, as a Python class: `assign = { kind = "python", ... }`.
//!
//! ```text
//! check, plan    nothing is called: flows keep the priorities that they request
//! before a run   the text is run, an object is made, and `priority(flow, u)` is called once for each flow, in order
//! again          the same with a new object: a class that answers otherwise depends on more than its arguments
//! a failure      kept for the thread; the run is not begun
//! ```

use std::sync::Arc;

use priolane_core::assign::by_flow::Rule;
use priolane_core::endpoint::FlowSpec;
use priolane_core::file_code::{CodeFailure, FileCode};
use priolane_core::flows::FlowList;
use priolane_core::ids::{Class as Priority, FlowId};
use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::units::Time;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::{Class, Contract, priority, wrong};
use super::code::ClassCode;
use super::failure::{self, Raised};
use super::request::Request;
use super::running;

/// The class of a rule.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "python")]
#[part(
    name = "python",
    summary = "the priority that a method of a Python class returns for each flow when it starts",
    source = "docs/notebook-scheme.md",
    deploy = [Dscp, SizesKnown],
    example = r#"levels = 3, class = "mine:Mine""#
)]
pub(crate) struct RuleClass {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[1, 16]", group = "classes", source = "docs/notebook-scheme.md")]
    pub(crate) levels: u8,
    /// The class.
    #[keys(flatten)]
    pub(crate) code: ClassCode,
}

/// The exception of a call for a flow.
struct FailedCall {
    error: PyErr,
    flow: FlowId,
    at: Time,
}

impl FailedCall {
    fn of(error: PyErr, flow: &FlowSpec) -> Self {
        Self { error, flow: flow.id, at: flow.start }
    }
}

impl RuleClass {
    /// Returns the priorities of `flows`, each with its random number.
    ///
    /// # Errors
    /// Returns the first exception, with its flow.
    fn priorities(
        &self,
        py: Python<'_>,
        class: &Class,
        flows: &[(FlowSpec, f64)],
    ) -> Result<Vec<Priority>, FailedCall> {
        let Some(&(first, _)) = flows.first() else { return Ok(Vec::new()) };
        // Nothing that the text keeps reaches the next list of flows.
        class.unload();
        let rule = class
            .object(py)
            .and_then(|class| class.call0())
            .map_err(|error| FailedCall::of(error, &first))?;
        let priority_of = |&(flow, u): &(FlowSpec, f64)| {
            let answer = rule.call_method1(intern!(py, "priority"), (Request(flow), u));
            answer
                .and_then(|answer| priority(&answer, self.levels))
                .map_err(|error| FailedCall::of(error, &flow))
        };
        flows.iter().map(priority_of).collect()
    }

    /// Returns the priorities of `flows` by two objects of the class that agree.
    ///
    /// # Errors
    /// Returns the first exception, or the first flow whose priorities differ.
    fn verified(
        &self,
        py: Python<'_>,
        class: &Class,
        flows: &[(FlowSpec, f64)],
    ) -> Result<Vec<Priority>, FailedCall> {
        let once = self.priorities(py, class, flows)?;
        let again = self.priorities(py, class, flows)?;
        let Some(place) = std::iter::zip(&once, &again).position(|(one, other)| one != other) else {
            return Ok(once);
        };
        let what = format!(
            "it returned {} and, asked again, {}. A rule must compute from its arguments alone: take random numbers from \
             `u`, and read no clock and no file",
            once[place], again[place]
        );
        Err(FailedCall::of(wrong(what), &flows[place].0))
    }
}

impl Rule for RuleClass {
    fn levels(&self) -> u8 {
        self.levels
    }

    fn class(&self, _: &FlowSpec, _: f64) -> Option<Priority> {
        // All flows of a run are assigned together.
        None
    }

    fn assign(&self, flows: &mut FlowList, draws: Vec<f64>) {
        // Checks and plans keep the priorities that flows request.
        let Some(class) = self.code.read.as_ref().filter(|_| running::is_running()) else { return };
        let requests: Vec<(FlowSpec, f64)> = std::iter::zip(flows.iter(), draws).collect();
        match Python::attach(|py| self.verified(py, class, &requests)) {
            Ok(priorities) => {
                let mut priorities = priorities.into_iter();
                flows.edit_all(|flow| flow.class = priorities.next().unwrap_or(flow.class));
            }
            Err(FailedCall { error, flow, at }) => failure::keep(Raised {
                error,
                call: format!("{}.priority", class.name.class),
                file: class.name.file(),
                at,
                flow,
            }),
        }
    }

    fn file_code(&self) -> Option<&dyn FileCode> {
        Some(self)
    }

    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        Some(self)
    }
}

impl FileCode for RuleClass {
    fn path(&self) -> String {
        self.code.path()
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        self.code.open(Contract::Rule, text)
    }

    fn take_failure(&self) -> Option<CodeFailure> {
        self.code.take_failure()
    }
}
