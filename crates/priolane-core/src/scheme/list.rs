//! The entries, row by row.

use super::own;
use super::stated::{Parameter, Stated, parameter};
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
];
