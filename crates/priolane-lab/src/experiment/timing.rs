//! `time` and `[[control]]`: phases of a run, and changes of flows during it.

use priolane_core::ids::Class;
use priolane_core::keys::{
    Bounds, Form, InTable, KeyError, KeyValue as _, Keys, Schema, Value, Words, WrittenValue,
};
use priolane_core::units::{Span, Time};
use priolane_source::{Field, Form as KeyForm, InputError, Merge, Mistakes, Replace};
use priolane_workload::InitialState;

use super::service::Pair;

/// The arrivals of flows after the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Arrivals {
    /// No flow starts after the window: its last flows complete in a network that empties.
    #[default]
    Stop,
    /// Flows go on to start until the run ends. Means are then those of a steady state, and claims are decided only if
    /// the run reached it.
    Continue,
}

/// Warm-up, measurement and drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(one_of)]
pub enum Timing {
    /// Flows start until `warmup + measure`; those that start after `warmup` are measured.
    Window {
        /// State of the network when the run begins. `warm` and `warm_path` start `app = "poisson"` with the flows that are
        /// under way in a steady state. With `warm` they wait at their busiest link only, with `warm_path` at every link of
        /// their path. Both shorten the warm-up to an eighth where flows have one bottleneck; `warm_path` shortens it to a
        /// fifth where senders and receivers have about the same load.
        #[key(default = InitialState::Empty, skip_default, source = "docs/assumptions.md#warm-start")]
        start: InitialState,
        /// Duration in which flows start but are not measured.
        #[key(default = Span::ZERO)]
        warmup: Span,
        /// Duration in which flows start and are measured, after `warmup`.
        #[key(required = "measure = \"50ms\", or flows = N", range = "(0, )")]
        measure: Span,
        /// Whether flows go on to start after the window, as they do in a steady state.
        #[key(default = Arrivals::Stop, skip_default, source = "docs/assumptions.md#steady-state")]
        arrivals: Arrivals,
        /// Whether the run continues after the window until the last measured flow has completed; with
        /// `arrivals = "stop"`, until every flow has.
        #[key(default = true)]
        drain: bool,
        /// Latest end of the run.
        #[key(
            default = default_limit(window_end(warmup, measure), drain.then_some(arrivals)),
            range = "(0, )",
            shown = "3600s after the end of the window; if arrivals continue, twice that end; without drain, that end"
        )]
        limit: Span,
    },
    /// The first `flows` flows are run and measured.
    Count {
        /// Number of flows, all of them measured, instead of a window.
        #[key(required = "flows = 1000", range = "[1, 50000000]")]
        flows: u64,
        /// Latest end of the run.
        #[key(default = DEFAULT_LIMIT, range = "(0, )")]
        limit: Span,
    },
}

/// Returns the end of the measured window.
fn window_end(warmup: Span, measure: Span) -> Span {
    Span(warmup.0.saturating_add(measure.0))
}

/// Returns the latest end of a run with a window that ends at `end`, and of what follows it if the run drains. While arrivals
/// continue, all flows up to the limit are generated.
fn default_limit(end: Span, drains: Option<Arrivals>) -> Span {
    let limit = match drains {
        None => end.0,
        Some(Arrivals::Continue) => end.0.saturating_mul(2),
        Some(Arrivals::Stop) => end.0.saturating_add(DEFAULT_LIMIT.0),
    };
    Span(limit).min(Span::LONGEST)
}

impl Timing {
    /// Returns whether runs begin with flows under way.
    pub fn starts_warm(&self) -> bool {
        matches!(self, Self::Window { start: InitialState::Warm | InitialState::WarmPath, .. })
    }

    /// Returns the measured window; the whole run if a number of flows is run.
    pub fn window(&self) -> (Time, Time) {
        match *self {
            Self::Window { warmup, measure, .. } => {
                (Time(warmup.0), Time(warmup.0.saturating_add(measure.0)))
            }
            Self::Count { limit, .. } => (Time::ZERO, Time(limit.0)),
        }
    }

    /// Returns the time before which flows start, except for a number of flows, which has none.
    pub fn last_arrival(&self) -> Time {
        match *self {
            Self::Window { arrivals: Arrivals::Continue, drain: true, limit, .. } => Time(limit.0),
            Self::Window { .. } | Self::Count { .. } => self.window().1,
        }
    }

