//! Congestion controllers of other crates.
//!
//! A process registers them before it reads its first scheme. From then on they are words of the transport row, like those of
//! the list in `controllers.rs`. An endpoint's type is needed to run one, and only the crate that registers it has compiled
//! that: a registered controller therefore carries its engine, which `priolane_sim::register` makes.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::OnWindow;
use crate::keys::{AnyError, AnyTable, Pairs};
use crate::part::Entry;

/// The parameters of a congestion controller of another crate.
pub trait Registered: OnWindow + fmt::Debug + Send + Sync {
    /// Its name in files.
    fn name(&self) -> &'static str;

    /// Appends its keys to `out`.
    fn write(&self, out: &mut Pairs);

    /// A copy.
    fn boxed(&self) -> Box<dyn Registered>;

    /// Whether `other` is the same controller with the same parameters.
    fn equals(&self, other: &dyn Registered) -> bool;

    /// The parameters, to be compared.
    fn config(&self) -> &dyn Any;

    /// What runs it: a type of `priolane-sim`.
    fn engine(&self) -> &dyn Any;
}

impl Clone for Box<dyn Registered> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl PartialEq for dyn Registered {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// Reads the keys of a controller of another crate.
pub type ReadKeys = fn(&mut dyn AnyTable) -> Result<Box<dyn Registered>, AnyError>;

/// What is to be known of a controller of another crate before a file names it.
#[derive(Clone, Debug)]
pub struct Registration {
    /// What the catalogue says of it.
    pub entry: Entry,
    /// Reads its keys.
    pub read: ReadKeys,
    /// Stands for the code that computes its results: part of the ids of its runs.
    pub code: u64,
}

/// Why a controller cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegisterError {
    /// Schemes have been read already, perhaps with this name unknown.
    #[error("a transport is registered before the first scheme is read")]
    Late,
    /// There is a transport of this name.
    #[error("there is a transport {0:?} already")]
    Taken(&'static str),
}

static PENDING: Mutex<Vec<Registration>> = Mutex::new(Vec::new());
static REGISTERED: OnceLock<Vec<Registration>> = OnceLock::new();

/// Adds a controller to those of other crates.
///
/// # Errors
/// As [`RegisterError`] says.
pub(super) fn add(registration: Registration) -> Result<(), RegisterError> {
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if REGISTERED.get().is_some() {
        return Err(RegisterError::Late);
    }
    let name = registration.entry.name;
    if pending.iter().any(|other| other.entry.name == name) {
        return Err(RegisterError::Taken(name));
    }
    pending.push(registration);
    Ok(())
}

/// The controllers of other crates; none can be added once they were asked for.
pub fn registered() -> &'static [Registration] {
    REGISTERED.get_or_init(|| std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner)))
}
