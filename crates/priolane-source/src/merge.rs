//! Rules for merging tables: which keys are alternatives, so that a new key replaces old ones.
//!
//! Each part of a file declares its own [`Merge`] next to its reader. Without a rule, keys of both tables are kept.

use std::collections::BTreeSet;

use super::tree::{Node, Table, Value};

/// Rules for merging a table and the tables in it.
#[derive(Debug)]
pub struct Merge {
    /// Rules for its own keys.
    pub rules: &'static [Replace],
    /// The way in which tables, or the items of lists, under these keys are merged.
    pub inner: &'static [(&'static str, &'static Merge)],
    /// The way in which tables under any other key are merged.
    pub each: Option<&'static Merge>,
}

/// The keys of the base that are removed when a key is stated over it. Keys stated in the new table are never removed.
#[derive(Debug)]
pub enum Replace {
    /// Alternative forms: stating a key of one form removes the keys of the others.
    OneOf(&'static [Form]),
    /// A word that determines the valid keys. When it changes, its own keys are removed, except those `shared` by the
    /// old and the new word.
    Kind {
        /// The key of the word.
        tag: &'static str,
        /// The word of a base that states none but has a `kind` or an `app`. A base without these is a part of a
        /// table, whose word is unknown.
        default: Option<&'static str>,
        /// The keys that belong to the word.
        own: Own,
        /// Keys with the same meaning under several words.
        shared: SharedKeys,
    },
    /// Stating any of the first keys removes the second ones, which were derived from the old values.
    Stated(&'static [&'static str], &'static [&'static str]),
    /// Stating this key replaces the whole table.
    Replaces(&'static str),
}

/// Keys that have the same meaning under two words.
#[derive(Debug)]
pub enum SharedKeys {
    /// Sets of words, with keys that have the same meaning under all of them.
    Listed(&'static [(&'static [&'static str], &'static [&'static str])]),
    /// A function that returns whether the old and the new word share this key.
    By(fn(&str, &str, &str) -> bool),
}

impl SharedKeys {
    fn has(&self, old: &str, new: &str, key: &str) -> bool {
        match self {
            Self::Listed(sets) => sets
                .iter()
                .any(|(words, keys)| words.contains(&old) && words.contains(&new) && keys.contains(&key)),
            Self::By(same) => same(old, new, key),
        }
    }
}

/// The keys that belong to a word.
#[derive(Debug)]
pub enum Own {
    /// All keys of the table except these and the word's key.
    AllBut(&'static [&'static str]),
    /// These keys.
    Only(&'static [&'static str]),
}

/// One form of a table.
#[derive(Debug)]
pub struct Form {
    /// Keys that only this form has: stating one selects it.
    pub by: &'static [&'static str],
    /// Keys that belong to this form and possibly to others.
    pub with: &'static [&'static str],
}

impl Merge {
    /// A table without rules.
    pub const PLAIN: Self = Self { rules: &[], inner: &[], each: None };

    /// Creates a table with rules for its own keys only.
    pub const fn of(rules: &'static [Replace]) -> Self {
        Self { rules, inner: &[], each: None }
    }

    /// Returns how the table under `key` is merged.
    pub fn under(&self, key: &str) -> &'static Self {
        let named = self.inner.iter().find(|(name, _)| *name == key).map(|&(_, merge)| merge);
        named.or(self.each).unwrap_or(&Self::PLAIN)
    }

    /// Returns whether stating `key` may remove others.
    pub fn decides(&self, key: &str) -> bool {
        self.rules.iter().any(|rule| match rule {
            Replace::OneOf(forms) => forms.iter().any(|form| form.by.contains(&key)),
            Replace::Kind { tag, .. } | Replace::Replaces(tag) => *tag == key,
            Replace::Stated(stated, _) => stated.contains(&key),
        })
    }

    /// Returns the keys of `base` that are removed when `new` is merged over it.
    pub fn replaced_keys(&self, base: &Table, new: &Table) -> Vec<String> {
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for rule in self.rules {
            rule.replaced_keys(base, new, &mut gone);
        }
        gone.into_iter().filter(|key| new.get(key).is_none()).map(str::to_owned).collect()
    }
}

impl Replace {
    fn replaced_keys<'t>(&self, base: &'t Table, new: &Table, gone: &mut BTreeSet<&'t str>) {
        let mut remove = |keys: &mut dyn Iterator<Item = &str>| {
            gone.extend(keys.filter_map(|key| base.key(key)));
        };
        match self {
            Self::OneOf(forms) => {
                let chosen = |form: &&Form| form.by.iter().any(|key| new.get(key).is_some());
                let Some(chosen) = forms.iter().find(chosen) else { return };
                let present = |form: &&Form| form.by.iter().any(|key| base.get(key).is_some());
                for other in forms.iter().filter(|form| !std::ptr::eq(*form, chosen)).filter(present) {
                    remove(&mut other.by.iter().chain(other.with).copied());
                }
            }
            Self::Kind { tag, default, own, shared } => {
                let Some((old, new)) = changed(tag, *default, base, new) else { return };
                let is_shared = |key: &str| shared.has(old, new, key);
                let is_own = |key: &str| match own {
                    Own::AllBut(others) => key != *tag && !others.contains(&key),
                    Own::Only(keys) => keys.contains(&key),
                };
                let keys = base.entries().map(|(key, _)| key);
                gone.extend(keys.filter(|key| is_own(key) && !is_shared(key)));
            }
            Self::Stated(stated, removes) => {
                if stated.iter().any(|key| new.get(key).is_some()) {
                    remove(&mut removes.iter().copied());
                }
            }
            Self::Replaces(key) => {
                if new.get(key).is_some() {
                    gone.extend(base.entries().map(|(key, _)| key));
                }
            }
        }
    }
}

/// Returns the old and the new word of `tag`, if `new` states another one than `base` has.
fn changed<'t>(
    tag: &str,
    default: Option<&'t str>,
    base: &'t Table,
    new: &'t Table,
) -> Option<(&'t str, &'t str)> {
    let word = |table: &'t Table| match table.get(tag).map(|node| &node.value) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let whole = ["kind", "app"].iter().any(|key| base.get(key).is_some());
    let pair = (word(base).or(default.filter(|_| whole))?, word(new)?);
    (pair.0 != pair.1).then_some(pair)
}

impl Table {
    /// Merges `other` over this table by the rules `how`: tables merge key by key, anything else is replaced.
    pub fn merge(&mut self, other: &Self, how: &Merge) {
        if !how.rules.is_empty() {
            self.remove_all(&how.replaced_keys(self, other));
        }
        for (key, node) in other.entries() {
            match self.get_mut(key) {
                Some(old) => old.merge(node, how.under(key)),
                None => self.set(key, node.clone()),
            }
        }
    }
}

impl Node {
    /// Merges `other` over this value by the rules `how`: tables merge key by key, anything else is replaced.
    pub fn merge(&mut self, other: &Self, how: &Merge) {
        match (&mut self.value, &other.value) {
            (Value::Table(old), Value::Table(new)) => {
                old.merge(new, how);
                // Errors refer to the last place that changed it.
                self.origin = other.origin.clone();
            }
            _ => *self = other.clone(),
        }
    }
}
