//! The entries of transports that decide themselves which flow of a host goes next.

use super::parts::parameter;
use super::{Capability, Entry, Parameter, Provision, Row};

const RANKS: &[Provision] = &[Provision { capability: Capability::Ranks, if_set: None }];

const fn transport(
    [name, summary, source]: [&'static str; 3],
    parameters: &'static [Parameter],
    requires: &'static [Capability],
) -> Entry {
    Entry { row: Row::Transport, name, summary, source, parameters, requires, provides: RANKS }
}

pub(super) const ORDER: Entry = Entry {
    row: Row::Host,
    name: "own",
    summary: "the transport decides which flow goes next: pHost, NDP, Homa",
    source: "docs/assumptions.md#receiver-driven",
    parameters: &[],
    requires: &[Capability::PacketPull],
    provides: &[],
};

pub(super) const PHOST: Entry = transport(
    [
        "phost",
        "pHost: receivers give tokens, one per packet time, to the flow with fewest packets missing; classes 0 to 2",
        "pHost (CoNEXT 2015) §3",
    ],
    &[
        parameter(
            "bdp",
            "packets that fill a path, which number free tokens and times go by; 0 for those of each flow's own",
            ["", "0", "docs/assumptions.md#phost-scale"],
        ),
        parameter(
            "free",
            "which flows have free tokens: every | short_only (of at most bdp packets)",
            ["", "every", "pHost (CoNEXT 2015) §4.1"],
        ),
        parameter(
            "expiry",
            "how long a token holds, in packet times, above 0",
            ["", "1.5", "pHost (CoNEXT 2015) §3.1"],
        ),
        parameter(
            "relax",
            "how long a flow that left bdp tokens unused gets none, in bdp packet times, above 0",
            ["", "3", "pHost (CoNEXT 2015) §4.1"],
        ),
        parameter(
            "retry",
            "time after which a sender that hears nothing asks again",
            ["time", "1ms", "docs/assumptions.md#phost-loss"],
        ),
    ],
    &[],
);

pub(super) const NDP: Entry = transport(
    [
        "ndp",
        "NDP: a first window blind, switches trim, receivers pull the rest at the rate of their line",
        "NDP (SIGCOMM 2017) §3",
    ],
    &[
        parameter(
            "window",
            "packets that a flow starts with; 0 for those that fill its path",
            ["", "0", "TOP §4; NDP (SIGCOMM 2017) §6 has 30"],
        ),
        parameter(
            "pull",
            "whom a receiver pulls first: fair (flows in turns) | by_class (the best class)",
            ["", "fair", "NDP (SIGCOMM 2017) §3.2"],
        ),
        parameter(
            "pull_rate",
            "the part of its line's rate at which a receiver pulls, above 0 and at most 1; csg-htsim: 0.99",
            ["", "1", "NDP (SIGCOMM 2017) §3.2; docs/assumptions.md#ndp-pulls"],
        ),
        parameter(
            "rto",
            "time after which a packet of which nothing is heard goes again",
            ["time", "1ms", "NDP (SIGCOMM 2017) §3.2; docs/assumptions.md#ndp-timeouts"],
        ),
    ],
    &[Capability::Trimming],
);

pub(super) const HOMA: Entry = transport(
    [
        "homa",
        "Homa: receivers grant to the messages with least left and choose the classes of their packets",
        "Homa (SIGCOMM 2018) §3",
    ],
    &[
        parameter(
            "unscheduled",
            "classes of what is sent unasked, from 0 on, at least 1",
            ["", "1", "docs/assumptions.md#homa-levels"],
        ),
        parameter(
            "scheduled",
            "classes of what is granted, after those, at least 1",
            ["", "7", "docs/assumptions.md#homa-levels"],
        ),
        parameter(
            "cutoffs",
            "lengths up to which messages are in each unscheduled class but the last, ascending",
            ["B", "as many unscheduled bytes in each class", "Homa (SIGCOMM 2018) §3.4"],
        ),
        parameter(
            "from",
            "whose sizes cut-offs are found from: global, local or a group",
            ["", "global", "docs/thresholds.md"],
        ),
        parameter(
            "rtt_bytes",
            "payload that may be sent or granted beyond what arrived, in full packets; 0B for what fills the path",
            ["B", "0B", "Homa (SIGCOMM 2018) §3.3"],
        ),
        parameter(
            "overcommit",
            "messages granted at once, at least 1",
            ["", "scheduled", "Homa (SIGCOMM 2018) §3.5"],
        ),
        parameter(
            "resend",
            "time after which a receiver asks again",
            ["time", "5ms", "docs/assumptions.md#homa-timeouts"],
        ),
        parameter(
            "retry",
            "time after which a sender that hears nothing sends its first packet again",
            ["time", "10ms", "docs/assumptions.md#homa-timeouts"],
        ),
    ],
    &[],
);
