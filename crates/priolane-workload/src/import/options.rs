//! How a text is imported.

use std::io::BufRead;

use priolane_core::units::{Span, Time};
use priolane_source::csv::Lines;

use super::format::ImportOption;

/// The lines of the text that is imported.
pub(super) type Text<'a> = Lines<&'a mut dyn BufRead>;

/// When a list starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Its first flow at this instant.
    First(Time),
    /// Each flow when the file says.
    Keep,
}

/// How a file is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Hosts of the network; `None` for as many as the file has. More are folded onto them.
    pub hosts: Option<u32>,
    /// When the list starts; default at 0.
    pub start: Start,
    /// Over what flows of one instant are spread evenly, for clocks that tick coarsely; default not at all.
    pub spread: Option<Span>,
    /// Bytes of a YAPS packet, 1 to 65535; default 1460.
    pub mss: Option<u32>,
    /// Bytes of a megabyte in a coflow trace; default 2^20.
    pub megabyte: Option<u32>,
    /// The longest gap between two NetFlow records of one flow; default 15 s.
    pub gap: Option<Span>,
    /// One in how many packets NetFlow records saw; default 1.
    pub sampling: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        let start = Start::First(Time::ZERO);
        Self { hosts: None, start, spread: None, mss: None, megabyte: None, gap: None, sampling: None }
    }
}

impl Options {
    /// The knobs that were turned.
    pub(super) fn turned(&self) -> impl Iterator<Item = ImportOption> {
        let turned = [
            self.mss.map(|_| ImportOption::Mss),
            self.megabyte.map(|_| ImportOption::Megabyte),
            self.gap.map(|_| ImportOption::Gap),
            self.sampling.map(|_| ImportOption::Sampling),
        ];
        turned.into_iter().flatten()
    }
}
