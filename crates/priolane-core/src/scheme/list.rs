//! The entries, row by row.

use super::stated::{BUFFER, ECN, MARKS_IF_ECN, Parameter, Stated, always, parameter};
use super::{own, switch_side, tokens};
use crate::part::{Capability, Row};

const LEVELS: Parameter = parameter("levels", "number of levels, 1 to 16", ["", "", "NOS2 §III-A"]);
const THRESHOLDS: Parameter = parameter(
    "thresholds",
    "levels - 1 byte counts, or { solver = SOLVER, from = global | local | GROUP } (priolane list solvers)",
    ["B", "", "NOS2 §III-B, PIAS (NSDI 2015) §4"],
);
const COUNT: Parameter = parameter(
    "count",
    "what bytes sent counts: stream_offset (a retransmission keeps its level) or bytes_sent",
    ["", "stream_offset", "PIAS-NS2; docs/assumptions.md#bytes-sent"],
);
const STRICT_BUFFER: Parameter = parameter(
    "buffer",
    "{ shared = LIMIT } over all queues, { per_queue = LIMIT }, { push_out = LIMIT } over all queues with worse \
     packets making way for better ones, { dynamic = SIZE, alpha } shared by all ports of a switch, or unbounded, at = { RATE = LIMIT } \
     where it depends on the link; the packet on the line is not counted",
    [
        "pkt or B",
        "",
        "docs/assumptions.md#buffers, docs/assumptions.md#push-out, docs/assumptions.md#dynamic-thresholds",
    ],
);
const PFC: Parameter = parameter(
    "pfc",
    "{ classes = [0], xoff = \"1/8\" (of what is free) or SIZE, xon_below = \"3kB\", headroom = charged | free, \
     headroom_least = \"0B\" }: classes that are paused upstream (PFC) and never dropped; with buffer = { dynamic }",
    ["", "none", "IEEE 802.1Q-2018 clause 36; HPCC (SIGCOMM 2019) §5.1; docs/assumptions.md#pfc"],
);
const NIC_LIMIT: Parameter = parameter(
    "limit",
    "room of the transmit queue",
    ["pkt or B", "unbounded", "docs/assumptions.md#nic-queue"],
);
const NIC_ECN: Parameter = parameter(
    "ecn",
    "marking threshold of the transmit queue, or false",
    ["pkt or B", "false", "docs/assumptions.md#nic-queue"],
);

const NIC_PER_FLOW: Parameter = parameter(
    "per_flow_limit",
    "most of one flow that waits in the transmit queue; the transport keeps the rest",
    ["pkt or B", "unbounded", "Linux's TCP small queues"],
);

