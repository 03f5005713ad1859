//! Delivers signals (Ctrl-C, SIGTERM) to Python's handlers while the lab plans and no Python code runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use priolane_lab::interrupt::Interrupt;
use pyo3::prelude::*;

/// Minimum interval between calls into Python: Ctrl-C takes effect within a second, at negligible cost.
const PERIOD: Duration = Duration::from_millis(100);

/// Interrupts the lab when a signal handler raises an exception, and keeps the exception.
#[derive(Clone, Default)]
pub(crate) struct Signals(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: Option<Instant>,
    raised: Option<PyErr>,
}

impl Signals {
    /// Returns the interrupt that the lab polls.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let signals = self.clone();
        Interrupt::new(move || signals.stop())
    }

    /// Returns the exception that a handler raised, or else `error` converted by `into`.
    pub(crate) fn or<E>(&self, error: E, into: impl FnOnce(E) -> PyErr) -> PyErr {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).raised.take();
        raised.unwrap_or_else(|| into(error))
    }

    #[expect(clippy::disallowed_methods, reason = "when signals are looked for reaches no result")]
    fn stop(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if state.raised.is_some() {
            return true;
        }
        if state.asked.is_some_and(|asked| now.duration_since(asked) < PERIOD) {
            return false;
        }
        state.asked = Some(now);
        drop(state);
        let raised = Python::attach(|py| py.check_signals()).err();
        let stop = raised.is_some();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).raised = raised;
        stop
    }
}
