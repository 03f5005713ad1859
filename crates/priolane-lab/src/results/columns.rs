//! The columns of every table: name, type, unit and meaning. `docs/results.md` says the same in prose.

use arrow_schema::{DataType, Field, Metadata};

use super::rows::Table;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: DataType,
    /// Its unit: `ps`, `B`, `1` for plain numbers, empty for names.
    pub unit: &'static str,
    /// What it means, and when it is null.
    pub meaning: &'static str,
    /// Whether a value can be unknown.
    pub nulls: Nulls,
}

/// Whether a column has values that are unknown or do not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Every row has a value.
    Never,
    /// A row may lack one.
    Possible,
}

impl Column {
    /// The Arrow field, with `unit` and `meaning` in its metadata.
    pub fn field(&self) -> Field {
        let metadata = Metadata::from([("unit", self.unit), ("meaning", self.meaning)]);
        Field::new(self.name, self.kind.clone(), self.nulls == Nulls::Possible).with_metadata(metadata)
    }
}

/// The columns of `table`, in order.
pub fn of(table: Table) -> &'static [Column] {
    match table {
        Table::Flows => &FLOWS,
        Table::Ports => &PORTS,
        Table::Series => &SERIES,
        Table::Bills => &BILLS,
        Table::Coflows => &COFLOWS,
    }
}

pub(crate) const fn known(
    name: &'static str,
    kind: DataType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, unit, meaning, nulls: Nulls::Never }
}

pub(crate) const fn maybe(
    name: &'static str,
    kind: DataType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, unit, meaning, nulls: Nulls::Possible }
}

static FLOWS: [Column; 25] = [
    known("flow", DataType::UInt32, "1", "the flow's id: its line in the run's flow list, from 0"),
    maybe(
        "group",
        DataType::Utf8,
        "",
        "the experiment's group that the flow belongs to; null if it has none",
    ),
    known("src", DataType::UInt32, "1", "the sending host"),
    known("dst", DataType::UInt32, "1", "the receiving host"),
    maybe("bytes", DataType::UInt64, "B", "payload bytes; null for a flow without end"),
    maybe(
        "start_ps",
        DataType::UInt64,
        "ps",
        "when the application started the flow, since the start of the run; null if it waited for others to the end",
    ),
    maybe(
        "fct_ps",
        DataType::UInt64,
        "ps",
        "from start_ps to the arrival of the last payload byte at the receiver; null if unfinished",
    ),
    maybe(
        "fct_acked_ps",
        DataType::UInt64,
        "ps",
        "from start_ps to the last acknowledgement at the sender; null if it did not arrive or there is none",
    ),
    maybe(
        "bare_fct_ps",
        DataType::UInt64,
        "ps",
        "fct_ps of the same flow alone in the network at line rate without handshake; null for a flow without end",
    ),
    maybe(
        "slowdown",
        DataType::Float64,
        "1",
        "fct_ps / bare_fct_ps, or over the time with a handshake where the experiment says so; never clamped; null if \
         unfinished",
    ),
    known("class_asked", DataType::UInt8, "1", "class asked for at the start, 0 is served first"),
    known(
        "class_given",
        DataType::UInt8,
        "1",
        "class given for it at the start: class_asked without an admission policy",
    ),
    known("moves", DataType::UInt32, "1", "changes of the given class while the flow was under way"),
    known("class_first", DataType::UInt8, "1", "class of the first payload packet"),
    known("class_last", DataType::UInt8, "1", "class of the payload packet sent last"),
    maybe(
        "deadline_ps",
        DataType::UInt64,
        "ps",
        "deadline, since the start of the run; null without deadline",
    ),
    maybe(
        "met",
        DataType::Boolean,
        "",
        "whether the last byte arrived by deadline_ps; null without deadline, or unfinished with a deadline after \
         the end of the run",
    ),
    known("retransmits", DataType::UInt32, "1", "packets sent again"),
    known("timeouts", DataType::UInt32, "1", "retransmission timeouts"),
    known("cos", DataType::Utf8, "", "class of service that the pair below buys: BE, DS or MRG"),
    known(
        "theta_bps",
        DataType::UInt64,
        "bit/s",
        "minimum rate paid for by the flow, or by its machine; 0 for none",
    ),
    known("w", DataType::Float64, "1", "weight paid for by the flow, or by its machine; 1 is best effort's"),
    known(
        "missing_bytes",
        DataType::UInt64,
        "B",
        "payload that an unreliable transport gave up and that did not arrive; fct_ps is of the rest",
    ),
    known("measured", DataType::Boolean, "", "whether the flow started inside the measured window"),
    maybe("coflow", DataType::UInt32, "1", "the coflow of its group that it belongs to; null if to none"),
];

