//! `time` and `[[control]]`: when things happen.

use priolane_core::ids::Class;
use priolane_core::keys::Keys;
use priolane_core::units::{Span, Time};
use serde::Serialize;

use super::service::{self, Pair};

use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Merge, Mistakes, Replace};

/// What is warmed up, measured and drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(one_of)]
pub enum Timing {
    /// Flows start until `warmup + measure`; those that start after `warmup` are measured.
    Window {
        /// How long flows start that are not measured.
        #[key(default = Span::ZERO)]
        warmup: Span,
        /// How long flows start that are measured, after `warmup`.
        #[key(required = "measure = \"50ms\", or flows = N", range = "(0, )")]
        measure: Span,
        /// Whether the run goes on until the last flow has completed.
        #[key(default = true)]
        drain: bool,
        /// The latest instant of the run.
        #[key(
            default = if drain { drained(window_end(warmup, measure)) } else { window_end(warmup, measure) },
            range = "(0, )",
            shown = "3600s, with a window 3600s after its end, without drain its end"
        )]
        limit: Span,
    },
    /// The first so many flows are run and measured.
    Count {
        /// How many flows are run, all of them measured, in place of a window.
        #[key(required = "flows = 1000", range = "[1, 50000000]")]
        flows: u64,
        /// The latest instant of the run.
        #[key(default = DEFAULT_LIMIT, range = "(0, )")]
        limit: Span,
    },
}

/// The end of the measured window.
fn window_end(warmup: Span, measure: Span) -> Span {
    Span(warmup.0.saturating_add(measure.0))
}

/// The latest instant of a run that ends when its last flow has completed.
fn drained(end: Span) -> Span {
    Span(end.0.saturating_add(DEFAULT_LIMIT.0)).min(Span::LONGEST)
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
    pub whom: ControlTarget,
    /// What changes.
    #[serde(flatten)]
    pub change: Change,
}

/// Whom a control message reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlTarget {
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
    let of_window = ["warmup", "measure", "drain"].into_iter().any(|key| field.inner(key).is_some());
    if of_window && field.inner("flows").is_some() {
        let fix = "either flows = N, or warmup, measure and drain";
        return Err(field.error("both a number of flows and a window are stated", fix));
    }
    let timing = field.keys()?;
    if let Timing::Window { warmup, measure, limit, .. } = timing {
        let end = window_end(warmup, measure);
        let error = |key, what, fix: &str| field.inner(key).as_ref().unwrap_or(field).error(what, fix);
        if end > Span::LONGEST {
            return Err(error("measure", "the run would be longer than 26 days", "a shorter time"));
        }
        if limit < end {
            return Err(error("limit", "the limit is before warmup + measure", "a later limit"));
        }
    }
    Ok(timing)
}

/// Reads `[[control]]`, sorted by time.
pub(super) fn controls(field: &Field<'_>) -> Result<Vec<ControlText>, InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let mut all = found.each(field.list()?, |item| {
        let mut keys = item.table()?;
        let at = keys.need("at", "at = \"2ms\"")?.span()?;
        let whom = match (keys.take("flow"), keys.take("group")) {
            (Some(flow), None) => ControlTarget::Flow(flow.integer(0, u64::from(u32::MAX))? as u32),
            (None, Some(group)) => ControlTarget::Group(group.text()?.to_owned()),
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
