//! An admission policy that is a Python class: `admit = { kind = "python", ... }`.
//!
//! ```text
//! first flow of a host   object = class(host)
//! a flow opens           object.open(flow, u)        ─► its class
//! an interval ends       object.on_report(report)    ─► another class, or None   (if the class has the method)
//! a flow is delivered    object.on_completed(report)
//! a flow is aborted      object.on_aborted(id)                                   (if the class has the method)
//! ```

use std::sync::Arc;

use priolane_core::admit::{Admission, AdmissionPolicy, AdmissionState, Interval, Source};
use priolane_core::endpoint::{FlowReport, FlowSpec};
use priolane_core::file_code::{CodeFailure, FileCode};
use priolane_core::ids::{Class as Priority, FlowId};
use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::rng::Stream;
use priolane_core::units::Time;
use pyo3::prelude::*;

use super::class::{Class, Contract, priority};
use super::code::ClassCode;
use super::failure::{self, Raised};
use super::request::{Host, Report, Request};

/// The class of an admission policy.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "python")]
#[part(
    name = "python",
    summary = "the class that an object of a Python class returns for each flow of its host",
    source = "docs/notebook-scheme.md",
    deploy = [Classes, UserStack],
    example = r#"levels = 3, class = "mine:Mine""#
)]
pub(crate) struct PolicyClass {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "docs/notebook-scheme.md")]
    pub(crate) levels: u8,
    /// Interval of `on_report`: rpc (none), rtt (the round trip of a small packet across the network), or a time of at
    /// least 100 ns.
    #[key(default = Interval::Rtt, group = "monitor", source = "docs/notebook-scheme.md")]
    pub(crate) mi: Interval,
    /// The class.
    #[keys(flatten)]
    pub(crate) code: ClassCode,
}

impl AdmissionPolicy for PolicyClass {
    fn at_host(&self, source: &Source) -> Option<Box<dyn Admission>> {
        let class = self.code.read.clone()?;
        Some(Box::new(Policy { class, source: *source, levels: self.levels, object: None }))
    }

    fn levels(&self) -> Option<u8> {
        Some(self.levels)
    }

    fn interval(&self) -> Interval {
        self.mi
    }

    fn file_code(&self) -> Option<&dyn FileCode> {
        Some(self)
    }

    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        Some(self)
    }
}

impl FileCode for PolicyClass {
    fn path(&self) -> String {
        self.code.path()
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        self.code.open(Contract::Policy, text)
    }

    fn take_failure(&self) -> Option<CodeFailure> {
        self.code.take_failure()
    }
}

/// The policy of one host.
#[derive(Debug)]
struct Policy {
    class: Arc<Class>,
    source: Source,
    levels: u8,
    /// The object; `None` before the first flow of the host.
    object: Option<Py<PyAny>>,
}

/// A call of the object, for messages.
#[derive(Clone, Copy, Debug)]
struct Call {
    method: &'static str,
    at: Time,
    flow: FlowId,
}

impl Policy {
    /// Returns the answer of the object to `ask`; `None` after a failure.
    fn called<T>(
        &mut self,
        call: Call,
        ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if failure::is_pending() {
            return None;
        }
        let answer = Python::attach(|py| self.object(py).and_then(|object| ask(&object)));
        answer.map_err(|error| self.failed(error, call)).ok()
    }

    fn object<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(object) = &self.object {
            return Ok(object.bind(py).clone());
        }
        let host = Host { rate: self.source.line.bps(), mtu: self.source.mtu, levels: self.levels };
        let object = self.class.object(py)?.call1((host,))?;
        self.object = Some(object.clone().unbind());
        Ok(object)
    }

    fn failed(&self, error: PyErr, Call { method, at, flow }: Call) {
        let call = format!("{}.{method}", self.class.name.class);
        failure::keep(Raised { error, call, file: self.class.name.file(), at, flow });
    }
}

impl Admission for Policy {
    fn open(&mut self, flow: &FlowSpec, now: Time, rng: &mut Stream) -> Priority {
        let (u, levels) = (rng.uniform(), self.levels);
        let call = Call { method: "open", at: now, flow: flow.id };
        let answer =
            self.called(call, |object| priority(&object.call_method1("open", (Request(*flow), u))?, levels));
        answer.unwrap_or(flow.class)
    }

    fn report(&mut self, report: &FlowReport, now: Time) -> Option<Priority> {
        if !self.class.has("on_report") {
            return None;
        }
        let (call, levels) = (Call { method: "on_report", at: now, flow: report.flow }, self.levels);
        self.called(call, |object| {
            let answer = object.call_method1("on_report", (Report { report: *report, now },))?;
            if answer.is_none() { Ok(None) } else { priority(&answer, levels).map(Some) }
        })?
    }

    fn completed(&mut self, report: &FlowReport, now: Time) {
        let call = Call { method: "on_completed", at: now, flow: report.flow };
        self.called(call, |object| {
            object.call_method1("on_completed", (Report { report: *report, now },)).map(drop)
        });
    }

    fn aborted(&mut self, flow: FlowId) {
        // The event has no time of its own.
        let call = Call { method: "on_aborted", at: Time::ZERO, flow };
        if self.class.has("on_aborted") {
            self.called(call, |object| object.call_method1("on_aborted", (flow.0,)).map(drop));
        }
    }

    fn account(&self) -> AdmissionState {
        AdmissionState::default()
    }
}
