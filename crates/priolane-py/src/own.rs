//! The module with transports of another crate.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The module that the package `priolane` asks instead of its own, where the environment names one.
const VARIABLE: &str = "PRIOLANE_CORE";

/// Makes `module`, of a crate that has registered its transports, the core of the package `priolane`: in this process, and by the
/// environment variable `PRIOLANE_CORE` in those that it starts. Its function `main` is the command `priolane`.
///
/// # Errors
/// `ImportError` if the package `priolane` has loaded its own core before.
pub fn init_own(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let name = module.name()?;
    let loaded = py.import("sys")?.getattr("modules")?;
    if loaded.contains("priolane._core")? {
        let what = format!("import {name} before priolane, whose core is loaded already");
        return Err(PyImportError::new_err(what));
    }
    super::init(module)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    loaded.set_item("priolane._core", module)?;
    py.import("os")?.getattr("environ")?.set_item(VARIABLE, name)
}

/// The command `priolane` with the arguments of this process; its exit code.
#[pyfunction]
fn main(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("priolane.command")?.call_method0("main")
}
