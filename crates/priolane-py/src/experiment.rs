//! An experiment before its runs are planned.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use priolane_lab::plan::{Definition, Options};
use priolane_source::InputError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::input_error;
use crate::grid::Plan;
use crate::request::{OptionsRequest, request, response};
use crate::signals::Signals;

/// An experiment as its user wrote it: a file, a text in TOML, or values.
#[pyclass(frozen)]
pub(crate) struct Experiment(Arc<Definition>);

impl Experiment {
    fn new(definition: Result<Definition, InputError>) -> PyResult<Self> {
        Ok(Self(Arc::new(definition.map_err(input_error)?)))
    }

    /// Calls `ask` with the GIL released.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        options: &str,
        ask: impl FnOnce(&Definition, &Options) -> Result<T, InputError> + Send,
    ) -> PyResult<T> {
        let signals = Signals::default();
        let options = request::<OptionsRequest>(options)?.into_options(&signals);
        py.detach(|| ask(&self.0, &options)).map_err(|error| signals.or(error, input_error))
    }

    fn answer_json<T: Send + Serialize>(
        &self,
        py: Python<'_>,
        options: &str,
        ask: impl FnOnce(&Definition, &Options) -> Result<T, InputError> + Send,
    ) -> PyResult<String> {
        response(&self.answer(py, options, ask)?)
    }
}

#[pymethods]
impl Experiment {
    /// Reads the file at `path`.
    #[staticmethod]
    fn from_path(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::new(py.detach(|| Definition::from_path(&path)))
    }

    /// Reads a text in TOML, called `name` in messages; files that it names are relative to `folder`.
    #[staticmethod]
    fn from_text(name: &str, text: &str, folder: PathBuf) -> PyResult<Self> {
        Self::new(Definition::from_text(name, text, &folder))
    }

    /// Takes a JSON object, called `name` in messages; files that it names are relative to `folder`, or in `texts` by path.
    #[staticmethod]
    fn from_json(name: &str, keys: &str, folder: PathBuf, texts: BTreeMap<String, String>) -> PyResult<Self> {
        let definition = Definition::from_json(name, &request(keys)?, &folder);
        Self::new(definition.map(|definition| definition.with_texts(texts)))
    }

    /// Returns the text of an experiment file with the same keys.
    fn to_toml(&self) -> PyResult<String> {
        self.0.to_toml().map_err(input_error)
    }

    /// Plans its runs.
    fn plan(&self, py: Python<'_>, options: &str) -> PyResult<Plan> {
        self.answer(py, options, Definition::plan).map(Plan::from)
    }

    /// Returns the merged experiment, its grid and its predicted cost, without running it.
    fn check(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.answer_json(py, options, priolane_analysis::check::check)
    }

    /// Returns the switches, ports and hosts of its network, as the simulator builds it.
    fn network(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.answer_json(py, options, priolane_analysis::network::network)
    }

    /// Returns the flows of its first run as the text of a flow list, without running it.
    fn drawn(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.answer(py, options, priolane_analysis::drawn::drawn)
    }

    /// Returns the promised rates of long-lived flows at each sweep point, without running; rejects experiments without
    /// pricing.
    fn promised(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.answer_json(py, options, priolane_analysis::promised::promised)
    }
}
