//! The rows other than the transport: assign, host, nic, port and map.

use priolane_core::ids::CLASSES;
use priolane_core::port::{Alpha, Limit, QueueWeights};
use priolane_core::units::Rate;
use priolane_source::quantity::{show_limit, show_rate};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::controller::Controller;
use super::known::Known;
use super::pfc::Pfc;
use super::thresholds::Thresholds;
use super::token_port::TokenPort;

/// Who deserves which priority.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Assign {
    /// Packets keep the class their flow asked for.
    None,
    /// A flow is demoted as it sends.
    BytesSent {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// What "sent" counts.
        count: Count,
        /// Where one level ends and the next begins.
        thresholds: Thresholds,
        /// How these, and those inside hosts, follow the workload; static without.
        #[serde(skip_serializing_if = "Option::is_none")]
        controller: Option<Controller>,
    },
    /// A flow gets a class when it starts, by what is known of it.
    #[serde(untagged)]
    Known(Known),
}

impl Assign {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BytesSent { .. } => "bytes_sent",
            Self::Known(known) => known.name(),
        }
    }
}

/// What "bytes sent" counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// The packet's offset in the stream.
    StreamOffset,
    /// Every payload byte sent, retransmissions included.
    BytesSent,
}

/// In what order a host sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Host {
    /// Flows take turns.
    RoundRobin,
    /// Strict levels by bytes sent.
    Mlfq {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// Where one level ends and the next begins.
        thresholds: Thresholds,
    },
    /// Fewest bytes left first.
    Srpt,
    /// Fewest bytes sent first.
    Las,
    /// The order of the transmit queue.
    Fifo,
    /// The transport's own.
    Own,
}

impl Host {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Mlfq { .. } => "mlfq",
            Self::Srpt => "srpt",
            Self::Las => "las",
            Self::Fifo => "fifo",
            Self::Own => "own",
        }
    }
}

/// What stands between a host's transport and its line.
#[derive(Clone, Debug, PartialEq)]
pub enum Nic {
    /// Nothing: the line asks the host's scheduler.
    Pull,
    /// The token discipline of the switch ports.
    Tokens,
    /// A transmit queue.
    Queue {
        /// Its discipline.
        queue: NicQueue,
        /// Its room.
        limit: Limit,
        /// Its marking, if any.
        ecn: Option<Ecn>,
        /// Most of one flow that waits in it.
        per_flow_limit: Limit,
    },
    /// A transmit queue that is a port of its own, as a switch could have it.
    Port {
        /// The port; it has no lossless classes, and its buffer is its own.
        port: Port,
        /// Which of its queues a class goes to; `None` where that is as at switches.
        map: Option<Map>,
        /// Most of one flow that waits in it.
        per_flow_limit: Limit,
    },
}

/// The discipline of a transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicQueue {
    /// One queue.
    Fifo,
    /// That of the host row.
    Host,
    /// That of the switch ports, by class.
    Ports,
}

impl Nic {
    /// The name in core's list of entries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Tokens => "tokens",
            Self::Queue { queue: NicQueue::Fifo, .. } => "fifo",
            Self::Queue { queue: NicQueue::Host, .. } => "host",
            Self::Queue { queue: NicQueue::Ports, .. } => "ports",
            Self::Port { .. } => "port",
        }
    }

    /// Most of one flow that waits in the transmit queue.
    pub fn per_flow_limit(&self) -> Limit {
        match *self {
            Self::Queue { per_flow_limit, .. } | Self::Port { per_flow_limit, .. } => per_flow_limit,
            Self::Pull | Self::Tokens => Limit::Unlimited,
        }
    }
}

