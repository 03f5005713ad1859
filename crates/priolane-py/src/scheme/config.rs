//! The keys of `transport = { kind = "python", ... }`.

use std::sync::Arc;

use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::transport::{ControllerFailure, ControllerParams};
use pyo3::prelude::*;

use super::class::Class;
use super::class_name::{Attributes, ClassName};
use super::failure;

/// Instructions per packet-hop relative to DCTCP: a run takes about 2.5 times as long.
const COST: f64 = 2.5;

/// The class of a congestion controller.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "python")]
#[part(
    name = "python",
    summary = "a congestion controller that is a Python class",
    source = "docs/notebook-scheme.md",
    provides = [Ranks],
    deploy = [CongestionModule]
)]
pub(crate) struct Config {
    /// The file and the class: `newreno:NewReno` is the class `NewReno` in `newreno.py`, beside the experiment.
    #[key(required = "class = \"newreno:NewReno\"", source = "docs/notebook-scheme.md")]
    pub(crate) class: ClassName,
    /// Values for attributes of the class, by name.
    #[key(default = Attributes::default(), shown = "none", skip_default, source = "docs/notebook-scheme.md")]
    pub(crate) keys: Attributes,
    /// The window of a new flow in bytes.
    #[keys(skip)]
    pub(super) first_window: Option<u64>,
    /// The class, once its file has been read.
    #[keys(skip)]
    pub(super) read: Option<Arc<Class>>,
}

impl Config {
    /// Returns what distinguishes the class, with the values of its attributes, from another; `None` before its file has been
    /// read.
    pub(super) fn code(&self) -> Option<(String, Arc<str>)> {
        self.read.as_ref().map(|class| (format!("{} {:?}", self.class, self.keys), class.text.clone()))
    }

    /// Runs the text of the class's file.
    ///
    /// # Errors
    /// Returns an `InputError` with the traceback.
    pub(super) fn load(&self, py: Python<'_>) -> PyResult<()> {
        self.read.as_ref().map_or(Ok(()), |class| class.object(py).map(drop))
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.first_window = Some(bytes);
    }

    fn cost(&self) -> f64 {
        COST
    }

    fn source(&self) -> Option<String> {
        Some(self.class.file())
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        let class = Python::attach(|py| Class::read(py, (&self.class, &self.keys), text))?;
        self.read = Some(Arc::new(class));
        Ok(())
    }

    fn is_single_threaded(&self) -> bool {
        true
    }

    fn take_failure(&self) -> Option<ControllerFailure> {
        if let Some(class) = &self.read {
            class.unload();
        }
        failure::take()
    }
}
