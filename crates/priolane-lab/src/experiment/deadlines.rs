//! `deadline`: the deadlines of a group's flows, relative to their starts. One of:
//!
//! - A fixed time, or a mix of times drawn independently of size and scheme (docs/assumptions.md#deadline-mix). Times
//!   of a mix may be multiples of R_base, the smallest time at which all flows fit their destination links
//!   (docs/assumptions.md#r-base).
//! - An exponential time, at least what the flow takes in an idle network (docs/assumptions.md#deadline-exponential).
//! - The time that a flow takes at a given rate. It is known only after the run, and to no transport or policy.

use priolane_core::units::{Rate, Span};
use priolane_source::quantity::{as_text, show_span};
use priolane_source::{Field, Form, InputError, Merge, Reader, Replace};
use priolane_workload::App;
use serde::Serialize;
use serde::ser::Serializer;

use super::like::LIKE;

/// The way in which the deadlines of a group's flows are set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Deadline {
    /// Drawn when flows are generated.
    Drawn(Deadlines),
    /// Computed from the flow's size, and optionally the number of active flows.
    AtRate(AtRate),
}

/// A deadline equal to the time that a flow takes at a rate (docs/assumptions.md#paccp-deadline).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AtRate {
    /// Rate, of payload.
    #[serde(serialize_with = "as_text::rate")]
    pub rate: Rate,
    /// The way in which the rate is shared.
    pub split: Split,
    /// Minimum deadline.
    #[serde(serialize_with = "as_text::span")]
    pub at_least: Span,
}

/// The way in which the rate of a deadline is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Exponential {
    /// Mean of the distribution.
    #[serde(serialize_with = "as_text::span")]
    pub mean: Span,
    /// The multiple; 0 for none.
    pub at_least_alone: f64,
}

/// A part of a group's flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Fraction of the flows, above 0; all fractions sum to 1.
    pub share: f64,
    /// Deadline of these flows.
    #[serde(flatten)]
    pub allowed: AllowedTime,
}

/// The deadline of the flows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AllowedTime {
    /// A fixed time.
    Within {
        /// Time, above 0.
        #[serde(serialize_with = "as_text::span")]
        within: Span,
    },
    /// `r_base` times R_base, divided by `over`.
    OfBase {
        /// Deadline at which all flows fit, in units of R_base; above 0.
        r_base: f64,
        /// Overload factor; above 0.
        over: f64,
    },
    /// No deadline.
    Ever {},
}

impl Serialize for Deadlines {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(span) => s.serialize_str(&show_span(*span)),
            Self::Mix(parts) => parts.serialize(s),
            Self::Exponential(law) => law.serialize(s),
        }
    }
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

/// Reads the key of a group whose app is `app`.
pub(super) fn read(keys: &mut Reader<'_>, app: &App) -> Result<Option<Deadline>, InputError> {
    let Some(field) = keys.take("deadline") else { return Ok(None) };
    if app.part().listed().is_some() {
        let fix = "the column `deadline_ns` of the list";
        return Err(field.error("flows of a list have their own deadlines", fix));
    }
    if app.part().is_closed_loop() {
        let what = "the start of a dependent flow is not known before the run, so it cannot have a deadline";
        return Err(field.error(what, "Remove the key"));
    }
    if field.text().is_ok() {
        return Ok(Some(Deadline::Drawn(Deadlines::All(field.positive_span()?))));
    }
    if let Ok(table) = field.table() {
        let rule = if table.has("mean") {
            Deadline::Drawn(Deadlines::Exponential(exponential(table)?))
        } else {
            Deadline::AtRate(at_rate(table)?)
        };
        return Ok(Some(rule));
    }
    let items = field.filled_list().map_err(|error| InputError { fix: FIX.to_owned(), ..error })?;
    let parts = items.iter().map(part).collect::<Result<Vec<Part>, _>>()?;
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    if (sum - 1.0).abs() > 1e-9 {
        return Err(field.error(
            format!("the shares sum to {sum}"),
            "shares with the sum 1; a part without `within` has no deadline",
        ));
    }
    Ok(Some(Deadline::Drawn(Deadlines::Mix(parts))))
}

fn exponential(mut keys: Reader<'_>) -> Result<Exponential, InputError> {
    let mean = keys.need("mean", "mean = \"1ms\"")?.positive_span()?;
    let at_least_alone = keys.take("at_least_alone").map_or(Ok(1.25), |f| f.number(0.0, 1e6))?;
    keys.finish()?;
    Ok(Exponential { mean, at_least_alone })
}

fn at_rate(mut keys: Reader<'_>) -> Result<AtRate, InputError> {
    let rate = keys.need("rate", "rate = \"5Gbps\", or mean = \"1ms\"")?.rate()?;
    let split = keys.word_or("split", &[("none", Split::None), ("active", Split::Active)], Split::None)?;
    let at_least = keys.span_or("at_least", Span::ZERO)?;
    keys.finish()?;
    Ok(AtRate { rate, split, at_least })
}

fn part(field: &Field<'_>) -> Result<Part, InputError> {
    let mut keys = field.table()?;
    let share_field = keys.need("share", "share = 0.5")?;
    let share = share_field.number(0.0, 1.0)?;
    if share <= 0.0 {
        return Err(share_field.error("the part has no flows", "a share above 0"));
    }
    let allowed = match (keys.take("within"), keys.take("r_base")) {
        (Some(_), Some(field)) => {
            return Err(field.error("both within and r_base are set", "either within or r_base"));
        }
        (Some(field), None) => AllowedTime::Within { within: field.positive_span()? },
        (None, Some(field)) => {
            let over = keys.take("over").map_or(Ok(1.0), |f| above_zero(&f))?;
            AllowedTime::OfBase { r_base: above_zero(&field)?, over }
        }
        (None, None) => AllowedTime::Ever {},
    };
    keys.finish()?;
    Ok(Part { share, allowed })
}

fn above_zero(field: &Field<'_>) -> Result<f64, InputError> {
    let number = field.number(0.0, 1e6)?;
    if number > 0.0 {
        Ok(number)
    } else {
        Err(field.error("the value is zero", "a number above 0, such as 1.5"))
    }
}
