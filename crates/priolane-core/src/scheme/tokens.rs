//! The entries of token transports and of what they need at hosts.

use super::parts::{always, joined, parameter};
use super::{Capability, Entry, Parameter, Row};

/// The parameters of all token transports.
const TOKENS_OWN: [Parameter; 10] = [
    parameter("token_min", "smallest token on the wire", ["B", "84B", "ExpressPass (SIGCOMM 2017) §3.1"]),
    parameter(
        "token_max",
        "largest token on the wire: sizes are drawn evenly, and their mean is the port's s",
        ["B", "92B, top 84B", "ExpressPass §3.1; docs/assumptions.md#token-feedback"],
    ),
    parameter(
        "feedback",
        "how a flow's rate follows the fate of its tokens: paper | ns2",
        ["", "paper", "ExpressPass §3.2; docs/assumptions.md#token-feedback"],
    ),
    parameter(
        "alpha",
        "first rate as a part of the largest, 0.001 to 1",
        ["", "0.5", "docs/assumptions.md#token-feedback"],
    ),
    parameter("w_init", "first w, 0.01 to 0.5", ["", "1/16", "docs/assumptions.md#token-feedback"]),
    parameter(
        "target",
        "part of tokens that may be lost, 0 to 0.9",
        ["", "0.1", "ExpressPass §3.2, TOP §3.1"],
    ),
    parameter(
        "jitter",
        "gaps between tokens vary by this part to both sides, 0 to 0.9",
        ["", "0.1", "docs/assumptions.md#token-feedback"],
    ),
    parameter(
        "stop",
        "who ends tokens: sender (when all is sent or called for) | complete (receiver) | token_need_cap (no more than needed)",
        ["", "sender, top complete", "docs/assumptions.md#token-end"],
    ),
    parameter(
        "recovery",
        "what is sent again: gbn (all from the hole on) | selective",
        ["", "gbn, top selective", "TOP §3.1; docs/assumptions.md#token-loss"],
    ),
    parameter(
        "reordering",
        "packets that arrive beyond a missing one before it is missed",
        ["pkt", "3", "docs/assumptions.md#token-loss"],
    ),
];
const TOKEN_RTO: Parameter = parameter(
    "min_rto",
    "silence after which a host asks again, at least; three round trips if that is more",
    ["time", "1ms", "docs/assumptions.md#token-loss"],
);
/// The remedy's key of token ports.
pub(super) const DETOUR: Parameter = parameter(
    "detour",
    "what a token takes through an assistant switch, from the limiter to the line's one queue of tokens; 0 for none",
    ["time", "0", "TOP §4.2; docs/assumptions.md#top-detour"],
);
/// What TOP has besides.
const TOP_OWN: [Parameter; 15] = [
    parameter(
        "expiry",
        "where old tokens are dropped: switch (as the port says) | end_host",
        ["", "switch", "TOP §3.1, §4.2"],
    ),
    parameter(
        "lifetime",
        "T = d + |P| th (+ D), with expiry = end_host",
        ["time", "", "TOP §4.2; docs/assumptions.md#top-lifetime"],
    ),
    parameter(
        "unscheduled",
        "m: flows of at most so many packets go at once, in a one-packet queue served last",
        ["pkt", "0", "TOP §3.3; docs/assumptions.md#top-unscheduled"],
    ),
    parameter(
        "paths",
        "symmetric (data takes the way of its tokens), or packet by packet: spray (at random) | round_robin | drill",
        ["", "symmetric", "TOP §3.3; docs/assumptions.md#spray"],
    ),
    parameter(
        "priority",
        "size | attained (LAS) | deadline | asked (class of the flow) | single | exact_remaining, exact_size, exact_deadline, exact_coflow",
        ["", "size", "TOP §3.2; docs/assumptions.md#top-classes"],
    ),
    parameter(
        "ranks",
        "what these ranks are of: tokens | data (which TOP rejects; ports with as many data_queues)",
        ["", "tokens", "TOP §3.1"],
    ),
    parameter("classes", "K, token classes, 1 to 13", ["", "6", "TOP §3.1"]),
    parameter(
        "p",
        "p of floor(K log_p(a x + b)): the largest flow in packets, above 1",
        ["pkt", "that of the experiment's sizes", "TOP §3.2"],
    ),
    parameter(
        "tail",
        "what stands for the sizes: heavy (the logarithm) | light (exponential: thresholds between equal parts of it up to p)",
        ["", "heavy", "TOP §3.2; docs/assumptions.md#top-classes"],
    ),
    parameter(
        "mean",
        "m of a light tail, above 0: what the exponential falls by a factor e in",
        ["pkt", "the mean of the experiment's sizes less one", "docs/assumptions.md#top-classes"],
    ),
    parameter("a", "a of it, above 0", ["", "1", "docs/assumptions.md#top-classes"]),
    parameter("b", "b of it", ["", "0", "docs/assumptions.md#top-classes"]),
    parameter(
        "thresholds",
        "where one class ends and the next begins, in place of p, a, b",
        ["pkt", "", "TOP §3.2"],
    ),
    parameter(
        "deadline_min",
        "time to the deadline at which the logarithmic classes of deadlines begin",
        ["time", "", "docs/assumptions.md#top-classes"],
    ),
    parameter("deadline_max", "time at which they end", ["time", "", "docs/assumptions.md#top-classes"]),
];

const EXPRESSPASS_KEYS: &[Parameter] = &joined::<10, 1, 11>(TOKENS_OWN, [TOKEN_RTO]);
const TOP_KEYS: &[Parameter] = &joined::<11, 15, 26>(joined::<10, 1, 11>(TOKENS_OWN, [TOKEN_RTO]), TOP_OWN);

pub(super) const EXPRESSPASS: Entry = Entry {
    row: Row::Transport,
    name: "expresspass",
    summary: "ExpressPass: receivers pace credits, ports limit them, a packet for each",
    source: "ExpressPass (SIGCOMM 2017)",
    parameters: EXPRESSPASS_KEYS,
    requires: &[Capability::TokenPorts, Capability::TokenQueue],
    provides: &[],
};
pub(super) const TOP: Entry = Entry {
    row: Row::Transport,
    name: "top",
    summary: "TOP: ExpressPass whose tokens have priorities",
    source: "TOP §3",
    parameters: TOP_KEYS,
    requires: &[Capability::TokenPorts, Capability::TokenQueue],
    provides: &[],
};
pub(super) const NIC: Entry = Entry {
    row: Row::Nic,
    name: "tokens",
    summary: "the token discipline of the switch ports as a transmit queue",
    source: "ExpressPass (SIGCOMM 2017) §3.1; docs/assumptions.md#token-nic",
    parameters: &[],
    requires: &[Capability::TokenPorts],
    provides: &[always(Capability::TransmitQueue), always(Capability::TokenQueue)],
};
