//! `time` and `[[control]]`: when things happen.

use priolane_core::ids::Class;
use priolane_core::units::{Span, Time};
use serde::Serialize;

use super::service::{self, Pair};

use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Merge, Mistakes, Replace};

/// What is warmed up, measured and drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Timing {
    /// Flows start until `warmup + measure`; those that start after `warmup` are measured.
    Window {
        /// Not measured.
        #[serde(serialize_with = "as_text::span")]
        warmup: Span,
        /// Measured.
        #[serde(serialize_with = "as_text::span")]
        measure: Span,
        /// Whether the run goes on until the last flow has completed.
        drain: bool,
        /// The latest instant of the run.
        #[serde(serialize_with = "as_text::span")]
        limit: Span,
    },
    /// The first so many flows are run and measured.
    Count {
        /// How many.
        flows: u64,
        /// The latest instant of the run.
        #[serde(serialize_with = "as_text::span")]
        limit: Span,
    },
}

impl Timing {
    /// The measured window: the whole run where a number of flows is counted.
    pub fn window(&self) -> (Time, Time) {
        match *self {
            Self::Window { warmup, measure, .. } => {
                (Time(warmup.0), Time(warmup.0.saturating_add(measure.0)))
            }
            Self::Count { limit, .. } => (Time::ZERO, Time(limit.0)),
        }
    }
}

/// `[[control]]`: a change of flows in mid-life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControlText {
    /// When it reaches the flows' sources.
    #[serde(serialize_with = "as_text::span")]
    pub at: Span,
    /// Whose change.
    #[serde(flatten)]
    pub whom: Whom,
    /// What changes.
    #[serde(flatten)]
    pub change: Change,
}

/// Whom a control message reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// A flow, by its place in the flow list, from 0.
    Flow(u32),
    /// Every flow of a group.
    Group(String),
}

/// What a control message changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The flow stops and never completes.
    Abort(bool),
    /// The flow's class from now on.
    Class(Class),
    /// The pair that the flow pays for from now on.
    Pay(Pair),
}

/// The latest instant of a run that states none: an hour.
const DEFAULT_LIMIT: Span = Span(3_600 * 1_000_000_000_000);

/// A number of flows, or a window.
pub(super) const MERGE: Merge = Merge::of(&[Replace::OneOf(&[
    Form { by: &["flows"], with: &[] },
    Form { by: &["warmup", "measure", "drain"], with: &[] },
])]);

/// Reads `time`.
pub(super) fn read(field: &Field<'_>) -> Result<Timing, InputError> {
    let mut keys = field.table()?;
    let limit_field = keys.take("limit");
    let limit = limit_field.as_ref().map(|f| f.positive_span()).transpose()?;
    if let Some(flows) = keys.take("flows") {
        let flows = flows.integer(1, 50_000_000)?;
        if keys.has("measure") || keys.has("warmup") || keys.has("drain") {
            let fix = "either flows = N, or warmup, measure and drain";
            return Err(field.error("both a number of flows and a window are stated", fix));
        }
        keys.finish()?;
        return Ok(Timing::Count { flows, limit: limit.unwrap_or(DEFAULT_LIMIT) });
    }
    let warmup = keys.span_or("warmup", Span::ZERO)?;
    let measure_field = keys.need("measure", "measure = \"50ms\", or flows = N")?;
    let measure = measure_field.positive_span()?;
    let drain = keys.take("drain").map_or(Ok(true), |f| f.truth())?;
    keys.finish()?;
    let end = Span(warmup.0.saturating_add(measure.0));
    if end > Span::LONGEST {
        return Err(measure_field.error("the run would be longer than 26 days", "a shorter time"));
    }
    let drained = (end + DEFAULT_LIMIT).min(Span::LONGEST);
    let limit = limit.unwrap_or(if drain { drained } else { end });
    if limit < end {
        let at = limit_field.as_ref().unwrap_or(field);
        return Err(at.error("the limit is before warmup + measure", "a later limit"));
    }
    Ok(Timing::Window { warmup, measure, drain, limit })
}

/// Reads `[[control]]`, sorted by time.
pub(super) fn controls(field: &Field<'_>) -> Result<Vec<ControlText>, InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let mut all = found.each(field.list()?, |item| {
        let mut keys = item.table()?;
        let at = keys.need("at", "at = \"2ms\"")?.span()?;
        let whom = match (keys.take("flow"), keys.take("group")) {
            (Some(flow), None) => Whom::Flow(flow.integer(0, u64::from(u32::MAX))? as u32),
            (None, Some(group)) => Whom::Group(group.text()?.to_owned()),
            _ => return Err(item.error("whose change is it", "either flow = 0 or group = \"NAME\"")),
        };
        let changes = [keys.take("abort"), keys.take("class"), keys.take("pay")];
        if changes.iter().flatten().count() > 1 {
            return Err(item.error("two changes are stated", "abort, class or pay"));
        }
        let change = match changes {
            [Some(abort), ..] if abort.truth()? => Change::Abort(true),
            [Some(abort), ..] => return Err(abort.error("this changes nothing", "abort = true")),
            [_, Some(class), _] => Change::Class(class.integer(0, 15)? as Class),
            [.., Some(pay)] => Change::Pay(paid(&pay)?),
            _ => return Err(item.error("no change is stated", "abort = true, class = N or pay = { w = 2 }")),
        };
        keys.finish()?;
        Ok(ControlText { at, whom, change })
    });
    found.finish()?;
    all.sort_by_key(|control| control.at);
    Ok(all)
}

/// `pay = { cos, theta, w }`; empty for best effort.
fn paid(field: &Field<'_>) -> Result<Pair, InputError> {
    let mut keys = field.table()?;
    let pair = service::pair(&mut keys)?;
    keys.finish()?;
    Ok(pair)
}
