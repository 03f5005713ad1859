//! Flow lists that users already have, made into flow lists of priolane: one file per format.
//!
//! A text is read line by line (64 KiB each at most) and never held; at most [`MAX_IMPORTED`] flows are,
//! and a list above 256 MiB, which no experiment could read, is refused. Times become whole picoseconds from
//! their decimal digits. What is dropped is counted with its reason.

mod aequitas;
mod coflow;
mod collect;
mod decimal;
mod files;
mod guess;
mod hpcc;
mod hpcc_topology;
mod htsim;
mod nfdump;
mod report;
mod sizes;
mod yaps;
mod zeek;

use std::io::BufRead;

use priolane_core::units::{Span, Time};
use priolane_source::InputError;

use priolane_source::csv::Lines;

pub use collect::Imported;

pub(crate) use collect::MAX_IMPORTED;
pub use files::{Failure, Request, import_files};
pub use guess::Guess;
pub use hpcc_topology::{Network, read as read_topology};
pub use report::{Dropped, Report};
pub use sizes::{MAX_SIZE_ROWS, SizeTable};

/// The lines of the text that is imported.
type Text<'a> = Lines<&'a mut dyn BufRead>;

/// A format of flow lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `flow.txt` of HPCC's ns-3 and its relatives.
    Hpcc,
    /// Connection matrices of htsim, `start` in picoseconds.
    Htsim,
    /// Older connection matrices of htsim, `start` in microseconds.
    HtsimUs,
    /// Traces of YAPS.
    Yaps,
    /// Traces of Aequitas' YAPS.
    Aequitas,
    /// The coflow benchmark's trace.
    Coflow,
    /// CSV of nfdump: NetFlow, IPFIX.
    Nfdump,
    /// `conn.log` of Zeek.
    Zeek,
}

/// A choice that some formats need from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knob {
    /// `--mss`.
    Mss,
    /// `--megabyte`.
    Megabyte,
    /// `--gap`.
    Gap,
    /// `--sampling`.
    Sampling,
    /// `--topology`.
    Topology,
}

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Hpcc,
        Self::Htsim,
        Self::HtsimUs,
        Self::Yaps,
        Self::Aequitas,
        Self::Coflow,
        Self::Nfdump,
        Self::Zeek,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hpcc => "hpcc",
            Self::Htsim => "htsim",
            Self::HtsimUs => "htsim-us",
            Self::Yaps => "yaps",
            Self::Aequitas => "aequitas",
            Self::Coflow => "coflow",
            Self::Nfdump => "nfdump",
            Self::Zeek => "zeek",
        }
    }

    /// What it is, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Hpcc => {
                "flow.txt of HPCC and other ns-3 RDMA simulations; its topology.txt with --topology"
            }
            Self::Htsim => "connection matrix (.cm) of htsim, starts in picoseconds; triggers become `after`",
            Self::HtsimUs => "connection matrix of older htsim, starts in microseconds",
            Self::Yaps => "trace of YAPS with 8 or 9 columns, or 5 as GEN_ONLY prints them; --mss",
            Self::Aequitas => "trace of Aequitas' YAPS: priority,size_bytes,start_s,src,dst",
            Self::Coflow => "coflow-benchmark (FB2010): mappers and reducers by port; --megabyte",
            Self::Nfdump => "CSV of nfdump (NetFlow, IPFIX), old and new columns; --gap, --sampling",
            Self::Zeek => "conn.log of Zeek as TSV: each direction with payload is a flow",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The knobs that it has.
    fn knobs(self) -> &'static [Knob] {
        match self {
            Self::Hpcc => &[Knob::Topology],
            Self::Yaps => &[Knob::Mss],
            Self::Coflow => &[Knob::Megabyte],
            Self::Nfdump => &[Knob::Gap, Knob::Sampling],
            Self::Htsim | Self::HtsimUs | Self::Aequitas | Self::Zeek => &[],
        }
    }
}

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
    fn turned(&self) -> impl Iterator<Item = Knob> {
        let turned = [
            self.mss.map(|_| Knob::Mss),
            self.megabyte.map(|_| Knob::Megabyte),
            self.gap.map(|_| Knob::Gap),
            self.sampling.map(|_| Knob::Sampling),
        ];
        turned.into_iter().flatten()
    }
}

/// A text that is to be imported.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name in messages.
    pub file: &'a str,
    /// Its format; `None` to guess it.
    pub format: Option<Format>,
    /// The network of an HPCC simulation.
    pub network: Option<&'a Network>,
}

/// Reads all of `text`.
///
/// # Errors
/// One [`InputError`] for the first defect that is no matter of a single flow.
pub fn read(
    mut text: impl BufRead,
    source: Source<'_>,
    options: &Options,
) -> Result<(Imported, Guess), InputError> {
    let guess = match source.format {
        Some(format) => Guess { format, from: None },
        None => guessed(&mut text, source.file)?,
    };
    let foreign = |knob: &Knob| !guess.format.knobs().contains(knob);
    let network = source.network.map(|_| Knob::Topology);
    if let Some(knob) = options.turned().chain(network).find(foreign) {
        let key = format!("--{knob:?}").to_lowercase();
        let what = format!("{key} has no meaning for {}", guess.format.name());
        return Err(InputError::new(source.file, None, "", what, "leave it out, or state the format"));
    }
    let text: &mut dyn BufRead = &mut text;
    let mut lines = Lines::new(text, source.file);
    let mut into = collect::Collector::new(options);
    match guess.format {
        Format::Hpcc => hpcc::read(&mut lines, &mut into, source.network)?,
        Format::Htsim => htsim::read(&mut lines, &mut into, htsim::Unit::Picoseconds)?,
        Format::HtsimUs => htsim::read(&mut lines, &mut into, htsim::Unit::Microseconds)?,
        Format::Yaps => yaps::read(&mut lines, &mut into)?,
        Format::Aequitas => aequitas::read(&mut lines, &mut into)?,
        Format::Coflow => coflow::read(&mut lines, &mut into)?,
        Format::Nfdump => nfdump::read(&mut lines, &mut into)?,
        Format::Zeek => zeek::read(&mut lines, &mut into)?,
    }
    Ok((into.finish(&lines)?, guess))
}

fn guessed(text: &mut dyn BufRead, file: &str) -> Result<Guess, InputError> {
    let fail = |what: String, fix: String| InputError::new(file, None, "", what, fix);
    let head = text.fill_buf().map_err(|e| fail(format!("reading failed: {e}"), "check the file".into()))?;
    guess::guess(&head[..head.len().min(guess::LOOKED_AT)]).map_err(|why| {
        let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        fail(format!("the format cannot be guessed: {why}"), format!("state one of {}", names.join(", ")))
    })
}