impl Serialize for Nic {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Pull | Self::Tokens => return s.serialize_str(self.name()),
            Self::Queue { limit, ecn, .. } => {
                let mut map = s.serialize_map(None)?;
                map.serialize_entry("queue", self.name())?;
                map.serialize_entry("limit", &show_limit(*limit))?;
                match ecn {
                    Some(ecn) => map.serialize_entry("ecn", ecn)?,
                    None => map.serialize_entry("ecn", &false)?,
                }
                map
            }
            Self::Port { port, map: classes, .. } => {
                let mut map = s.serialize_map(None)?;
                map.serialize_entry("port", port)?;
                if let Some(classes) = classes {
                    map.serialize_entry("map", classes)?;
                }
                map
            }
        };
        if self.per_flow_limit() != Limit::Unlimited {
            map.serialize_entry("per_flow_limit", &show_limit(self.per_flow_limit()))?;
        }
        map.end()
    }
}

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

/// Whether a limit counts one queue or the whole port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All queues of the port together.
    Port,
    /// Each queue by itself.
    Queue,
}

/// The room of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// How much, at rates that `at` does not name.
    pub limit: Limit,
    /// How much at links of some rates, in order of rate.
    pub at: Vec<(Rate, Limit)>,
    /// How queues share it.
    pub sharing: Sharing,
}

/// How the queues of a port share its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All together, with tail drop.
    Shared,
    /// Each queue has as much of its own.
    PerQueue,
    /// All together; better queues push out packets of worse ones.
    PushOut,
    /// With all queues of the switch, each up to this part of what is free.
    Dynamic(Alpha),
    /// As much as data that tokens call for can take at each port; the limit is what signals may take at once.
    ZeroLoss,
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let key = match (self.limit, self.sharing) {
            (Limit::Unlimited, _) => return s.serialize_str("unbounded"),
            (_, Sharing::Shared) => "shared",
            (_, Sharing::PerQueue) => "per_queue",
            (_, Sharing::PushOut) => "push_out",
            (_, Sharing::Dynamic(_)) => "dynamic",
            (_, Sharing::ZeroLoss) => "zero_loss",
        };
        let mut map = s.serialize_map(None)?;
        map.serialize_entry(key, &show_limit(self.limit))?;
        if let Sharing::Dynamic(alpha) = self.sharing {
            let (numerator, denominator) = alpha.parts();
            map.serialize_entry("alpha", &format!("{numerator}/{denominator}"))?;
        }
        if !self.at.is_empty() {
            let at = self.at.iter().map(|&(rate, limit)| (show_rate(rate), show_limit(limit)));
            map.serialize_entry("at", &at.collect::<std::collections::BTreeMap<_, _>>())?;
        }
        map.end()
    }
}

impl Buffer {
    /// How much at links of `rate`.
    pub fn limit_at(&self, rate: Rate) -> Limit {
        self.at.iter().find(|&&(r, _)| r == rate).map_or(self.limit, |&(_, limit)| limit)
    }
}

/// Marking thresholds by link rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ecn {
    /// What the threshold counts.
    pub per: Scope,
    /// The threshold of each link rate, in order of rates.
    #[serde(serialize_with = "by_rate")]
    pub at: Vec<(Rate, Limit)>,
}

impl Ecn {
    /// The threshold at links of `rate`.
    pub fn threshold(&self, rate: Rate) -> Option<Limit> {
        self.at.iter().find(|(r, _)| *r == rate).map(|(_, limit)| *limit)
    }
}

fn by_rate<S: Serializer>(at: &[(Rate, Limit)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(at.iter().map(|(rate, limit)| (show_rate(*rate), show_limit(*limit))))
}

/// Which queue of a port a class goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Map {
    /// Class `c` to queue `c`.
    Identity,
    /// Class `c` to the `c`-th queue of the list.
    List(Vec<u8>),
}

impl Map {
    /// The queue of `class`; `None` if the map says nothing of it.
    pub fn queue(&self, class: u8) -> Option<u8> {
        match self {
            Self::Identity => Some(class),
            Self::List(queues) => queues.get(usize::from(class)).copied(),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self {
            Self::Identity => map.serialize_entry("class", "queue")?,
            Self::List(queues) => map.serialize_entry("class", queues)?,
        }
        map.end()
    }
}
