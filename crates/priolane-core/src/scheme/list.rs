//! The entries, row by row.

use super::parts::{always, joined, parameter};
use super::{Capability, Entry, Parameter, Provision, Row};
use super::{own, policies, switch_side, tokens};

pub(super) const MARKS_IF_ECN: Provision =
    Provision { capability: Capability::CongestionMarks, if_set: Some("ecn") };

const INIT_WINDOW: Parameter = parameter(
    "init_window",
    "window of a new flow, at least one packet",
    ["pkt or B", "10pkt", "RFC 6928 §2"],
);
const HANDSHAKE: Parameter = parameter(
    "handshake",
    "none: payload at once; 1rtt: SYN, SYN/ACK first; reuse: only for the first flow of a pair of hosts",
    ["", "1rtt", "RFC 9293 §3.5"],
);
const RECOVERY: Parameter = parameter(
    "recovery",
    "how losses are repaired: sack, newreno (partial ACKs) or gbn (go-back-N)",
    ["", "sack", "RFC 2018, RFC 6675, RFC 6582"],
);
const RELIABLE: Parameter = parameter(
    "reliable",
    "false: what is lost is given up, not sent again, as UDP-like traffic; not with recovery = gbn",
    ["", "true", "PACCP §III; docs/assumptions.md#unreliable"],
);
const DUP_THRESHOLD: Parameter = parameter(
    "dup_threshold",
    "duplicate ACKs, or segments selectively acknowledged above a hole, that mean loss; at least 1",
    ["", "3", "RFC 5681 §3.2"],
);
const ACK_EVERY: Parameter = parameter(
    "ack_every",
    "acknowledge every n-th packet in order, 1 to 255",
    ["", "1", "docs/assumptions.md#ack-every"],
);
const ACK_DELAY: Parameter = parameter(
    "ack_delay",
    "how long an ACK may be held back if ack_every > 1",
    ["time", "1ms", "RFC 9293 §3.8.6.3"],
);
const MIN_RTO: Parameter = parameter(
    "min_rto",
    "floor of the retransmission timeout",
    ["time", "10ms", "docs/assumptions.md#min-rto"],
);
const INITIAL_RTO: Parameter = parameter(
    "initial_rto",
    "timeout before the first round-trip sample",
    ["time", "10ms", "docs/assumptions.md#min-rto"],
);
const MAX_RTO: Parameter = parameter(
    "max_rto",
    "ceiling of the backed-off timeout",
    ["time", "4s", "RFC 6298 §2.5 allows a ceiling"],
);
const MAX_WINDOW: Parameter = parameter(
    "max_window",
    "most bytes in flight, the receiver's window",
    ["B", "unbounded", "RFC 9293 §3.8.6"],
);
const ECN_CONTROL: Parameter = parameter(
    "ecn_control",
    "whether ACKs and handshake packets are ECN-capable too",
    ["", "false", "RFC 3168 §6.1.4; true as ns-3's DCTCP mode"],
);

const CONTROL_CLASS: Parameter = parameter(
    "control_class",
    "class of ACKs, handshake packets and answers to probes, 0 to 15",
    ["", "0", "docs/assumptions.md#classes"],
);

/// What every transport on the window machine takes.
const WINDOW: [Parameter; 13] = [
    INIT_WINDOW,
    HANDSHAKE,
    RECOVERY,
    RELIABLE,
    DUP_THRESHOLD,
    ACK_EVERY,
    ACK_DELAY,
    MIN_RTO,
    INITIAL_RTO,
    MAX_RTO,
    MAX_WINDOW,
    ECN_CONTROL,
    CONTROL_CLASS,
];

/// A transport's own parameters, then those of the window machine.
const fn on_window<const N: usize, const ALL: usize>(own: [Parameter; N]) -> [Parameter; ALL] {
    joined(own, WINDOW)
}

const NEWRENO: &[Parameter] = &WINDOW;

