//! `[switch]` and `[host]`: settings of switches and hosts that apply to all schemes of an experiment.
//!
//! A preset contains the switch and host settings of its paper. A key of these tables replaces the preset's value,
//! unless `[scheme.NAME]` sets it. Parameters of the algorithm are not replaced:
//!
//! | key | replaces | except |
//! |---|---|---|
//! | `switch.buffer` | `port.buffer` | where it is the trimming threshold of the port, or unbounded (such schemes are bounds) |
//! | `switch.ecn` | `port.ecn`; `"auto"` keeps the thresholds of the scheme | if the transport ignores marks and the preset's ports set none |
//! | `host.nic` | `nic`, or only the given keys of it | if there is no transmit queue; `ecn` also if `switch.ecn` does not apply |
//! | `host.min_rto`, `initial_rto`, `max_rto` | those of `transport` | if the transport has no such key, or its timeout is fixed (`min_rto` equals `max_rto`: pFabric) |
//! | `host.handshake` | `transport.handshake` | if the transport has no such key |
//!
//! `host.send_jitter` is a property of the hosts alone: no scheme has it.

use priolane_core::keys::{
    Bounds, Form, InTable, KeyError, KeyValue, Keys, Schema, Value as KeyInput, WrittenValue,
};
use priolane_core::nic::QueueKeys;
use priolane_core::part::{Capability, Entry, Row};
use priolane_core::port::{BufferSpec, Ecn};
use priolane_core::scheme::find;
use priolane_core::send_jitter::SendJitter;
use priolane_core::transport::window::Handshake;
use priolane_core::units::Span;
use priolane_source::{InputError, Merge, Mistakes, Node, Reader, Table, Value};

use crate::scheme::{self, BUFFER};

/// Alternative keys of `[switch]`.
pub(super) const MERGE: Merge = Merge { rules: &[], inner: &[("buffer", &BUFFER)], each: None };

/// The keys of `[switch]`.
#[derive(Clone, Debug, PartialEq, Keys)]
pub(super) struct SwitchKeys {
    /// Buffer capacity of the ports, as `buffer` of a port.
    #[key(
        optional,
        shown = "as in each scheme",
        unit = "pkt or B",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) buffer: Option<BufferSpec>,
    /// Marking thresholds of the ports, as `ecn` of a port; auto: by queue, the thresholds of each scheme.
    #[key(
        optional,
        shown = "as in each scheme",
        unit = "pkt or B",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) ecn: Option<WordOr<Auto, Ecn>>,
}

/// A word, or a table with the keys of `T`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WordOr<W, T> {
    /// The word.
    Word(W),
    /// The table.
    Table(T),
}

/// A word that stands for a table.
pub(super) trait Word: Default {
    /// The word, and its meaning.
    const WORDS: &'static [(&'static str, &'static str)];
    /// The mistake in any other value, and the value to use.
    const OTHERWISE: (&'static str, &'static str);

    /// Returns the word.
    fn text() -> &'static str {
        Self::WORDS[0].0
    }
}

impl<W: Word, T: Keys> KeyValue for WordOr<W, T> {
    const UNIT: &'static str = "";

    fn read(value: &KeyInput<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            KeyInput::Text(text) if *text == W::text() => Ok(Self::Word(W::default())),
            KeyInput::Table(_) => InTable::read(value, bounds).map(Self::Table),
            _ => Err(KeyError::new(W::OTHERWISE.0, W::OTHERWISE.1)),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Word(_) => W::text().into(),
            Self::Table(keys) => InTable::write(keys),
        }
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        T::describe(&mut keys);
        Schema::OneOf(W::WORDS, keys)
    }
}

/// Marking of switches by queue, with the thresholds of each scheme; of a scheme without any, with DCTCP's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Auto;

impl Word for Auto {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("auto", "by queue, at the thresholds of each scheme, in proportion at other rates")];
    const OTHERWISE: (&'static str, &'static str) = (
        "the value is not marking",
        "\"auto\", or a table such as { per = \"queue\", at = { \"10Gbps\" = \"65pkt\" } }",
    );
}

/// No transmit queue: the link pulls packets from the host's scheduler.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pull;

impl Word for Pull {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("pull", "no transmit queue: the link asks the host's scheduler for each packet")];
    const OTHERWISE: (&'static str, &'static str) =
        ("the value is not a NIC", "\"pull\", or a table such as { limit = \"128kB\" }");
}

/// Thresholds of a scheme that states none: those of DCTCP and NOS2 (docs/assumptions.md#ecn-thresholds).
const DCTCP_MARKING: [(&str, &str); 2] = [("1Gbps", "20pkt"), ("10Gbps", "65pkt")];

