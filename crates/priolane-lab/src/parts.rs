//! Describes all parts and tables of files with their keys, for programs: `priolane keys` and the site read it.

use std::collections::BTreeMap;

use priolane_core::keys::{KeyInfo, Schema};
use priolane_core::part::{Entry, Provision, Row};
use priolane_core::scheme::ENTRIES;
use priolane_sim::topology::TopologySpec;
use priolane_workload::App;
use serde::Serialize;

use crate::experiment;

/// A group of keys that at least this many parts of a row share has a table of its own.
const SHARED_BY: usize = 3;

/// A part of a row, or a table of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct PartInfo {
    /// Its row, such as `transport`; `experiment` for a table of an experiment.
    pub row: &'static str,
    /// Its name, such as `dctcp`; a table's name has its brackets, such as `[time]`.
    pub name: String,
    /// One-line description.
    pub summary: &'static str,
    /// Source: the paper or RFC; empty for a table.
    pub source: &'static str,
    /// The properties that the part requires of the other rows.
    pub requires: Vec<&'static str>,
    /// The properties that the part provides to the other rows.
    pub provides: Vec<String>,
    /// The needs of the part in a real network, as fabric files name them.
    pub needs: Vec<&'static str>,
    /// Linux's name of the congestion control; null if Linux does not have it.
    pub linux: Option<&'static str>,
    /// The work of switch ports, as the rest of a sentence after "switches"; empty for parts of other rows.
    pub serves: &'static str,
    /// The abilities that ports of bought switches lack for it; empty if nothing.
    pub lacks: &'static str,
    /// An example of the part, in TOML as a file has it; empty for a table.
    pub example: String,
    /// The rows of a scheme that usually stand beside a transport, in TOML; empty if all are the usual ones.
    pub beside: &'static str,
    /// The keys of the part with which it goes with other parts than without, in TOML; empty if there are none.
    pub variant: &'static str,
    /// Its keys; the keys of a table follow the key of the table.
    pub keys: Vec<KeyEntry>,
}

/// A key of a part.
#[derive(Clone, Debug, Serialize)]
pub struct KeyEntry {
    /// Its name, with dots for keys of tables; `NAME` stands for a name that the user chooses.
    pub name: String,
    /// Its meaning.
    pub meaning: &'static str,
    /// The values that the key takes.
    pub value: ValueInfo,
    /// The value if the key is missing, as it would be written; empty if there is none.
    pub default: String,
    /// Whether the key is required.
    pub required: bool,
    /// Source of meaning and default; empty if there is none.
    pub source: &'static str,
    /// The group of keys that several parts of the row share; empty for a key of this part alone.
    pub group: &'static str,
}

/// The values that a key takes.
#[derive(Clone, Debug, Serialize)]
pub struct ValueInfo {
    /// The type in words: `whole number`, `list of quantity`, `one of or table` ...
    #[serde(rename = "type")]
    pub kind: String,
    /// The valid numbers as an interval; empty if all are.
    pub range: String,
    /// Its unit; empty if there is none.
    pub unit: &'static str,
    /// The words that it can be, beside other values or alone.
    pub words: Vec<String>,
    /// An example of a quantity; empty for other types.
    pub sample: &'static str,
}

/// Returns all parts in the order of the rows, then the tables of experiments.
pub fn parts() -> Vec<PartInfo> {
    let mut found = Vec::new();
    let entries = entries();
    for row in rows() {
        let of_row: Vec<&Entry> = entries.iter().filter(|entry| entry.row == row).collect();
        let shared = SharedGroups::of(&of_row);
        found.extend(of_row.iter().map(|entry| part(entry, &shared)));
    }
    found.extend(experiment::tables::tables().into_iter().map(|table| PartInfo {
        row: "experiment",
        name: table.name.to_owned(),
        summary: table.summary,
        source: "",
        requires: Vec::new(),
        provides: Vec::new(),
        needs: Vec::new(),
        linux: None,
        serves: "",
        lacks: "",
        example: String::new(),
        beside: "",
        variant: "",
        keys: table.keys.iter().flat_map(|key| flatten(key, "", "")).collect(),
    }));
    found
}

/// Returns the rows that have parts, in the order in which they are documented.
fn rows() -> impl Iterator<Item = Row> {
    Row::OF_SCHEME.into_iter().chain([Row::Topology, Row::App])
}

/// Returns the entries of all parts.
fn entries() -> Vec<Entry> {
    let of_experiments = TopologySpec::entries().into_iter().chain(App::entries());
    ENTRIES.iter().cloned().chain(of_experiments).collect()
}

/// Returns what a part provides, in words.
fn provision(provision: &Provision) -> String {
    match provision.if_set {
        Some(key) => format!("{} (with `{key}`)", provision.capability.clause()),
        None => provision.capability.clause().to_owned(),
    }
}

/// Groups of keys that many parts of a row share, with the keys as declared by the first of them.
struct SharedGroups<'e>(BTreeMap<&'static str, Vec<&'e KeyInfo>>);

