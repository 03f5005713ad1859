//! `deadline`: the deadlines of a group's flows, relative to their starts. One of:
//!
//! - A fixed time, or a mix of times drawn independently of size and scheme (docs/assumptions.md#deadline-mix). Times
//!   of a mix may be multiples of R_base, the smallest time at which all flows fit their destination links
//!   (docs/assumptions.md#r-base).
//! - An exponential time, at least what the flow takes in an idle network (docs/assumptions.md#deadline-exponential).
//! - The time that a flow takes at a given rate. It is known only after the run, and to no transport or policy.

use priolane_core::keys::Form as _;
use priolane_core::keys::{
    Bounds, InTable, KeyConflict, KeyError, KeyValue, Keys, Schema, Tables, Value, Words, WrittenValue,
};
use priolane_core::units::{Rate, Span};
use priolane_source::{Field, Form, InputError, Merge, Replace};
use priolane_workload::App;

use super::like::LIKE;

/// The way in which the deadlines of a group's flows are set.
#[derive(Clone, Debug, PartialEq)]
pub enum Deadline {
    /// Drawn when flows are generated.
    Drawn(Deadlines),
    /// Computed from the flow's size, and optionally the number of active flows.
    AtRate(AtRate),
}

/// A deadline equal to the time that a flow takes at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct AtRate {
    /// The rate, of payload, at which a flow meets its deadline; in place of `mean`.
    #[key(required = "rate = \"5Gbps\", or mean = \"1ms\"", source = "docs/assumptions.md#paccp-deadline")]
    pub rate: Rate,
    /// The way in which the rate is shared.
    #[key(default = Split::None)]
    pub split: Split,
    /// Minimum deadline.
    #[key(default = Span::ZERO)]
    pub at_least: Span,
}

/// The way in which the rate of a deadline is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Split {
    /// Not shared.
    None,
    /// Shared equally by the flows that the host sends when a flow starts, including that one.
    Active,
}

/// The deadlines of a group's flows, relative to their starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Deadlines {
    /// All flows have this deadline.
    All(Span),
    /// Each flow draws one of these parts.
    Mix(Vec<Part>),
    /// Each flow draws an exponential time.
    Exponential(Exponential),
}

/// An exponentially distributed time, raised to a multiple of the flow's completion time in an idle network if that is
/// longer.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
pub struct Exponential {
    /// Mean of the exponential distribution of deadlines; in place of `rate`.
    #[key(required = "mean = \"1ms\"", range = "(0, )", source = "docs/assumptions.md#deadline-exponential")]
    pub mean: Span,
    /// The least deadline of a flow as a multiple of its completion time in an idle network; 0 for none.
    #[key(default = 1.25, range = "[0, 1000000]", source = "docs/assumptions.md#deadline-exponential")]
    pub at_least_alone: f64,
}

/// A part of a group's flows.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct Part {
    /// Fraction of the flows, above 0; all fractions sum to 1.
    #[key(required = "share = 0.5", range = "[0, 1]", source = "docs/assumptions.md#deadline-mix")]
    pub share: f64,
    /// Deadline of these flows.
    #[keys(flatten)]
    pub allowed: AllowedTime,
}

/// The deadline of the flows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(one_of, both = "either within or r_base", all_known)]
pub enum AllowedTime {
    /// A fixed time.
    Within {
        /// Deadline of the part; a part with neither `within` nor `r_base` has none.
        #[key(required = "within = \"2ms\"", range = "(0, )")]
        within: Span,
    },
    /// `r_base` times R_base, divided by `over`.
    OfBase {
        /// Deadline at which all flows fit, in units of R_base; above 0.
        #[key(required = "r_base = 1.5", form = AboveZero, source = "docs/assumptions.md#r-base")]
        r_base: f64,
        /// Overload factor; above 0.
        #[key(default = 1.0, form = AboveZero, source = "docs/assumptions.md#r-base")]
        over: f64,
    },
    /// No deadline.
    Ever {},
}

/// A number above 0.
#[derive(Clone, Copy, Debug)]
struct AboveZero;

impl priolane_core::keys::Form<f64> for AboveZero {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<f64, KeyError> {
        match f64::read(value, &UP_TO_A_MILLION)? {
            number if number > 0.0 => Ok(number),
            _ => Err(KeyError::new("the value is zero", "a number above 0, such as 1.5")),
        }
    }

    fn write(value: &f64) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

const UP_TO_A_MILLION: Bounds = Bounds::whole(0, 1_000_000, "[0, 1000000]");

impl Part {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match self.share > 0.0 {
            true => Ok(()),
            false => Err(KeyConflict::of("share", "the part has no flows", "a share above 0")),
        }
    }
}

