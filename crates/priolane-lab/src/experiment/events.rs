//! `[[event]]`: traffic changes and failures during a run.

use indexmap::IndexMap;
use priolane_core::keys::{Bounds, Form, KeyConflict, KeyError, Keys, Schema, Value, WrittenValue};
use priolane_core::units::{Span, Time};
use priolane_source::{Field, InputError, Mistakes, Sources};
use priolane_workload::sizes::NamedSizes;
use priolane_workload::{NewValue, Share};

use super::{Group, Timing};

/// Maximum number of events of an experiment.
const MAX_EVENTS: usize = 1_000;

/// Default time until switches route around a failure.
const RECONVERGENCE: Span = Span::from_ms(1);

/// `[[event]]`: a change of traffic, or a failure.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct Event {
    /// Time of the event, before the end of the run.
    #[key(required = "at = \"20ms\"")]
    pub at: Span,
    /// What happens.
    #[keys(flatten)]
    pub what: EventKind,
}

/// What happens in an event.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(
    one_of,
    all_known,
    count("the event has both set and fail", "one event for `set` and one for `fail`"),
    none(
        "the event has neither set nor fail",
        "set = { \"group.all.load.value\" = 0.8 } or fail = \"link:leaf0-spine1\""
    )
)]
pub enum EventKind {
    /// New values of `group.NAME.load.value` and `group.NAME.sizes`, of groups with the app poisson or on_off.
    #[key(required = "set = { \"group.all.load.value\" = 0.8 }", form = Settings)]
    Set(Vec<Setting>),
    /// A failure of a link or a switch.
    Fail {
        /// The element that fails: `link:leaf0-spine1` or `switch:spine1`.
        #[key(required = "fail = \"link:leaf0-spine1\"")]
        fail: String,
        /// Time of the repair.
        #[key(optional, shown = "never")]
        until: Option<Span>,
        /// Delay from failure or repair until switches have updated their routes.
        #[key(default = RECONVERGENCE, range = "(0, )", source = "docs/assumptions.md#reconvergence")]
        reconvergence: Span,
    },
}

/// One new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The group whose traffic changes.
    pub group: String,
    /// Its new value.
    pub value: NewValue,
}

/// New values by dotted key, in the order written.
#[derive(Clone, Copy, Debug)]
struct Settings;

impl Form<Vec<Setting>> for Settings {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Vec<Setting>, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { key = value }"));
        };
        if entries.is_empty() {
            return Err(KeyError::new("the table is empty", "set = { \"group.all.load.value\" = 0.8 }"));
        }
        let setting = |(key, value): &(&str, Value<'_>)| {
            Setting::read(key, value).map_err(|error| KeyError::Key((*key).to_owned(), Box::new(error)))
        };
        entries.iter().map(setting).collect()
    }

    fn write(all: &Vec<Setting>) -> WrittenValue {
        WrittenValue::Table(all.iter().map(Setting::write).collect())
    }

    fn schema() -> Schema {
        Schema::Map("group.all.load.value", Box::new(Schema::Any))
    }
}

/// The keys that an event can set.
const CAN_CHANGE: &str =
    "group.NAME.load.value or group.NAME.sizes of a group with the app poisson or on_off";

impl Setting {
    fn read(key: &str, value: &Value<'_>) -> Result<Self, KeyError> {
        let parts: Vec<&str> = key.split('.').collect();
        let (group, value) = match parts[..] {
            ["group", group, "load", "value"] => (group, NewValue::Load(Share::read(value, &Bounds::ANY)?)),
            ["group", group, "sizes"] => {
                (group, NewValue::Sizes(Box::new(NamedSizes::read(value, &Bounds::ANY)?)))
            }
            _ => return Err(KeyError::new(format!("{key:?} cannot change during a run"), CAN_CHANGE)),
        };
        Ok(Self { group: group.to_owned(), value })
    }

    /// Returns its dotted key, and its value as in files.
    fn write(&self) -> (String, WrittenValue) {
        let value = match &self.value {
            NewValue::Load(load) => Share::write(load),
            NewValue::Sizes(sizes) => NamedSizes::write(sizes),
        };
        (self.key(), value)
    }