    /// Returns the measured window if a steady state is claimed in it: flows go on to start after it.
    pub fn steady_window(&self) -> Option<(Time, Time)> {
        match self {
            Self::Window { arrivals: Arrivals::Continue, .. } => Some(self.window()),
            Self::Window { .. } | Self::Count { .. } => None,
        }
    }
}

/// `[[control]]`: a change of flows during their lifetime.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
pub struct ControlText {
    /// Time at which it reaches the flows' senders.
    #[key(required = "at = \"2ms\"")]
    pub at: Span,
    /// The flows it applies to.
    #[keys(flatten)]
    pub whom: ControlTarget,
    /// The change.
    #[keys(flatten)]
    pub change: Change,
}

/// The flows that a control message applies to.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(
    one_of,
    all_known,
    count("the control message has not exactly one target", "either flow = 0 or group = \"NAME\"")
)]
pub enum ControlTarget {
    /// The flow that changes, by its index in the flow list, from 0.
    #[key(required = "flow = 0", range = "[0, 4294967295]")]
    Flow(u32),
    /// The group of which every flow changes.
    #[key(required = "group = \"all\"")]
    Group(String),
}

/// The change made by a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(
    one_of,
    all_known,
    count("two changes are set", "only one of abort, class and pay"),
    none("no change is set", "abort = true, class = N or pay = { w = 2 }")
)]
pub enum Change {
    /// True: the flow stops and never completes.
    #[key(required = "abort = true", form = OnlyTrue)]
    Abort(bool),
    /// New class of the flow.
    #[key(required = "class = 1", range = "[0, 15]")]
    Class(Class),
    /// New pair that the flow pays for; an empty table is best effort.
    #[key(required = "pay = { w = 2 }", form = InTable)]
    Pay(Pair),
}

/// True; false, which would have no effect, is rejected.
#[derive(Clone, Copy, Debug)]
struct OnlyTrue;

impl Form<bool> for OnlyTrue {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<bool, KeyError> {
        match bool::read(value, bounds)? {
            true => Ok(true),
            false => Err(KeyError::new("abort = false has no effect", "abort = true")),
        }
    }

    fn write(value: &bool) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Schema::Bool
    }
}

/// Default latest end of a run: one hour.
const DEFAULT_LIMIT: Span = Span(3_600 * 1_000_000_000_000);

/// The keys of a window.
const OF_WINDOW: [&str; 5] = ["start", "warmup", "measure", "arrivals", "drain"];

/// A number of flows and a window are alternatives.
pub(super) const MERGE: Merge = Merge::of(&[Replace::OneOf(&[
    KeyForm { by: &["flows"], with: &[] },
    KeyForm { by: &OF_WINDOW, with: &[] },
])]);

/// Reads `time`.
pub(super) fn read(field: &Field<'_>) -> Result<Timing, InputError> {
    let of_window = OF_WINDOW.into_iter().any(|key| field.inner(key).is_some());
    if of_window && field.inner("flows").is_some() {
        let fix = "either flows = N, or start, warmup, measure, arrivals and drain";
        return Err(field.error("both a number of flows and a window are set", fix));
    }
    let timing = field.keys()?;
    if let Timing::Window { start, warmup, measure, limit, .. } = timing {
        let end = window_end(warmup, measure);
        let error = |key, what, fix: &str| field.inner(key).as_ref().unwrap_or(field).error(what, fix);
        if end > Span::LONGEST {
            return Err(error("measure", "the run would be longer than 26 days", "a shorter time"));
        }
        if limit < end {
            return Err(error("limit", "the limit is before warmup + measure", "a later limit"));
        }
        if start != InitialState::Empty && warmup == Span::ZERO {
            let what = "the run starts warm without a warm-up, and the first flows would be measured with those under way";
            return Err(error("start", what, "warmup = ..., or start = \"empty\""));
        }
    }
    Ok(timing)
}

/// Reads `[[control]]`, sorted by time.
///
/// # Errors
/// All mistakes of all control messages.
pub(super) fn controls(field: &Field<'_>) -> Result<Vec<ControlText>, InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let mut all: Vec<ControlText> = found.each(super::arrays::array("control", field)?, |item| item.keys());
    found.finish()?;
    all.sort_by_key(|control| control.at);
    Ok(all)
}
