//! The scope of the sizes and load that thresholds are computed from.

use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// The scope of the sizes and load that thresholds are computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeScope {
    /// All groups together; their results must agree.
    Global,
    /// Each host's own estimate. With stationary sizes, that of the groups, whose results must agree.
    Local,
    /// The group of this name.
    Group(String),
}

impl KeyValue for SizeScope {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text("global") => Ok(Self::Global),
            Value::Text("local") => Ok(Self::Local),
            Value::Text(name) => Ok(Self::Group((*name).to_owned())),
            other => Err(other.unfit("a string in quotes")),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Global => "global".into(),
            Self::Local => "local".into(),
            Self::Group(name) => name.as_str().into(),
        }
    }

    fn schema() -> Schema {
        Schema::Text
    }
}

impl serde::Serialize for SizeScope {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(s)
    }
}
