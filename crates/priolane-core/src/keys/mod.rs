//! The keys of a part in a file. Each key is declared once, next to the algorithm that uses it.
//!
//! ```text
//! #[derive(Keys)]      a struct of keys              reader, writer, defaults, documentation
//! #[derive(Words)]     an enum of words              the same for a value that is one of several words
//! #[derive(Part)]      a struct of keys              its name, and what it requires of other parts
//!
//! #[keys(group = "dctcp", check = Self::check)]      of the struct: keys of one group keep their values where the kind
//!                                                    of a part changes; `check` compares keys with each other
//! #[key(default = 0.0625, range = "(0, 1]", source = "RFC 8257 §4.2")]
//! ```
//!
//! | attribute of a key | meaning |
//! |---|---|
//! | `default = EXPR` | the value if the file states none; may use keys declared above it |
//! | `required = "g = 0.1"` | the file must state it; an example for the message |
//! | `auto = LITERAL`, `off = LITERAL`, `none = LITERAL` | for an `Option`: `None` is written as the literal; the word `"auto"` or `"off"` also means `None`; it is the default unless another is stated |
//! | `optional` | for an `Option`: `None` is not written |
//! | `range = "(0, 1]"` | the interval of valid numbers; `"(0, )"` for a time means above zero |
//! | `group = "classes"` | another group than that of the struct: kinds of that group share the key; `""`: no other kind has it |
//! | `unit`, `source` | for the documentation |
//! | `shown = "depends on preset"` | the default in words, if it depends on other keys |
//! | `form = Bytes` | another [`Form`] than that of the type |
//! | `skip_default` | not written if it is the default |
//! | `names = "group"` | its strings are names of groups: the reader of the file checks that there are such |
//!
//! `#[keys(flatten)]` marks a struct whose keys are in the same table; `#[keys(flatten, defaults(stop = "sender"))]`
//! also overrides some of its defaults. `#[keys(skip)]` marks a field that is not a key: it is set when a run is
//! built. The doc comment of a field is the meaning of its key.
//!
//! `#[derive(Keys)]` for an enum with `#[keys(tag = "expiry", default = "switch")]`: the word under the tag selects
//! the variant, whose struct of keys is in the same table. With `#[keys(one_of)]`, the fields of the variants are
//! keys. The table has the first key of exactly one variant, which selects the variant (`{ shared = "240pkt" }` or
//! `{ per_queue = "64KiB" }`); a variant without fields is a word instead of the table.
//! A variant with one unnamed field has `#[key(...)]` itself, and its key has its name. A variant with empty braces is
//! a table without the key of any other. `both = "..."` is the text to write where two variants are stated;
//! `count("the claim has {} tests", "exactly one of ...")` and `none("...", "...")` are the whole message. With
//! `all_known`, the message about an unknown key lists the first keys of all variants.
//!
//! A struct of keys is the value of a key with `form = InTable`. With `#[keys(shorthand = "of")]`, a struct is a value
//! by itself, and a value that is no table stands for the key `of` alone; `shorthand` of a tagged enum does the same
//! for its tag. `check_stated` is as `check`, and is also passed a function that tells which keys the file states.

mod any_table;
mod defaults;
mod forms;
mod nested;
mod value;

pub use any_table::DynTable;
pub(crate) use any_table::{AnyError, AnyTable};
pub(crate) use defaults::Empty;
pub use defaults::{WithDefaults, append_new, describe_new, describe_with, with_defaults};
pub(crate) use forms::truth_value;
pub(crate) use forms::{ByteList, Millionths, Thousandths};
pub use forms::{Bytes, Form, KeyValue, NonEmpty, Period, Plain, read_option};
pub use nested::{
    Choice, InTable, Tables, only_one_of, read_one_of, read_shorthand, schema_with_shorthand, write_shorthand,
};
pub use priolane_derive::{Keys, Words};
pub use value::{Bound, Bounds, KeyError, Value, WrittenValue};

