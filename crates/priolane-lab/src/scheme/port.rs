//! What a switch port does: its kinds and their keys.

use priolane_core::ids::CLASSES;
use priolane_core::port::{AifoSpec, Limit, QueueWeights};
use priolane_source::{Field, InputError, Merge, Own, ReadKeys, Reader, Replace, Shared};
use serde::{Serialize, Serializer};

use super::buffer::{self, Buffer, Ecn, Sharing, ecn};
use super::pfc::{self, Pfc};
use super::token_port::{self, TokenPort};

const OVERFLOWS: [(&str, Overflow); 2] = [("drop", Overflow::Drop), ("return", Overflow::Return)];

/// What a switch port does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Port {
    /// Its queues.
    #[serde(flatten)]
    pub kind: PortKind,
    /// Its room.
    pub buffer: Buffer,
    /// Its marking, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// Its lossless classes, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
}

/// The queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PortKind {
    /// One queue.
    Fifo,
    /// Strict priority.
    Strict {
        /// Number of queues, 1 to 16.
        queues: u8,
    },
    /// Sorted by rank.
    Ranked,
    /// The flow with the best rank first, the worst rank dropped.
    #[serde(rename = "pfabric")]
    PFabric,
    /// One sorted queue; what a class maps to is its rank.
    Pifo,
    /// One first-in first-out queue that admits by rank, what a class maps to.
    Aifo {
        /// Ranks that quantiles are taken of.
        window: u16,
        /// Of so many packets one is among them.
        sample: u16,
        /// The part of the room in which everything is admitted, in thousandths.
        #[serde(rename = "k", serialize_with = "thousandths")]
        k_thousandths: u16,
    },
    /// Payload that overflows is trimmed to headers.
    Trimming {
        /// Room of the header queue.
        #[serde(serialize_with = "priolane_source::quantity::as_text::limit")]
        headers: Limit,
        /// What becomes of payload for whose header there is no room.
        overflow: Overflow,
    },
    /// Tokens behind one limiter, and data.
    Tokens(TokenPort),
    /// Weighted fair queueing.
    Wfq {
        /// Number of queues, 1 to 16.
        queues: u8,
        /// Their weights.
        #[serde(serialize_with = "weight_list")]
        weights: QueueWeights,
        /// What packets are stamped by.
        #[serde(skip_serializing_if = "WfqClock::is_virtual")]
        clock: WfqClock,
    },
}

/// What the packets of weighted fair queues are stamped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WfqClock {
    /// A virtual time, that of the packet in service.
    Virtual,
    /// Real time, as in the simulator of Aequitas.
    AequitasCompat,
}

impl WfqClock {
    fn is_virtual(&self) -> bool {
        *self == Self::Virtual
    }
}

fn thousandths<S: Serializer>(k: &u16, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_f64(f64::from(*k) / 1e3)
}

fn weight_list<S: Serializer>(weights: &QueueWeights, s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(weights.as_slice())
}

impl PortKind {
    /// The name in scheme files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Strict { .. } => "strict",
            Self::Ranked => "ranked",
            Self::PFabric => "pfabric",
            Self::Pifo => "pifo",
            Self::Aifo { .. } => "aifo",
            Self::Trimming { .. } => "trimming",
            Self::Tokens(_) => "tokens",
            Self::Wfq { .. } => "wfq",
        }
    }

    /// How many queues, or ranks, classes can be told apart by.
    pub fn queues(self) -> u8 {
        match self {
            Self::Fifo | Self::Ranked | Self::PFabric | Self::Trimming { .. } | Self::Tokens(_) => 1,
            Self::Pifo | Self::Aifo { .. } => CLASSES as u8,
            Self::Strict { queues } | Self::Wfq { queues, .. } => queues,
        }
    }
}

/// What a trimming port does where a header finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// It drops the packet.
    Drop,
    /// It sends the header back to the packet's sender.
    Return,
}

/// Disciplines of ports, each with how its keys are read.
const PORTS: [(&str, ReadKeys<PortKind>); 9] = [
    ("fifo", |_| Ok(PortKind::Fifo)),
    ("strict", |keys| Ok(PortKind::Strict { queues: queues(keys)? })),
    ("ranked", |_| Ok(PortKind::Ranked)),
    ("wfq", wfq),
    ("trimming", |keys| {
        let headers = keys.take("headers").map_or(Ok(Limit::Unlimited), |f| f.limit())?;
        Ok(PortKind::Trimming { headers, overflow: keys.word_or("overflow", &OVERFLOWS, Overflow::Drop)? })
    }),
    ("tokens", |keys| token_port::read(keys).map(PortKind::Tokens)),
    ("pfabric", |_| Ok(PortKind::PFabric)),
    ("pifo", |_| Ok(PortKind::Pifo)),
    ("aifo", aifo),
];

pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&["buffer", "ecn", "pfc", "tiers"]),
        shared: Shared::Listed(&[(&["strict", "wfq"], &["queues"])]),
    }],
    inner: &[("buffer", &buffer::MERGE)],
    each: None,
};

pub(super) fn read(field: &Field<'_>) -> Result<Port, InputError> {
    let mut keys = field.table()?;
    let kind = keys.need("kind", "kind = \"fifo\"")?.word(&PORTS)?(&mut keys)?;
    let room = keys.need("buffer", "buffer = { shared = \"240pkt\" }")?;
    let buffer = buffer::read(&room)?;
    if buffer.sharing == Sharing::PushOut && !matches!(kind, PortKind::Strict { .. }) {
        let what = format!("nothing is pushed out of a port of kind {}: it has one queue", kind.name());
        return Err(room.error(what, "kind = \"strict\", or buffer = { shared = \"240pkt\" }"));
    }
    if by_rank(kind) && buffer.sharing != Sharing::Shared {
        let what = format!("a port of kind {} decides itself what has room in its one queue", kind.name());
        return Err(room.error(what, "buffer = { shared = \"240pkt\" }"));
    }
    if matches!(kind, PortKind::Aifo { .. }) && buffer.limit == Limit::Unlimited {
        return Err(room.error("admission goes by how full the port is", "buffer = { shared = \"240pkt\" }"));
    }
    if buffer.sharing == Sharing::ZeroLoss && !matches!(kind, PortKind::Tokens(_)) {
        let what =
            format!("what data takes at most is derived for ports of tokens, not of kind {}", kind.name());
        return Err(room.error(what, "kind = \"tokens\", or buffer = { shared = \"240pkt\" }"));
    }
    let ecn = keys.take("ecn").map(|f| ecn(&f)).transpose()?;
    if let Some(tiers) = keys.take("tiers") {
        let what = "ports that differ by tier are not supported in this version";
        return Err(tiers.error(what, "one port for all switches"));
    }
    let pfc = keys.take("pfc").map(|f| pfc::read(&f)).transpose()?;
    keys.finish()?;
    Ok(Port { kind, buffer, ecn, pfc })
}

/// Whether the order of classes is kept by what is admitted or pushed out of one queue.
fn by_rank(kind: PortKind) -> bool {
    matches!(kind, PortKind::Pifo | PortKind::Aifo { .. })
}

fn aifo(keys: &mut Reader<'_>) -> Result<PortKind, InputError> {
    let mut count = |key, most| keys.take(key).map(|f| Ok(f.integer(1, most)? as u16)).transpose();
    let (window, sample) = (count("window", 1_000)?, count("sample", 1_000)?);
    let k = keys.take("k").map(|f| Ok((f.number(0.0, 0.999)? * 1e3).round() as u16)).transpose()?;
    let AifoSpec { window: w, sample: s, k_thousandths, .. } = AifoSpec::PAPER;
    Ok(PortKind::Aifo {
        window: window.unwrap_or(w),
        sample: sample.unwrap_or(s),
        k_thousandths: k.unwrap_or(k_thousandths),
    })
}

fn queues(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.need("queues", "queues = 8")?.integer(1, CLASSES as u64)? as u8)
}

const CLOCKS: [(&str, WfqClock); 2] =
    [("virtual", WfqClock::Virtual), ("aequitas_compat", WfqClock::AequitasCompat)];

fn wfq(keys: &mut Reader<'_>) -> Result<PortKind, InputError> {
    let queues = queues(keys)?;
    let field = keys.need("weights", "weights = [8, 4, 1]")?;
    let items = field.filled_list()?;
    if items.len() != usize::from(queues) {
        let what = format!("{} weights for {queues} queue(s)", items.len());
        return Err(field.error(what, "one weight per queue, queue 0 first"));
    }
    let weights = items.iter().map(|item| Ok(item.integer(1, u64::from(u32::MAX))? as u32));
    let weights =
        QueueWeights::new(&weights.collect::<Result<Vec<u32>, InputError>>()?).ok_or_else(|| {
            let what = "the least common multiple of these weights is above 2^40: shares would not be exact";
            field.error(what, "smaller weights, such as [8, 4, 1]")
        })?;
    let clock = keys.word_or("clock", &CLOCKS, WfqClock::Virtual)?;
    Ok(PortKind::Wfq { queues, weights, clock })
}
