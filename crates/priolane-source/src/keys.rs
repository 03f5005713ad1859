//! Tables of files as tables of keys: what `priolane_core::keys` reads from.

use priolane_core::keys::{self, Form, KeyError, Misfit, TableFault};

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

    fn missing(&self, key: &'static str, example: &str) -> InputError {
        self.lacks(key, example)
    }

    fn refuse(&self, misfit: Misfit) -> InputError {
        match misfit.key.and_then(|key| self.field(key)) {
            Some(field) => field.error(misfit.what, misfit.fix),
            None => self.error(misfit.what, misfit.fix),
        }
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

impl Field<'_> {
    /// Its value, read in the form `F`.
    ///
    /// # Errors
    /// What is wrong with it, at its place.
    pub fn read<T, F: Form<T>>(&self) -> Result<T, InputError> {
        F::read(&as_key_value(self.value()), &keys::Bounds::ANY).map_err(|error| refused(self, error))
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
        KeyError::Table(asked, fault) => {
            field.table().map_or_else(|error| error, |table| in_table(table, &asked, *fault))
        }
    }
}

/// The fault of a table that is a value, of which these keys were asked for.
fn in_table(mut table: Reader<'_>, asked: &[&'static str], fault: TableFault) -> InputError {
    for key in asked {
        table.take(key);
    }
    match fault {
        TableFault::Missing { key, example } => table.lacks(key, &example),
        TableFault::At(key, error) => match table.take(key) {
            Some(field) => refused(&field, error),
            None => table.lacks(key, ""),
        },
        TableFault::Misfit(misfit) => keys::Table::refuse(&table, misfit),
        TableFault::Unknown => {
            let origin = table.origin().clone();
            table
                .finish()
                .err()
                .unwrap_or_else(|| origin.error("", "there is an unknown key", "leave it out"))
        }
    }
}
