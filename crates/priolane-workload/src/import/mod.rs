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
mod format;
mod guess;
mod hpcc;
mod hpcc_topology;
mod htsim;
mod imported;
mod nfdump;
mod options;
mod read;
mod report;
mod sizes;
mod yaps;
mod zeek;

pub use files::{Failure, Request, import_files};
pub use format::Format;
pub use guess::Guess;
pub use hpcc_topology::{Network, read as read_topology};
pub use imported::{Dropped, Imported};
pub use options::{Options, Start};
pub use read::{Source, read};
pub use report::Report;
pub use sizes::{MAX_SIZE_ROWS, SizeTable};