/// The entries that are not declared beside their algorithms.
pub(super) static STATED: &[Stated] = &[
    Stated {
        row: Row::Assign,
        name: "none",
        summary: "packets keep the class their flow asked for",
        source: "docs/assumptions.md#classes",
        parameters: &[],
        requires: &[],
        provides: &[],
    },
    Stated {
        row: Row::Assign,
        name: "bytes_sent",
        summary: "a flow is demoted level by level as it sends: needs no knowledge of sizes",
        source: "PIAS (NSDI 2015) §3, NOS2 (GLOBECOM 2019) §III-B",
        parameters: &[LEVELS, THRESHOLDS, COUNT],
        requires: &[],
        provides: &[],
    },
    Stated {
        row: Row::Host,
        name: "round_robin",
        summary: "the flows of a host take turns, a packet each (packet-wise processor sharing)",
        source: "Nagle, RFC 970 §5",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Stated {
        row: Row::Host,
        name: "mlfq",
        summary: "multi-level feedback queue: strict levels by bytes sent",
        source: "NOS2 (GLOBECOM 2019) §IV-B",
        parameters: &[LEVELS, THRESHOLDS],
        requires: &[Capability::HostOrder],
        provides: &[],
    },
    Stated {
        row: Row::Host,
        name: "srpt",
        summary: "the flow with the fewest bytes left goes first",
        source: "Schrage, Operations Research 16 (1968)",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Stated {
        row: Row::Host,
        name: "las",
        summary: "the flow with the fewest bytes sent goes first (least attained service)",
        source: "Kleinrock, Queueing Systems 2 (1976) §4.6",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Stated {
        row: Row::Host,
        name: "fifo",
        summary: "packets leave in the order in which the transport made them",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[],
        requires: &[Capability::TransmitQueue],
        provides: &[],
    },
    own::ORDER,
    Stated {
        row: Row::Nic,
        name: "pull",
        summary: "no transmit queue: the free line asks the host's scheduler who is next",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[],
        requires: &[],
        provides: &[always(Capability::PacketPull), always(Capability::HostOrder)],
    },
    Stated {
        row: Row::Nic,
        name: "fifo",
        summary: "one first-in first-out transmit queue, filled as soon as windows allow",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue)],
    },
    Stated {
        row: Row::Nic,
        name: "host",
        summary: "a transmit queue with a strict queue for each level of the host row",
        source: "NOS2 (GLOBECOM 2019) §IV-B",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue), always(Capability::HostOrder)],
    },
    Stated {
        row: Row::Nic,
        name: "ports",
        summary: "a transmit queue of the same kind as the switch ports, with a limit of its own",
        source: "docs/assumptions.md#nic-ports",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue)],
    },
    Stated {
        row: Row::Nic,
        name: "port",
        summary: "a transmit queue that is a port of its own: nic = { port = { kind, buffer, ecn, ... } }",
        source: "docs/assumptions.md#nic-ports",
        parameters: &[
            parameter(
                "port",
                "a port of any kind but tokens, with its keys; buffer = { dynamic }, pfc and overflow = \"return\" are \
                 what only switches have",
                ["", "", "docs/assumptions.md#nic-ports"],
            ),
            parameter(
                "map",
                "{ class = [queue of class 0, ...] }: the queues of this port, where they are not those of switches",
                ["", "the scheme's map", "docs/assumptions.md#nic-ports"],
            ),
            NIC_PER_FLOW,
        ],
        requires: &[],
        provides: &[always(Capability::TransmitQueue)],
    },
    tokens::NIC,
    Stated {
        row: Row::Port,
        name: "fifo",
        summary: "one first-in first-out queue for all classes",
        source: "docs/assumptions.md#ports",
        parameters: &[BUFFER, ECN, PFC],
        requires: &[],
        provides: &[MARKS_IF_ECN],
    },
    Stated {
        row: Row::Port,
        name: "strict",
        summary: "strict priority: the first non-empty queue is served, never preempting a packet",
        source: "NOS2 (GLOBECOM 2019) §III-A",
        parameters: &[
            parameter("queues", "number of queues, 1 to 16", ["", "", "NOS2 §III-A"]),
            STRICT_BUFFER,
            ECN,
            PFC,
        ],
        requires: &[],
        provides: &[MARKS_IF_ECN],
    },
    Stated {
        row: Row::Port,
        name: "wfq",
        summary: "weighted fair queueing: backlogged queues share the line by weight (self-clocked, in exact integers)",
        source: "Golestani, INFOCOM 1994; Aequitas (SIGCOMM 2022) §4.1",
        parameters: &[
            parameter("queues", "number of queues, 1 to 16", ["", "", "docs/assumptions.md#wfq"]),
            parameter(
                "weights",
                "weight of each queue, queue 0 first: whole numbers above 0 with a least common multiple of at most 2^40",
                ["", "", "docs/assumptions.md#wfq"],
            ),
            parameter(
                "clock",
                "what packets are stamped by: \"virtual\", or \"aequitas_compat\": real time, which is not fair",
                ["", "virtual", "docs/assumptions.md#wfq-compat"],
            ),
            BUFFER,
            ECN,
            PFC,
        ],
        requires: &[],
        provides: &[MARKS_IF_ECN],
    },
    Stated {
        row: Row::Port,
        name: "trimming",
        summary: "payload that finds no room is cut off; headers and control packets go first, 10 to 1",
        source: "NDP (SIGCOMM 2017) §3.1",
        parameters: &[
            BUFFER,
            parameter(
                "headers",
                "room of the queue of headers and control packets",
                ["pkt or B", "unbounded", "docs/assumptions.md#trimming"],
            ),
            parameter(
                "overflow",
                "what becomes of payload for whose header there is no room: drop | return (its header goes back to its sender)",
                ["", "drop", "NDP (SIGCOMM 2017) §3.2.4; docs/assumptions.md#trimming"],
            ),
            ECN,
        ],
        requires: &[],
        provides: &[MARKS_IF_ECN, always(Capability::Trimming)],
    },
    Stated {
        row: Row::Port,
        name: "tokens",
        summary: "tokens of several classes behind one limiter, that expire; data in a queue of its own; signals first",
        source: "TOP §3.1; ExpressPass (SIGCOMM 2017) §3.1",
        parameters: &[
            BUFFER,
            parameter("classes", "token classes, strict among each other, 1 to 16", ["", "6", "TOP §3.1"]),
            parameter("depth", "tokens that wait in a class", ["", "8", "TOP §3.1"]),
            parameter(
                "burst",
                "tokens that may go at once after a pause, at least 1",
                ["", "2", "docs/assumptions.md#token-group"],
            ),
            parameter(
                "token",
                "s, mean token on the wire: tokens get s / (s + F) of the line, F the largest packet",
                ["B", "84B", "ExpressPass §3.1; docs/assumptions.md#token-group"],
            ),
            parameter(
                "expiry",
                "slots of s + F bytes after which a waiting token is discarded, 0 for never",
                ["", "8", "TOP §3.1"],
            ),
            parameter(
                "mode",
                "a (data first) | b (tokens first), both limited; unlimited_data_high | unlimited_data_low | \
                 per_class_split | ingress_blind, which TOP rejects",
                ["", "b", "TOP Fig. 3"],
            ),
            tokens::DETOUR,
            parameter(
                "order",
                "what orders tokens: class | rank (in room for all classes, the worst makes way)",
                ["", "class", "docs/assumptions.md#ideal-tokens"],
            ),
            parameter(
                "data_queues",
                "queues of data, strict by the rank that data carries, 1 to 13: what TOP rejects if there are several",
                ["", "1", "TOP §3.1"],
            ),
            ECN,
        ],
        requires: &[],
        provides: &[MARKS_IF_ECN, always(Capability::TokenPorts)],
    },
    switch_side::RANKED,
    switch_side::PIFO,
    switch_side::AIFO,
    switch_side::PFABRIC,
];
