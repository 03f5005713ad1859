//! Jobs: schedules of ranks that compute, send and receive, as rows of a flow list.
//!
//! ```text
//! goal, chakra   the ops of each rank
//! collective     the messages of a collective, by algorithm
//! matching       the receive of each message
//! placement      the host of each rank
//! send_end       what a rank that has sent waits for
//! rows           flows and steps, with what each waits for
//! ```
//!
//! A message is a flow; a computation is a step of its duration; a receive is a step without duration that waits for its
//! message and for what came before it in its rank.

mod chakra;
mod collective;
mod goal;
mod matching;
mod op;
mod placement;
mod rows;
mod send_end;
mod wire;

use std::io::BufRead;
use std::path::Path;

use priolane_core::ids::HostId;
use priolane_core::units::Time;
use priolane_source::InputError;
use priolane_source::csv::Lines;

use super::format::Format;
use super::guess::Guess;
use super::imported::{HostFolding, ImportedFlows, Recording};
use super::job_report::JobReport;
use super::options::{Options, Start};
pub use crate::rounds::Algorithm;
use op::Job;
pub use placement::{Order, Placement};
use send_end::Ends;
pub use send_end::{SendEnd, SendEnds};

/// Reads a schedule of LogGOPSim.
///
/// # Errors
/// Returns an [`InputError`] with the line of the first mistake.
pub(super) fn read_goal<R: BufRead>(
    lines: &mut Lines<R>,
    options: &Options,
) -> Result<ImportedFlows, InputError> {
    refuse_times(options, lines.file())?;
    let file = lines.file().to_owned();
    rows_of(goal::read(lines)?, SendEnds::of_goal(options.send_ends), &file, options)
}

/// Reads the traces of a Chakra job, `PREFIX.0.et`, `PREFIX.1.et` and so on.
///
/// # Errors
/// Returns an [`InputError`] with the file of the first mistake.
pub(super) fn read_chakra(prefix: &Path, options: &Options) -> Result<(ImportedFlows, Guess), InputError> {
    let shown = prefix.display().to_string();
    refuse_times(options, &shown)?;
    let job = chakra::read(prefix, options.collectives.unwrap_or(Algorithm::Ring))?;
    let ends = SendEnds::of_chakra(options.send_ends);
    Ok((rows_of(job, ends, &shown, options)?, Guess { format: Format::Chakra, from: None }))
}

/// Refuses options about clocks: a job begins at 0, and its flows start when what they wait for has ended.
fn refuse_times(options: &Options, file: &str) -> Result<(), InputError> {
    if options.spread.is_none() && options.start == Start::First(Time::ZERO) {
        return Ok(());
    }
    let what = "--start and --spread have no meaning for a job";
    Err(InputError::new(file, None, "", what, "active = { from = ... } of the job's group in the experiment"))
}

/// Returns the error for traces of several files that are given as one text.
pub(super) fn not_one_text(file: &str) -> InputError {
    let fix = "PREFIX of files PREFIX.0.et, PREFIX.1.et and so on";
    InputError::new(file, None, "", "traces of Chakra are several files, one for each rank", fix)
}

fn rows_of(mut job: Job, ends: Ends, file: &str, options: &Options) -> Result<ImportedFlows, InputError> {
    let ranks = job.ranks.len();
    let placement = options.placement.unwrap_or_default();
    let (host_of, hosts) = placement.hosts(ranks, options.hosts, file)?;
    let matched = matching::matched(&mut job);
    let rows = rows::rows(&mut job, &matched, (&host_of, ends), file)?;
    let mut used: Vec<HostId> = host_of.clone();
    used.sort_unstable();
    used.dedup();
    let fold = (used.len() < ranks).then(|| HostFolding::new(ranks as u64, used.len() as u32));
    Ok(ImportedFlows {
        rows,
        names: host_of.iter().enumerate().map(|(rank, &host)| (rank.to_string(), host)).collect(),
        hosts,
        fold,
        read: job.ranks.iter().map(|ops| ops.len() as u64).sum(),
        merged: 0,
        dropped: Vec::new(),
        first_start_ps: 0,
        rounded: 0,
        recording: Recording::default(),
        tick_ps: 1,
        spread_ps: 0,
        notes: Vec::new(),
        job: Some(job.report),
    })
}

#[cfg(test)]
mod tests;