/// DCTCP's own parameters.
const DCTCP_OWN: [Parameter; 4] = [
    parameter(
        "g",
        "weight of a new estimate of the marked fraction, in (0, 1]",
        ["", "1/16", "RFC 8257 §4.2"],
    ),
    parameter(
        "alpha_0",
        "the estimate before the first window, in [0, 1]",
        ["", "1", "RFC 8257 §3.3; paper presets state 0"],
    ),
    parameter(
        "min_window",
        "floor of the window after a cut, at least 1",
        ["packets", "2", "Linux; docs/assumptions.md#dctcp-floor"],
    ),
    parameter(
        "reduction",
        "how a cut takes effect: at_once | proportional | ns3",
        ["", "at_once", "RFC 8257 §3.3, RFC 6937 §3; docs/assumptions.md#ns3-reduction"],
    ),
];

const DCTCP: &[Parameter] = &on_window::<4, 17>(DCTCP_OWN);

const D2TCP: &[Parameter] = &on_window::<5, 18>([
    DCTCP_OWN[0],
    DCTCP_OWN[1],
    DCTCP_OWN[2],
    DCTCP_OWN[3],
    parameter(
        "late",
        "the urgency d of a flow whose deadline has passed, 0.5 to 2",
        ["", "0.5", "docs/assumptions.md#d2tcp-late"],
    ),
]);

/// Swift's own parameters.
const SWIFT_OWN: [Parameter; 18] = [
    parameter(
        "preset",
        "where what is not stated comes from: paper | prioplus_baseline | lite",
        ["", "paper; prioplus_baseline inside PrioPlus", "docs/assumptions.md#swift-values"],
    ),
    parameter("delay", "the delay it goes by: rtt | one_way", ["", "rtt", "Swift (SIGCOMM 2020) §3.2"]),
    parameter(
        "start",
        "the window of a new flow: init_window | line_rate (what fills its path)",
        ["", "by preset", "docs/assumptions.md#swift-values"],
    ),
    parameter(
        "ai",
        "what a round trip below the target adds",
        ["pkt or bdp", "by preset", "Swift (SIGCOMM 2020) Alg. 1"],
    ),
    parameter(
        "target",
        "the target of large windows, without links",
        ["time", "by preset", "Swift (SIGCOMM 2020) §3.5"],
    ),
    parameter(
        "target_from",
        "what the target is counted from: total | base (the delay of the empty path)",
        ["", "by preset", "docs/assumptions.md#swift-values"],
    ),
    parameter(
        "hop",
        "what each link of the path adds to the target",
        ["time", "by preset", "Swift (SIGCOMM 2020) §3.5"],
    ),
    parameter(
        "class_step",
        "what each class below the best takes off the target, where no channels say what it is",
        ["time", "0ps", "PrioPlus (EuroSys 2025) Fig. 3 and 12, its rival"],
    ),
    parameter(
        "fs_range",
        "the most that small windows add to the target; 0ps for no scaling",
        ["time", "by preset", "Swift (SIGCOMM 2020) §3.5, Fig. 5"],
    ),
    parameter(
        "fs_min",
        "the window that adds fs_range",
        ["pkt or bdp", "by preset", "Swift (SIGCOMM 2020) Fig. 5"],
    ),
    parameter(
        "fs_max",
        "the window from which on nothing is added, above fs_min",
        ["pkt or bdp", "by preset", "Swift (SIGCOMM 2020) Fig. 5"],
    ),
    parameter(
        "beta",
        "share of the excess delay that a decrease takes off, in (0, 1]",
        ["", "0.8", "docs/assumptions.md#swift-values"],
    ),
    parameter(
        "max_mdf",
        "the most that a decrease takes, in (0, 1]",
        ["", "0.5", "docs/assumptions.md#swift-values"],
    ),
    parameter("min_cwnd", "floor of the window", ["pkt or bdp", "by preset", "Swift (SIGCOMM 2020) §3.4"]),
    parameter(
        "max_cwnd",
        "ceiling of the window",
        ["pkt or bdp", "by preset", "docs/assumptions.md#swift-values"],
    ),
    parameter(
        "whole_packets",
        "whether windows are rounded down to packets, at least one",
        ["", "false; true in lite", "docs/assumptions.md#swift-values"],
    ),
    parameter(
        "endpoint_target",
        "the target of the delay in hosts; 0ps for none",
        ["time", "0ps", "Swift (SIGCOMM 2020) §3.2; docs/assumptions.md#swift-endpoint"],
    ),
    parameter(
        "retx_reset",
        "timeouts in a row after which the window is the floor",
        ["", "5", "docs/assumptions.md#swift-values"],
    ),
];