static PORTS: [Column; 14] = [
    known("port", DataType::Utf8, "", "the egress port, named by the nodes its link joins: leaf0->spine1"),
    known("link", DataType::UInt32, "1", "the link's number in the topology"),
    known("class", DataType::UInt8, "1", "class on the wire, 0 is served first"),
    known("queue", DataType::UInt8, "1", "queue of the port that served the class"),
    known("packets", DataType::UInt64, "1", "packets served"),
    known("bytes", DataType::UInt64, "B", "bytes served, on the wire"),
    known("dropped", DataType::UInt64, "1", "packets dropped for want of room"),
    known("marked", DataType::UInt64, "1", "packets marked with congestion experienced"),
    known("lost", DataType::UInt64, "1", "packets lost on the link after they were served"),
    known(
        "inversions",
        DataType::UInt64,
        "1",
        "packets served while a packet of a better (smaller) class waited in the same port",
    ),
    maybe(
        "waited_mean_ps",
        DataType::Float64,
        "ps",
        "mean time from arrival at the port to start of service; null if no packet was served",
    ),
    known("trimmed", DataType::UInt64, "1", "packets whose payload was cut off here; they go on as headers"),
    known("expired", DataType::UInt64, "1", "packets (tokens) discarded here as they had waited too long"),
    known("paused_ps", DataType::UInt64, "ps", "how long the next switch held the class back here (PFC)"),
];

static SERIES: [Column; 4] = [
    known("t_ps", DataType::UInt64, "ps", "instant of the reading, since the start of the run"),
    known(
        "entity",
        DataType::Utf8,
        "",
        "what was read: a port, named as in ports.parquet; a flow, as flow12; or controller",
    ),
    known(
        "metric",
        DataType::Utf8,
        "",
        "queued_bytes (B), queued_packets (1): waiting in the port, the packet on the line not counted; sent_bytes (B): \
         of packets put on the line since the instant before; acked_bytes (B): payload of a flow acknowledged since its \
         start, by SACK blocks too",
    ),
    known("value", DataType::Float64, "see metric", "the reading"),
];

static COFLOWS: [Column; 10] = [
    known("group", DataType::Utf8, "", "the experiment's group"),
    known("coflow", DataType::UInt32, "1", "the coflow's number in its group"),
    known("flows", DataType::UInt32, "1", "its flows"),
    maybe("bytes", DataType::UInt64, "B", "payload bytes of all its flows; null if one is without end"),
    known("class_asked", DataType::UInt8, "1", "class that its first flow asked for"),
    known("class_given", DataType::UInt8, "1", "class that this flow was given at the start"),
    known("start_ps", DataType::UInt64, "ps", "when its first flow started, since the start of the run"),
    maybe(
        "cct_ps",
        DataType::UInt64,
        "ps",
        "from start_ps to the arrival of the last payload byte of its last flow; null if unfinished",
    ),
    known("cos", DataType::Utf8, "", "class of service of its first flow: BE, DS or MRG"),
    known("measured", DataType::Boolean, "", "whether its first flow started inside the measured window"),
];

static BILLS: [Column; 17] = [
    known("group", DataType::Utf8, "", "the experiment's group"),
    known("host", DataType::UInt32, "1", "the host that the machine is"),
    maybe("flow", DataType::UInt32, "1", "the flow that pays for itself; null for a machine"),
    known(
        "plan",
        DataType::Utf8,
        "",
        "who pays for the group's flows: vbp, their machine; fbp, they themselves",
    ),
    known("cos", DataType::Utf8, "", "class of service that the pair below buys: BE, DS or MRG"),
    known(
        "theta_bps",
        DataType::UInt64,
        "bit/s",
        "minimum rate paid for, of a flow that at its start; 0 for none",
    ),
    known("w", DataType::Float64, "1", "weight paid for, of a flow that at its start"),
    known(
        "seconds",
        DataType::Float64,
        "s",
        "time charged: the run, or of a flow the time in which it was more than BE",
    ),
    known("weight_seconds", DataType::Float64, "s", "integral of w - 1, where above 0, over that time"),
    known("reserved_bits", DataType::Float64, "bit", "integral of the minimum rate over that time"),
    known("sent_bits", DataType::Float64, "bit", "payload sent with a minimum rate"),
    known("base", DataType::Float64, "currency", "P0's part of what is owed (of a flow P0s')"),
    known("weight", DataType::Float64, "currency", "P1's part"),
    known("rate", DataType::Float64, "currency", "P2's part"),
    known("total", DataType::Float64, "currency", "all that is owed"),
    known(
        "delivered_bytes",
        DataType::UInt64,
        "B",
        "payload delivered, of a machine that of all its flows, paid apart or not",
    ),
    maybe(
        "rate_bps",
        DataType::Float64,
        "bit/s",
        "delivered_bytes over the run; null for a run of no length",
    ),
];
