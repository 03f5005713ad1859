//! The values of the keys of a class: its name, and values of its attributes.

use std::fmt;

use priolane_core::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// The name of a class, with that of its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassName {
    /// The names of folders and of the file, with dots between them and without suffix.
    module: String,
    /// The name of the class.
    pub(super) class: String,
}

impl ClassName {
    fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let (module, class) = text.split_once(':')?;
        (module.split('.').all(is_name) && is_name(class))
            .then(|| Self { module: module.to_owned(), class: class.to_owned() })
    }

    /// Returns the path of its file.
    pub(super) fn file(&self) -> String {
        format!("{}.py", self.module.replace('.', "/"))
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.module, self.class)
    }
}

impl KeyValue for ClassName {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        const FIX: &str = "the file without `.py`, a colon and the class, such as \"newreno:NewReno\"";
        let Value::Text(text) = value else { return Err(value.unfit(FIX)) };
        Self::parse(text).ok_or_else(|| KeyError::new(format!("{text:?} does not name a class"), FIX))
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(self.to_string())
    }

    fn schema() -> Schema {
        Schema::Text
    }
}

/// Values of attributes by name, in the order of the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Attributes(pub(super) Vec<(String, Scalar)>);

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Scalar {
    Truth(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Scalar {
    fn read(value: &Value<'_>) -> Result<Self, KeyError> {
        match value {
            Value::Bool(truth) => Ok(Self::Truth(*truth)),
            Value::Integer(n) => Ok(Self::Whole(*n)),
            Value::Float(x) => Ok(Self::Number(*x)),
            Value::Text(text) => Ok(Self::Text((*text).to_owned())),
            Value::List(_) | Value::Table(_) => Err(value.unfit("a number, a text, true or false")),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Truth(truth) => WrittenValue::Bool(*truth),
            Self::Whole(n) => u64::try_from(*n).map_or(WrittenValue::Negative(*n), WrittenValue::Integer),
            Self::Number(x) => WrittenValue::Float(*x),
            Self::Text(text) => WrittenValue::Text(text.clone()),
        }
    }
}

impl KeyValue for Attributes {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table of attributes and their values, such as { beta = 0.7 }"));
        };
        let read = |(name, value): &(&str, Value<'_>)| match Scalar::read(value) {
            Ok(scalar) => Ok(((*name).to_owned(), scalar)),
            Err(error) => Err(KeyError::Key((*name).to_owned(), Box::new(error))),
        };
        entries.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Table(self.0.iter().map(|(name, value)| (name.clone(), value.write())).collect())
    }

    fn schema() -> Schema {
        Schema::Map("beta", Box::new(Schema::Any))
    }
}
