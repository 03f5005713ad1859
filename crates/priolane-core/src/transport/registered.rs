//! Congestion controllers of other crates.
//!
//! Schemes can name them in the transport row, like the controllers listed in `controllers.rs`. To run one needs its
//! endpoint type, which only the crate that registers it has compiled. A registered controller therefore carries its
//! engine, which `priolane_sim::register` makes.

use std::any::Any;
use std::fmt;

use super::ControllerParams;
use crate::finding::{Finding, NetworkFacts};
use crate::keys::Pairs;
use crate::registry::{Registered, Registry};

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

impl Registered for Box<dyn RegisteredController> {
    fn registry() -> &'static Registry<Self> {
        static CONTROLLERS: Registry<Box<dyn RegisteredController>> = Registry::new();
        &CONTROLLERS
    }
}
