//! Stores a run that was measured on real hosts in the tables that a simulated one has.

use priolane_results::record::MeasuredRecord;
use priolane_results::rows::canonical;
use priolane_results::store::{RunId, Store};
use priolane_sim::outcome::Outcome;

use super::{Failure, FinishedRun, SimulatedRun, Simulation, publish_or_compare, rows};
use crate::plan::{self, Run};

/// A run that was measured. What real hosts cannot know is empty in its outcome.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The outcome of flows and ports, in simulated time.
    pub outcome: Outcome,
    /// The place of the measurement, and the scale of rates and times.
    pub on: MeasuredRecord,
    /// Packets dropped by switches; `None` for switches that do not tell.
    pub drops: Option<u64>,
    /// Packets that reached hosts with a congestion mark.
    pub marks: u64,
    /// The warnings about the measurement.
    pub warnings: Vec<String>,
}

/// Stores a measurement of `run` in `store`, unless one is there. None of the invariants of simulated runs are checked: packets
/// that nobody counted are not conserved, and clocks are not exact.
///
/// # Errors
/// If the directory has the run as it was simulated, or cannot be written.
pub fn store_measured(run: &Run, store: &Store, measurement: Measurement) -> Result<FinishedRun, Failure> {
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    if let Some(stored) = store.accept(&id) {
        return match stored.measured {
            Some(_) => Ok(FinishedRun::AlreadyThere(stored)),
            None => Err(Failure::Simulated(run.id.clone())),
        };
    }
    let Measurement { mut outcome, on, drops, marks, warnings } = measurement;
    let built = plan::build(run)?;
    canonical(&mut outcome);
    let knows_queues = !outcome.queues.is_empty();
    let with_actual_starts = built.with_actual_starts(&mut outcome);
    let ran = SimulatedRun { with_actual_starts, outcome };
    let rows = rows(&ran);
    let mut record = Simulation { run, built: &built }.record(&rows, &ran);
    record.measured = Some(on);
    // Hosts report their timeouts, and neither what they waited for nor which of them were spurious.
    for summary in record.summary.values_mut() {
        (summary.initial_timeouts, summary.spurious_timeouts) = (None, None);
    }
    for ports in record.ports.values_mut() {
        // Switches of the kernel say neither how long their queues were, nor how long packets waited.
        ports.max_queue_bytes = ports.max_queue_bytes.filter(|_| knows_queues);
        ports.queue_of_bound = ports.queue_of_bound.filter(|_| knows_queues);
        ports.wait_s = ports.wait_s.filter(|&wait| wait > 0.0);
    }
    record.counters.drops = drops;
    record.counters.marks = marks;
    record.warnings.extend(warnings);
    publish_or_compare((store, &id), None, record, |draft| {
        rows.tables().into_iter().try_for_each(|table| draft.write(table, &rows))
    })
}
