//! The entries of admission policies.

use super::stated::Stated;
use super::stated::{Parameter, parameter};
use crate::part::Row;

const fn entry(
    row: Row,
    [name, summary, source]: [&'static str; 3],
    parameters: &'static [Parameter],
) -> Stated {
    Stated { row, name, summary, source, parameters, requires: &[], provides: &[] }
}

const CLASSES: Parameter = parameter("levels", "number of classes, 2 to 16", ["", "", "Firapam §II-A"]);

const MI: Parameter = parameter(
    "mi",
    "monitor interval: rpc (a whole flow), rtt (the round trip of a small packet across the network), or a time",
    ["", "rpc", "Firapam §V; docs/assumptions.md#firapam-interval"],
);
const REMAP: Parameter = parameter(
    "remap",
    "at_issue: a flow keeps its class; per_mi: flows under way are mapped again",
    ["", "at_issue", "docs/assumptions.md#firapam-remap"],
);

pub(super) const AEQUITAS: Stated = entry(
    Row::Admit,
    [
        "aequitas",
        "admitted with a probability that misses lower and windows without them raise; else at the lowest class",
        "Aequitas (SIGCOMM 2022) Algorithm 1",
    ],
    &[
        CLASSES,
        parameter(
            "alpha",
            "what a window without a miss adds, above 0, at most 1",
            ["", "0.01", "Aequitas §6.1"],
        ),
        parameter("beta", "what a miss takes for each MTU, 0 to 1", ["", "0.01", "Aequitas §6.1"]),
        parameter(
            "floor",
            "the least probability, above 0, at most 1",
            ["", "0.1", "docs/assumptions.md#aequitas-floor"],
        ),
        parameter(
            "most",
            "the most that one miss takes",
            ["", "1", "docs/assumptions.md#aequitas-large-flows"],
        ),
        parameter("targets", "the target of each class but the lowest", ["time", "", "Aequitas §5.1"]),
        parameter("per", "what targets are of: each mtu of a flow, or an rpc", ["", "mtu", "Aequitas §5.1"]),
        parameter(
            "percentile",
            "of flows that are to keep the target: makes the window",
            ["%", "99.9", "Aequitas §5.1"],
        ),
        parameter("window", "time between increases, in place of percentile", ["time", "", "Aequitas §5.1"]),
        parameter(
            "update",
            "what begins a window besides an increase: nothing (prose), a miss (simulator), a hit (literal)",
            ["", "prose", "docs/assumptions.md#aequitas-window"],
        ),
    ],
);
pub(super) const PASE: Stated = entry(
    Row::Admit,
    [
        "pase",
        "the highest class while more urgent flows of the host ask for no more than its line; else the lowest",
        "PASE (SIGCOMM 2014); Firapam Table I",
    ],
    &[CLASSES, MI, REMAP],
);
pub(super) const FIRAPAM: Stated = entry(
    Row::Admit,
    [
        "firapam",
        "probabilities follow the gradient of a utility of rate, slack and loss; up or down to the adjacent class",
        "Firapam Algorithm 1, Eqs. 15-19",
    ],
    &[
        CLASSES,
        parameter(
            "mode",
            "literal (Algorithm 1) or analytic (derivative, bounded steps)",
            ["", "analytic", "docs/assumptions.md#firapam-gradient"],
        ),
        parameter("t", "exponent of the utility, above 0, at most 1", ["", "0.9", "Firapam §V"]),
        parameter(
            "b",
            "price of slack, for Gbit/s and seconds",
            ["1/s", "900", "docs/assumptions.md#firapam-units"],
        ),
        parameter("c", "price of loss", ["", "11", "docs/assumptions.md#firapam-loss-price"]),
        parameter(
            "a",
            "step size: 0.05, literal 25",
            ["", "by mode", "Firapam §V; docs/assumptions.md#firapam-step"],
        ),
        parameter(
            "step",
            "the most that an update moves, analytic",
            ["", "0.1", "docs/assumptions.md#firapam-step"],
        ),
        parameter(
            "b_low",
            "the least probability, above 0, at most 1",
            ["", "0.1", "docs/assumptions.md#firapam-bounds"],
        ),
        parameter(
            "b_up",
            "the largest, at least 1, below 2",
            ["", "1.9", "docs/assumptions.md#firapam-bounds"],
        ),
        MI,
        REMAP,
    ],
);
