//! Ports with one queue in which packets are told apart by the switch: by their ranks, or by ranks made of classes.

use super::stated::parameter;
use super::stated::{BUFFER, ECN, MARKS_IF_ECN, Stated};
use crate::part::{Capability, Row};

pub(super) const RANKED: Stated = Stated {
    row: Row::Port,
    name: "ranked",
    summary: "one queue sorted by the rank in the packet, smallest first; window transports write bytes left",
    source: "pFabric (SIGCOMM 2013) §4.1",
    parameters: &[BUFFER, ECN],
    requires: &[Capability::Ranks],
    provides: &[MARKS_IF_ECN],
};

pub(super) const PFABRIC: Stated = Stated {
    row: Row::Port,
    name: "pfabric",
    summary: "serves the flow with the smallest rank, its earliest packet first; drops the largest rank",
    source: "pFabric (SIGCOMM 2013) §4.2",
    parameters: &[BUFFER, ECN],
    requires: &[Capability::Ranks],
    provides: &[MARKS_IF_ECN],
};

pub(super) const PIFO: Stated = Stated {
    row: Row::Port,
    name: "pifo",
    summary: "one queue sorted by what classes map to, 0 first, equals in order of arrival; the worst makes way",
    source: "PIFO (SIGCOMM 2016) §2; docs/assumptions.md#switch-side",
    parameters: &[BUFFER, ECN],
    requires: &[],
    provides: &[MARKS_IF_ECN],
};

pub(super) const AIFO: Stated = Stated {
    row: Row::Port,
    name: "aifo",
    summary: "one first-in first-out queue; what a sorted queue would not have kept is refused, by quantiles of recent ranks",
    source: "AIFO (SIGCOMM 2021) Algorithm 1; docs/assumptions.md#switch-side",
    parameters: &[
        BUFFER,
        parameter("window", "ranks that quantiles are taken of, 1 to 1000", ["pkt", "20", "AIFO §6"]),
        parameter(
            "sample",
            "of so many packets one enters the window, 1 to 1000",
            ["pkt", "1", "docs/assumptions.md#switch-side"],
        ),
        parameter(
            "k",
            "the part of the room in which everything is admitted, below 1, to a thousandth",
            ["", "0.1", "AIFO §6"],
        ),
        ECN,
    ],
    requires: &[],
    provides: &[MARKS_IF_ECN],
};