/// A time, a list of parts, or a table with a mean or a rate.
impl KeyValue for Deadline {
    const UNIT: &'static str = "time";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        Ok(match value {
            Value::Text(_) => Self::Drawn(Deadlines::All(Span::read(value, &Bounds::above(0.0, "(0, )"))?)),
            Value::Table(keys) if keys.iter().any(|(key, _)| *key == "mean") => {
                Self::Drawn(Deadlines::Exponential(InTable::read(value, bounds)?))
            }
            Value::Table(_) => Self::AtRate(InTable::read(value, bounds)?),
            Value::List(_) => Self::Drawn(Deadlines::Mix(parts(value)?)),
            other => return Err(other.unfit(FIX)),
        })
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Drawn(Deadlines::All(span)) => span.write(),
            Self::Drawn(Deadlines::Exponential(law)) => InTable::write(law),
            Self::Drawn(Deadlines::Mix(parts)) => Tables::write(parts),
            Self::AtRate(rule) => InTable::write(rule),
        }
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        Exponential::describe(&mut keys);
        AtRate::describe(&mut keys);
        let parts = <Tables as priolane_core::keys::Form<Vec<Part>>>::schema();
        Schema::AnyOf(vec![Schema::Quantity("2ms"), parts, Schema::Table(keys)])
    }
}

/// Reads the parts of a group's flows, whose shares sum to 1.
fn parts(value: &Value<'_>) -> Result<Vec<Part>, KeyError> {
    if matches!(value, Value::List(items) if items.is_empty()) {
        return Err(KeyError::new("the list is empty", FIX));
    }
    let parts: Vec<Part> = Tables::read(value, &Bounds::ANY)?;
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    if (sum - 1.0).abs() <= 1e-9 {
        return Ok(parts);
    }
    let fix = "shares with the sum 1; a part without `within` has no deadline";
    Err(KeyError::new(format!("the shares sum to {sum}"), fix))
}

impl Deadlines {
    /// Returns the deadline of a flow for a uniform `u` in [0, 1), without the minimum of an idle network.
    pub fn draw(&self, u: f64) -> AllowedTime {
        let parts = match self {
            Self::All(span) => return AllowedTime::Within { within: *span },
            Self::Exponential(law) => return AllowedTime::Within { within: law.draw(u) },
            Self::Mix(parts) => parts,
        };
        let mut below = 0.0;
        let drawn = parts.iter().find(|part| {
            below += part.share;
            u < below
        });
        drawn.or(parts.last()).map_or(AllowedTime::Ever {}, |part| part.allowed)
    }

    /// Whether every flow has a deadline.
    pub fn of_all(&self) -> bool {
        match self {
            Self::All(_) | Self::Exponential(_) => true,
            Self::Mix(parts) => parts.iter().all(|part| part.allowed != AllowedTime::Ever {}),
        }
    }

    /// Whether any deadline depends on R_base.
    pub(crate) fn of_base(&self) -> bool {
        let by_base = |part: &Part| matches!(part.allowed, AllowedTime::OfBase { .. });
        matches!(self, Self::Mix(parts) if parts.iter().any(by_base))
    }
}

impl Exponential {
    /// Draws a time by inversion, at least 1 ps.
    fn draw(&self, u: f64) -> Span {
        Span((-(self.mean.0 as f64) * libm::log(1.0 - u)).max(1.0) as u64)
    }

    /// Returns the minimum deadline of a flow that takes `alone` in an idle network.
    pub fn least(&self, alone: Span) -> Span {
        Span((alone.0 as f64 * self.at_least_alone).ceil() as u64)
    }
}

const FIX: &str = "deadline = \"2ms\", [{ share = 0.5, within = \"2ms\" }, { share = 0.5 }], { mean = \"1ms\" } or { rate = \"5Gbps\" }";

/// A mean and a rate are alternatives.
pub(super) const MERGE: Merge = Merge::of(&[
    Replace::OneOf(&[
        Form { by: &["mean", "at_least_alone"], with: &[] },
        Form { by: &["rate", "split", "at_least"], with: &[] },
    ]),
    LIKE,
]);

/// Checks that the flows of a group whose app is `app` can have the deadlines in `field`.
///
/// # Errors
/// The flows have deadlines of their own, or start at times that are not known before the run.
pub(super) fn check(field: &Field<'_>, app: &App) -> Result<(), InputError> {
    if app.part().listed().is_some() {
        let fix = "the column `deadline_ns` of the list";
        return Err(field.error("flows of a list have their own deadlines", fix));
    }
    if app.part().is_closed_loop() {
        let what = "the start of a dependent flow is not known before the run, so it cannot have a deadline";
        return Err(field.error(what, "Remove the key"));
    }
    Ok(())
}
