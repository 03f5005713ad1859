//! What stands between a host's transport and its line, as scheme files state it.

use crate::keys::{InTable, KeyInfo, Keys, Misfit, Words};
use crate::part::{Capability, Entry, Provision, Row};
use crate::port::{ClassMap, Ecn, Limit, PortKeys};

/// What stands between a host's transport and its line: `"pull"`, `{ queue = "fifo" }` or `{ port = { ... } }`.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(one_of)]
pub enum Nic {
    /// Nothing: the line asks the host's scheduler.
    Pull,
    /// The token discipline of the switch ports.
    Tokens,
    /// A transmit queue.
    Queue {
        /// Its discipline.
        #[key(required = "queue = \"fifo\"", source = "docs/assumptions.md#nic-queue")]
        queue: NicQueue,
        /// Its room and its marking.
        #[keys(flatten)]
        room: QueueRoom,
        /// Most of one flow that waits in it.
        #[keys(flatten)]
        flow: FlowRoom,
    },
    /// A transmit queue that is a port of its own, as a switch could have it.
    Port {
        /// A port of any kind but tokens, with its keys; buffer = { dynamic }, pfc and overflow = "return" are what only
        /// switches have.
        #[key(
            required = "port = { kind = \"pfabric\", buffer = { shared = \"30pkt\" } }",
            form = InTable,
            source = "docs/assumptions.md#nic-ports"
        )]
        port: HostPort,
        /// { class = [queue of class 0, ...] }: the queues of this port, where they are not those of switches.
        #[key(optional, form = InTable, shown = "the scheme's map", source = "docs/assumptions.md#nic-ports")]
        map: Option<ClassMap>,
        /// Most of one flow that waits in it.
        #[keys(flatten)]
        flow: FlowRoom,
    },
}

/// The discipline of a transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum NicQueue {
    /// One queue.
    Fifo,
    /// That of the host row.
    Host,
    /// That of the switch ports, by class.
    Ports,
}

/// Room and marking of a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic")]
pub struct QueueRoom {
    /// Room of the transmit queue.
    #[key(default = Limit::Unlimited, source = "docs/assumptions.md#nic-queue")]
    pub limit: Limit,
    /// Marking thresholds of the transmit queue, or false.
    #[key(none = false, form = InTable, unit = "pkt or B", source = "docs/assumptions.md#nic-queue")]
    pub ecn: Option<Ecn>,
}

/// Room of one flow in a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic", check = Self::check)]
pub struct FlowRoom {
    /// Most of one flow that waits in the transmit queue; the transport keeps the rest.
    #[key(default = Limit::Unlimited, skip_default, source = "Linux's TCP small queues")]
    pub per_flow_limit: Limit,
}

impl FlowRoom {
    fn check(&mut self) -> Result<(), Misfit> {
        match self.per_flow_limit {
            Limit::Packets(0) | Limit::Bytes(0) => {
                Err(Misfit::of("per_flow_limit", "no flow could send", "at least \"1pkt\""))
            }
            _ => Ok(()),
        }
    }
}

/// A port in front of a host's line: of any kind, without what only a switch has.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "port", check = Self::check)]
pub struct HostPort {
    /// The port; it has no lossless classes, and its buffer is its own.
    #[keys(flatten)]
    pub keys: PortKeys,
}

impl HostPort {
    fn check(&mut self) -> Result<(), Misfit> {
        self.keys.check_at_host()
    }
}

/// A kind of NIC: name, summary, source, and what it gives the other rows.
struct Kind(&'static str, &'static str, &'static str, &'static [Capability]);

const KINDS: [Kind; 6] = [
    Kind(
        "pull",
        "no transmit queue: the free line asks the host's scheduler who is next",
        "docs/assumptions.md#nic-queue",
        &[Capability::PacketPull, Capability::HostOrder],
    ),
    Kind(
        "fifo",
        "one first-in first-out transmit queue, filled as soon as windows allow",
        "docs/assumptions.md#nic-queue",
        &[Capability::TransmitQueue],
    ),
    Kind(
        "host",
        "a transmit queue with a strict queue for each level of the host row",
        "NOS2 (GLOBECOM 2019) §IV-B",
        &[Capability::TransmitQueue, Capability::HostOrder],
    ),
    Kind(
        "ports",
        "a transmit queue of the same kind as the switch ports, with a limit of its own",
        "docs/assumptions.md#nic-ports",
        &[Capability::TransmitQueue],
    ),
    Kind(
        "port",
        "a transmit queue that is a port of its own: nic = { port = { kind, buffer, ecn, ... } }",
        "docs/assumptions.md#nic-ports",
        &[Capability::TransmitQueue],
    ),
    Kind(
        "tokens",
        "the token discipline of the switch ports as a transmit queue",
        "ExpressPass (SIGCOMM 2017) §3.1; docs/assumptions.md#token-nic",
        &[Capability::TransmitQueue, Capability::TokenQueue],
    ),
];

impl Nic {
    /// The name of its entry: that of the transmit queue, where it is one.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Tokens => "tokens",
            Self::Queue { queue, .. } => queue.word(),
            Self::Port { .. } => "port",
        }
    }

    /// Most of one flow that waits in the transmit queue.
    pub fn per_flow_limit(&self) -> Limit {
        match self {
            Self::Queue { flow, .. } | Self::Port { flow, .. } => flow.per_flow_limit,
            Self::Pull | Self::Tokens => Limit::Unlimited,
        }
    }

    /// What the catalogue says of each kind.
    pub fn entries() -> Vec<Entry> {
        let mut all = Vec::new();
        Self::describe(&mut all);
        KINDS.map(|kind| entry(&kind, &all)).to_vec()
    }
}

fn entry(&Kind(name, summary, source, gives): &Kind, all: &[KeyInfo]) -> Entry {
    let keys: &[&str] = match name {
        "fifo" | "host" | "ports" => &["limit", "ecn", "per_flow_limit"],
        "port" => &["port", "map", "per_flow_limit"],
        _ => &[],
    };
    let requires: &'static [Capability] = if name == "tokens" { &[Capability::TokenPorts] } else { &[] };
    Entry {
        row: Row::Nic,
        name,
        summary,
        source,
        parameters: all.iter().filter(|key| keys.contains(&key.name)).cloned().collect(),
        requires,
        provides: gives.iter().map(|&capability| Provision { capability, if_set: None }).collect(),
    }
}
