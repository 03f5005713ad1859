//! The class of the packets that are not data.

use crate::ids::{CLASSES, Class};
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// The class of ACKs, handshake packets and replies to probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlClass {
    /// One class for all.
    Fixed(Class),
    /// The class of the packet that is answered; a SYN has the class in which its flow's data begins.
    OfFlow,
}

impl ControlClass {
    /// Returns the class of control packets; `None` if they have that of their flow.
    #[inline]
    pub fn fixed(self) -> Option<Class> {
        match self {
            Self::Fixed(class) => Some(class),
            Self::OfFlow => None,
        }
    }
}

/// A class, or `"flow"`.
impl KeyValue for ControlClass {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        let read = match value {
            Value::Text(_) => value.word(&[("flow", ())]).map(|()| Self::OfFlow),
            _ => Class::read(value, &Bounds::whole(0, CLASSES as u64 - 1, "[0, 15]")).map(Self::Fixed),
        };
        read.map_err(|error| match error {
            KeyError::Wrong { what, .. } => KeyError::new(what, "a class from 0 to 15, or \"flow\""),
            other => other,
        })
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Fixed(class) => class.write(),
            Self::OfFlow => "flow".into(),
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![
            Schema::Integer,
            Schema::Words(&[("flow", "The class of the packet that is answered.")]),
        ])
    }
}
