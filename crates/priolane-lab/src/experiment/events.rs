//! `[[event]]`: traffic changes and failures during a run.

use indexmap::IndexMap;
use priolane_core::units::{Span, Time};
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Mistakes, Reader, Sources};
use priolane_workload::{NewValue, Share, sizes};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Group, Timing};

/// Maximum number of events of an experiment.
const MAX_EVENTS: usize = 1_000;

/// Default time until switches route around a failure (docs/assumptions.md#reconvergence).
const RECONVERGENCE: Span = Span::from_ms(1);

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A change of traffic.
    Set(SetEvent),
    /// A failure of a link or a switch.
    Fail(FailEvent),
}

/// A change of traffic at an instant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetEvent {
    /// Time of the change.
    #[serde(serialize_with = "as_text::span")]
    pub at: Span,
    /// The new values, in the order written.
    #[serde(serialize_with = "settings")]
    pub set: Vec<Setting>,
}

/// One new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The group whose traffic changes.
    pub group: String,
    /// Its new value.
    pub value: NewValue,
}

/// The failure of a link or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailEvent {
    /// Time of the failure.
    #[serde(serialize_with = "as_text::span")]
    pub at: Span,
    /// The element that fails: `link:leaf0-spine1` or `switch:spine1`.
    pub fail: String,
    /// Time of the repair; `None` for never.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// Delay from failure or repair until switches have updated their routes.
    #[serde(serialize_with = "as_text::span")]
    pub reconvergence: Span,
}

impl Timing {
    /// Returns the end of the interval in which flows start; `None` if a number of flows is run.
    fn last_start(&self) -> Option<Span> {
        match *self {
            Self::Window { .. } => Some(self.last_arrival().since(Time::ZERO)),
            Self::Count { .. } => None,
        }
    }

    /// Returns an upper bound on the end of the run.
    fn end(&self) -> Span {
        match *self {
            Self::Window { drain: true, limit, .. } | Self::Count { limit, .. } => limit,
            Self::Window { warmup, measure, .. } => warmup + measure,
        }
    }
}

/// The parts of the experiment that events refer to; `None` if they could not be read.
pub(super) struct Context<'c> {
    pub(super) time: Option<&'c Timing>,
    /// By name; `None` for a group that could not be read.
    pub(super) groups: Option<&'c IndexMap<String, Option<Group>>>,
}

/// Reads `[[event]]`, sorted by time; simultaneous events keep their order in the file.
pub(super) fn read(
    field: &Field<'_>,
    context: &Context<'_>,
    sources: &mut Sources,
) -> Result<Vec<Event>, InputError> {
    let items = field.filled_list()?;
    if items.len() > MAX_EVENTS {
        return Err(
            field.error(format!("there are {} events", items.len()), format!("at most {MAX_EVENTS} events"))
        );
    }
    let mut found = Mistakes::new(&field.origin().file);
    let mut events = found.each(items, |item| {
        let mut keys = item.table()?;
        let at_field = keys.need("at", "at = \"20ms\"")?;
        let at = at_field.span()?;
        let event = match (keys.take("set"), keys.take("fail")) {
            (Some(set), None) => {
                before(&at_field, at, context.time.map(|time| time.last_start().unwrap_or(time.end())))?;
                Event::Set(SetEvent { at, set: changes(&set, context, sources)? })
            }
            (None, Some(fail)) => {
                before(&at_field, at, context.time.map(Timing::end))?;
                Event::Fail(failure(at, &fail, &mut keys)?)
            }
            (None, None) => {
                let fix = "set = { \"group.all.load.value\" = 0.8 } or fail = \"link:leaf0-spine1\"";
                return Err(item.error("the event has neither set nor fail", fix));
            }
            (Some(_), Some(_)) => {
                return Err(
                    item.error("the event has both set and fail", "one event for `set` and one for `fail`")
                );
            }
        };
        keys.finish()?;
        Ok(event)
    });
    found.finish()?;
    events.sort_by_key(Event::at);
    Ok(events)
}

fn before(field: &Field<'_>, at: Span, end: Option<Span>) -> Result<(), InputError> {
    let Some(end) = end.filter(|&end| at >= end) else { return Ok(()) };
    let what =
        if end == Span::ZERO { "the run has zero length" } else { "the event is after the end of the run" };
    Err(field.error(what, "a time before the end that `time` sets"))
}

fn failure(at: Span, fail: &Field<'_>, keys: &mut Reader<'_>) -> Result<FailEvent, InputError> {
    let until_field = keys.take("until");
    let until = until_field.as_ref().map(Field::span).transpose()?;
    if let Some(field) = until_field.filter(|_| until.is_some_and(|until| until <= at)) {
        return Err(field.error("the repair is not after the failure", "a time after `at`, or remove until"));
    }
    let reconvergence = keys.take("reconvergence").map_or(Ok(RECONVERGENCE), |f| f.positive_span())?;
    Ok(FailEvent { at, fail: fail.text()?.to_owned(), until, reconvergence })
}

fn changes(
    field: &Field<'_>,
    context: &Context<'_>,
    sources: &mut Sources,
) -> Result<Vec<Setting>, InputError> {
    let entries = field.entries()?;
    if entries.is_empty() {
        return Err(field.error("the table is empty", "set = { \"group.all.load.value\" = 0.8 }"));
    }
    let one = |(key, value): (&str, Field<'_>)| setting(key, &value, context, sources);
    entries.into_iter().map(one).collect()
}

fn setting(
    key: &str,
    value: &Field<'_>,
    context: &Context<'_>,
    sources: &mut Sources,
) -> Result<Setting, InputError> {
    let fix = "group.NAME.load.value or group.NAME.sizes of a group with the app poisson or on_off";
    let cannot = |what: String| Err(value.error(what, fix));
    let parts: Vec<&str> = key.split('.').collect();
    let (name, rest) = match &parts[..] {
        ["group", name, rest @ ..] => (*name, rest),
        _ => return cannot(format!("{key:?} cannot change during a run")),
    };
    match context.groups.map(|groups| groups.get(name)) {
        Some(None) => return cannot(format!("unknown group {name:?}")),
        Some(Some(Some(group))) if group.app.part().open_loop().is_none() => {
            return cannot(format!("group {name:?} has no load that could change"));
        }
        _ => {}
    }
    let new = match rest {
        ["load", "value"] => NewValue::Load(value.read::<f64, Share>()?),
        ["sizes"] => NewValue::Sizes(Box::new(sizes::read(value, sources)?)),
        _ => return cannot(format!("{key:?} cannot change during a run")),
    };
    Ok(Setting { group: name.to_owned(), value: new })
}

impl Event {
    /// Returns what fails, if the event is a failure.
    pub fn fails(&self) -> Option<&str> {
        match self {
            Self::Set(_) => None,
            Self::Fail(event) => Some(&event.fail),
        }
    }

    /// Returns the time of the event.
    pub fn at(&self) -> Span {
        match self {
            Self::Set(event) => event.at,
            Self::Fail(event) => event.at,
        }
    }
}

fn settings<S: Serializer>(set: &[Setting], s: S) -> Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(Some(set.len()))?;
    for Setting { group, value } in set {
        match value {
            NewValue::Load(load) => map.serialize_entry(&format!("group.{group}.load.value"), load)?,
            NewValue::Sizes(sizes) => map.serialize_entry(&format!("group.{group}.sizes"), sizes)?,
        }
    }
    map.end()
}
