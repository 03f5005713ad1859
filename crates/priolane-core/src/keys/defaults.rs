//! Structs of keys some of whose defaults are others than they declare.

use super::{KeyError, KeyInfo, Keys, Misfit, Table, Value};

/// A table in which keys that it lacks have these values.
#[derive(Debug)]
pub struct WithDefaults<'a, T> {
    table: &'a mut T,
    defaults: &'a [(&'static str, &'static str)],
}

impl<'a, T: Table> WithDefaults<'a, T> {
    /// `table`, where it lacks keys with these words or quantities.
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
            None => Err(KeyError::new("this was read before", "")),
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

    fn refuse(&self, misfit: Misfit) -> Self::Error {
        self.table.refuse(misfit)
    }
}

/// A table without keys.
#[derive(Debug)]
pub(crate) struct Empty;

impl Table for Empty {
    type Error = Misfit;

    fn take<R>(
        &mut self,
        _: &'static str,
        _: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Misfit> {
        Ok(None)
    }

    fn has(&self, _: &str) -> bool {
        false
    }

    fn missing(&self, key: &'static str, example: &str) -> Misfit {
        Misfit::of(key, "this key is missing", format!("write {example}"))
    }

    fn refuse(&self, misfit: Misfit) -> Misfit {
        misfit
    }
}

/// The keys `K` of a table that states none, with `defaults` in place of their own.
pub fn with_defaults<K: Keys>(defaults: &[(&'static str, &'static str)]) -> K {
    let read = K::read(&mut WithDefaults::new(&mut Empty, defaults));
    read.expect("invariant: defaults are values of their keys and fit each other")
}

/// Describes `K` with `defaults` in place of its own.
pub fn describe_with<K: Keys>(out: &mut Vec<KeyInfo>, defaults: &[(&'static str, &'static str)]) {
    let first = out.len();
    K::describe(out);
    for key in &mut out[first..] {
        if let Some(default) = default_of(key.name, defaults) {
            default.clone_into(&mut key.default);
        }
    }
}

/// Describes those keys of `K` that `out` does not have: kinds of a part may share some.
pub fn describe_new<K: Keys>(out: &mut Vec<KeyInfo>) {
    let mut keys = Vec::new();
    K::describe(&mut keys);
    append_new(keys, out);
}

/// Appends those of `keys` that `out` does not have.
pub fn append_new(keys: Vec<KeyInfo>, out: &mut Vec<KeyInfo>) {
    for key in keys {
        if out.iter().all(|other| other.name != key.name) {
            out.push(key);
        }
    }
}
