//! Tables of files as the tables from which `priolane_core::keys` reads.

use priolane_core::keys::{self, Form, KeyConflict, KeyError, KeyInfo, Keys};

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

    fn expect(&mut self, keys: &[&'static str]) {
        keys.iter().for_each(|key| drop(self.take(key)));
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
        let mut table = self.key_reader()?;
        let read = table.read();
        table.finish(read)
    }

    /// Returns a reader of the keys of this table, which may belong to several structs.
    ///
    /// # Errors
    /// The value is not a table.
    pub fn key_reader(&self) -> Result<KeyReader<'_>, InputError> {
        Ok(KeyReader { table: self.table()?, found: Mistakes::new(&self.origin().file) })
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
#[derive(Debug)]
pub struct KeyReader<'a> {
    table: Reader<'a>,
    found: Mistakes,
}

impl<'a> KeyReader<'a> {
    /// Creates a reader of the keys of `table`.
    pub fn new(table: Reader<'a>) -> Self {
        let found = Mistakes::new(&table.origin().file);
        Self { table, found }
    }

    /// Reads the keys `K`; `None` after a mistake that leaves no value.
    pub fn read<K: Keys>(&mut self) -> Option<K> {
        self.read_by(K::read, K::describe)
    }

    /// Reads the keys `K`; `None` after any mistake in them.
    pub fn read_whole<K: Keys>(&mut self) -> Option<K> {
        let before = self.found.listed();
        let keys = self.read();
        keys.filter(|_| self.found.listed() == before)
    }

    /// Reads keys by `read`; `describe` appends the descriptions of all keys that it may read.
    pub fn read_by<V>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<V, Option<InputError>>,
        describe: impl FnOnce(&mut Vec<KeyInfo>),
    ) -> Option<V> {
        let before = self.found.is_empty();
        let value = match read(self) {
            Ok(value) => Some(value),
            Err(None) => None,
            Err(Some(error)) => self.found.keep(Err(error)),
        };
        if !before || !self.found.is_empty() {
            // Keys after a mistake may not have been read.
            let mut known = Vec::new();
            describe(&mut known);
            known.iter().for_each(|key| drop(self.table.take(key.name)));
        }
        value
    }

    /// Removes `key` and returns its value, if there is one.
    pub fn take_field(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.table.take(key)
    }

    /// Returns the value of `key`, if there is one, without removing it.
    pub fn field(&self, key: &str) -> Option<Field<'a>> {
        self.table.field(key)
    }

    /// Returns the mistakes so far, to add others.
    pub fn mistakes(&mut self) -> &mut Mistakes {
        &mut self.found
    }

    /// Returns the table, to read values that are not declared, and the mistakes so far.
    pub fn split_mut(&mut self) -> (&mut Reader<'a>, &mut Mistakes) {
        (&mut self.table, &mut self.found)
    }

    /// Rejects all keys that were not read, and returns `value`.
    ///
    /// # Errors
    /// All mistakes.
    pub fn finish<V>(self, value: Option<V>) -> Result<V, InputError> {
        let Self { table, mut found } = self;
        found.keep(table.finish());
        found.done(value)
    }
}

impl keys::Table for KeyReader<'_> {
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

    fn expect(&mut self, keys: &[&'static str]) {
        self.table.expect(keys);
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