impl<'e> SharedGroups<'e> {
    /// Finds the groups that `parts` share.
    fn of(parts: &[&'e Entry]) -> Self {
        let mut groups: BTreeMap<&'static str, Vec<Vec<&KeyInfo>>> = BTreeMap::new();
        for part in parts {
            let mut own: BTreeMap<&'static str, Vec<&KeyInfo>> = BTreeMap::new();
            for key in &part.parameters {
                own.entry(key.group).or_default().push(key);
            }
            for (group, keys) in own {
                groups.entry(group).or_default().push(keys);
            }
        }
        let many = groups.into_iter().filter(|(_, of_parts)| of_parts.len() >= SHARED_BY);
        Self(many.filter_map(|(group, of_parts)| Some((group, of_parts.into_iter().next()?))).collect())
    }

    /// Whether `key` is one of them. A key that differs from that of the other parts stays with its part.
    fn has(&self, key: &KeyInfo) -> bool {
        self.0.get(key.group).is_some_and(|keys| keys.contains(&key))
    }
}

fn part(entry: &Entry, shared: &SharedGroups<'_>) -> PartInfo {
    let (common, own): (Vec<&KeyInfo>, _) = entry.parameters.iter().partition(|key| shared.has(key));
    let own = own.into_iter().flat_map(|key| flatten(key, "", ""));
    let common = common.into_iter().flat_map(|key| flatten(key, "", key.group));
    PartInfo {
        row: entry.row.key(),
        name: entry.name.to_owned(),
        summary: entry.summary,
        source: entry.source,
        requires: entry.requires.iter().map(|capability| capability.clause()).collect(),
        provides: entry.provides.iter().map(provision).collect(),
        needs: entry.deployment.needs.iter().map(|need| need.word()).collect(),
        linux: entry.deployment.linux,
        serves: entry.deployment.serves,
        lacks: entry.deployment.lacks,
        example: entry.written_example(),
        beside: entry.example.beside,
        variant: entry.example.variant,
        keys: own.chain(common).collect(),
    }
}

/// Returns the entry of a key, and those of the keys of its table.
fn flatten(key: &KeyInfo, above: &str, group: &'static str) -> Vec<KeyEntry> {
    let name = format!("{above}{}", key.name);
    let entry = KeyEntry {
        name: name.clone(),
        meaning: key.meaning,
        value: value(key),
        default: key.default.clone(),
        required: key.required,
        source: key.source,
        group,
    };
    std::iter::once(entry).chain(within(&key.schema, &name, group)).collect()
}

/// Returns the entries of the keys of tables in values of the schema; `name` is their key.
fn within(schema: &Schema, name: &str, group: &'static str) -> Vec<KeyEntry> {
    match schema {
        Schema::Table(keys) | Schema::OneOf(_, keys) => {
            keys.iter().flat_map(|key| flatten(key, &format!("{name}."), group)).collect()
        }
        Schema::Map(_, value) => within(value, &format!("{name}.NAME"), group),
        Schema::List(item) => within(item, name, group),
        Schema::AnyOf(all) => {
            let mut found: Vec<KeyEntry> = Vec::new();
            for entry in all.iter().flat_map(|schema| within(schema, name, group)) {
                if found.iter().all(|other| other.name != entry.name) {
                    found.push(entry);
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn value(key: &KeyInfo) -> ValueInfo {
    let Kind { text, mut words, sample } = kind(&key.schema);
    if let Some(none) = &key.none {
        words.push(none.word.map_or_else(|| none.literal.to_string(), str::to_owned));
    }
    ValueInfo { kind: text, range: key.bounds.text.to_owned(), unit: key.unit, words, sample }
}

/// A type in words, the words that are values of it, and an example of a quantity.
struct Kind {
    text: String,
    words: Vec<String>,
    sample: &'static str,
}

fn kind(schema: &Schema) -> Kind {
    let plain = |text: &str| Kind { text: text.to_owned(), words: Vec::new(), sample: "" };
    let one_of = |text: &str, of: &[(&str, &str)]| Kind {
        text: text.to_owned(),
        words: of.iter().map(|(word, _)| (*word).to_owned()).collect(),
        sample: "",
    };
    let around = |item: &Schema, text: fn(&str) -> String| {
        let inner = kind(item);
        Kind { text: text(&inner.text), ..inner }
    };
    match schema {
        Schema::Bool => plain("true or false"),
        Schema::Integer => plain("whole number"),
        Schema::Number => plain("number"),
        Schema::Quantity(sample) => Kind { sample, ..plain("quantity") },
        Schema::Text => plain("text"),
        Schema::Name(noun) => Kind { text: format!("name of a {noun}"), ..plain("") },
        Schema::AnyOf(all) => {
            let mut all = all.iter().map(kind);
            let first = all.next().unwrap_or_else(|| plain("any"));
            all.fold(first, |one, other| Kind {
                text: format!("{} or {}", one.text, other.text),
                words: [one.words, other.words].concat(),
                sample: if one.sample.is_empty() { other.sample } else { one.sample },
            })
        }
        Schema::Any => plain("any"),
        Schema::Table(_) | Schema::OneOf([], _) => plain("table"),
        Schema::Words(of) => one_of("one of", of),
        Schema::OneOf(of, _) => one_of("one of or table", of),
        Schema::OneOrMore(item) => around(item, |item| format!("{item} or list of {item}")),
        Schema::List(item) => around(item, |item| format!("list of {item}")),
        Schema::Map(_, value) => around(value, |value| format!("table by name of {value}")),
    }
}
