//! Tables of files without a file.

use priolane_core::keys::{KeyConflict, KeyError, Pairs, Table, Value, WrittenValue};

/// A table of a file in memory.
#[derive(Clone, Debug)]
pub struct InMemory(pub Vec<(String, WrittenValue)>);

impl InMemory {
    /// The same table with another value of a key.
    pub fn with(mut self, key: &str, value: WrittenValue) -> Self {
        self.0.retain(|(name, _)| name != key);
        self.0.push((key.to_owned(), value));
        self
    }

    /// The table that a part writes.
    pub fn of(pairs: Pairs) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

fn as_value(written: &WrittenValue) -> Value<'_> {
    match written {
        WrittenValue::Bool(truth) => Value::Bool(*truth),
        WrittenValue::Integer(n) => Value::Integer(n.cast_signed()),
        WrittenValue::Negative(n) => Value::Integer(*n),
        WrittenValue::Float(x) => Value::Float(*x),
        WrittenValue::Text(text) => Value::Text(text),
        WrittenValue::List(items) => Value::List(items.iter().map(as_value).collect()),
        WrittenValue::Table(entries) => {
            Value::Table(entries.iter().map(|(key, value)| (key.as_str(), as_value(value))).collect())
        }
    }
}

impl Table for InMemory {
    type Error = String;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, String> {
        let Some(place) = self.0.iter().position(|(name, _)| name == key) else { return Ok(None) };
        let (_, value) = self.0.remove(place);
        read(as_value(&value)).map(Some).map_err(|error| format!("{key}: {error:?}"))
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    fn missing(&self, key: &'static str, _: &str) -> String {
        format!("{key} is missing")
    }

    fn refuse(&self, misfit: KeyConflict) -> String {
        format!("{misfit:?}")
    }
}
