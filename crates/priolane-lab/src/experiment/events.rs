//! `[[event]]`: what changes or fails while a run goes on.

use indexmap::IndexMap;
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Mistakes, Reader, Sources};
use priolane_workload::{NewValue, Share, sizes};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Group, Timing};

/// Most events of an experiment.
const MAX_EVENTS: usize = 1_000;

/// How long switches take to route around a failure that states nothing (docs/assumptions.md#reconvergence).
const RECONVERGENCE: Span = Span::from_ms(1);

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// Traffic changes.
    Set(SetEvent),
    /// A link or a switch fails.
    Fail(FailEvent),
}

/// Traffic that changes at an instant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetEvent {
    /// When.
    #[serde(serialize_with = "as_text::span")]
    pub at: Span,
    /// What, in the order written.
    #[serde(serialize_with = "settings")]
    pub set: Vec<Setting>,
}

/// One thing that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The group whose traffic it is.
    pub group: String,
    /// Its new value.
    pub value: NewValue,
}

/// A link or a switch that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailEvent {
    /// When.
    #[serde(serialize_with = "as_text::span")]
    pub at: Span,
    /// What: `link:leaf0-spine1` or `switch:spine1`.
    pub fail: String,
    /// When it is repaired; `None` for never.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// How long after failure and repair switches route accordingly.
    #[serde(serialize_with = "as_text::span")]
    pub reconvergence: Span,
}

impl Timing {
    /// The first instant at which no flow starts by itself any more; `None` where a number of flows is run.
    fn last_start(&self) -> Option<Span> {
        match *self {
            Self::Window { warmup, measure, .. } => Some(warmup + measure),
            Self::Count { .. } => None,
        }
    }

    /// The instant at which the run has ended in any case.
    fn end(&self) -> Span {
        match *self {
            Self::Window { drain: true, limit, .. } | Self::Count { limit, .. } => limit,
            Self::Window { warmup, measure, .. } => warmup + measure,
        }
    }
}

/// What events are about; `None` where that could not be read.
pub(super) struct Context<'c> {
    pub(super) time: Option<&'c Timing>,
    /// By name; `None` for a group that could not be read.
    pub(super) groups: Option<&'c IndexMap<String, Option<Group>>>,
}

/// Reads `[[event]]`, sorted by time; events of one instant stay in the order written.
pub(super) fn read(
    field: &Field<'_>,
    context: &Context<'_>,
    sources: &mut Sources,
) -> Result<Vec<Event>, InputError> {
    let items = field.filled_list()?;
    if items.len() > MAX_EVENTS {
        return Err(field.error(format!("{} events", items.len()), format!("at most {MAX_EVENTS}")));
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
                return Err(item.error("nothing happens", fix));
            }
            (Some(_), Some(_)) => {
                return Err(item.error("two things happen", "an event for `set` and one for `fail`"));
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
        if end == Span::ZERO { "the run has no time" } else { "the event is after the end of the run" };
    Err(field.error(what, "an instant before the end that `time` states"))
}

fn failure(at: Span, fail: &Field<'_>, keys: &mut Reader<'_>) -> Result<FailEvent, InputError> {
    let until_field = keys.take("until");
    let until = until_field.as_ref().map(Field::span).transpose()?;
    if let Some(field) = until_field.filter(|_| until.is_some_and(|until| until <= at)) {
        return Err(field.error("the repair is not after the failure", "an instant after `at`, or none"));
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
        return Err(field.error("nothing is set", "set = { \"group.all.load.value\" = 0.8 }"));
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
    let fix = "group.NAME.load.value or group.NAME.sizes, of a group whose app is poisson or on_off";
    let cannot = |what: String| Err(value.error(what, fix));
    let parts: Vec<&str> = key.split('.').collect();
    let (name, rest) = match &parts[..] {
        ["group", name, rest @ ..] => (*name, rest),
        _ => return cannot(format!("{key:?} cannot change while a run goes on")),
    };
    match context.groups.map(|groups| groups.get(name)) {
        Some(None) => return cannot(format!("there is no group {name:?}")),
        Some(Some(Some(group))) if group.app.part().open_loop().is_none() => {
            return cannot(format!("group {name:?} offers no load that could change"));
        }
        _ => {}
    }
    let new = match rest {
        ["load", "value"] => NewValue::Load(value.read::<f64, Share>()?),
        ["sizes"] => NewValue::Sizes(Box::new(sizes::read(value, sources)?)),
        _ => return cannot(format!("{key:?} cannot change while a run goes on")),
    };
    Ok(Setting { group: name.to_owned(), value: new })
}

impl Event {
    /// What fails, if something does.
    pub fn fails(&self) -> Option<&str> {
        match self {
            Self::Set(_) => None,
            Self::Fail(event) => Some(&event.fail),
        }
    }

    /// When it happens.
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