/// The keys of `[host]`.
#[derive(Clone, Debug, PartialEq, Keys)]
pub(super) struct HostKeys {
    /// Minimum of the retransmission timeout.
    #[key(
        optional,
        shown = "as in each scheme",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) min_rto: Option<Span>,
    /// Timeout before the first round-trip sample.
    #[key(
        optional,
        shown = "as in each scheme",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) initial_rto: Option<Span>,
    /// Maximum of the backed-off timeout.
    #[key(
        optional,
        shown = "as in each scheme",
        range = "(0, )",
        source = "docs/experiments.md#switches-and-hosts"
    )]
    pub(super) max_rto: Option<Span>,
    /// Exchange of packets before the first payload packet.
    #[key(optional, shown = "as in each scheme", source = "docs/experiments.md#switches-and-hosts")]
    pub(super) handshake: Option<Handshake>,
    /// The longest random time between the end of a packet's transmission and its departure on the wire; packets keep
    /// their order. It ends phase effects, in which always the same one of several equal flows finds a full queue.
    #[key(default = SendJitter::PACKET, source = "docs/assumptions.md#send-jitter")]
    pub(super) send_jitter: SendJitter,
    /// The transmit queue: its capacity and marking threshold, or pull for none.
    #[key(optional, shown = "as in each scheme", source = "docs/experiments.md#switches-and-hosts")]
    pub(super) nic: Option<WordOr<Pull, QueueKeys>>,
}

/// The keys of `[switch]` and `[host]`, and which of them apply to some scheme.
#[derive(Debug)]
pub(super) struct Equipment {
    stated: Vec<Override>,
    /// `host.send_jitter`, which no scheme has.
    pub(super) send_jitter: SendJitter,
}

impl Default for Equipment {
    fn default() -> Self {
        Self { stated: Vec::new(), send_jitter: SendJitter::PACKET }
    }
}

/// A key and its counterpart in a scheme.
#[derive(Debug)]
struct Override {
    /// Key in the experiment file.
    key: String,
    /// Row of a scheme.
    row: Row,
    /// Key in that row; `None` for the whole row.
    at: Option<String>,
    node: Node,
    taken: bool,
}

/// Reads both tables.
///
/// # Errors
/// Returns all their mistakes.
pub(super) fn read(keys: &mut Reader<'_>) -> Result<Equipment, InputError> {
    let mut found = Mistakes::new(&keys.origin().file);
    let Equipment { mut stated, mut send_jitter } = Equipment::default();
    if let Some(switch) = keys.take("switch") {
        found.keep(switch.keys::<SwitchKeys>().map(drop));
        stated.extend(entries(switch.value(), "switch", Row::Port));
    }
    if let Some(host) = keys.take("host") {
        if let Some(keys) = found.keep(host.keys::<HostKeys>()) {
            send_jitter = keys.send_jitter;
        }
        let of_schemes = |stated: &Override| !["host.nic", "host.send_jitter"].contains(&stated.key.as_str());
        stated.extend(entries(host.value(), "host", Row::Transport).filter(of_schemes));
        match host.inner("nic") {
            Some(nic) if matches!(nic.value(), Value::Table(_)) => {
                stated.extend(entries(nic.value(), "host.nic", Row::Nic));
            }
            Some(nic) => stated.push(Override::new("host.nic".to_owned(), Row::Nic, None, nic.node())),
            None => {}
        }
    }
    found.finish()?;
    Ok(Equipment { stated, send_jitter })
}

fn entries<'v>(value: &'v Value, path: &'v str, row: Row) -> impl Iterator<Item = Override> + 'v {
    let table = if let Value::Table(table) = value { Some(table) } else { None };
    let entries = table.into_iter().flat_map(Table::entries);
    entries.map(move |(key, node)| Override::new(format!("{path}.{key}"), row, Some(key), node))
}

impl Equipment {
    /// Sets the keys that apply to a scheme in `preset`, over which `own`, the changes of the experiment, are merged
    /// later.
    pub(super) fn apply(&mut self, preset: &mut Table, own: &Table) {
        if self.stated.is_empty() {
            return;
        }
        let mut whole = preset.clone();
        whole.merge(own, &scheme::MERGE);
        for stated in self.stated.iter_mut().filter(|stated| stated.applies(&whole)) {
            stated.taken = true;
            match stated.is_auto_ecn() {
                true => stated.marked(&whole).put(preset),
                false => stated.put(preset),
            }
        }
    }