/// Keys with their values as written, in the order of their declaration.
pub type Pairs = Vec<(&'static str, WrittenValue)>;

/// A struct of keys.
pub trait Keys: Sized {
    /// Reads the keys from `table`.
    ///
    /// # Errors
    /// An invalid value, or values that conflict.
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error>;

    /// Appends the keys with their values to `out`.
    fn write(&self, out: &mut Pairs);

    /// Appends the description of each key to `out`.
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

/// Keys that few tables state, apart from the struct that they are part of.
impl<K: Keys> Keys for Box<K> {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        K::read(table).map(Self::new)
    }

    fn write(&self, out: &mut Pairs) {
        (**self).write(out);
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        K::describe(out);
    }
}

/// A table that keys are read from. It knows the file and the line of each value.
pub trait Table {
    /// An error with its location.
    type Error: 'static;

    /// Removes the value of `key` and reads it; `None` if the table has no such key.
    ///
    /// # Errors
    /// The error of `read`, with the location of the value.
    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Self::Error>;

    /// Returns whether the table has `key`, without removing it.
    fn has(&self, key: &str) -> bool;

    /// Notes keys of which the table has at most one, so that the message about an unknown key lists all of them.
    fn expect(&mut self, _keys: &[&'static str]) {}

    /// Returns the error that the required key `key` is missing; `example` shows how to write it.
    fn missing(&self, key: &'static str, example: &str) -> Self::Error;

    /// Returns the error that values of the table conflict.
    fn refuse(&self, misfit: KeyConflict) -> Self::Error;
}

/// Values that conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyConflict {
    /// The path of the key at fault, with dots between tables; `None` for the table as a whole.
    pub key: Option<&'static str>,
    /// The mistake.
    pub what: String,
    /// The text to write instead.
    pub fix: String,
}

impl KeyConflict {
    /// Creates an error of the table as a whole.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: None, what: what.into(), fix: fix.into() }
    }

    /// Creates an error of the value of `key`.
    pub fn of(key: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: Some(key), what: what.into(), fix: fix.into() }
    }
}

/// The description of a key.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyInfo {
    /// Its name in files.
    pub name: &'static str,
    /// The group of the key: kinds of a part with the same group share its keys.
    pub group: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// Its unit; empty for a plain number or word.
    pub unit: &'static str,
    /// The valid numbers.
    pub bounds: Bounds,
    /// The value if the key is missing, as it would be written; empty if there is none.
    pub default: String,
    /// The source of meaning and default.
    pub source: &'static str,
    /// Whether the key is required.
    pub required: bool,
    /// The notation in files for the absence of a value; `None` if a value is required, or if the key is then omitted.
    pub none: Option<NoValue>,
    /// The schema of its value.
    pub schema: Schema,
}

/// The notation in files for a key without a value.
#[derive(Clone, PartialEq, Debug)]
pub struct NoValue {
    /// A word: `auto` or `off`.
    pub word: Option<&'static str>,
    /// The literal that is written, and read like the word; such as `0` or `false`.
    pub literal: WrittenValue,
}

/// The type of a value, in terms of JSON Schema.
#[derive(Clone, PartialEq, Debug)]
pub enum Schema {
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A number, or a fraction in a string.
    Number,
    /// A string with a quantity, such as this example.
    Quantity(&'static str),
    /// One of these words, each with its meaning.
    Words(&'static [(&'static str, &'static str)]),
    /// Any string.
    Text,
    /// The name of something that the file declares or that is built in, such as `group` or `scheme`.
    Name(&'static str),
    /// Any value.
    Any,
    /// One such value, or a list of them.
    OneOrMore(Box<Schema>),
    /// A list of such values.
    List(Box<Schema>),
    /// A table with these keys.
    Table(Vec<KeyInfo>),
    /// A table of such values with user-defined keys, of which the first field is an example.
    Map(&'static str, Box<Schema>),
    /// One of these words, each with its meaning, or a table in which one key selects the others.
    OneOf(&'static [(&'static str, &'static str)], Vec<KeyInfo>),
    /// A value of one of these schemas.
    AnyOf(Vec<Schema>),
}

impl Schema {
    /// Returns the schema with each string in it, or in its lists, as the name of a `noun`.
    #[must_use]
    pub fn naming(self, noun: &'static str) -> Self {
        match self {
            Self::Text => Self::Name(noun),
            Self::List(item) => Self::List(Box::new(item.naming(noun))),
            Self::OneOrMore(item) => Self::OneOrMore(Box::new(item.naming(noun))),
            Self::AnyOf(all) => Self::AnyOf(all.into_iter().map(|one| one.naming(noun)).collect()),
            other => other,
        }
    }
}

/// Serializes keys as a map, in their order.
///
/// # Errors
/// An error of `s`.
pub fn serialize<K: Keys, S: serde::Serializer>(keys: &K, s: S) -> Result<S::Ok, S::Error> {
    let mut pairs = Pairs::new();
    keys.write(&mut pairs);
    s.collect_map(pairs)
}

#[cfg(test)]
mod tests;
