//! Values of a file, their errors, and their written form.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::quantity::QuantityError;

/// A value of a file.
#[derive(Clone, PartialEq, Debug)]
pub enum Value<'a> {
    /// True or false.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// A list.
    List(Vec<Value<'a>>),
    /// A table, in the order of the file.
    Table(Vec<(&'a str, Value<'a>)>),
}

/// An error in a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyError {
    /// An invalid value.
    Wrong {
        /// The mistake.
        what: String,
        /// The text to write instead.
        fix: String,
    },
    /// The word is not one of the known words.
    Word {
        /// The word in the file.
        given: String,
        /// The known words.
        known: Vec<&'static str>,
    },
    /// An error in an item of a list.
    Item(usize, Box<KeyError>),
    /// An error in the value of a key of a table.
    Key(String, Box<KeyError>),
    /// A required key is missing.
    Missing {
        /// The key.
        key: &'static str,
        /// An example of a valid notation.
        example: String,
        /// The keys that were read before.
        read: Vec<&'static str>,
    },
    /// The table has keys besides these.
    Unknown(Vec<&'static str>),
    /// All of these errors.
    Several(Vec<KeyError>),
}

impl KeyError {
    /// Creates an error from what is wrong and what to write instead.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), fix: fix.into() }
    }
}

impl From<QuantityError> for KeyError {
    fn from(error: QuantityError) -> Self {
        Self::Wrong { what: error.what, fix: error.fix }
    }
}

impl<'a> Value<'a> {
    /// Returns the kind of value, with its article.
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

    /// Returns the error that this value is of another kind than `fix` describes.
    pub fn unfit(&self, fix: impl Into<String>) -> KeyError {
        KeyError::new(format!("the value is {}", self.kind()), fix)
    }

    /// Returns the text of a quantity such as `example`.
    ///
    /// # Errors
    /// For any other kind of value.
    pub fn quantity(&self, example: &str) -> Result<&'a str, KeyError> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Integer(_) | Self::Float(_) => Err(KeyError::new(
                "the number has no unit",
                format!("a string with its unit, such as {example:?}"),
            )),
            _ => Err(self.unfit(format!("a string such as {example:?}"))),
        }
    }

    /// Returns the meaning of the word.
    ///
    /// # Errors
    /// For any other kind of value, and for a word that is not in `words`.
    pub fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, KeyError> {
        let names = || words.iter().map(|&(name, _)| name).collect::<Vec<_>>();
        let Self::Text(text) = self else {
            let quoted: Vec<String> = names().iter().map(|name| format!("`{name}`")).collect();
            return Err(self.unfit(format!("a string, one of {}", quoted.join(", "))));
        };
        let found = words.iter().find(|(name, _)| name == text);
        found
            .map(|&(_, meant)| meant)
            .ok_or_else(|| KeyError::Word { given: (*text).to_owned(), known: names() })
    }
}

/// The interval of valid numbers of a key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Its lower end.
    pub low: Bound,
    /// Its upper end.
    pub high: Bound,
    /// The interval as written; empty for any number.
    pub text: &'static str,
}

/// One end of an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// Unbounded.
    None,
    /// This number, included.
    Included(f64),
    /// This number, excluded.
    Excluded(f64),
}

impl Bounds {
    /// Any number.
    pub const ANY: Self = Self { low: Bound::None, high: Bound::None, text: "" };

    /// Creates the bounds of integers from `low` to `high`, written as `text`.
    pub const fn whole(low: u64, high: u64, text: &'static str) -> Self {
        Self { low: Bound::Included(low as f64), high: Bound::Included(high as f64), text }
    }

    /// Creates the bounds of numbers above `low`, written as `text`.
    pub const fn above(low: f64, text: &'static str) -> Self {
        Self { low: Bound::Excluded(low), high: Bound::None, text }
    }

    /// Returns whether `x` is within the interval.
    pub fn has(&self, x: f64) -> bool {
        let above = match self.low {
            Bound::None => true,
            Bound::Included(low) => x >= low,
            Bound::Excluded(low) => x > low,
        };
        let below = match self.high {
            Bound::None => true,
            Bound::Included(high) => x <= high,
            Bound::Excluded(high) => x < high,
        };
        above && below && !x.is_nan()
    }

    /// Returns the error that `shown` is outside the bounds; `noun` is such as "a number".
    pub(super) fn outside(&self, shown: impl fmt::Display, noun: &str) -> KeyError {
        let fix = match (self.low, self.high) {
            (Bound::None, Bound::None) => format!("{noun}, not infinite"),
            (Bound::Included(low), Bound::None) => format!("{noun}, at least {low}"),
            (Bound::Excluded(low), Bound::None) => format!("{noun} above {low}"),
            (Bound::Included(low), Bound::Included(high)) => format!("{noun} from {low} to {high}"),
            (Bound::Excluded(low), Bound::Included(high)) => format!("{noun} above {low} and at most {high}"),
            _ => format!("{noun} in {}", self.text),
        };
        KeyError::new(format!("{shown} is out of range"), fix)
    }
}

/// A value as it is written to a file.
#[derive(Clone, PartialEq, Debug)]
pub enum WrittenValue {
    /// True or false.
    Bool(bool),
    /// An integer of at least zero.
    Integer(u64),
    /// A negative integer.
    Negative(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<WrittenValue>),
    /// A table.
    Table(Vec<(String, WrittenValue)>),
}

impl Serialize for WrittenValue {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(truth) => s.serialize_bool(*truth),
            Self::Integer(n) => s.serialize_u64(*n),
            Self::Negative(n) => s.serialize_i64(*n),
            Self::Float(x) => s.serialize_f64(*x),
            Self::Text(text) => s.serialize_str(text),
            Self::List(items) => s.collect_seq(items),
            Self::Table(entries) => s.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// Formats the value as in a file, but strings without quotes.
impl fmt::Display for WrittenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(truth) => truth.fmt(f),
            Self::Integer(n) => n.fmt(f),
            Self::Negative(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Table(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

impl From<&str> for WrittenValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for WrittenValue {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u64> for WrittenValue {
    fn from(n: u64) -> Self {
        Self::Integer(n)
    }
}

impl From<i32> for WrittenValue {
    fn from(n: i32) -> Self {
        Self::Integer(u64::from(n.unsigned_abs()))
    }
}

impl WrittenValue {
    /// Returns it as a value to read.
    pub(crate) fn as_value(&self) -> Value<'_> {
        match self {
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Integer(n) => Value::Integer(i64::try_from(*n).unwrap_or(i64::MAX)),
            Self::Negative(n) => Value::Integer(*n),
            Self::Float(x) => Value::Float(*x),
            Self::Text(text) => Value::Text(text),
            Self::List(items) => Value::List(items.iter().map(Self::as_value).collect()),
            Self::Table(entries) => {
                Value::Table(entries.iter().map(|(key, value)| (key.as_str(), value.as_value())).collect())
            }
        }
    }
}
