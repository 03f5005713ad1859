//! The keys of `transport = { kind = "python", ... }`.

use std::fmt;
use std::sync::Arc;

use priolane_core::keys::{Bounds, KeyConflict, KeyError, KeyValue, Keys, Schema, Value, WrittenValue};
use priolane_core::part::Part;
use priolane_core::transport::{ControllerFailure, ControllerParams};
use pyo3::prelude::*;

use super::class::Class;
use super::failure;

/// Instructions per packet-hop relative to DCTCP: a run takes about 2.5 times as long.
const COST: f64 = 2.5;

/// The class of a congestion controller.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "python")]
#[part(
    name = "python",
    summary = "a congestion controller that is a Python class",
    source = "docs/notebook-scheme.md",
    provides = [Ranks],
    deploy = [CongestionModule]
)]
pub(crate) struct Config {
    /// The file and the class: `newreno:NewReno` is the class `NewReno` in `newreno.py`, beside the experiment.
    #[key(required = "class = \"newreno:NewReno\"", source = "docs/notebook-scheme.md")]
    pub(crate) class: ClassName,
    /// Values for attributes of the class, by name.
    #[key(default = Attributes::default(), shown = "none", skip_default, source = "docs/notebook-scheme.md")]
    pub(crate) keys: Attributes,
    /// The window of a new flow in bytes.
    #[keys(skip)]
    pub(super) first_window: Option<u64>,
    /// The class, once its file has been read.
    #[keys(skip)]
    pub(super) read: Option<Arc<Class>>,
}

impl Config {
    /// Returns what distinguishes the class, with the values of its attributes, from another; `None` before its file has been
    /// read.
    pub(super) fn code(&self) -> Option<(String, Arc<str>)> {
        self.read.as_ref().map(|class| (format!("{} {:?}", self.class, self.keys), class.text.clone()))
    }

    /// Runs the text of the class's file.
    ///
    /// # Errors
    /// Returns an `InputError` with the traceback.
    pub(super) fn load(&self, py: Python<'_>) -> PyResult<()> {
        self.read.as_ref().map_or(Ok(()), |class| class.object(py).map(drop))
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.first_window = Some(bytes);
    }

    fn cost(&self) -> f64 {
        COST
    }

    fn source(&self) -> Option<String> {
        Some(self.class.file())
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        let class = Python::attach(|py| Class::read(py, (&self.class, &self.keys), text))?;
        self.read = Some(Arc::new(class));
        Ok(())
    }

    fn is_single_threaded(&self) -> bool {
        true
    }

    fn take_failure(&self) -> Option<ControllerFailure> {
        if let Some(class) = &self.read {
            class.unload();
        }
        failure::take()
    }
}

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
