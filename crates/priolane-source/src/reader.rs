//! Typed, strict reading of a table: every key is consumed by name, and remaining keys are rejected.

use priolane_core::text::is_unprintable;
use priolane_core::units::{Limit, Rate, Span};

use super::{InputError, MOST_SHOWN, Mistakes, Node, Origin, Table, Value};
use crate::quantity::{self, QuantityError};

/// Maximum number of names that a message lists.
const MOST_LISTED: usize = 30;

/// Maximum number of names compared with a misspelt one.
const MOST_COMPARED: usize = 1_000;

/// Reads one table key by key.
#[derive(Debug)]
pub struct Reader<'a> {
    path: String,
    origin: Origin,
    table: &'a Table,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `table`, which is at `origin` under the dotted key `path` (empty for the root).
    pub fn new(table: &'a Table, path: &str, origin: &Origin) -> Self {
        Self { path: path.to_owned(), origin: origin.clone(), table, known: Vec::new() }
    }

    /// Consumes `key` and returns its value, if there is one.
    pub fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key).map(|node| Field { key: self.full(key), node })
    }

    /// Reads the time under `key`, or returns `default` if the key is missing.
    pub fn span_or(&mut self, key: &'static str, default: Span) -> Result<Span, InputError> {
        self.take(key).map_or(Ok(default), |field| field.span())
    }

    /// Reads the word under `key` and returns its meaning, or `default` if the key is missing.
    pub fn word_or<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        default: T,
    ) -> Result<T, InputError> {
        self.take(key).map_or(Ok(default), |field| field.word(words))
    }

    /// Consumes the required `key` and returns its value; `fix` shows how to write it.
    pub fn need(&mut self, key: &'static str, fix: &str) -> Result<Field<'a>, InputError> {
        self.take(key).ok_or_else(|| self.lacks(key, fix))
    }

    /// Returns the error that the required `key` is missing; `fix` shows how to write it.
    pub(super) fn lacks(&self, key: &str, fix: &str) -> InputError {
        self.misspelt(key)
            .unwrap_or_else(|| self.origin.error(&self.full(key), "the key is missing", format!("Add {fix}")))
    }

    /// Returns the value of `key`, if there is one, without consuming it.
    pub(super) fn field(&self, key: &str) -> Option<Field<'a>> {
        self.table.get(key).map(|node| Field { key: self.full(key), node })
    }

    /// Rejects all keys that were not consumed, in one error.
    pub fn finish(self) -> Result<(), InputError> {
        let mut mistakes = Mistakes::new(&self.origin.file);
        let mut unknown = self.left_over();
        for (key, node) in unknown.by_ref().take(MOST_SHOWN) {
            mistakes.add(self.unknown(key, node));
        }
        mistakes.count(unknown.count());
        mistakes.finish()
    }

    /// Creates an error about the table itself.
    pub fn error(&self, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        self.origin.error(&self.path, what, fix)
    }

    /// Returns the location of the table.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns whether the table has `key`, without consuming it.
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    fn full(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn left_over(&self) -> impl Iterator<Item = (&'a str, &'a Node)> + '_ {
        self.table.entries().filter(|(key, _)| !self.known.contains(key))
    }

    fn unknown(&self, key: &str, node: &Node) -> InputError {
        let fix = match nearest(key, self.known.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("one of {}", quoted(&self.known)),
        };
        node.origin.error(&self.full(&shown(key)), "unknown key", fix)
    }

    /// Returns an error with a suggestion if the missing `key` seems to be misspelt.
    fn misspelt(&self, key: &str) -> Option<InputError> {
        let mut some = self.left_over().take(MOST_COMPARED);
        let (typed, node) = some.find(|(typed, _)| nearest(typed, [key].into_iter()).is_some())?;
        let fix = format!("Did you mean `{key}`?");
        Some(node.origin.error(&self.full(&shown(typed)), "unknown key", fix))
    }
}

