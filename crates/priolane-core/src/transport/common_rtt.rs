//! The round-trip time that flows share, although their paths differ.

use crate::endpoint::Path;
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};
use crate::units::Span;

/// T, the round-trip time with which all flows compute windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommonRtt {
    /// The longest of the empty paths of the network; that of the flow's own path where the network is not known.
    Longest,
    /// That of the flow's own empty path.
    Path,
    /// A stated time.
    Fixed(Span),
}

/// A time, `"path"`, or `"auto"`, which is written as a time of zero.
impl KeyValue for CommonRtt {
    const UNIT: &'static str = Span::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text("auto") => return Ok(Self::Longest),
            Value::Text("path") => return Ok(Self::Path),
            _ => {}
        }
        Ok(match Span::read(value, bounds)? {
            Span::ZERO => Self::Longest,
            rtt => Self::Fixed(rtt),
        })
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Longest => Span::ZERO.write(),
            Self::Path => "path".into(),
            Self::Fixed(rtt) => rtt.write(),
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::Words(&[("auto", "auto"), ("path", "path")]), Span::schema()])
    }
}

impl CommonRtt {
    /// Returns T for a flow with the empty path `path`.
    pub fn of(self, path: &Path) -> Span {
        match self {
            Self::Fixed(rtt) => rtt,
            Self::Longest | Self::Path => path.longest_round_trip(),
        }
    }

    /// Makes `longest` T if T is the longest round trip of the network.
    pub fn know_longest(&mut self, longest: Span) {
        if *self == Self::Longest {
            *self = Self::Fixed(longest);
        }
    }
}
