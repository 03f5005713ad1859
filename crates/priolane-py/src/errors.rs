//! Exceptions raised in Python.

use std::path::PathBuf;

use priolane_lab::execute::Failure;
use priolane_source::InputError as LabInputError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::raised;

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

/// Converts the failure of `what` to an exception: that of a Python class, if one failed.
pub(crate) fn failed(failure: Failure, what: &str) -> PyErr {
    if let Some(raised) = raised::take() {
        return raised;
    }
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

/// A mistake in an input.
#[pyclass(frozen, get_all, module = "priolane")]
pub(crate) struct Mistake {
    /// The file, as the user named it, or an option such as `--set`.
    file: String,
    /// The line, from 1, if there is one.
    line: Option<usize>,
    /// The key in dotted form; empty if the file as a whole is wrong.
    key: String,
    /// The mistake, as a clause without a final period.
    what: String,
    /// The remedy, as sentences.
    advice: String,
    /// The line of a message about it.
    text: String,
}

#[pymethods]
impl Mistake {
    fn __str__(&self) -> &str {
        &self.text
    }
}

impl From<LabInputError> for Mistake {
    fn from(error: LabInputError) -> Self {
        let (text, advice) = (error.to_string(), error.advice());
        let LabInputError { file, line, key, what, .. } = error;
        Self { file, line, key, what, advice, text }
    }
}

/// Converts an error of a reader; the exception has its listed mistakes as `mistakes`.
pub(crate) fn input_error(error: LabInputError) -> PyErr {
    Python::attach(|py| {
        let raised = InputError::new_err(error.to_string());
        let mistakes: Vec<Mistake> = error.mistakes().map(Mistake::from).collect();
        match PyTuple::new(py, mistakes).and_then(|mistakes| raised.value(py).setattr("mistakes", mistakes)) {
            Ok(()) => raised,
            Err(other) => other,
        }
    })
}

/// Adds the exceptions and what they carry to `module`. An `InputError` that Python raises has no `mistakes`.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let input_error = py.get_type::<InputError>();
    input_error.setattr("mistakes", PyTuple::empty(py))?;
    module.add("CannotHere", py.get_type::<CannotHere>())?;
    module.add("Damaged", py.get_type::<Damaged>())?;
    module.add("InputError", input_error)?;
    module.add_class::<Mistake>()?;
    module.add("RunFailed", py.get_type::<RunFailed>())?;
    module.add("Stopped", py.get_type::<Stopped>())
}
