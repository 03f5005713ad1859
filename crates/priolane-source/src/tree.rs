//! What a file says as a tree of values that know where they stand.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::error::InputError;

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The line, from 1; `None` for a command line's or a resolved value.
    pub line: Option<usize>,
}

impl Origin {
    /// An error about `key` at this place.
    pub fn error(&self, key: &str, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&*self.file, self.line, key, what, fix)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where its key stands; of an item of a list: where the item stands.
    pub origin: Origin,
    /// The value.
    pub value: Value,
}

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
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
    /// What kind of value this is, for messages.
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

    /// This value as JSON.
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
    /// The keys and values, in the order of the file.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &Node)> {
        self.0.iter().map(|(key, node)| (key.as_str(), node))
    }

    /// The values, to change.
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.0.values_mut()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many values there are in it and in all tables and lists within.
    pub fn values(&self) -> u64 {
        self.0.values().map(Node::values).sum()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(key)
    }

    /// `key` itself, as the table holds it.
    pub(super) fn key(&self, key: &str) -> Option<&str> {
        self.0.get_key_value(key).map(|(key, _)| key.as_str())
    }

    /// The value of `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.get_mut(key)
    }

    /// Sets `key`, in place if it is there.
    pub fn set(&mut self, key: &str, node: Node) {
        self.0.insert(key.to_owned(), node);
    }

    /// Takes `key` out; in time proportional to the number of keys.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        self.0.shift_remove(key)
    }

    /// Takes out `keys`, which are sorted.
    pub(super) fn remove_all(&mut self, keys: &[String]) {
        if !keys.is_empty() {
            self.0.retain(|key, _| keys.binary_search(key).is_err());
        }
    }
}

impl Node {
    /// Says that this value and all within it stand at `origin`.
    pub(super) fn place_all(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.place_all(origin)),
            Value::Table(table) => table.nodes_mut().for_each(|node| node.place_all(origin)),
            _ => {}
        }
    }

    /// How many values this is, itself included.
    pub fn values(&self) -> u64 {
        1 + match &self.value {
            Value::Table(table) => table.values(),
            Value::List(items) => items.iter().map(Self::values).sum(),
            _ => 0,
        }
    }
}