const SWIFT: &[Parameter] = &on_window::<18, 31>(SWIFT_OWN);

/// LEDBAT's own parameters.
const LEDBAT_OWN: [Parameter; 7] = [
    parameter("delay", "the delay it goes by: one_way | rtt", ["", "one_way", "RFC 6817 §2.1"]),
    parameter(
        "target",
        "the queueing delay that it aims at",
        ["time", "25us", "RFC 6817 §2.5; docs/assumptions.md#ledbat-scale"],
    ),
    parameter(
        "gain",
        "segments that a round trip without queueing adds, in (0, 1]",
        ["", "1", "RFC 6817 §2.5"],
    ),
    parameter("decrease_gain", "the same of decreases, above 0", ["", "gain", "RFC 6817 §2.4.2"]),
    parameter(
        "allowed_increase",
        "segments by which the window may exceed what is in flight, above 0",
        ["", "1", "RFC 6817 §2.5"],
    ),
    parameter("min_window", "floor of the window, in segments, above 0", ["", "2", "RFC 6817 §2.5"]),
    parameter(
        "base_interval",
        "length of each of ten intervals of the base history; 0ps for the delay of the empty path instead",
        ["time", "1ms", "RFC 6817 §3.4.1; docs/assumptions.md#ledbat-scale"],
    ),
];

const LEDBAT: &[Parameter] = &on_window::<7, 20>(LEDBAT_OWN);

/// HPCC's own parameters.
const HPCC: &[Parameter] = &on_window::<5, 18>([
    parameter("eta", "the utilization that it aims at, in (0, 1]", ["", "0.95", "HPCC (SIGCOMM 2019) §5.1"]),
    parameter(
        "max_stage",
        "additive steps in a row before a multiplicative one",
        ["", "5", "HPCC (SIGCOMM 2019) §5.1"],
    ),
    parameter(
        "step",
        "W_AI, what each adds",
        ["pkt or bdp", "(1 - eta) / 100 bdp", "HPCC (SIGCOMM 2019) §3.3, §5.1"],
    ),
    parameter(
        "rtt",
        "T, a bit above the longest round trip of empty paths; 0ps for that of the flow's own",
        ["time", "0ps", "HPCC (SIGCOMM 2019) §3.2, §5.1"],
    ),
    parameter(
        "min_window",
        "floor of the window, above 0",
        ["pkt or bdp", "0.001bdp", "docs/assumptions.md#hpcc-start"],
    ),
]);

/// pFabric's own parameters.
const PFABRIC: &[Parameter] = &on_window::<3, 16>([
    parameter(
        "first_window",
        "window of a new flow, above 0; at least one packet is sent",
        ["pkt or bdp", "1bdp", "pHost (CoNEXT 2015) §4.1"],
    ),
    parameter(
        "max_cwnd",
        "ceiling of the window, above 0",
        ["pkt or bdp", "1bdp", "docs/assumptions.md#pfabric-repair"],
    ),
    parameter(
        "probe_after",
        "timeouts in a row after which it only probes, at least 1",
        ["", "5", "docs/assumptions.md#pfabric-probe"],
    ),
]);

