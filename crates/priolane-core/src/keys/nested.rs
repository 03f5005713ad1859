//! Structs of keys in tables of their own: `host_link = { rate = "10Gbps", delay = "1us" }`.

use super::{Bounds, Form, KeyError, Keys, Misfit, Pairs, Schema, Table, TableFault, Value, Written};

/// A struct of keys in a table of its own; keys that it does not have are refused.
#[derive(Clone, Copy, Debug)]
pub struct Nested;

/// Structs of keys in a list of tables, at least one.
#[derive(Clone, Copy, Debug)]
pub struct NestedList;

impl<T: Keys> Form<T> for Nested {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<T, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { key = value }"));
        };
        let mut table = Entries { entries, asked: Vec::new() };
        let read = T::read(&mut table)?;
        match entries.iter().all(|(key, _)| table.asked.contains(key)) {
            true => Ok(read),
            false => Err(table.fault(TableFault::Unknown)),
        }
    }

    fn write(value: &T) -> Written {
        let mut pairs = Pairs::new();
        value.write(&mut pairs);
        Written::Table(pairs)
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        T::describe(&mut keys);
        Schema::Table(keys)
    }
}

impl<T: Keys> Form<Vec<T>> for NestedList {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<T>, KeyError> {
        let Value::List(items) = value else { return Err(value.unfit("a list in brackets")) };
        if items.is_empty() {
            return Err(KeyError::new("the list is empty", "at least one item"));
        }
        let read = |(i, item)| Nested::read(item, bounds).map_err(|error| KeyError::Item(i, Box::new(error)));
        items.iter().enumerate().map(read).collect()
    }

    fn write(value: &Vec<T>) -> Written {
        Written::List(value.iter().map(Nested::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(<Nested as Form<T>>::schema()))
    }
}

/// The entries of a table that is a value.
struct Entries<'a> {
    entries: &'a [(&'a str, Value<'a>)],
    asked: Vec<&'static str>,
}

impl Entries<'_> {
    fn fault(&self, fault: TableFault) -> KeyError {
        KeyError::Table(self.asked.clone(), Box::new(fault))
    }
}

impl Table for Entries<'_> {
    type Error = KeyError;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, KeyError> {
        self.asked.push(key);
        let Some((_, value)) = self.entries.iter().find(|(name, _)| *name == key) else { return Ok(None) };
        read(value.clone()).map(Some).map_err(|error| self.fault(TableFault::At(key, error)))
    }

    fn missing(&self, key: &'static str, example: &str) -> KeyError {
        self.fault(TableFault::Missing { key, example: example.to_owned() })
    }

    fn refuse(&self, misfit: Misfit) -> KeyError {
        self.fault(TableFault::Misfit(misfit))
    }
}
