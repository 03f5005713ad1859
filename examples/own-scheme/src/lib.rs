//! priolane with one more transport. `own-scheme` is the command `priolane`, and `import own_scheme, priolane` the Python
//! module, where `transport = { kind = "vegas" }` is known besides all that is shipped.

mod vegas;

use pyo3::prelude::*;

#[pymodule]
fn own_scheme(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if let Err(error) = priolane_sim::register::<vegas::Vegas>(priolane_core::code_id!()) {
        return Err(pyo3::exceptions::PyImportError::new_err(error.to_string()));
    }
    priolane_py::init_own(module)
}
