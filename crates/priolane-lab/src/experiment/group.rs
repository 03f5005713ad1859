//! `[[group]]`: a set of hosts, the flows that they send, and their destinations.

use priolane_core::ids::{Class, HostId};
use priolane_core::name::{Alphabet, is_name};
use priolane_core::part::Part as _;
use priolane_core::part::share;
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Merge, Mistakes, Own, Reader, Replace, SharedKeys, Sources};
use priolane_workload::{App, Nothing};
use serde::Serialize;
use serde::ser::Serializer;

use super::deadlines::{self, Deadline};
use super::like::LIKE;
use super::notices::{self, OnDowngrade};
use super::service::{self, Service};

/// A group of hosts and its traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Name, unique in the experiment.
    pub name: String,
    /// Its hosts.
    pub hosts: HostSet,
    /// Its destinations.
    #[serde(skip_serializing_if = "Target::is_nobody")]
    pub to: Target,
    /// The application that starts flows.
    #[serde(flatten)]
    pub app: App,
    /// Class that its flows request, 0 is the best; flows of a flow list have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Service that its flows or virtual machines pay for.
    #[serde(flatten)]
    pub service: Service,
    /// Deadlines of its flows; without it, flows have those of their flow list, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadline>,
    /// Reaction of its applications to a notice that a flow would run at a lower class than requested.
    #[serde(skip_serializing_if = "OnDowngrade::is_ignore")]
    pub on_downgrade: OnDowngrade,
    /// Part of the run in which it starts flows; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<Active>,
}

/// A part of a run. The app starts at `from` as it otherwise would at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Active {
    /// Start.
    #[serde(serialize_with = "as_text::span")]
    pub from: Span,
    /// End: no flow starts at or after this time.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
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
    /// None: the group only receives.
    Nobody,
    /// Every host of the topology.
    All,
    /// The hosts of the group of this name.
    Group(String),
}

impl Group {
    /// Returns a group that only receives.
    fn receiving(name: &str, hosts: HostSet) -> Self {
        Self {
            name: name.to_owned(),
            hosts,
            to: Target::Nobody,
            app: App::Nothing(Nothing),
            class: None,
            service: Service::default(),
            deadline: None,
            on_downgrade: OnDowngrade::Ignore,
            active: None,
        }
    }
}

impl Target {
    fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }
}

impl Serialize for HostSet {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => s.serialize_str("*"),
            Self::First(count) => s.serialize_u32(*count),
            Self::Runs(runs) => {
                let text = |&(a, b): &(u16, u16)| if a == b { a.to_string() } else { format!("{a}-{b}") };
                s.serialize_str(&runs.iter().map(text).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(match self {
            Self::Nobody => "",
            Self::All => "*",
            Self::Group(name) => name,
        })
    }
}

impl HostSet {
    /// Reads `"*"`, hosts and ranges such as `"0-15,20"`, or the number of the first hosts.
    ///
    /// # Errors
    /// Returns an error for any other text.
    pub fn read(field: &Field<'_>) -> Result<Self, InputError> {
        let fix = "\"*\", hosts such as \"0-15,20\", or a number for the first hosts";
        let Ok(text) = field.text() else {
            return field
                .integer(1, 65_536)
                .map(|n| Self::First(n as u32))
                .map_err(|e| field.error(e.what, fix));
        };
        if text == "*" {
            return Ok(Self::All);
        }
        let number = |text: &str| text.trim().parse::<u16>().ok();
        let mut runs = Vec::new();
        for part in text.split(',') {
            let run = match part.split_once('-') {
                None => number(part).map(|h| (h, h)),
                Some((first, last)) => number(first).zip(number(last)).filter(|(a, b)| a <= b),
            };
            match run {
                Some(run) => runs.push(run),
                None => {
                    return Err(field.error(
                        format!(
                            "{:?} is not a host or range of hosts",
                            part.trim().chars().take(40).collect::<String>()
                        ),
                        fix,
                    ));
                }
            }
        }
        Ok(Self::Runs(runs))
    }

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
/// Returns all its mistakes. If the app is invalid, keys that depend on it are not read.
pub(super) fn group(field: &Field<'_>, name: &str, sources: &mut Sources) -> Result<Group, InputError> {
    let mut keys = field.table()?;
    let mut found = Mistakes::new(&field.origin().file);
    keys.take("name");
    for (key, what) in [("scheme", "schemes that differ by group"), ("tiers", "tiers")] {
        if let Some(field) = keys.take(key) {
            let what = format!("{what} are not supported in this version");
            found.add(field.error(what, "Remove the key"));
        }
    }
    let hosts = found.keep(keys.need("hosts", "hosts = \"*\"").and_then(|field| HostSet::read(&field)));
    let app = found.keep(App::open(&mut keys, sources));
    if app.as_ref().is_some_and(|app| !app.part().sends()) {
        found.keep(keys.finish());
        let group = hosts.map(|hosts| Group::receiving(name, hosts));
        return found.done(group);
    }
    let to = match found.keep(keys.take("to").map(|f| f.text().map(str::to_owned)).transpose()) {
        Some(Some(text)) if text != "*" => Target::Group(text),
        _ => Target::All,
    };
    let class = app.as_ref().and_then(|app| found.keep(class(&mut keys, app)));
    let deadline = app.as_ref().and_then(|app| found.keep(deadlines::read(&mut keys, app)));
    let on_downgrade =
        found.keep(keys.take("on_downgrade").map_or(Ok(OnDowngrade::Ignore), |f| notices::read(&f)));
    let active = found.keep(keys.take("active").map(|field| active(&field)).transpose());
    let service = found.keep(service::read(&mut keys));
    // Which keys are allowed depends on the values of others.
    if found.is_empty() {
        found.keep(keys.finish());
    }
    let group = (|| {
        Some(Group {
            name: name.to_owned(),
            hosts: hosts?,
            to,
            app: app?,
            class: class?,
            service: service?,
            deadline: deadline?,
            on_downgrade: on_downgrade?,
            active: active?,
        })
    })();
    found.done(group)
}

/// Reads the class that the flows of an app request.
fn class(keys: &mut Reader<'_>, app: &App) -> Result<Option<Class>, InputError> {
    match (keys.take("class"), app.part().listed()) {
        (Some(field), Some(_)) => {
            Err(field.error("flows of a list have their own classes", "the column `class` of the list"))
        }
        (None, Some(_)) => Ok(None),
        (field, _) => Ok(Some(field.map_or(Ok(0), |f| f.integer(0, 15))? as Class)),
    }
}

fn active(field: &Field<'_>) -> Result<Active, InputError> {
    let mut keys = field.table()?;
    let from = keys.span_or("from", Span::ZERO)?;
    let until_field = keys.take("until");
    let until = until_field.as_ref().map(Field::span).transpose()?;
    keys.finish()?;
    match until_field {
        Some(field) if until.is_some_and(|until| until <= from) => {
            Err(field.error("the time is not after `from`", "a later time, or remove until"))
        }
        _ => Ok(Active { from, until }),
    }
}
