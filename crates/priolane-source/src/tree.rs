//! The content of a file as a tree of values with their locations.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::error::InputError;

/// The location of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The line, from 1; `None` for a value from the command line or a resolved value.
    pub line: Option<usize>,
}

impl Origin {
    /// Creates an error about `key` at this location.
    pub fn error(&self, key: &str, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&*self.file, self.line, key, what, fix)
    }
}

/// A value with its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Location of its key; for an item of a list, of the item.
    pub origin: Origin,
    /// The value.
    pub value: Value,
}

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// Returns the kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns this value as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => Json::from(text.as_str()),
            Self::Integer(n) => Json::from(*n),
            Self::Float(x) => Json::from(*x),
            Self::Bool(b) => Json::from(*b),
            Self::List(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Self::Table(table) => Json::Object(
                table.entries().map(|(key, node)| (key.to_owned(), node.value.to_json())).collect(),
            ),
        }
    }
}

/// A table: its keys in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(IndexMap<String, Node>);

impl FromIterator<(String, Node)> for Table {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl Table {
    /// Iterates over keys and values, in the order of the file.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &Node)> {
        self.0.iter().map(|(key, node)| (key.as_str(), node))
    }

    /// Iterates over the values for modification.
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.0.values_mut()
    }

    /// Returns whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of values in this table and in all nested tables and lists.
    pub fn values(&self) -> u64 {
        self.0.values().map(Node::values).sum()
    }

    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(key)
    }

    /// Returns `key` as stored in the table.
    pub(super) fn key(&self, key: &str) -> Option<&str> {
        self.0.get_key_value(key).map(|(key, _)| key.as_str())
    }

    /// Returns the value of `key` for modification.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.get_mut(key)
    }

    /// Sets `key`, in place if it exists.
    pub fn set(&mut self, key: &str, node: Node) {
        self.0.insert(key.to_owned(), node);
    }

    /// Removes `key`; takes time proportional to the number of keys.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        self.0.shift_remove(key)
    }

    /// Removes `keys`, which are sorted.
    pub(super) fn remove_all(&mut self, keys: &[String]) {
        if !keys.is_empty() {
            self.0.retain(|key, _| keys.binary_search(key).is_err());
        }
    }
}

impl Node {
    /// Sets the location of this value and all nested values to `origin`.
    pub(super) fn place_all(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.place_all(origin)),
            Value::Table(table) => table.nodes_mut().for_each(|node| node.place_all(origin)),
            _ => {}
        }
    }

    /// Returns the number of values, including this one.
    pub fn values(&self) -> u64 {
        1 + match &self.value {
            Value::Table(table) => table.values(),
            Value::List(items) => items.iter().map(Self::values).sum(),
            _ => 0,
        }
    }
}
