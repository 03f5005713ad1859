//! Structs of keys with some defaults overridden.

use super::{KeyConflict, KeyError, KeyInfo, Keys, Table, Value};

/// A table in which missing keys have these values.
#[derive(Debug)]
pub struct WithDefaults<'a, T> {
    table: &'a mut T,
    defaults: &'a [(&'static str, &'static str)],
}

impl<'a, T: Table> WithDefaults<'a, T> {
    /// Wraps `table`; missing keys have these words or quantities.
    pub fn new(table: &'a mut T, defaults: &'a [(&'static str, &'static str)]) -> Self {
        Self { table, defaults }
    }
}

fn default_of(key: &str, defaults: &[(&'static str, &'static str)]) -> Option<&'static str> {
    defaults.iter().find(|(name, _)| *name == key).map(|&(_, value)| value)
}

impl<T: Table> Table for WithDefaults<'_, T> {
    type Error = T::Error;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Self::Error> {
        let mut read = Some(read);
        let found = self.table.take(key, |value| match read.take() {
            Some(read) => read(value),
            None => Err(KeyError::new("the key was already read", "")),
        })?;
        let (None, Some(read), Some(default)) = (&found, read, default_of(key, self.defaults)) else {
            return Ok(found);
        };
        Ok(Some(read(Value::Text(default)).expect("invariant: defaults are values of their keys")))
    }

    fn has(&self, key: &str) -> bool {
        self.table.has(key)
    }

    fn missing(&self, key: &'static str, example: &str) -> Self::Error {
        self.table.missing(key, example)
    }

    fn refuse(&self, misfit: KeyConflict) -> Self::Error {
        self.table.refuse(misfit)
    }
}

/// A table without keys.
#[derive(Debug)]
pub(crate) struct Empty;

impl Table for Empty {
    type Error = KeyConflict;

    fn take<R>(
        &mut self,
        _: &'static str,
        _: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, KeyConflict> {
        Ok(None)
    }

    fn has(&self, _: &str) -> bool {
        false
    }

    fn missing(&self, key: &'static str, example: &str) -> KeyConflict {
        KeyConflict::of(key, "the key is missing", format!("Add {example}"))
    }

    fn refuse(&self, misfit: KeyConflict) -> KeyConflict {
        misfit
    }
}

/// Returns the keys `K` of an empty table, with `defaults` instead of the declared ones.
pub fn with_defaults<K: Keys>(defaults: &[(&'static str, &'static str)]) -> K {
    let read = K::read(&mut WithDefaults::new(&mut Empty, defaults));
    read.expect("invariant: defaults are values of their keys and fit each other")
}

/// Describes `K` with `defaults` instead of the declared ones.
pub fn describe_with<K: Keys>(out: &mut Vec<KeyInfo>, defaults: &[(&'static str, &'static str)]) {
    let first = out.len();
    K::describe(out);
    for key in &mut out[first..] {
        if let Some(default) = default_of(key.name, defaults) {
            default.clone_into(&mut key.default);
        }
    }
}

/// Describes the keys of `K` that are not in `out`, since kinds of a part may share keys.
pub fn describe_new<K: Keys>(out: &mut Vec<KeyInfo>) {
    let mut keys = Vec::new();
    K::describe(&mut keys);
    append_new(keys, out);
}

/// Appends the keys that are not in `out`.
pub fn append_new(keys: Vec<KeyInfo>, out: &mut Vec<KeyInfo>) {
    for key in keys {
        if out.iter().all(|other| other.name != key.name) {
            out.push(key);
        }
    }
}
