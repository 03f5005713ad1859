//! Exceptions raised in Python.

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
    "An input is wrong: file, line, key, what is wrong, what to use."
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
create_exception!(
    priolane._core,
    CannotHere,
    RunFailed,
    "This machine lacks something that a testbed of network namespaces takes."
);
create_exception!(priolane, Stopped, PyException, "A run was stopped by request; nothing of it was kept.");

/// Converts the failure of `what` to an exception.
pub(crate) fn failed(failure: Failure, what: &str) -> PyErr {
    match failure {
        Failure::Interrupted => Stopped::new_err(format!("{what} was stopped")),
        Failure::Input(error) => input_error(error),
        failure => RunFailed::new_err(format!("{what}: {failure}")),
    }
}

/// Returns `path` if it is valid UTF-8, as required of every path in messages and files.
pub(crate) fn utf8(path: PathBuf) -> PyResult<PathBuf> {
    if path.to_str().is_some() {
        return Ok(path);
    }
    let shown = path.display().to_string();
    Err(input_error(LabInputError::new(
        shown,
        None,
        "",
        "the path is not UTF-8",
        "Rename the file or directory",
    )))
}

pub(crate) fn input_error(error: LabInputError) -> PyErr {
    InputError::new_err(error.to_string())
}
