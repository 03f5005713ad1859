//! `[[group]]`: a set of hosts, the flows that they send, and their destinations.

use std::sync::LazyLock;

use priolane_core::ids::{Class, HostId};
use priolane_core::keys::{
    Bounds, KeyConflict, KeyError, KeyInfo, KeyValue, Keys, Schema, Value, WrittenValue,
};
use priolane_core::name::{Alphabet, is_name};
use priolane_core::part::Part as _;
use priolane_core::part::share;
use priolane_core::transport::Spec;
use priolane_core::units::Span;
use priolane_source::{
    Field, InputError, KeyReader, Merge, Node, Own, Replace, SharedKeys, Sources, Value as NodeValue,
};
use priolane_workload::{App, Nothing};
use serde::Serialize;

use super::deadlines::{self, Deadline};
use super::like::LIKE;
use super::network;
use super::notices::{self, OnDowngrade};
use super::schemes;
use super::service::{self, Service};

/// A group of hosts and its traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Name, unique in the experiment.
    pub name: String,
    /// Its hosts.
    pub hosts: HostSet,
    /// The application that starts flows.
    #[serde(flatten)]
    pub app: App,
    /// The keys of its flows.
    #[serde(flatten)]
    pub flows: FlowKeys,
}

/// The keys of a group that come before those of its app.
#[derive(Clone, Debug, PartialEq, Keys)]
struct HostKeys {
    /// Name, unique in the experiment.
    #[key(required = "name = \"all\"")]
    name: String,
    /// The hosts: `*` for all, hosts and ranges such as `0-15,20`, or the number of the first hosts.
    #[key(required = "hosts = \"*\"")]
    hosts: HostSet,
}

/// The keys of the flows of a group, with any app that sends.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct FlowKeys {
    /// The destinations: `*` for every host, or the name of a group; `None` if the group only receives.
    #[key(optional, shown = "*", names = "group")]
    pub to: Option<Target>,
    /// Class that its flows request, 0 is the best; flows of a flow list have their own.
    #[key(optional, shown = "0, or as listed", range = "[0, 15]")]
    pub class: Option<Class>,
    /// Transport of its flows, in place of that of the scheme, with the keys of a scheme's `transport`. Such flows have the
    /// class that the group states; demotion, assignment and the transport of a scheme hold for the other groups.
    #[key(optional, shown = "that of the scheme", form = priolane_core::keys::InTable, source = "docs/experiments.md#two-transports-in-one-network")]
    pub transport: Option<Spec>,
    /// Deadlines of its flows; without it, flows have those of their flow list, if any.
    #[key(optional, shown = "none, or as listed")]
    pub deadline: Option<Deadline>,
    /// Reaction of its applications to a notice that a flow would run at a lower class than requested.
    #[key(default = OnDowngrade::Ignore, skip_default, shown = "ignore", source = "docs/assumptions.md#on-downgrade")]
    pub on_downgrade: OnDowngrade,
    /// Part of the run in which it starts flows.
    #[key(optional, shown = "all of it", form = priolane_core::keys::InTable)]
    pub active: Option<Active>,
    /// Service that its flows or virtual machines pay for.
    #[keys(flatten)]
    pub service: Service,
}

/// A part of a run. The app starts at `from` as it otherwise would at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(check = Self::check)]
pub struct Active {
    /// Start.
    #[key(default = Span::ZERO)]
    pub from: Span,
    /// End: no flow starts at or after this time.
    #[key(optional, shown = "the end of the run")]
    pub until: Option<Span>,
}

impl Active {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match self.until {
            Some(until) if until <= self.from => {
                Err(KeyConflict::of("until", "the time is not after `from`", "a later time, or remove until"))
            }
            _ => Ok(()),
        }
    }
}

/// Describes the keys of `[[group]]`, without those of its app.
pub(super) fn describe(out: &mut Vec<KeyInfo>) {
    static APPS: LazyLock<Vec<(&'static str, &'static str)>> =
        LazyLock::new(|| App::entries().iter().map(|entry| (entry.name, entry.summary)).collect());
    HostKeys::describe(out);
    let meaning = "The application that starts flows; its keys are in the same table";
    out.push(network::chosen_by("app", meaning, &APPS));
    FlowKeys::describe(out);
}

/// A set of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostSet {
    /// All hosts of the topology.
    All,
    /// The first n hosts.
    First(u32),
    /// Ranges of hosts, both ends included, in the order written.
    Runs(Vec<(u16, u16)>),
}

