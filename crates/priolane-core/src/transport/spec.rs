//! Reads a transport from a file and writes it to one.

use super::machines::Spec;
use super::registered::RegisteredController;
use super::{Controller, window};
use crate::file_code::FileCode;
use crate::keys::{KeyInfo, Keys, Pairs, Table};
use crate::registry::{RegisterError, Registered, Registration};

/// Adds a congestion controller of another crate to the transports that files can name.
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub fn register(registration: Registration<Box<dyn RegisteredController>>) -> Result<(), RegisterError> {
    <Box<dyn RegisteredController>>::registry().add(registration, &Spec::listed())
}

impl Keys for Spec {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let registry = <Box<dyn RegisteredController>>::registry();
        let words: Vec<(&str, &str)> =
            Self::listed().into_iter().chain(registry.names()).map(|name| (name, name)).collect();
        let Some(name) = table.take("kind", |value| value.word(&words))? else {
            return Err(table.missing("kind", "kind = \"dctcp\""));
        };
        if let Some(other) = Self::read_other(name, table)? {
            return Ok(other);
        }
        let controller = Controller::read(name, table)?.expect("invariant: the name is on one of the lists");
        let window = window::Config::read(table)?;
        controller.part().fits(&window).map_err(|misfit| table.refuse(misfit))?;
        Ok(Self::Window { controller, window: Box::new(window) })
    }

    fn write(&self, out: &mut Pairs) {
        self.write_all(out);
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        out.extend(Self::entries().into_iter().flat_map(|entry| entry.parameters));
    }
}

impl serde::Serialize for Spec {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        crate::keys::serialize(self, s)
    }
}

impl Spec {
    /// Returns the file names of the transports of this crate.
    pub(super) fn listed() -> Vec<&'static str> {
        Controller::NAMES.iter().chain(Self::OTHERS).copied().collect()
    }

    /// Returns the parameters of the window transport; `None` for a transport that does not use it.
    pub fn window(&self) -> Option<&window::Config> {
        match self {
            Self::Window { window, .. } => Some(window),
            _ => None,
        }
    }

    /// Returns the congestion controller; `None` for a transport that does not use the window transport.
    pub fn controller(&self) -> Option<&Controller> {
        match self {
            Self::Window { controller, .. } => Some(controller),
            _ => None,
        }
    }

    /// Returns the code of its congestion controller that is in a file; `None` for compiled code.
    pub fn file_code(&self) -> Option<&dyn FileCode> {
        self.controller()?.part().file_code()
    }

    /// As [`Self::file_code`].
    pub fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        match self {
            Self::Window { controller, .. } => controller.part_mut().file_code_mut(),
            _ => None,
        }
    }

    /// Returns the code hash of a transport of another crate; `None` for one of this crate.
    pub fn code(&self) -> Option<u64> {
        self.controller()?.code()
    }
}
