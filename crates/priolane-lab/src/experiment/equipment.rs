//! `[switch]` and `[host]`: the switches and hosts that every scheme of an experiment runs on.
//!
//! A preset states the switch and the host of its paper. A key of these tables takes the place of the preset's, unless
//! `[scheme.NAME]` states it. What is a parameter of the algorithm stays:
//!
//! | key | takes the place of | but not |
//! |---|---|---|
//! | `switch.buffer` | `port.buffer` | at ports that trim packets, where it says when to trim, nor where it is unbounded: such schemes are bounds |
//! | `switch.ecn` | `port.ecn` | where the transport ignores marks and the preset's ports set none |
//! | `host.nic` | `nic`, or those of its keys that are stated | where there is no transmit queue; `ecn` not where `switch.ecn` does not apply |
//! | `host.min_rto`, `initial_rto`, `max_rto` | those of `transport` | where the transport has no such key, or its timeout is fixed (`min_rto` equals `max_rto`: pFabric) |
//! | `host.handshake` | `transport.handshake` | where the transport has no such key |

use priolane_core::keys::{
    Bounds, Form, InTable, KeyError, KeyValue, Keys, Schema, Value as KeyInput, Written,
};
use priolane_core::nic::QueueKeys;
use priolane_core::part::{Capability, Entry, Row};
use priolane_core::port::{BufferSpec, Ecn};
use priolane_core::scheme::find;
use priolane_core::transport::window::Handshake;
use priolane_core::units::Span;
use priolane_source::{InputError, Merge, Mistakes, Node, Reader, Table, Value};

use crate::scheme::{self, BUFFER};

/// What is an alternative of what in `[switch]`.
pub(super) const MERGE: Merge = Merge { rules: &[], inner: &[("buffer", &BUFFER)], each: None };

/// The keys of `[switch]`.
#[derive(Clone, Debug, PartialEq, Keys)]
pub(super) struct SwitchKeys {
    /// Room of the ports, as `buffer` of a port.
    #[key(
        optional,
        shown = "each scheme's",
        unit = "pkt or B",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) buffer: Option<BufferSpec>,
    /// Marking thresholds of the ports, as `ecn` of a port.
    #[key(
        optional,
        form = InTable,
        shown = "each scheme's",
        unit = "pkt or B",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) ecn: Option<Ecn>,
}

/// The keys of `[host]`.
#[derive(Clone, Debug, PartialEq, Keys)]
pub(super) struct HostKeys {
    /// Floor of the retransmission timeout.
    #[key(
        optional,
        shown = "each scheme's",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) min_rto: Option<Span>,
    /// Timeout before the first round-trip sample.
    #[key(
        optional,
        shown = "each scheme's",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) initial_rto: Option<Span>,
    /// Ceiling of the backed-off timeout.
    #[key(
        optional,
        shown = "each scheme's",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) max_rto: Option<Span>,
    /// What happens before the first payload packet.
    #[key(optional, shown = "each scheme's", source = "docs/experiments.md#switches-and-hosts")]
    pub(super) handshake: Option<Handshake>,
    /// The transmit queue: its room and its marking, or pull for none.
    #[key(optional, shown = "each scheme's", source = "docs/experiments.md#switches-and-hosts")]
    pub(super) nic: Option<HostNic>,
}

/// What takes the place of a transmit queue, or of its keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HostNic {
    /// The line asks the host's scheduler.
    Pull,
    /// Room and marking.
    Queue(QueueKeys),
}

impl KeyValue for HostNic {
    const UNIT: &'static str = "";

    fn read(value: &KeyInput<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            KeyInput::Text(PULL) => Ok(Self::Pull),
            KeyInput::Table(_) => InTable::read(value, bounds).map(Self::Queue),
            _ => Err(KeyError::new("this is no NIC", "\"pull\", or a table such as { limit = \"128kB\" }")),
        }
    }

    fn write(&self) -> Written {
        match self {
            Self::Pull => PULL.into(),
            Self::Queue(keys) => InTable::write(keys),
        }
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        QueueKeys::describe(&mut keys);
        Schema::OneOf(&[(PULL, "no transmit queue: the line asks the host's scheduler")], keys)
    }
}

/// The NIC without a transmit queue.
const PULL: &str = "pull";

/// What an experiment states of its switches and hosts, and which of it some scheme takes.
#[derive(Debug, Default)]
pub(super) struct Equipment {
    stated: Vec<Stated>,
}

/// A key and where a scheme has it.
#[derive(Debug)]
struct Stated {
    /// As in the experiment file.
    key: String,
    /// The row of a scheme.
    row: Row,
    /// Its key there; `None` for the whole row.
    at: Option<String>,
    node: Node,
    taken: bool,
}

/// Reads both tables.
///
/// # Errors
/// All their mistakes.
pub(super) fn read(keys: &mut Reader<'_>) -> Result<Equipment, InputError> {
    let mut found = Mistakes::new(&keys.origin().file);
    let mut stated = Vec::new();
    if let Some(switch) = keys.take("switch") {
        found.keep(switch.keys::<SwitchKeys>().map(drop));
        stated.extend(entries(switch.value(), "switch", Row::Port));
    }
    if let Some(host) = keys.take("host") {
        found.keep(host.keys::<HostKeys>().map(drop));
        stated
            .extend(entries(host.value(), "host", Row::Transport).filter(|stated| stated.key != "host.nic"));
        match host.inner("nic") {
            Some(nic) if matches!(nic.value(), Value::Table(_)) => {
                stated.extend(entries(nic.value(), "host.nic", Row::Nic));
            }
            Some(nic) => stated.push(Stated::new("host.nic".to_owned(), Row::Nic, None, nic.node())),
            None => {}
        }
    }
    found.finish()?;
    Ok(Equipment { stated })
}