/// The destinations of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every host of the topology.
    All,
    /// The hosts of the group of this name.
    Group(String),
}

impl KeyValue for Target {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        String::read(value, bounds).map(|text| if text == "*" { Self::All } else { Self::Group(text) })
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::All => "*".into(),
            Self::Group(name) => name.write(),
        }
    }

    fn schema() -> Schema {
        Schema::Text
    }
}

impl Serialize for HostSet {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(s)
    }
}

/// `"*"`, hosts and ranges such as `"0-15,20"`, or the number of the first hosts.
impl KeyValue for HostSet {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        const COUNT: Bounds = Bounds::whole(1, 65_536, "[1, 65536]");
        match value {
            Value::Text("*") => Ok(Self::All),
            Value::Text(text) => runs(text).map(Self::Runs),
            _ => u32::read(value, &COUNT).map(Self::First).map_err(|error| match error {
                KeyError::Wrong { what, .. } => KeyError::new(what, HOSTS),
                other => other,
            }),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::All => "*".into(),
            Self::First(count) => count.write(),
            Self::Runs(runs) => {
                let text = |&(a, b): &(u16, u16)| if a == b { a.to_string() } else { format!("{a}-{b}") };
                runs.iter().map(text).collect::<Vec<_>>().join(",").write()
            }
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::Text, Schema::Integer])
    }
}

/// The text to write for hosts.
const HOSTS: &str = "\"*\", hosts such as \"0-15,20\", or a number for the first hosts";

/// Reads hosts and ranges of hosts.
fn runs(text: &str) -> Result<Vec<(u16, u16)>, KeyError> {
    let number = |text: &str| text.trim().parse::<u16>().ok();
    let run = |part: &str| {
        let run = match part.split_once('-') {
            None => number(part).map(|host| (host, host)),
            Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
        };
        run.ok_or_else(|| {
            let shown = part.trim().chars().take(40).collect::<String>();
            KeyError::new(format!("{shown:?} is not a host or range of hosts"), HOSTS)
        })
    };
    text.split(',').map(run).collect()
}

impl HostSet {
    /// Returns the hosts in a topology with `count` hosts, in the order written; `Err` with the first that does not
    /// exist.
    pub fn list(&self, count: u32) -> Result<Vec<HostId>, u32> {
        match self {
            Self::All => Ok((0..count).map(|h| HostId(h as u16)).collect()),
            Self::First(n) if *n > count => Err(n - 1),
            Self::First(n) => Ok((0..*n).map(|h| HostId(h as u16)).collect()),
            Self::Runs(runs) => match runs.iter().find(|(_, last)| u32::from(*last) >= count) {
                Some((_, last)) => Err(u32::from(*last)),
                None => Ok(runs.iter().flat_map(|&(first, last)| (first..=last).map(HostId)).collect()),
            },
        }
    }
}

/// Keys of groups with any app; those of receiving groups first.
const KEYS: &[&str] = &[
    "name",
    "scheme",
    "tiers",
    "hosts",
    "to",
    "class",
    "deadline",
    "on_downgrade",
    "active",
    "mix",
    "mix_draw",
    "mix_offset",
    "cos",
    "theta",
    "w",
    "plan",
    "split",
    "resplit",
    "transport",
];

/// Keys of all groups that send. They are kept when one app replaces another, and removed with `app = "none"`.
const SENDING: &[&str] = KEYS.split_at(4).1;

/// A load is given directly, or copied from another group and optionally scaled by `part`.
const LOAD: Merge = Merge::of(&[LIKE, Replace::Stated(&["of"], &["like", "part"])]);

/// Keys of pairs that are kept when the rule changes.
const PAIRS: Merge = Merge::of(&[
    Replace::Kind {
        tag: "rule",
        default: None,
        own: Own::AllBut(&["count"]),
        shared: SharedKeys::Listed(&[]),
    },
    LIKE,
]);

/// Alternative keys of a group.
pub(super) const MERGE: Merge = Merge {
    rules: &[
        Replace::Kind {
            tag: "app",
            default: None,
            own: Own::AllBut(KEYS),
            shared: SharedKeys::By(|old, new, key| share(&App::entries(), [old, new], key)),
        },
        Replace::Kind {
            tag: "app",
            default: None,
            own: Own::Only(SENDING),
            shared: SharedKeys::By(|old, new, _| ![old, new].contains(&Nothing::NAME)),
        },
        service::ONE_PAIR_OR_MIX,
        service::SPLIT,
        service::PLAN,
        service::PAIR,
    ],
    inner: &[
        ("load", &LOAD),
        ("pairs", &PAIRS),
        ("deadline", &deadlines::MERGE),
        ("on_downgrade", &notices::MERGE),
        ("transport", &crate::scheme::TRANSPORT_MERGE),
    ],
    each: Some(&Merge::of(&[LIKE])),
};

