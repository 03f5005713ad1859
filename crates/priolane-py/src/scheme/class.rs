//! A class in the text of a file: what the text declares, and the class itself.

use std::sync::{Arc, Mutex, PoisonError};

use priolane_core::ids::Class as Priority;
use priolane_core::keys::KeyConflict;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use super::class_name::{Attributes, ClassName, Scalar};
use crate::errors::InputError;

/// The Python module that reads and runs the texts of classes.
const MODULE: &str = "priolane.model.class_source";

/// A class of a file.
#[derive(Debug)]
pub(crate) struct Class {
    /// Its name.
    pub(super) name: ClassName,
    /// The text of its file.
    pub(super) text: Arc<str>,
    /// Whether its packets are ECN-capable.
    pub(super) is_ecn_capable: bool,
    contract: Contract,
    keys: Attributes,
    /// The class of the run that is carried out; each run of an engine runs the text again.
    object: Mutex<Option<Loaded>>,
}

/// A class whose text has been run.
#[derive(Debug)]
struct Loaded {
    class: Py<PyAny>,
    /// The methods that it may lack and has.
    has: Vec<String>,
}

/// The methods that a class must have, and may have, for the part that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    /// A congestion controller.
    Controller,
    /// A rule that assigns classes.
    Rule,
    /// An admission policy.
    Policy,
}

impl Contract {
    /// Returns the base class in `priolane.scheme`, whose abstract methods a class must have.
    fn base(self) -> &'static str {
        match self {
            Self::Controller => "CongestionControl",
            Self::Rule => "Rule",
            Self::Policy => "Admission",
        }
    }
}

/// The object follows from the rest.
impl PartialEq for Class {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text, &self.keys) == (&other.name, &other.text, &other.keys)
    }
}

impl Class {
    /// Reads what `text` declares of the class, without running it.
    ///
    /// # Errors
    /// Returns the first mistake in the text, or a key that is no attribute of the class.
    pub(super) fn read(
        py: Python<'_>,
        contract: Contract,
        (name, keys): (&ClassName, &Attributes),
        text: &Arc<str>,
    ) -> Result<Self, KeyConflict> {
        let declared = || {
            let module = py.import(MODULE)?;
            let arguments = (name.file(), &name.class, &**text, dict(py, keys)?, contract.base());
            let found = module.call_method1("declared", arguments)?;
            found.extract::<(bool, String, String, String)>()
        };
        match declared() {
            Ok((is_ecn_capable, _, what, _)) if what.is_empty() => Ok(Self {
                name: name.clone(),
                text: text.clone(),
                is_ecn_capable,
                contract,
                keys: keys.clone(),
                object: Mutex::new(None),
            }),
            Ok((_, key, what, fix)) => {
                Err(KeyConflict::of(if key == "keys" { "keys" } else { "class" }, what, fix))
            }
            Err(error) => Err(KeyConflict::of("class", error.to_string(), "a file that Python can read")),
        }
    }

    /// Returns the class, with the keys as its attributes. The text is run once in a run.
    ///
    /// # Errors
    /// Returns an `InputError` with the traceback if the text cannot be run, or with what the class lacks.
    pub(super) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(class) = self.with(|loaded| loaded.as_ref().map(|loaded| loaded.class.clone_ref(py))) {
            return Ok(class.into_bound(py));
        }
        let (file, keys) = (self.name.file(), dict(py, &self.keys)?);
        let arguments = (file, &self.name.class, &*self.text, keys, self.contract.base());
        let module = py.import(MODULE)?;
        let class = module.call_method1("loaded", arguments)?;
        let has = module.call_method1("own_methods", (&class, self.contract.base()))?.extract()?;
        self.with(|loaded| *loaded = Some(Loaded { class: class.clone().unbind(), has }));
        Ok(class)
    }

    /// Returns true if the class, which has been loaded, has this method of its contract.
    pub(super) fn has(&self, method: &str) -> bool {
        self.with(|loaded| loaded.as_ref().is_some_and(|loaded| loaded.has.iter().any(|own| own == method)))
    }

    /// Forgets the class at the end of a run, so that nothing that its text keeps reaches the next one.
    pub(super) fn unload(&self) {
        drop(self.with(Option::take));
    }

    /// Calls `look` with the class, if it has been loaded. No Python code runs meanwhile.
    fn with<T>(&self, look: impl FnOnce(&mut Option<Loaded>) -> T) -> T {
        look(&mut self.object.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn dict<'py>(py: Python<'py>, keys: &Attributes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in &keys.0 {
        match value {
            Scalar::Truth(truth) => dict.set_item(name, truth)?,
            Scalar::Whole(n) => dict.set_item(name, n)?,
            Scalar::Number(x) => dict.set_item(name, x)?,
            Scalar::Text(text) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}

/// Returns `error` as text, with its traceback.
pub(super) fn traceback(py: Python<'_>, error: &PyErr) -> String {
    // Python keeps the traceback beside the value until the exception is handled.
    let text = || {
        error.value(py).setattr(intern!(py, "__traceback__"), error.traceback(py))?;
        py.import(MODULE)?.call_method1("traceback_text", (error.value(py),))?.extract::<String>()
    };
    text().unwrap_or_else(|_| error.to_string())
}

/// Returns the `InputError` that an object of the class did or has something wrong.
pub(super) fn wrong(what: String) -> PyErr {
    InputError::new_err(what)
}

/// Returns a priority that an object returned, of `levels`.
///
/// # Errors
/// Returns an `InputError` if it is not a whole number below `levels`.
pub(super) fn priority(answer: &Bound<'_, PyAny>, levels: u8) -> PyResult<Priority> {
    let whole = answer.extract::<u8>().ok().filter(|&priority| priority < levels);
    let Some(priority) = whole.filter(|_| !answer.is_instance_of::<PyBool>()) else {
        let of = levels - 1;
        return Err(wrong(format!("it returned {}, which is not a priority from 0 to {of}", answer.repr()?)));
    };
    Ok(priority)
}
