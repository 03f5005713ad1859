//! Object-safe tables of keys: readers of keys can be stored in a list, independent of the type of the table.

use std::any::Any;

use super::{KeyConflict, KeyError, Table, Value};

/// A type-erased [`Table`].
pub trait AnyTable {
    /// As [`Table::take`]; returns whether the table has the key.
    ///
    /// # Errors
    /// The error of `read`, with the location of the value.
    fn take_any(
        &mut self,
        key: &'static str,
        read: &mut dyn FnMut(Value<'_>) -> Result<(), KeyError>,
    ) -> Result<bool, AnyError>;

    /// As [`Table::has`].
    fn has_any(&self, key: &str) -> bool;

    /// As [`Table::missing`].
    fn missing_any(&self, key: &'static str, example: &str) -> AnyError;

    /// As [`Table::refuse`].
    fn refuse_any(&self, misfit: KeyConflict) -> AnyError;
}

/// A type-erased error of a table.
#[derive(Debug)]
pub struct AnyError(Box<dyn Any>);

impl AnyError {
    /// Returns the error as that of the table it came from.
    ///
    /// # Panics
    /// If the table has another error type.
    pub fn of<T: Table>(self) -> T::Error {
        *self.0.downcast().expect("invariant: the error of the table that was read")
    }
}

impl<T: Table> AnyTable for T {
    fn take_any(
        &mut self,
        key: &'static str,
        read: &mut dyn FnMut(Value<'_>) -> Result<(), KeyError>,
    ) -> Result<bool, AnyError> {
        let taken = self.take(key, read).map_err(|error| AnyError(Box::new(error)))?;
        Ok(taken.is_some())
    }

    fn has_any(&self, key: &str) -> bool {
        self.has(key)
    }

    fn missing_any(&self, key: &'static str, example: &str) -> AnyError {
        AnyError(Box::new(self.missing(key, example)))
    }

    fn refuse_any(&self, misfit: KeyConflict) -> AnyError {
        AnyError(Box::new(self.refuse(misfit)))
    }
}

/// Adapts `dyn AnyTable` to a table that [`super::Keys::read`] accepts.
pub struct DynTable<'t>(pub &'t mut dyn AnyTable);

impl std::fmt::Debug for DynTable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opaque").finish_non_exhaustive()
    }
}

impl Table for DynTable<'_> {
    type Error = AnyError;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, AnyError> {
        let (mut read, mut found) = (Some(read), None);
        self.0.take_any(key, &mut |value| {
            let read = read.take().expect("invariant: a value is read once");
            found = Some(read(value)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn has(&self, key: &str) -> bool {
        self.0.has_any(key)
    }

    fn missing(&self, key: &'static str, example: &str) -> AnyError {
        self.0.missing_any(key, example)
    }

    fn refuse(&self, misfit: KeyConflict) -> AnyError {
        self.0.refuse_any(misfit)
    }
}