/// Maximum length of the name of a group, in bytes.
const LONGEST_NAME: usize = 40;

/// Reads the name of one `[[group]]` and renames the field after it: `group.all.load`, as in sweeps and `--set`.
pub(super) fn name<'a>(field: &Field<'a>) -> Result<(String, Field<'a>), InputError> {
    let name_field = field.table()?.need("name", "name = \"all\"")?;
    let name = name_field.text()?.to_owned();
    if !is_name(&name, Alphabet::Hyphen, LONGEST_NAME) || ["global", "local"].contains(&name.as_str()) {
        let fix = format!("{}, but not `global` or `local`", Alphabet::Hyphen.rule(LONGEST_NAME));
        return Err(name_field.error("the name is not a valid name of a group", fix));
    }
    let renamed = Field::new(format!("group.{name}"), field.node());
    Ok((name, renamed))
}

/// Reads one `[[group]]`, called `name`.
///
/// # Errors
/// Returns all its mistakes. If the app is invalid, keys that depend on it are not checked.
pub(super) fn group(field: &Field<'_>, name: &str, sources: &mut Sources) -> Result<Group, InputError> {
    match with_base(field, sources)? {
        Some(node) => read(&Field::new(field.key().to_owned(), &node), name, sources),
        None => read(field, name, sources),
    }
}

/// Returns the group with the keys of the scheme that its transport has as `base`; `None` if it has none.
fn with_base(field: &Field<'_>, sources: &mut Sources) -> Result<Option<Node>, InputError> {
    let Some(transport) = field.inner("transport") else { return Ok(None) };
    let NodeValue::Table(own) = transport.value() else { return Ok(None) };
    let Some(merged) = schemes::based_transport(own, transport.key(), sources)? else { return Ok(None) };
    let mut node = field.node().clone();
    if let NodeValue::Table(table) = &mut node.value
        && let Some(place) = table.get_mut("transport")
    {
        place.value = NodeValue::Table(merged);
    }
    Ok(Some(node))
}

fn read(field: &Field<'_>, name: &str, sources: &mut Sources) -> Result<Group, InputError> {
    let mut keys = field.key_reader()?;
    keys.take_field("name");
    for (key, what) in [("scheme", "schemes that differ by group"), ("tiers", "tiers")] {
        if let Some(field) = keys.take_field(key) {
            let what = format!("{what} are not supported in this version");
            keys.mistakes().add(field.error(what, "Remove the key"));
        }
    }
    let hosts = keys.read::<HostKeys>().map(|keys| keys.hosts);
    let app = keys.read_by(App::choose, <App as Keys>::describe);
    let app = app.and_then(|mut app| {
        let (table, found) = keys.split_mut();
        found.keep(app.part_mut().open(table, sources)).map(|()| app)
    });
    let sends = app.as_ref().is_none_or(|app| app.part().sends());
    let flows = if sends { flow_keys(field, &mut keys, app.as_ref()) } else { Some(FlowKeys::default()) };
    let group = (|| Some(Group { name: name.to_owned(), hosts: hosts?, app: app?, flows: flows? }))();
    keys.finish(group)
}

/// Reads the keys of the flows of a group whose app is `app`; `None` for an app that could not be read.
fn flow_keys(field: &Field<'_>, keys: &mut KeyReader<'_>, app: Option<&App>) -> Option<FlowKeys> {
    let flows = keys.read::<FlowKeys>();
    let Some(app) = app else { return flows };
    let listed = app.part().listed().is_some();
    if let Some(class) = field.inner("class").filter(|_| listed) {
        let fix = "the column `class` of the list";
        keys.mistakes().add(class.error("flows of a list have their own classes", fix));
    }
    if let Some(deadline) = field.inner("deadline") {
        keys.mistakes().keep(deadlines::check(&deadline, app));
    }
    flows.map(|flows| FlowKeys {
        to: flows.to.or(Some(Target::All)),
        class: if listed { None } else { flows.class.or(Some(0)) },
        ..flows
    })
}