fn entries<'v>(value: &'v Value, path: &'v str, row: Row) -> impl Iterator<Item = Stated> + 'v {
    let table = if let Value::Table(table) = value { Some(table) } else { None };
    let entries = table.into_iter().flat_map(Table::entries);
    entries.map(move |(key, node)| Stated::new(format!("{path}.{key}"), row, Some(key), node))
}

impl Equipment {
    /// Puts what applies to a scheme into `preset`, which `own`, the experiment's changes, will be laid over.
    pub(super) fn apply(&mut self, preset: &mut Table, own: &Table) {
        if self.stated.is_empty() {
            return;
        }
        let mut whole = preset.clone();
        whole.merge(own, &scheme::MERGE);
        for stated in self.stated.iter_mut().filter(|stated| stated.applies(&whole)) {
            stated.taken = true;
            stated.put(preset);
        }
    }

    /// Whether each key applies to some scheme.
    ///
    /// # Errors
    /// The keys that apply to none.
    pub(super) fn finish(self) -> Result<(), InputError> {
        let Some(first) = self.stated.first() else { return Ok(()) };
        let mut found = Mistakes::new(&first.node.origin.file);
        for stated in self.stated.iter().filter(|stated| !stated.taken) {
            let what = "this applies to none of the schemes";
            found.add(stated.node.origin.error(&stated.key, what, stated.needed()));
        }
        found.finish()
    }
}

impl Stated {
    fn new(key: String, row: Row, at: Option<&str>, node: &Node) -> Self {
        Self { key, row, at: at.map(str::to_owned), node: node.clone(), taken: false }
    }

    fn applies(&self, scheme: &Table) -> bool {
        match (self.row, self.at.as_deref()) {
            (Row::Port, Some("buffer")) => !fixed_buffer(scheme),
            (Row::Port, _) => marks(scheme),
            (Row::Nic, at) => text(scheme, "nic", "queue").is_some() && (at != Some("ecn") || marks(scheme)),
            (_, Some("handshake")) => transport_has(scheme, "handshake"),
            (_, rto) => transport_has(scheme, rto.unwrap_or_default()) && !fixed_timer(scheme),
        }
    }

    /// Lays it over the preset as the same key of `[scheme.NAME]` would be laid over it: the merged file then reads back.
    fn put(&self, scheme: &mut Table) {
        let row = self.row.key();
        let Some(at) = &self.at else { return scheme.set(row, self.node.clone()) };
        if scheme.get(row).is_some_and(|node| !matches!(node.value, Value::Table(_))) {
            return;
        }
        let alone = |key: &str, node| Table::from_iter([(key.to_owned(), node)]);
        let keys = Value::Table(alone(at, self.node.clone()));
        let stated = alone(row, Node { origin: self.node.origin.clone(), value: keys });
        scheme.merge(&stated, &scheme::MERGE);
    }

    /// What a scheme needs for it to apply.
    fn needed(&self) -> &'static str {
        match (self.row, self.at.as_deref()) {
            (Row::Port, Some("buffer")) => "a scheme with a limited buffer that does not trim packets",
            (Row::Port, _) | (Row::Nic, Some("ecn")) => "a scheme that uses ECN",
            (Row::Nic, _) => "a scheme whose NIC has a transmit queue",
            (_, Some("handshake")) => "a scheme whose transport has a `handshake`",
            _ => "a scheme with a retransmission timer that adapts",
        }
    }
}

fn part<'t>(scheme: &'t Table, row: &str) -> Option<&'t Table> {
    match &scheme.get(row)?.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn text<'t>(scheme: &'t Table, row: &str, key: &str) -> Option<&'t str> {
    match &part(scheme, row)?.get(key)?.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn kind(scheme: &Table, row: Row) -> Option<&'static Entry> {
    find(row, text(scheme, row.key(), "kind")?)
}

/// Whether the transport has a key of this name. Transports from outside are congestion controllers.
fn transport_has(scheme: &Table, key: &str) -> bool {
    kind(scheme, Row::Transport).is_none_or(|entry| entry.parameters.iter().any(|info| info.name == key))
}

/// Whether the transport reads marks, or ports set them all the same.
fn marks(scheme: &Table) -> bool {
    let reads = kind(scheme, Row::Transport)
        .is_some_and(|entry| entry.requires.contains(&Capability::CongestionMarks));
    reads || part(scheme, "port").is_some_and(|port| port.get("ecn").is_some())
}

/// Whether the buffer is a parameter of the algorithm.
fn fixed_buffer(scheme: &Table) -> bool {
    let trims = kind(scheme, Row::Port)
        .is_some_and(|entry| entry.provides.iter().any(|given| given.capability == Capability::Trimming));
    trims || text(scheme, "port", "buffer") == Some("unbounded")
}

/// Whether the retransmission timeout is one and the same all the time.
fn fixed_timer(scheme: &Table) -> bool {
    let stated =
        |key| part(scheme, "transport").and_then(|keys| keys.get(key)).map(|node| node.value.to_json());
    stated("min_rto").is_some() && stated("min_rto") == stated("max_rto")
}
