//! Tables of files as the tables from which `priolane_core::keys` reads.

use priolane_core::keys::{self, Form, KeyConflict, KeyError, Keys};

use super::reader::{Field, Reader};
use super::{InputError, Mistakes, Value};

impl keys::Table for Reader<'_> {
    type Error = InputError;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(keys::Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, InputError> {
        let Some(field) = self.take(key) else { return Ok(None) };
        read(as_key_value(field.value())).map(Some).map_err(|error| refused(&field, error))
    }

    fn has(&self, key: &str) -> bool {
        Reader::has(self, key)
    }

    fn missing(&self, key: &'static str, example: &str) -> InputError {
        self.lacks(key, example)
    }

    fn refuse(&self, misfit: KeyConflict) -> InputError {
        let inside = |key: &str| {
            let mut path = key.split('.');
            let first = path.next().and_then(|key| self.field(key))?;
            path.try_fold(first, |field, key| field.inner(key))
        };
        match misfit.key.and_then(inside) {
            Some(field) => field.error(misfit.what, misfit.fix),
            None => self.error(misfit.what, misfit.fix),
        }
    }
}

impl Field<'_> {
    /// Reads the value in the form `F`.
    ///
    /// # Errors
    /// Returns the mistake in the value.
    pub fn read<T, F: Form<T>>(&self) -> Result<T, InputError> {
        F::read(&as_key_value(self.value()), &keys::Bounds::ANY).map_err(|error| refused(self, error))
    }

    /// Reads a table of the keys `K`.
    ///
    /// # Errors
    /// All mistakes, except those that may follow from others. Reading stops at a required key that is invalid.
    pub fn keys<K: Keys>(&self) -> Result<K, InputError> {
        let mut table = CollectingTable { table: self.table()?, found: Mistakes::new(&self.origin().file) };
        let read = match K::read(&mut table) {
            Ok(keys) => Some(keys),
            Err(None) => None,
            Err(Some(error)) => table.found.keep(Err(error)),
        };
        let CollectingTable { mut table, mut found } = table;
        if !found.is_empty() {
            // Keys after a mistake may not have been read.
            let mut known = Vec::new();
            K::describe(&mut known);
            known.iter().for_each(|key| drop(table.take(key.name)));
        }
        found.keep(table.finish());
        found.done(read)
    }

    /// Returns the table with these keys marked as read.
    fn table_of(&self, read: &[&'static str]) -> Result<Reader<'_>, InputError> {
        let mut table = self.table()?;
        for key in read {
            table.take(key);
        }
        Ok(table)
    }
}

/// A table that collects mistakes in values and continues as if their keys were missing. An error is `None` if it may
/// follow from a collected mistake.
struct CollectingTable<'a> {
    table: Reader<'a>,
    found: Mistakes,
}

impl keys::Table for CollectingTable<'_> {
    type Error = Option<InputError>;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(keys::Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Self::Error> {
        Ok(self.found.keep(keys::Table::take(&mut self.table, key, read)).flatten())
    }

    fn has(&self, key: &str) -> bool {
        self.table.has(key)
    }

    fn missing(&self, key: &'static str, example: &str) -> Self::Error {
        (!self.table.has(key)).then(|| self.table.lacks(key, example))
    }

    fn refuse(&self, misfit: KeyConflict) -> Self::Error {
        self.found.is_empty().then(|| keys::Table::refuse(&self.table, misfit))
    }
}

fn as_key_value(value: &Value) -> keys::Value<'_> {
    match value {
        Value::Text(text) => keys::Value::Text(text),
        Value::Integer(n) => keys::Value::Integer(*n),
        Value::Float(x) => keys::Value::Float(*x),
        Value::Bool(truth) => keys::Value::Bool(*truth),
        Value::List(items) => keys::Value::List(items.iter().map(|item| as_key_value(&item.value)).collect()),
        Value::Table(table) => {
            keys::Value::Table(table.entries().map(|(key, node)| (key, as_key_value(&node.value))).collect())
        }
    }
}

fn refused(field: &Field<'_>, error: KeyError) -> InputError {
    match error {
        KeyError::Wrong { what, fix } => field.error(what, fix),
        KeyError::Word { given, known } => field.no_such(&given, &known),
        KeyError::Item(index, inner) => {
            let items = field.list().unwrap_or_default();
            refused(items.get(index).unwrap_or(field), *inner)
        }
        KeyError::Several(errors) => {
            let mut found = Mistakes::new(&field.origin().file);
            found.each(errors, |error| Err::<(), _>(refused(field, error)));
            found.finish().expect_err("invariant: several mistakes are not none")
        }
        KeyError::Key(key, inner) => refused(field.inner(&key).as_ref().unwrap_or(field), *inner),
        KeyError::Missing { key, example, read } => match field.table_of(&read) {
            Ok(table) => table.lacks(key, &example),
            Err(error) => error,
        },
        KeyError::Unknown(known) => match field.table_of(&known).and_then(Reader::finish) {
            Err(error) => error,
            Ok(()) => field.error("the table has unknown keys", "Remove the unknown keys"),
        },
    }
}
