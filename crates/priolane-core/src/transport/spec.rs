//! Reads a transport from a file and writes it to one.

use std::sync::Arc;

use super::machines::Spec;
use super::registered::{self, RegisterError, Registration, registered};
use super::{Controller, window};
use crate::keys::{AnyError, KeyConflict, KeyInfo, Keys, Pairs, Table};

/// Adds a congestion controller of another crate to the transports that files can name.
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub fn register(registration: Registration) -> Result<(), RegisterError> {
    let name = registration.entry.name;
    if Spec::listed().contains(&name) {
        Err(RegisterError::Taken(name))
    } else {
        registered::add(registration)
    }
}

impl Keys for Spec {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let others = registered().iter().map(|other| other.entry.name);
        let words: Vec<(&str, &str)> =
            Self::listed().into_iter().chain(others).map(|name| (name, name)).collect();
        let Some(name) = table.take("kind", |value| value.word(&words))? else {
            return Err(table.missing("kind", "kind = \"dctcp\""));
        };
        if let Some(other) = Self::read_other(name, table)? {
            return Ok(other);
        }
        let controller = match registered().iter().find(|other| other.entry.name == name) {
            Some(other) => Controller::Registered((other.read)(table).map_err(AnyError::of::<T>)?),
            None => Controller::read(name, table)?.expect("invariant: the name is on one of the lists"),
        };
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

    /// Returns the path of the file that contains the code of its congestion controller, relative to the experiment;
    /// `None` for compiled code.
    pub fn source(&self) -> Option<String> {
        self.controller()?.part().source()
    }

    /// Takes the text of the file at [`Self::source`].
    ///
    /// # Errors
    /// Returns the first mistake in the text.
    pub fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        match self {
            Self::Window { controller, .. } => controller.part_mut().open(text),
            _ => Ok(()),
        }
    }

    /// Returns the code hash of a transport of another crate; `None` for one of this crate.
    pub fn code(&self) -> Option<u64> {
        let registration = registered().iter().find(|other| other.entry.name == self.name());
        registration.map(|other| other.code)
    }
}
