//! Congestion controllers of other crates.
//!
//! A process registers them before it reads its first scheme. Schemes can then name them in the transport
//! row, like the controllers listed in `controllers.rs`. To run one needs its endpoint type, which only the
//! crate that registers it has compiled. A registered controller therefore carries its engine, which
//! `priolane_sim::register` makes.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::ControllerParams;
use crate::finding::{Finding, NetworkFacts};
use crate::keys::{AnyError, AnyTable, Pairs};
use crate::part::Entry;

/// The parameters of a congestion controller of another crate.
pub trait RegisteredController: ControllerParams + fmt::Debug + Send + Sync {
    /// The controller's name in files.
    fn name(&self) -> &'static str;

    /// Appends the keys of the controller to `out`.
    fn write(&self, out: &mut Pairs);

    /// Returns which of its settings do not go together on a network, as [`crate::part::Part::findings`].
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding>;

    /// Clones the parameters into a new box.
    fn boxed(&self) -> Box<dyn RegisteredController>;

    /// Returns true if `other` is the same controller with the same parameters.
    fn equals(&self, other: &dyn RegisteredController) -> bool;

    /// Returns the parameters, for comparison.
    fn config(&self) -> &dyn Any;

    /// Returns the engine that runs it, a type of `priolane-sim`.
    fn engine(&self) -> &dyn Any;
}

impl Clone for Box<dyn RegisteredController> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl PartialEq for dyn RegisteredController {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// Reads the keys of a controller of another crate.
pub type ReadKeys = fn(&mut dyn AnyTable) -> Result<Box<dyn RegisteredController>, AnyError>;

/// A congestion controller of another crate, as registered before a file names it.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Its entry in the catalogue.
    pub entry: Entry,
    /// Reads its keys.
    pub read: ReadKeys,
    /// Hash of the code that computes its results; part of the ids of its runs.
    pub code: u64,
}

/// The reason why a controller cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegisterError {
    /// Schemes have been read already, possibly with this name unknown.
    #[error("a transport must be registered before the first scheme is read")]
    Late,
    /// A transport with this name exists.
    #[error("a transport named {0:?} exists already")]
    Taken(&'static str),
}

static PENDING: Mutex<Vec<Registration>> = Mutex::new(Vec::new());
static REGISTERED: OnceLock<Vec<Registration>> = OnceLock::new();

/// Adds a controller of another crate.
///
/// # Errors
/// Fails as [`RegisterError`] describes.
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

/// Returns the controllers of other crates. After the first call none can be added.
pub fn registered() -> &'static [Registration] {
    REGISTERED.get_or_init(|| std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner)))
}
