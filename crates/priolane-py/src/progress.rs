//! Progress out of a run, and stop requests into it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use priolane_sim::outcome::Progress;
use pyo3::prelude::*;

/// Python is asked this often at most: often enough for Ctrl-C within a second, rare enough to cost nothing.
const PERIOD: Duration = Duration::from_millis(100);

/// Hands progress to a Python callable, and its wish to stop back to the engine.
pub(crate) struct Reporter {
    callback: Option<Py<PyAny>>,
    asked: Option<Instant>,
    error: Option<PyErr>,
}

impl Reporter {
    /// A reporter that calls `callback(now_s, completed, total)`; without one it only looks for signals.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, asked: None, error: None }
    }

    /// Tells Python how far the run is. Breaks on a pending signal, an exception or a returned `False`.
    pub(crate) fn report(&mut self, progress: Progress) -> ControlFlow<()> {
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

    /// The exception that stopped the run, if one did.
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
