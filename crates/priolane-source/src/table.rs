//! A table of a file: its keys in order, found without a search.

use indexmap::IndexMap;

use super::{Merge, Node, Value};

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
    pub fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node> {
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

    /// Lays `other` over this table, of which `how` says what replaces what: tables merge key by key, anything else
    /// replaces.
    pub fn merge(&mut self, other: &Self, how: &Merge) {
        if !how.rules.is_empty() {
            self.remove_all(&how.replaced(self, other));
        }
        for (key, node) in &other.0 {
            match self.0.get_mut(key) {
                Some(old) => old.merge(node, how.under(key)),
                None => drop(self.0.insert(key.clone(), node.clone())),
            }
        }
    }

    fn remove_all(&mut self, keys: &[String]) {
        if !keys.is_empty() {
            self.0.retain(|key, _| keys.binary_search(key).is_err());
        }
    }
}

impl Node {
    /// How many values this is, itself included.
    pub fn values(&self) -> u64 {
        1 + match &self.value {
            Value::Table(table) => table.values(),
            Value::List(items) => items.iter().map(Self::values).sum(),
            _ => 0,
        }
    }

    /// Lays `other` over this value, of which `how` says what replaces what: tables merge key by key, anything else
    /// replaces.
    pub fn merge(&mut self, other: &Self, how: &Merge) {
        match (&mut self.value, &other.value) {
            (Value::Table(old), Value::Table(new)) => {
                old.merge(new, how);
                // Whoever changed it last is asked about it.
                self.origin = other.origin.clone();
            }
            _ => *self = other.clone(),
        }
    }
}
