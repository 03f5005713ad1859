//! Hosts of `priolane-net`, for `priolane.net`.
//!
//! Calls that wait release the GIL, and look for signals every tenth of a second, so Ctrl-C ends them. Asynchronous
//! calls run on one thread (`tasks`) and report to a Python callable.

mod errors;
mod host;
mod receipt;
mod settings;
mod tasks;
mod waiting;

use pyo3::prelude::*;

/// Adds the classes and exceptions of `priolane.net` to `module`.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    module.add_class::<host::NetHost>()?;
    module.add_class::<receipt::NetReceipt>()?;
    module.add_class::<tasks::NetTask>()
}