/// A value with its dotted key.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    key: String,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// Creates the field of a value under the dotted `key`.
    pub fn new(key: String, node: &'a Node) -> Self {
        Self { key, node }
    }

    /// Returns the value.
    pub fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// Returns the node.
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Returns the dotted key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the location.
    pub fn origin(&self) -> &'a Origin {
        &self.node.origin
    }

    /// Creates an error about this value.
    pub fn error(&self, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        self.node.origin.error(&self.key, what, fix)
    }

    /// Reads a string.
    pub fn text(&self) -> Result<&'a str, InputError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            other => Err(self.error(format!("the value is {}", other.kind()), "a string in quotes")),
        }
    }

    /// Reads true or false.
    pub fn truth(&self) -> Result<bool, InputError> {
        match &self.node.value {
            Value::Bool(b) => Ok(*b),
            other => Err(self.error(format!("the value is {}", other.kind()), "true or false")),
        }
    }

    /// Reads an integer from `low` to `high`.
    pub fn integer(&self, low: u64, high: u64) -> Result<u64, InputError> {
        let fix = || {
            if high >= i64::MAX as u64 {
                format!("a whole number, at least {low}")
            } else {
                format!("a whole number from {low} to {high}")
            }
        };
        match &self.node.value {
            Value::Integer(n) => match u64::try_from(*n) {
                Ok(n) if (low..=high).contains(&n) => Ok(n),
                _ => Err(self.error(format!("{n} is out of range"), fix())),
            },
            other => Err(self.error(format!("the value is {}", other.kind()), fix())),
        }
    }

    /// Reads a number, or a fraction in a string (`"1/16"`), from `low` to `high`.
    pub fn number(&self, low: f64, high: f64) -> Result<f64, InputError> {
        let value = match &self.node.value {
            Value::Integer(n) => *n as f64,
            Value::Float(x) => *x,
            Value::Text(text) => self.quantity(quantity::fraction(text))?,
            other => return Err(self.error(format!("the value is {}", other.kind()), "a number")),
        };
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        let fix = if high == f64::MAX {
            format!("a number of at least {low}")
        } else {
            format!("a number from {low} to {high}")
        };
        Err(self.error(format!("{value} is out of range"), fix))
    }

    /// Reads any finite number.
    pub fn any_number(&self) -> Result<f64, InputError> {
        self.number(f64::MIN, f64::MAX)
    }

    /// Reads a time with its unit, zero allowed.
    pub fn span(&self) -> Result<Span, InputError> {
        let text = self.with_unit("5us")?;
        self.quantity(quantity::span(text))
    }

    /// Reads a time with its unit, above zero.
    pub fn positive_span(&self) -> Result<Span, InputError> {
        let span = self.span()?;
        if span == Span::ZERO {
            Err(self.error("the value is zero", "a time above zero, such as \"5us\""))
        } else {
            Ok(span)
        }
    }

    /// Reads a rate with its unit.
    pub fn rate(&self) -> Result<Rate, InputError> {
        let text = self.with_unit("10Gbps")?;
        self.quantity(quantity::rate(text))
    }

    /// Reads a number of bytes with its unit.
    pub fn bytes(&self) -> Result<u64, InputError> {
        let text = self.with_unit("1.5MB")?;
        self.quantity(quantity::bytes(text))
    }

    /// Reads a queue limit with its unit.
    pub fn limit(&self) -> Result<Limit, InputError> {
        let text = self.with_unit("20pkt")?;
        self.quantity(quantity::limit(text))
    }

    /// Reads one of `words` and returns its meaning.
    pub fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, InputError> {
        let names = || words.iter().map(|&(name, _)| name).collect::<Vec<_>>();
        let Value::Text(text) = &self.node.value else {
            let what = format!("the value is {}", self.node.value.kind());
            return Err(self.error(what, format!("a string, one of {}", quoted(&names()))));
        };
        let found = words.iter().find(|(name, _)| name == text);
        found.map(|&(_, meant)| meant).ok_or_else(|| self.no_such(text, &names()))
    }

    /// Reads a word, one of `names`.
    pub fn one_of(&self, names: &[&'static str]) -> Result<&'static str, InputError> {
        let words: Vec<_> = names.iter().map(|&name| (name, name)).collect();
        self.word(&words)
    }

    /// Returns the items of a list, each with its index in its key.
    pub fn list(&self) -> Result<Vec<Field<'a>>, InputError> {
        match &self.node.value {
            Value::List(items) => {
                let field = |(i, node)| Field { key: format!("{}[{i}]", self.key), node };
                Ok(items.iter().enumerate().map(field).collect())
            }
            other => Err(self.error(format!("the value is {}", other.kind()), "a list in brackets")),
        }
    }

    /// Returns the items of a list that must have at least one.
    pub fn filled_list(&self) -> Result<Vec<Field<'a>>, InputError> {
        let items = self.list()?;
        if items.is_empty() { Err(self.error("the list is empty", "at least one item")) } else { Ok(items) }
    }

    /// Reads a table.
    pub fn table(&self) -> Result<Reader<'a>, InputError> {
        match &self.node.value {
            Value::Table(table) => Ok(Reader::new(table, &self.key, &self.node.origin)),
            other => {
                Err(self.error(format!("the value is {}", other.kind()), "a table such as { key = value }"))
            }
        }
    }

    /// Returns the value of `key` in a table with user-defined keys.
    pub fn inner(&self, key: &str) -> Option<Field<'a>> {
        let Value::Table(table) = &self.node.value else { return None };
        let node = table.get(key)?;
        Some(Field { key: format!("{}.{}", self.key, shown(key)), node })
    }

    /// Returns the keys and values of a table with user-defined keys.
    pub fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>, InputError> {
        let entries = self.table()?.table.entries();
        let field = |(key, node)| (key, Field { key: format!("{}.{}", self.key, shown(key)), node });
        Ok(entries.map(field).collect())
    }

    /// Returns the error that `text` is not among `choices`.
    pub fn no_such(&self, text: &str, choices: &[&str]) -> InputError {
        let fix = match nearest_value(text, choices.iter().copied()) {
            Some(near) => format!("Did you mean {near:?}?"),
            None if choices.len() > MOST_LISTED => {
                let others = choices.len() - MOST_LISTED;
                format!("one of {} and {others} others", quoted(&choices[..MOST_LISTED]))
            }
            None => format!("one of {}", quoted(choices)),
        };
        self.error(format!("unknown value {:?}", shown(text)), fix)
    }

    fn with_unit(&self, example: &str) -> Result<&'a str, InputError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            Value::Integer(_) | Value::Float(_) => {
                let what = "the number has no unit";
                Err(self.error(what, format!("a string with its unit, such as {example:?}")))
            }
            other => {
                Err(self
                    .error(format!("the value is {}", other.kind()), format!("a string such as {example:?}")))
            }
        }
    }

    fn quantity<T>(&self, read: Result<T, QuantityError>) -> Result<T, InputError> {
        read.map_err(|error| self.error(error.what, error.fix))
    }
}