    /// Checks that each key applies to some scheme.
    ///
    /// # Errors
    /// Returns the keys that apply to none.
    pub(super) fn finish(self) -> Result<(), InputError> {
        let Some(first) = self.stated.first() else { return Ok(()) };
        let mut found = Mistakes::new(&first.node.origin.file);
        for stated in self.stated.iter().filter(|stated| !stated.taken) {
            let what = "the key applies to none of the schemes";
            found.add(stated.node.origin.error(&stated.key, what, stated.needed()));
        }
        found.finish()
    }
}

impl Override {
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

    /// Whether the key is `switch.ecn = "auto"`.
    fn is_auto_ecn(&self) -> bool {
        self.key == "switch.ecn" && matches!(&self.node.value, Value::Text(text) if text == Auto::text())
    }

    /// Returns the key with the marking that `"auto"` stands for in a scheme.
    fn marked(&self, scheme: &Table) -> Self {
        let origin = &self.node.origin;
        let node = |value| Node { origin: origin.clone(), value };
        let text = |text: &str| node(Value::Text(text.to_owned()));
        let mut ecn = Table::from_iter([("per".to_owned(), text("queue"))]);
        let own = part(scheme, "port").and_then(|port| part(port, "ecn")).and_then(|ecn| ecn.get("at"));
        if own.is_none() {
            let at = DCTCP_MARKING.map(|(rate, limit)| (rate.to_owned(), text(limit)));
            ecn.set("at", node(Value::Table(Table::from_iter(at))));
        }
        Self { key: self.key.clone(), at: self.at.clone(), node: node(Value::Table(ecn)), ..*self }
    }

    /// Merges the key into the preset as `[scheme.NAME]` would, so that the merged file can be read again.
    fn put(&self, scheme: &mut Table) {
        let row = self.row.key();
        let Some(at) = &self.at else {
            scheme.set(row, self.node.clone());
            return self.order_flows(scheme);
        };
        if scheme.get(row).is_some_and(|node| !matches!(node.value, Value::Table(_))) {
            return;
        }
        let alone = |key: &str, node| Table::from_iter([(key.to_owned(), node)]);
        let keys = Value::Table(alone(at, self.node.clone()));
        let stated = alone(row, Node { origin: self.node.origin.clone(), value: keys });
        scheme.merge(&stated, &scheme::MERGE);
    }

    /// Gives hosts an order of flows in place of that of the transmit queue, which they no longer have: round robin.
    fn order_flows(&self, scheme: &mut Table) {
        if text(scheme, "host", "kind") != Some("fifo") {
            return;
        }
        let order = Node { origin: self.node.origin.clone(), value: Value::Text("round_robin".to_owned()) };
        let host = Value::Table(Table::from_iter([("kind".to_owned(), order)]));
        scheme.set("host", Node { origin: self.node.origin.clone(), value: host });
    }

    /// Returns what a scheme must have for the key to apply.
    fn needed(&self) -> &'static str {
        match (self.row, self.at.as_deref()) {
            (Row::Port, Some("buffer")) => "a scheme with a limited buffer that does not trim packets",
            (Row::Port, _) | (Row::Nic, Some("ecn")) => "a scheme that uses ECN",
            (Row::Nic, _) => "a scheme whose NIC has a transmit queue",
            (_, Some("handshake")) => "a scheme whose transport has a `handshake`",
            _ => "a scheme with an adaptive retransmission timer",
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

/// Whether the transport has a key of this name. External transports are congestion controllers.
fn transport_has(scheme: &Table, key: &str) -> bool {
    kind(scheme, Row::Transport).is_none_or(|entry| entry.parameters.iter().any(|info| info.name == key))
}

/// Whether the transport reacts to marks, or the ports set them regardless.
fn marks(scheme: &Table) -> bool {
    let reads = kind(scheme, Row::Transport)
        .is_some_and(|entry| entry.requires.contains(&Capability::CongestionMarks));
    reads || part(scheme, "port").is_some_and(|port| port.get("ecn").is_some())
}

/// Whether the buffer size is a parameter of the algorithm.
fn fixed_buffer(scheme: &Table) -> bool {
    let trims = kind(scheme, Row::Port)
        .is_some_and(|entry| entry.provides.iter().any(|given| given.capability == Capability::Trimming));
    trims || text(scheme, "port", "buffer") == Some("unbounded")
}

/// Whether the retransmission timeout is constant.
fn fixed_timer(scheme: &Table) -> bool {
    let stated =
        |key| part(scheme, "transport").and_then(|keys| keys.get(key)).map(|node| node.value.to_json());
    stated("min_rto").is_some() && stated("min_rto") == stated("max_rto")
}
