//! Reports progress from a run to Python, and passes stop requests back.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use priolane_lab::execute::{Failure, OnProgress};
use priolane_sim::outcome::Progress;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::failed;
use crate::request::response;
use crate::scheme;
use crate::signals::Signals;

/// Minimum interval between calls into Python: Ctrl-C takes effect within a second, at negligible cost.
const PERIOD: Duration = Duration::from_millis(100);

/// Passes progress to a Python callable, and its stop request to the engine.
pub(crate) struct Reporter {
    callback: Option<Py<PyAny>>,
    asked: Option<Instant>,
    error: Option<PyErr>,
}

impl Reporter {
    /// Returns a reporter that calls `callback(now_s, completed, total)`; without a callback it only checks for
    /// signals. A run on this thread begins.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        scheme::forget();
        Self { callback, asked: None, error: None }
    }

    /// Reports the run's progress. Breaks on a pending signal, an exception, the failure of a Python
    /// class, or a return value of `False`.
    pub(crate) fn report(&mut self, progress: Progress) -> ControlFlow<()> {
        if scheme::is_pending() {
            return ControlFlow::Break(());
        }
        if !self.due() {
            return ControlFlow::Continue(());
        }
        match Python::attach(|py| self.ask(py, progress)) {
            Ok(flow) => flow,
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Takes the exception that stopped the run, if any.
    pub(crate) fn take_error(&mut self) -> Option<PyErr> {
        self.error.take()
    }

    #[expect(clippy::disallowed_methods, reason = "progress is for people and reaches no result")]
    fn due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.asked.is_none_or(|asked| now.duration_since(asked) >= PERIOD);
        if due {
            self.asked = Some(now);
        }
        due
    }

    fn ask(&self, py: Python<'_>, progress: Progress) -> PyResult<ControlFlow<()>> {
        py.check_signals()?;
        let Some(callback) = &self.callback else {
            return Ok(ControlFlow::Continue(()));
        };
        let answer =
            callback.bind(py).call1((progress.now.as_secs_f64(), progress.completed, progress.total))?;
        let stop = answer.extract::<bool>().is_ok_and(|go_on| !go_on);
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Calls `run` with the GIL released and its progress reported to `callback`; returns its answer as JSON, or a failure that
/// names `what` failed.
pub(crate) fn reported<T: Serialize + Send>(
    py: Python<'_>,
    signals: &Signals,
    callback: Option<Py<PyAny>>,
    what: &str,
    run: impl FnOnce(&mut OnProgress) -> Result<T, Failure> + Send,
) -> PyResult<String> {
    let mut reporter = Reporter::new(callback);
    match py.detach(|| run(&mut |now| reporter.report(now))) {
        Ok(answer) => response(&answer),
        Err(failure) => {
            Err(reporter.take_error().unwrap_or_else(|| signals.or(failure, |failure| failed(failure, what))))
        }
    }
}