/// Truncates user text to 60 characters, for a message.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|c| if is_unprintable(c) { '?' } else { c }).collect()
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the key closest to `typed`, if it is at most two edits away (one if both have at most four letters).
pub fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    within_edits(typed, names, 4)
}

/// Returns the value closest to `typed`, if it is at most two edits away (one if both have at most five letters: two
/// edits turn the name of an algorithm, such as DCQCN, into that of another).
pub fn nearest_value<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    within_edits(typed, names, 5)
}

/// Returns the closest name at most two edits away, or one edit if neither has more than `short` letters.
fn within_edits<'n>(typed: &str, names: impl Iterator<Item = &'n str>, short: usize) -> Option<&'n str> {
    let allowed = |name: &str| if typed.chars().count().max(name.len()) <= short { 1 } else { 2 };
    let close = names
        .take(MOST_COMPARED)
        .map(|name| (edits(typed, name), name))
        .filter(|(d, name)| *d <= allowed(name));
    close.min_by_key(|(d, _)| *d).map(|(_, name)| name)
}

/// Returns the edit distance of the two names (insertion, deletion, substitution, transposition); large for long
/// texts.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(41).collect(), b.chars().collect());
    if a.len() > 40 || a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(ca != cb)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *cb && *ca == b[j - 1] {
                least = least.min(above[j - 1] + 1);
            }
            next.push(least);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn a_misspelt_key_is_named_with_its_line() {
        let table = parse("f.toml", "rate = \"1Gbps\"\ndeley = \"5us\"\n").unwrap();
        let origin = Origin { file: "f.toml".into(), line: Some(1) };
        let mut reader = Reader::new(&table, "link", &origin);
        assert_eq!(reader.need("rate", "").unwrap().rate().unwrap(), Rate::from_gbps(1));
        let error = reader.need("delay", "").unwrap_err();
        assert_eq!((error.line, error.key.as_str()), (Some(2), "link.deley"));
        assert_eq!(error.fix, "Did you mean `delay`?");
        assert_eq!(reader.finish().unwrap_err().fix, "Did you mean `delay`?");
    }

    #[test]
    fn letters_that_changed_places_are_one_edit() {
        assert_eq!((edits("ftc", "fct"), edits("tiem", "time"), edits("laod", "load")), (1, 1, 1));
        assert_eq!(
            (edits("", "ab"), edits("abc", "abc"), edits("kitten", "mitte"), edits("ca", "abc")),
            (2, 0, 2, 3)
        );
        assert_eq!(nearest("ftc", ["gain", "fct"].into_iter()), Some("fct"));
        assert_eq!(nearest("tiem", ["title", "time"].into_iter()), Some("time"));
    }

    #[test]
    fn another_algorithm_is_not_a_misspelt_one() {
        let schemes = ["dctcp", "hpcc", "pias", "newreno", "pfabric", "timely"];
        for (typed, near) in [
            ("dcqcn", None),
            ("cubic", None),
            ("bbr", None),
            ("dctpc", Some("dctcp")),
            ("dtcp", Some("dctcp")),
            ("dcctp", Some("dctcp")),
            ("newrenno", Some("newreno")),
            ("pfabrci", Some("pfabric")),
            ("fabirc", Some("pfabric")),
        ] {
            assert_eq!(nearest_value(typed, schemes.into_iter()), near, "{typed}");
        }
    }

    #[test]
    fn bare_numbers_are_refused_where_a_unit_is_meant() {
        let table = parse("f", "delay = 5").unwrap();
        let origin = Origin { file: "f".into(), line: Some(1) };
        let error = Reader::new(&table, "", &origin).take("delay").unwrap().span().unwrap_err();
        assert_eq!(error.what, "the number has no unit");
        assert!(error.fix.contains("5us"));
    }
}
