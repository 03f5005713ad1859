//! The options of an import.

use std::io::BufRead;

use priolane_core::units::{Span, Time};
use priolane_source::csv::Lines;

use super::format::ImportOption;
use super::job::{Algorithm, Placement, SendEnds};

/// The lines of the imported text.
pub(super) type Text<'a> = Lines<&'a mut dyn BufRead>;

/// The start of an imported list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The first flow starts at this time.
    First(Time),
    /// Each flow starts at the time in the file.
    Keep,
}

/// The options of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of hosts of the network; `None` for that of the file. Additional hosts are folded onto them.
    pub hosts: Option<u32>,
    /// Start of the list; default 0.
    pub start: Start,
    /// Span over which flows with equal start times are spread evenly, for clocks with coarse ticks; default none.
    pub spread: Option<Span>,
    /// Bytes per YAPS packet, 1 to 65535; default 1460.
    pub mss: Option<u32>,
    /// Bytes per megabyte in a coflow trace; default 2^20.
    pub megabyte: Option<u32>,
    /// Maximum gap between two NetFlow records of one flow; default 15 s.
    pub gap: Option<Span>,
    /// NetFlow sampling: one in this many packets; default 1.
    pub sampling: Option<u32>,
    /// The first start that is listed, on the clock of a log, in picoseconds; default: all.
    pub from: Option<u128>,
    /// The start from which on flows are not listed, on the clock of a log, in picoseconds; default: none.
    pub until: Option<u128>,
    /// The hosts of a job's ranks; default by number.
    pub placement: Option<Placement>,
    /// The algorithm of a job's collectives; default a ring.
    pub collectives: Option<Algorithm>,
    /// The ends of a job's sends; default as in the format's own simulator.
    pub send_ends: Option<SendEnds>,
}

impl Default for Options {
    fn default() -> Self {
        let start = Start::First(Time::ZERO);
        Self {
            hosts: None,
            start,
            spread: None,
            mss: None,
            megabyte: None,
            gap: None,
            sampling: None,
            from: None,
            until: None,
            placement: None,
            collectives: None,
            send_ends: None,
        }
    }
}

impl Options {
    /// Returns the options that the user set.
    pub(super) fn turned(&self) -> impl Iterator<Item = ImportOption> {
        let turned = [
            self.mss.map(|_| ImportOption::Mss),
            self.megabyte.map(|_| ImportOption::Megabyte),
            self.gap.map(|_| ImportOption::Gap),
            self.sampling.map(|_| ImportOption::Sampling),
            self.from.map(|_| ImportOption::From),
            self.until.map(|_| ImportOption::Until),
            self.placement.map(|_| ImportOption::Place),
            self.collectives.map(|_| ImportOption::Collectives),
            self.send_ends.and_then(|ends| ends.larger).map(|_| ImportOption::SendEnds),
            self.send_ends.and_then(|ends| ends.eager).map(|_| ImportOption::Eager),
        ];
        turned.into_iter().flatten()
    }
}
