//! Parts of schemes that are Python classes, of the kind `python`: congestion controllers, rules that assign classes, and
//! admission policies.
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
mod code;
mod config;
mod controller;
mod events;
mod failure;
mod policy;
mod request;
mod rule;
mod running;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use priolane_core::admit::Policy;
use priolane_lab::execute::{Failure, Settings};
use priolane_lab::plan::Run;
use priolane_results::store::{RunId, Store};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::errors::{InputError, failed};
use code::ClassCode;
use config::Config;
use controller::Controller;
pub(crate) use failure::{forget, is_pending};
use policy::PolicyClass;
use rule::RuleClass;
pub(crate) use running::running;

/// The classes, each with the values of its attributes, of which a run was verified in this process.
static VERIFIED: Mutex<Option<HashSet<Code>>> = Mutex::new(None);

/// The name of a class with the values of its attributes, and the text of its file.
type Code = (String, Arc<str>);

/// Registers the parts, and adds the types of events to `module`.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The version of results covers the code of this crate.
    let registered = priolane_sim::register::<Controller>(0)
        .and_then(|()| priolane_core::assign::register::<RuleClass>(0))
        .and_then(|()| priolane_core::admit::register::<PolicyClass>(0));
    registered.map_err(|error| PyImportError::new_err(error.to_string()))?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Flow>()?;
    module.add_class::<events::Loss>()?;
    module.add_class::<request::Host>()?;
    module.add_class::<request::Report>()?;
    module.add_class::<request::Request>()
}

/// Returns the Python classes of `run` that are called during the run, by row.
fn called(run: &Run) -> Vec<&ClassCode> {
    let Some(scheme) = run.experiment.scheme.get(&run.scheme) else { return Vec::new() };
    let controller = match scheme.transport.controller() {
        Some(priolane_core::transport::Controller::Registered(other)) => {
            other.config().downcast_ref().map(|config: &Config| &config.code)
        }
        _ => None,
    };
    let policy = match &scheme.admit {
        Policy::Registered(other) => other.as_any().downcast_ref().map(|policy: &PolicyClass| &policy.code),
        _ => None,
    };
    controller.into_iter().chain(policy).collect()
}

/// Returns true if a Python class is called during `run`.
pub(crate) fn is_python(run: &Run) -> bool {
    !called(run).is_empty()
}

/// Calls `execute` with the settings that suit `run`. With Python classes, the run keeps the interpreter; the first run of
/// each class in a process is verified, unless `store` has that run.
///
/// # Errors
/// Returns an `InputError` if a class cannot be loaded, fails, or is refused by the verification.
pub(crate) fn carried_out<T: Send>(
    py: Python<'_>,
    (run, store): (&Run, Option<&Store>),
    settings: &Settings,
    execute: impl FnOnce(&Settings) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let what = format!("run {}", run.id);
    let execute = |settings: &Settings| running(|| execute(settings));
    let classes = called(run);
    if classes.is_empty() {
        return py.detach(|| execute(settings)).map_err(|failure| failed(failure, &what));
    }
    let is_stored = store.zip(RunId::new(&run.id)).is_some_and(|(store, id)| store.accept(&id).is_some());
    let codes: Vec<Code> = classes.iter().filter_map(|class| class.identity()).collect();
    let first = !is_stored && codes.iter().any(|code| !verified(|known| known.contains(code)));
    if !is_stored {
        classes.iter().try_for_each(|class| class.load(py))?;
    }
    let settings = Settings { verify: settings.verify || first, ..*settings };
    let done = execute(&settings).map_err(|failure| refused(failure, &classes, &what))?;
    if first {
        verified(|known| known.extend(codes));
    }
    Ok(done)
}

fn verified<T>(ask: impl FnOnce(&mut HashSet<Code>) -> T) -> T {
    ask(VERIFIED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Converts the failure of a run of classes. Engines call the objects of different flows and hosts in different orders: a
/// class that computes from anything but the events of its own flow or host gives two outcomes.
fn refused(failure: Failure, classes: &[&ClassCode], what: &str) -> PyErr {
    match failure {
        Failure::Engines(difference) => {
            let names: Vec<String> = classes.iter().map(|class| class.class.to_string()).collect();
            InputError::new_err(format!(
                "{what}: {} gives two outcomes on the two engines ({difference}). An object must compute from the events of \
                 its own flow, or of its own host, alone: keep state in `self`, not in the class or the module, draw random \
                 numbers from `flow.random` or `u`, and read no clock and no file",
                names.join(" with ")
            ))
        }
        failure => failed(failure, what),
    }
}
