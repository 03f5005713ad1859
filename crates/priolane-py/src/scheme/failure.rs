//! The failure of a class in a run: the first exception stops the run.
//!
//! A run with a class is on one thread, so the failure is kept for each thread:
//!
//! ```text
//! none ─ an exception ─► Pending: no class is called ─ the run has ended ─► Ended ─ the error is converted ─► none
//! ```

use std::cell::{Cell, RefCell};

use priolane_core::file_code::CodeFailure;
use priolane_core::ids::FlowId;
use priolane_core::units::Time;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::class;
use crate::errors::InputError;
use crate::raised;

/// An exception in a call.
#[derive(Debug)]
pub(super) struct Raised {
    /// The exception.
    pub(super) error: PyErr,
    /// The call, such as `NewReno.on_ack`.
    pub(super) call: String,
    /// The file of the class.
    pub(super) file: String,
    /// The simulated time of the call.
    pub(super) at: Time,
    /// The flow.
    pub(super) flow: FlowId,
}

thread_local! {
    static IS_PENDING: Cell<bool> = const { Cell::new(false) };
    static PENDING: RefCell<Option<Raised>> = const { RefCell::new(None) };
}

/// Whether the run on this thread has failed: no class is called again, and the run is to stop.
#[inline]
pub(crate) fn is_pending() -> bool {
    IS_PENDING.get()
}

/// Keeps the first failure of the run on this thread.
pub(super) fn keep(raised: Raised) {
    if !IS_PENDING.replace(true) {
        PENDING.set(Some(raised));
    }
}

/// Takes the failure of the run that has ended on this thread.
pub(super) fn take() -> Option<CodeFailure> {
    IS_PENDING.set(false);
    let raised = PENDING.take()?;
    let (at, flow) = (raised.at, raised.flow);
    let (what, error) = Python::attach(|py| (raised.to_string(py), raised.into_error(py)));
    raised::keep(error);
    Some(CodeFailure { what, at, flow })
}

/// Forgets the failure of an earlier run on this thread.
pub(crate) fn forget() {
    IS_PENDING.set(false);
    PENDING.set(None);
    drop(raised::take());
}

impl Raised {
    fn to_string(&self, py: Python<'_>) -> String {
        let Self { error, call, file, at, flow } = self;
        let place = format!(
            "{file}: {call} failed in flow {} at {:.9} s of simulated time",
            flow.0,
            at.as_secs_f64()
        );
        if error.is_instance_of::<InputError>(py) {
            return format!("{place}: {}", error.value(py));
        }
        format!("{place}:\n{}", class::traceback(py, error))
    }

    fn into_error(self, py: Python<'_>) -> PyErr {
        // Ctrl-C arrives in the method that runs at that moment.
        let is_own = self.error.is_instance_of::<PyException>(py)
            || self.error.is_instance_of::<pyo3::exceptions::PySystemExit>(py);
        if is_own { InputError::new_err(self.to_string(py)) } else { self.error }
    }
}
