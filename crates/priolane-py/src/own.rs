//! Builds the module with transports of another crate.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// Environment variable that names the module which the package `priolane` loads instead of its own core.
const VARIABLE: &str = "PRIOLANE_CORE";

/// Makes `module`, of a crate that has registered its transports, the core of the package `priolane`.
///
/// This holds in this process and, through the environment variable `PRIOLANE_CORE`, in its child processes. The
/// function `main` of the module is the command `priolane`.
///
/// # Errors
/// Returns `ImportError` if the package `priolane` has already loaded its own core.
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

/// Runs the command `priolane` with this process's arguments; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("priolane.command")?.call_method0("main")
}
