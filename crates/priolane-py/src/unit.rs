//! Executes units of work in any process on any machine: JSON in, bytes out.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_lab::unit::{self, RunUnit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{RunFailed, input_error};
use crate::progress::Reporter;
use crate::request::{SettingsRequest, request};
use crate::scheme;

/// Executes the unit made by `Grid.unit`, given the `texts` of its files by SHA-256; returns the answer for
/// `Grid.accept`.
///
/// `progress` is as in `Grid.run`.
#[pyfunction]
#[pyo3(signature = (unit, settings, texts, progress=None))]
pub(crate) fn run_unit<'py>(
    py: Python<'py>,
    unit: &str,
    settings: &str,
    texts: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let unit: RunUnit = request(unit)?;
    let (settings, _) = request::<SettingsRequest>(settings)?.into_settings();
    let texts: BTreeMap<String, Arc<str>> =
        texts.into_iter().map(|(digest, text)| (digest, text.into())).collect();
    let what = format!("run {}", unit.run);
    let run = py.detach(|| unit.plan(&texts)).map_err(input_error)?;
    let mut reporter = Reporter::new(progress);
    let answer = scheme::carried_out(py, (&run, None), &settings, |settings| {
        unit::answer(&run, settings, &mut |now| reporter.report(now))
    });
    let answer = answer.map_err(|error| reporter.take_error().unwrap_or(error))?;
    let bytes = answer.encode().map_err(|error| RunFailed::new_err(format!("{what}: {error}")))?;
    Ok(PyBytes::new(py, &bytes))
}
