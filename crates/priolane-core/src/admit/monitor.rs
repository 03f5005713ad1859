//! Monitor intervals: how often a policy gets reports of a flow, and whether it then moves it.

use crate::keys::{
    Bounds, KeyConflict, KeyError, KeyValue, Keys, Period, Schema, Value, Words, WrittenValue,
};
use crate::units::Span;

/// The monitor interval and its effect on running flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "monitor", check = Self::check)]
pub struct Monitoring {
    /// Monitor interval: rpc (a whole flow), rtt (the round trip of a small packet across the network), or a time
    /// of at least 100 ns.
    #[key(default = Interval::Rtt, source = "Firapam §V-A; docs/assumptions.md#firapam-interval")]
    pub mi: Interval,
    /// at_issue: a flow keeps its class; per_mi: running flows are remapped.
    #[key(default = Remap::AtIssue, source = "docs/assumptions.md#firapam-remap")]
    pub remap: Remap,
}

impl Monitoring {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.mi == Interval::Rpc && self.remap == Remap::PerInterval {
            let what = "with mi = \"rpc\", a monitor interval ends with its flow";
            return Err(KeyConflict::of("remap", what, "mi = \"rtt\" or a time"));
        }
        Ok(())
    }
}

/// Length of a monitor interval. At its end a running flow yields one more sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// A whole flow, from start to last acknowledgement.
    Rpc,
    /// The round trip of a small packet between the first and the last host.
    Rtt,
    /// A fixed time.
    Every(Span),
}

impl Interval {
    /// Returns its length if it is shorter than flows; `round_trip` is that of a small packet.
    pub fn length(self, round_trip: Span) -> Option<Span> {
        match self {
            Self::Rpc => None,
            Self::Rtt => Some(round_trip),
            Self::Every(span) => Some(span),
        }
    }
}

impl KeyValue for Interval {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text("rpc") => return Ok(Self::Rpc),
            Value::Text("rtt") => return Ok(Self::Rtt),
            _ => {}
        }
        let fix = "\"rpc\", \"rtt\", or a time such as \"50us\"";
        match Period::read(value, &Bounds::above(0.0, "(0, )")) {
            Ok(Period(span)) => Ok(Self::Every(span)),
            Err(KeyError::Wrong { what, .. }) => Err(KeyError::new(what, fix)),
            Err(other) => Err(other),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Rpc => "rpc".into(),
            Self::Rtt => "rtt".into(),
            Self::Every(span) => span.write(),
        }
    }

    fn schema() -> Schema {
        Schema::Text
    }
}

/// Whether running flows change their class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Words)]
pub enum Remap {
    /// A flow keeps the class it got when it opened.
    #[default]
    AtIssue,
    /// A flow may get another class at the end of each of its monitor intervals.
    #[word("per_mi")]
    PerInterval,
}
