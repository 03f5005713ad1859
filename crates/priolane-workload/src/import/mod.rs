//! Converts flow lists of other tools to flow lists of priolane; one file per format.
//!
//! A text is read line by line (at most 64 KiB each) and never stored as a whole. At most [`MAX_IMPORTED`] flows
//! are stored, and a list above 256 MiB, which no experiment could read, is rejected. Times are converted from
//! their decimal digits to whole picoseconds. Dropped flows are counted by reason.

pub mod size_tables;

mod aequitas;
mod binary;
mod bonds;
mod clocks;
mod coflow;
mod collect;
mod columns;
mod decimal;
mod files;
mod format;
mod goflow2;
mod guess;
mod hpcc;
mod hpcc_topology;
mod htsim;
mod htsim_topology;
mod imported;
mod instant;
mod job;
mod job_report;
mod json;
mod leftovers;
mod network;
mod nfdump;
mod options;
mod pending;
mod read;
mod records;
mod replaced;
mod report;
mod sflow;
mod sizes;
mod topology;
mod tshark;
mod vpc;
mod yaps;
mod zeek;

pub use bonds::Bond;
pub use files::{Request, import_files};
pub use format::Format;
pub use guess::Guess;
pub use imported::{DroppedFlows, ImportedFlows, Recording};
pub use job::{Algorithm, Order, Placement, SendEnd, SendEnds};
pub use job_report::JobReport;
pub use network::Network;
pub use options::{Options, Start};
pub use pending::Failure;
pub use read::{Source, read};
pub use report::Report;
pub use sizes::{MAX_SIZE_ROWS, SizeTable};
pub use topology::read as read_topology;
