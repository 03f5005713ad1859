//! Signals while the lab plans: Ctrl-C and SIGTERM get through to Python's handlers, although it is not running.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use priolane_lab::interrupt::Interrupt;
use pyo3::prelude::*;

/// Python is asked this often at most: often enough for Ctrl-C within a second, rare enough to cost nothing.
const PERIOD: Duration = Duration::from_millis(100);

/// Stops the lab when a handler of a signal raises an exception, which it keeps.
#[derive(Clone, Default)]
pub(crate) struct Signals(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: Option<Instant>,
    raised: Option<PyErr>,
}

impl Signals {
    /// What the lab asks whether to stop.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let signals = self.clone();
        Interrupt::new(move || signals.stop())
    }

    /// The exception that a handler raised, or else what `error` makes of the lab's.
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
