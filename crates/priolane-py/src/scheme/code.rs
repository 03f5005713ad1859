//! The keys that name a Python class, shared by all parts that are Python classes.

use std::sync::Arc;

use priolane_core::file_code::CodeFailure;
use priolane_core::keys::{KeyConflict, Keys};
use pyo3::prelude::*;

use super::class::{Class, Contract};
use super::class_name::{Attributes, ClassName};
use super::failure;

/// A class in a file of the experiment, and values of its attributes.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(group = "python")]
pub(crate) struct ClassCode {
    /// The file and the class: `mine:Mine` is the class `Mine` in `mine.py`, beside the experiment.
    #[key(required = "class = \"mine:Mine\"", source = "docs/notebook-scheme.md")]
    pub(crate) class: ClassName,
    /// Values for attributes of the class, by name.
    #[key(default = Attributes::default(), shown = "none", skip_default, source = "docs/notebook-scheme.md")]
    pub(crate) keys: Attributes,
    /// The class, once its file has been read.
    #[keys(skip)]
    pub(super) read: Option<Arc<Class>>,
}

impl ClassCode {
    /// Returns what distinguishes the class, with the values of its attributes, from another; `None` before its file has been
    /// read.
    pub(super) fn identity(&self) -> Option<(String, Arc<str>)> {
        self.read.as_ref().map(|class| (format!("{} {:?}", self.class, self.keys), class.text.clone()))
    }

    /// Runs the text of the class's file.
    ///
    /// # Errors
    /// Returns an `InputError` with the traceback.
    pub(super) fn load(&self, py: Python<'_>) -> PyResult<()> {
        self.read.as_ref().map_or(Ok(()), |class| class.object(py).map(drop))
    }

    /// As [`FileCode::path`](priolane_core::file_code::FileCode::path).
    pub(super) fn path(&self) -> String {
        self.class.file()
    }

    /// Takes the text of the file, whose class is to have the methods of `contract`.
    ///
    /// # Errors
    /// Returns the first mistake in the text.
    pub(super) fn open(&mut self, contract: Contract, text: &Arc<str>) -> Result<(), KeyConflict> {
        let class = Python::attach(|py| Class::read(py, contract, (&self.class, &self.keys), text))?;
        self.read = Some(Arc::new(class));
        Ok(())
    }

    /// As [`FileCode::take_failure`](priolane_core::file_code::FileCode::take_failure).
    pub(super) fn take_failure(&self) -> Option<CodeFailure> {
        if let Some(class) = &self.read {
            class.unload();
        }
        failure::take()
    }
}