/// PrioPlus's own parameters.
const PRIOPLUS_OWN: [Parameter; 14] = [
    parameter(
        "variant",
        "whose PrioPlus: paper | released (the authors' code)",
        ["", "paper", "docs/assumptions.md#prioplus-variants"],
    ),
    parameter(
        "channels",
        "false: no channels; what is left is the controller",
        ["", "true", "PrioPlus §4.3"],
    ),
    parameter(
        "priorities",
        "number of channels, 1 to 16; class 0 has the highest",
        ["", "8", "PrioPlus §4.3.2"],
    ),
    parameter(
        "fluctuation",
        "A: what the controller makes the delay vary by, above 0",
        ["time", "3.2us", "PrioPlus §4.3.2, App. D"],
    ),
    parameter("noise", "B: what hosts get wrong of the delay", ["time", "0.8us", "PrioPlus §4.3.2"]),
    parameter(
        "delay_budget",
        "the most that channels together may add to the delay; 0ps for no bound",
        ["time", "0ps", "PrioPlus §4.3.2"],
    ),
    parameter(
        "never_yield",
        "the best classes, which start at line rate and never yield",
        ["", "an eighth of priorities, at least 1", "released code; docs/assumptions.md#prioplus-starts"],
    ),
    parameter(
        "w_ls_high",
        "what linear start adds per round trip, of the best quarter of classes",
        ["bdp", "1", "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"],
    ),
    parameter(
        "w_ls_medium",
        "the same of classes up to five eighths",
        ["bdp", "0.25", "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"],
    ),
    parameter(
        "w_ls_low",
        "the same of the other classes",
        ["bdp", "0.125", "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"],
    ),
    parameter(
        "exceed_limit",
        "samples at or above D_limit that make a flow yield",
        ["", "2", "PrioPlus §4.3.2; docs/assumptions.md#prioplus-filter"],
    ),
    parameter(
        "base_tolerance",
        "how far above the empty path a delay still counts as that",
        ["time", "1us", "released code; docs/assumptions.md#prioplus-base"],
    ),
    parameter(
        "increase",
        "adaptive increase: dual_rtt | every_rtt (which overshoots)",
        ["", "dual_rtt", "PrioPlus §4.3.1"],
    ),
    parameter(
        "probes",
        "apart | each_rtt (the next one once the last is answered, the strawman)",
        ["", "apart", "PrioPlus §4.2"],
    ),
];

/// PrioPlus's parameters, then those of the controller inside.
const fn inside_prioplus<const N: usize, const ALL: usize>(inner: [Parameter; N]) -> [Parameter; ALL] {
    joined(PRIOPLUS_OWN, inner)
}

const PRIOPLUS_SWIFT: &[Parameter] = &on_window::<32, 45>(inside_prioplus::<18, 32>(SWIFT_OWN));

const PRIOPLUS_LEDBAT: &[Parameter] = &on_window::<21, 34>(inside_prioplus::<7, 21>(LEDBAT_OWN));

const PACCP_OWN: [Parameter; 3] = [
    parameter(
        "r_cos",
        "how much faster a window grows below that of its minimum rate, above 1 and at most 100",
        ["", "3", "PACCP §III, Eq. 8"],
    ),
    parameter(
        "exact_cap",
        "whether congestion avoidance follows Eq. 11 instead of Eq. 14, which takes windows for large",
        ["", "false", "PACCP §III, Eq. 11"],
    ),
    parameter(
        "rtt",
        "the round-trip time that makes a window of a minimum rate: smoothed (queueing included) or base (shortest seen)",
        ["", "smoothed", "PACCP §III, Eq. 12; docs/assumptions.md#paccp-wmin"],
    ),
];

const PACCP: &[Parameter] = &on_window::<3, 16>(PACCP_OWN);