    /// Returns its dotted key.
    fn key(&self) -> String {
        match self.value {
            NewValue::Load(_) => format!("group.{}.load.value", self.group),
            NewValue::Sizes(_) => format!("group.{}.sizes", self.group),
        }
    }

    /// Checks that the group exists and has a load, and reads the table of sizes; `field` is the new value.
    fn open(
        &mut self,
        field: &Field<'_>,
        context: &Context<'_>,
        sources: &mut Sources,
    ) -> Result<(), InputError> {
        let name = self.group.as_str();
        match context.groups.map(|groups| groups.get(name)) {
            Some(None) => return Err(field.error(format!("unknown group {name:?}"), CAN_CHANGE)),
            Some(Some(Some(group))) if group.app.part().open_loop().is_none() => {
                let what = format!("group {name:?} has no load that could change");
                return Err(field.error(what, CAN_CHANGE));
            }
            _ => {}
        }
        match &mut self.value {
            NewValue::Load(_) => Ok(()),
            NewValue::Sizes(sizes) => sizes.open(field, sources),
        }
    }
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
    let items = super::arrays::filled_array("event", field)?;
    if items.len() > MAX_EVENTS {
        return Err(
            field.error(format!("there are {} events", items.len()), format!("at most {MAX_EVENTS} events"))
        );
    }
    let mut found = Mistakes::new(&field.origin().file);
    let mut events = found.each(items, |item| event(&item, context, sources));
    found.finish()?;
    events.sort_by_key(|event| event.at);
    Ok(events)
}

/// Reads one `[[event]]`.
fn event(field: &Field<'_>, context: &Context<'_>, sources: &mut Sources) -> Result<Event, InputError> {
    let mut event: Event = field.keys()?;
    let ends = |time: &Timing| match event.what {
        EventKind::Set(_) => time.last_start().unwrap_or(time.end()),
        EventKind::Fail { .. } => time.end(),
    };
    before(field, event.at, context.time.map(ends))?;
    if let (EventKind::Set(settings), Some(set)) = (&mut event.what, field.inner("set")) {
        not_under_way(field, event.at, context.time)?;
        for setting in settings {
            let value = set.inner(&setting.key());
            setting.open(value.as_ref().unwrap_or(&set), context, sources)?;
        }
    }
    Ok(event)
}

fn before(event: &Field<'_>, at: Span, end: Option<Span>) -> Result<(), InputError> {
    let Some(end) = end.filter(|&end| at >= end) else { return Ok(()) };
    let what =
        if end == Span::ZERO { "the run has zero length" } else { "the event is after the end of the run" };
    Err(wrong_time(event, what, "a time before the end that `time` sets"))
}

/// Checks that no traffic changes at the instant for which flows under way are drawn: they follow the values of the groups.
fn not_under_way(event: &Field<'_>, at: Span, time: Option<&Timing>) -> Result<(), InputError> {
    if at > Span::ZERO || !time.is_some_and(Timing::starts_warm) {
        return Ok(());
    }
    let what = "flows are under way at time 0, and they follow the values of the groups";
    Err(wrong_time(event, what, "these values in the groups, or a later time"))
}

/// Returns what is wrong with the time of an event, at its place in the file.
fn wrong_time(event: &Field<'_>, what: &str, fix: &str) -> InputError {
    event.inner("at").as_ref().unwrap_or(event).error(what, fix)
}

impl Event {
    /// Checks that a repair is after its failure.
    fn check(&mut self) -> Result<(), KeyConflict> {
        match self.what {
            EventKind::Fail { until: Some(until), .. } if until <= self.at => Err(KeyConflict::of(
                "until",
                "the repair is not after the failure",
                "a time after `at`, or remove until",
            )),
            _ => Ok(()),
        }
    }

    /// Returns what fails, if the event is a failure.
    pub fn fails(&self) -> Option<&str> {
        match &self.what {
            EventKind::Set(_) => None,
            EventKind::Fail { fail, .. } => Some(fail),
        }
    }
}
