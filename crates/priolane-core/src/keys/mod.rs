//! The keys of a part in a file. Each key is declared once, beside the algorithm that uses it.
//!
//! ```text
//! #[derive(Keys)]      a struct of keys              reader, writer, defaults, documentation
//! #[derive(Words)]     an enum of words              the same of a value that is one of several words
//! #[derive(Part)]      a struct of keys              its name, and what it needs of other parts
//!
//! #[keys(group = "dctcp", check = Self::check)]      of the struct: keys of one group keep their values where the kind
//!                                                    of a part changes; `check` compares keys with each other
//! #[key(default = 0.0625, range = "(0, 1]", source = "RFC 8257 §4.2")]
//! ```
//!
//! | attribute of a key | meaning |
//! |---|---|
//! | `default = EXPR` | the value where the file states none; may use keys declared above it |
//! | `required = "g = 0.1"` | the file must state it; an example for the message |
//! | `auto = LITERAL`, `off = LITERAL`, `none = LITERAL` | of an `Option`: `None` is written as the literal; `"auto"` or `"off"` is read for it too; it is the default unless another is stated |
//! | `optional` | of an `Option`: `None` is not written |
//! | `range = "(0, 1]"` | the interval of numbers; `"(0, )"` of a time means above zero |
//! | `group = "classes"` | another group than that of the struct: kinds of that group have the same key; `""`: no other kind has it |
//! | `unit`, `source` | for the documentation |
//! | `shown = "by preset"` | the default in words, where it depends on other keys |
//! | `form = Bytes` | another [`Form`] than that of the type |
//! | `skip_default` | not written where it is the default |
//!
//! `#[keys(flatten)]` marks a struct whose keys stand in the same table, `#[keys(flatten, defaults(stop = "sender"))]` one
//! of which some defaults are others, and `#[keys(skip)]` a field that is no key: it is set when a run is built.
//! The doc comment of a field is the meaning of its key.
//!
//! `#[derive(Keys)]` of an enum with `#[keys(tag = "expiry", default = "switch")]`: the word under the tag says which
//! variant it is, whose struct of keys stands in the same table. With `#[keys(one_of)]` the variants' fields are keys: the
//! table has the first key of exactly one variant, and that says which it is (`{ shared = "240pkt" }` or
//! `{ per_queue = "64KiB" }`); a variant without fields is a word in place of the table.
//!
//! A struct of keys is the value of a key with `form = InTable`.

mod any_table;
mod defaults;
mod forms;
mod nested;
mod value;

pub use any_table::Opaque;
pub(crate) use any_table::{AnyError, AnyTable};
pub(crate) use defaults::Empty;
pub use defaults::{WithDefaults, append_new, describe_new, describe_with, with_defaults};
pub(crate) use forms::truth_value;
pub(crate) use forms::{ByteList, Millionths, Thousandths};
pub use forms::{Bytes, Filled, Form, KeyValue, Plain, read_option};
pub use nested::{InTable, Tables, only_one_of, read_one_of};
pub use priolane_derive::{Keys, Words};
pub use value::{Bound, Bounds, KeyError, Value, Written};

/// Keys as they are written, in the order of their declaration.
pub type Pairs = Vec<(&'static str, Written)>;

/// A struct of keys.
pub trait Keys: Sized {
    /// Reads the keys from `table`.
    ///
    /// # Errors
    /// What is wrong with a value, or with how values fit each other.
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error>;

    /// Appends the keys with their values to `out`.
    fn write(&self, out: &mut Pairs);

    /// Appends what is to be known of each key to `out`.
    fn describe(out: &mut Vec<KeyInfo>);
}

/// A struct without keys.
impl Keys for () {
    fn read<T: Table>(_: &mut T) -> Result<Self, T::Error> {
        Ok(())
    }

    fn write(&self, _: &mut Pairs) {}

    fn describe(_: &mut Vec<KeyInfo>) {}
}

/// A table that keys are read from: it knows the file and the line of each value.
pub trait Table {
    /// A mistake with its place.
    type Error: 'static;

    /// Takes the value of `key` and reads it; `None` where the table has no such key.
    ///
    /// # Errors
    /// What `read` finds wrong, with the place of the value.
    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Self::Error>;

    /// Whether the table has `key`; this does not take it.
    fn has(&self, key: &str) -> bool;

    /// The error that `key`, which the table lacks, must be there; `example` shows how it would be written.
    fn missing(&self, key: &'static str, example: &str) -> Self::Error;

    /// The error that values of the table do not fit each other.
    fn refuse(&self, misfit: Misfit) -> Self::Error;
}

/// Values that do not fit each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// The key at fault, with points between it and those of the tables that it is in; `None` for the table as a whole.
    pub key: Option<&'static str>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

impl Misfit {
    /// Of the table as a whole.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: None, what: what.into(), fix: fix.into() }
    }

    /// Of the value of `key`.
    pub fn of(key: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: Some(key), what: what.into(), fix: fix.into() }
    }
}

/// What is to be known of a key.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyInfo {
    /// Its name in files.
    pub name: &'static str,
    /// The group of keys that it belongs to: kinds of a part with the same group share its keys.
    pub group: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Its unit; empty for a plain number or word.
    pub unit: &'static str,
    /// The numbers that it may be.
    pub bounds: Bounds,
    /// What holds if it is left out, as it would be written; empty if nothing does.
    pub default: String,
    /// Where meaning and default come from.
    pub source: &'static str,
    /// Whether it must be stated.
    pub required: bool,
    /// How it is written that there is no value; `None` if there must be one, or if the key is then left out.
    pub none: Option<NoValue>,
    /// What its value is.
    pub schema: Schema,
}

/// How a file states that a key has no value.
#[derive(Clone, PartialEq, Debug)]
pub struct NoValue {
    /// A word: `auto` or `off`.
    pub word: Option<&'static str>,
    /// What is written, and read as well as the word, such as `0` or `false`.
    pub literal: Written,
}

/// What a value is, as JSON Schema tells kinds of values apart.
#[derive(Clone, PartialEq, Debug)]
pub enum Schema {
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A number, or a fraction in a string.
    Number,
    /// A string with a quantity, such as this one.
    Quantity(&'static str),
    /// One of these words, each with its meaning.
    Words(&'static [(&'static str, &'static str)]),
    /// Any string.
    Text,
    /// Any value.
    Any,
    /// Such a value, or a list of such.
    OneOrMore(Box<Schema>),
    /// A list of such values.
    List(Box<Schema>),
    /// A table of these keys.
    Table(Vec<KeyInfo>),
    /// A table of such values by keys of the user's own, of which this is an example.
    Map(&'static str, Box<Schema>),
    /// One of these words, each with its meaning, or a table in which one of some keys chooses the others.
    OneOf(&'static [(&'static str, &'static str)], Vec<KeyInfo>),
}

/// Serializes keys as a map, in their order.
///
/// # Errors
/// Those of `s`.
pub fn serialize<K: Keys, S: serde::Serializer>(keys: &K, s: S) -> Result<S::Ok, S::Error> {
    let mut pairs = Pairs::new();
    keys.write(&mut pairs);
    s.collect_map(pairs)
}

#[cfg(test)]
mod tests;
