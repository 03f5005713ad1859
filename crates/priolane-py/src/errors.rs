//! The exceptions that Python sees.

use std::path::PathBuf;

use priolane_lab::execute::Failure;
use priolane_source::InputError as LabInputError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    priolane,
    InputError,
    PyValueError,
    "An input of the user's is wrong: file, line, key, what, fix."
);
create_exception!(
    priolane,
    RunFailed,
    PyRuntimeError,
    "A run broke an invariant, or its results could not be written."
);
create_exception!(
    priolane._core,
    Damaged,
    RunFailed,
    "The answer to a unit of work is not what a worker of this version sends."
);
create_exception!(priolane, Stopped, PyException, "A run was stopped by request; nothing of it was kept.");

/// The exception for `what`, which failed.
pub(crate) fn failed(failure: Failure, what: &str) -> PyErr {
    match failure {
        Failure::Interrupted => Stopped::new_err(format!("{what} was stopped")),
        Failure::Input(error) => input_error(error),
        failure => RunFailed::new_err(format!("{what}: {failure}")),
    }
}

/// `path`, if it has a name in UTF-8, as all that is written about it is.
pub(crate) fn utf8(path: PathBuf) -> PyResult<PathBuf> {
    if path.to_str().is_some() {
        return Ok(path);
    }
    let shown = path.display().to_string();
    Err(input_error(LabInputError::new(shown, None, "", "the path is not UTF-8", "use another one")))
}

pub(crate) fn input_error(error: LabInputError) -> PyErr {
    InputError::new_err(error.to_string())
}
