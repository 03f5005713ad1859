//! The exception of a Python class that ended the last run on a thread.

use std::cell::RefCell;

use pyo3::PyErr;

thread_local! {
    static ENDED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps the exception that ended the run on this thread.
pub(crate) fn keep(error: PyErr) {
    ENDED.set(Some(error));
}

/// Returns the exception that ended the last run on this thread, and forgets it: an `InputError` that names the flow and
/// the time, or a `KeyboardInterrupt` as it was raised.
pub(crate) fn take() -> Option<PyErr> {
    ENDED.take()
}
