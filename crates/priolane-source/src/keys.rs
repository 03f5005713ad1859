//! Tables of files as tables of keys: what `priolane_core::keys` reads from.

use priolane_core::keys::{self, Form, KeyError, Misfit};

use super::reader::{Field, Reader};
use super::{InputError, Value};

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

    fn refuse(&self, misfit: Misfit) -> InputError {
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
    /// The value, in the form `F`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<T, F: Form<T>>(&self) -> Result<T, InputError> {
        F::read(&as_key_value(self.value()), &keys::Bounds::ANY).map_err(|error| refused(self, error))
    }

    /// A table of which these keys have been read.
    fn table_of(&self, read: &[&'static str]) -> Result<Reader<'_>, InputError> {
        let mut table = self.table()?;
        for key in read {
            table.take(key);
        }
        Ok(table)
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
        KeyError::Key(key, inner) => refused(field.inner(&key).as_ref().unwrap_or(field), *inner),
        KeyError::Missing { key, example, read } => match field.table_of(&read) {
            Ok(table) => table.lacks(key, &example),
            Err(error) => error,
        },
        KeyError::Unknown(known) => match field.table_of(&known).and_then(Reader::finish) {
            Err(error) => error,
            Ok(()) => field.error("this table has keys that nobody reads", "fewer keys"),
        },
    }
}