/// PACCP's own parameters, then DCTCP's.
const PACCP_DCTCP: &[Parameter] = &on_window::<7, 20>(joined(PACCP_OWN, DCTCP_OWN));

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
pub(super) const BUFFER: Parameter = parameter(
    "buffer",
    "{ shared = LIMIT } over all queues, { per_queue = LIMIT }, { dynamic = SIZE, alpha } shared by all ports of a \
     switch, or unbounded, at = { RATE = LIMIT } where it depends on the \
     link; the packet on the line is not counted",
    ["pkt or B", "", "docs/assumptions.md#buffers, docs/assumptions.md#dynamic-thresholds"],
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
pub(super) const ECN: Parameter = parameter(
    "ecn",
    "{ per = port | queue, at = { RATE = LIMIT } }: an arrival that makes the backlog exceed the limit is marked",
    ["pkt or B", "none", "RFC 8257 §3.1; docs/assumptions.md#marking"],
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

/// Everything a scheme can be made of, row by row.
pub static ENTRIES: &[Entry] = &[
    Entry {
        row: Row::Transport,
        name: "newreno",
        summary: "TCP NewReno: slow start, congestion avoidance, fast retransmit and recovery",
        source: "RFC 5681, RFC 6582, RFC 6298",
        parameters: NEWRENO,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "dctcp",
        summary: "Data Center TCP: cuts the window by the fraction of marked bytes",
        source: "DCTCP (SIGCOMM 2010) §3, RFC 8257",
        parameters: DCTCP,
        requires: &[Capability::CongestionMarks],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "paccp",
        summary: "PACCP: NewReno whose window keeps a minimum rate and grows and yields by a weight",
        source: "PACCP §III, Eqs. 8-14",
        parameters: PACCP,
        requires: &[],
        provides: &[always(Capability::Ranks), always(Capability::Weights), always(Capability::MinimumRates)],
    },
    Entry {
        row: Row::Transport,
        name: "paccp_dctcp",
        summary: "DCTCP over PACCP: minimum rates and weights, cut by the fraction of marked bytes",
        source: "PACCP §III, RFC 8257; docs/assumptions.md#paccp-dctcp",
        parameters: PACCP_DCTCP,
        requires: &[Capability::CongestionMarks],
        provides: &[always(Capability::Ranks), always(Capability::Weights), always(Capability::MinimumRates)],
    },
    Entry {
        row: Row::Transport,
        name: "d2tcp",
        summary: "DCTCP that yields by its deadline",
        source: "D2TCP (SIGCOMM 2012)",
        parameters: D2TCP,
        requires: &[Capability::CongestionMarks],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "swift",
        summary: "Swift: delay about a target, windows below a packet paced",
        source: "Swift (SIGCOMM 2020)",
        parameters: SWIFT,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "ledbat",
        summary: "LEDBAT: queueing delay about a target, less than best effort",
        source: "RFC 6817",
        parameters: LEDBAT,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "hpcc",
        summary: "HPCC: windows from the queues and lines that switches tell of",
        source: "HPCC (SIGCOMM 2019) §3",
        parameters: HPCC,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "pfabric",
        summary: "pFabric: line rate, a fixed timeout, and bytes left as the rank that ports drop and serve by",
        source: "pFabric (SIGCOMM 2013) §4.3",
        parameters: PFABRIC,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    own::PHOST,
    own::NDP,
    own::HOMA,
    Entry {
        row: Row::Transport,
        name: "prioplus_swift",
        summary: "PrioPlus around Swift: strict priorities inside one queue, a channel of delay each",
        source: "PrioPlus (EuroSys 2025) §4",
        parameters: PRIOPLUS_SWIFT,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    Entry {
        row: Row::Transport,
        name: "prioplus_ledbat",
        summary: "PrioPlus around LEDBAT",
        source: "PrioPlus (EuroSys 2025) §4",
        parameters: PRIOPLUS_LEDBAT,
        requires: &[],
        provides: &[always(Capability::Ranks)],
    },
    tokens::EXPRESSPASS,
    tokens::TOP,
    Entry {
        row: Row::Assign,
        name: "none",
        summary: "packets keep the class their flow asked for",
        source: "docs/assumptions.md#classes",
        parameters: &[],
        requires: &[],
        provides: &[],
    },
    Entry {
        row: Row::Assign,
        name: "bytes_sent",
        summary: "a flow is demoted level by level as it sends: needs no knowledge of sizes",
        source: "PIAS (NSDI 2015) §3, NOS2 (GLOBECOM 2019) §III-B",
        parameters: &[LEVELS, THRESHOLDS, COUNT],
        requires: &[],
        provides: &[],
    },
    policies::SIZE,
    policies::COFLOW_SIZE,
    policies::FLOW_FRACTION,
    policies::EQUAL_BYTES,
    policies::RANDOM_FRACTION,
    policies::DEADLINES_FIRST,
    policies::DEADLINE,
    policies::DEADLINE_RANK,
    policies::DEMAND_RATE,
    policies::POWER_LAW,
    policies::AEQUITAS,
    policies::PASE,
    policies::FIRAPAM,
    Entry {
        row: Row::Admit,
        name: "none",
        summary: "every flow is admitted at the class it asked for",
        source: "docs/assumptions.md#classes",
        parameters: &[],
        requires: &[],
        provides: &[],
    },
    Entry {
        row: Row::Host,
        name: "round_robin",
        summary: "the flows of a host take turns, a packet each (packet-wise processor sharing)",
        source: "Nagle, RFC 970 §5",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Entry {
        row: Row::Host,
        name: "mlfq",
        summary: "multi-level feedback queue: strict levels by bytes sent",
        source: "NOS2 (GLOBECOM 2019) §IV-B",
        parameters: &[LEVELS, THRESHOLDS],
        requires: &[Capability::HostOrder],
        provides: &[],
    },
    Entry {
        row: Row::Host,
        name: "srpt",
        summary: "the flow with the fewest bytes left goes first",
        source: "Schrage, Operations Research 16 (1968)",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Entry {
        row: Row::Host,
        name: "las",
        summary: "the flow with the fewest bytes sent goes first (least attained service)",
        source: "Kleinrock, Queueing Systems 2 (1976) §4.6",
        parameters: &[],
        requires: &[Capability::PacketPull],
        provides: &[],
    },
    Entry {
        row: Row::Host,
        name: "fifo",
        summary: "packets leave in the order in which the transport made them",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[],
        requires: &[Capability::TransmitQueue],
        provides: &[],
    },
    own::ORDER,
    Entry {
        row: Row::Nic,
        name: "pull",
        summary: "no transmit queue: the free line asks the host's scheduler who is next",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[],
        requires: &[],
        provides: &[always(Capability::PacketPull), always(Capability::HostOrder)],
    },
    Entry {
        row: Row::Nic,
        name: "fifo",
        summary: "one first-in first-out transmit queue, filled as soon as windows allow",
        source: "docs/assumptions.md#nic-queue",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue)],
    },
    Entry {
        row: Row::Nic,
        name: "host",
        summary: "a transmit queue with a strict queue for each level of the host row",
        source: "NOS2 (GLOBECOM 2019) §IV-B",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue), always(Capability::HostOrder)],
    },
    Entry {
        row: Row::Nic,
        name: "ports",
        summary: "a transmit queue that serves classes as the switch ports do (fifo, strict, ranked, wfq)",
        source: "docs/assumptions.md#nic-ports",
        parameters: &[NIC_LIMIT, NIC_ECN, NIC_PER_FLOW],
        requires: &[],
        provides: &[always(Capability::TransmitQueue)],
    },
    tokens::NIC,
    Entry {
        row: Row::Port,
        name: "fifo",
        summary: "one first-in first-out queue for all classes",
        source: "docs/assumptions.md#ports",
        parameters: &[BUFFER, ECN, PFC],
        requires: &[],
        provides: &[MARKS_IF_ECN],
    },
    Entry {
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
    Entry {
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
    Entry {
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
    Entry {
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
