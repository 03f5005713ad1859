//! A congestion controller that is a Python class: the transport `kind = "python"`.
//!
//! ```text
//! class = "newreno:NewReno"  ─► newreno.py, a file of the experiment: its digest is in run ids, units carry it
//! reading a scheme           ─► priolane.model.class_source.declared: reads the text, and runs nothing of it
//! before a run               ─► priolane.model.class_source.loaded: runs the text, once for each run of an engine
//! a flow opens               ─► an object of the class; each event is a call, after which its `cwnd` is read
//! an exception               ─► `failure`: no class is called again, the run stops, and its outcome is void
//! ```
//!
//! All calls of a run are made on the thread that starts it, which keeps the interpreter for the whole run.

mod class;
mod class_name;
mod config;
mod controller;
mod events;
mod failure;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use priolane_lab::execute::{Failure, Settings};
use priolane_lab::plan::Run;
use priolane_results::store::{RunId, Store};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::errors::{InputError, failed};
use config::Config;
use controller::Controller;
pub(crate) use failure::{forget, is_pending};

/// The classes, each with the values of its attributes, of which a run was verified in this process.
static VERIFIED: Mutex<Option<HashSet<Code>>> = Mutex::new(None);

/// The name of a class with the values of its attributes, and the text of its file.
type Code = (String, Arc<str>);

/// Registers the transport, and adds the types of events to `module`.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The version of results covers the code of this crate.
    priolane_sim::register::<Controller>(0).map_err(|error| PyImportError::new_err(error.to_string()))?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Flow>()?;
    module.add_class::<events::Loss>()
}

/// Returns the keys of the class that controls the flows of `run`; `None` for another transport.
fn keys_of(run: &Run) -> Option<&Config> {
    let scheme = run.experiment.scheme.get(&run.scheme)?;
    match scheme.transport.controller()? {
        priolane_core::transport::Controller::Registered(other) => other.config().downcast_ref(),
        _ => None,
    }
}

/// Returns true if a Python class controls the flows of `run`.
pub(crate) fn is_python(run: &Run) -> bool {
    keys_of(run).is_some()
}

/// Calls `execute` with the settings that suit `run`. For a Python class, the run keeps the interpreter; the first run of
/// a class in a process is verified, unless `store` has that run.
///
/// # Errors
/// Returns an `InputError` if the class cannot be loaded, fails, or is refused by the verification.
pub(crate) fn carried_out<T: Send>(
    py: Python<'_>,
    (run, store): (&Run, Option<&Store>),
    settings: &Settings,
    execute: impl FnOnce(&Settings) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let what = format!("run {}", run.id);
    let Some(keys) = keys_of(run) else {
        return py.detach(|| execute(settings)).map_err(|failure| failed(failure, &what));
    };
    let is_stored = store.zip(RunId::new(&run.id)).is_some_and(|(store, id)| store.accept(&id).is_some());
    let first = !is_stored && keys.code().is_some_and(|code| !verified(|known| known.contains(&code)));
    if !is_stored {
        keys.load(py)?;
    }
    let settings = Settings { verify: settings.verify || first, ..*settings };
    let done = execute(&settings).map_err(|failure| refused(failure, keys, &what))?;
    if let Some(code) = keys.code().filter(|_| first) {
        verified(|known| known.insert(code));
    }
    Ok(done)
}

fn verified<T>(ask: impl FnOnce(&mut HashSet<Code>) -> T) -> T {
    ask(VERIFIED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Converts the failure of a run of a class. Engines call the objects of different flows in different orders: a class that
/// computes from anything but its own flow's events gives two outcomes.
fn refused(failure: Failure, keys: &Config, what: &str) -> PyErr {
    match failure {
        Failure::Engines(difference) => InputError::new_err(format!(
            "{what}: {} gives two outcomes on the two engines ({difference}). A class must compute from the events of its \
             own flow alone: keep state in `self`, not in the class or the module, draw random numbers from `flow.random`, \
             and read no clock and no file",
            keys.class
        )),
        failure => failed(failure, what),
    }
}
