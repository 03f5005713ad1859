//! The counts of an imported job.

use serde::Serialize;

/// The counts of an imported job: its ops, and the simplifications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobReport {
    /// Number of ranks.
    pub ranks: u64,
    /// Number of sends of the file.
    pub sends: u64,
    /// Number of receives of the file.
    pub receives: u64,
    /// Number of computations of the file.
    pub computations: u64,
    /// Number of collectives, each counted once for all its ranks.
    pub collectives: u64,
    /// Number of steps listed.
    pub steps: u64,
    /// Messages between ranks of one host, which take no time.
    pub local: u64,
    /// Sends without a receive: flows that nothing waits for.
    pub unmatched_sends: u64,
    /// Receives without a send, which wait for no message.
    pub unmatched_receives: u64,
    /// Receives from any rank or with any tag: matched in the order of the file.
    pub any_source: u64,
    /// Messages whose receive states other bytes: those of the send count.
    pub unequal_bytes: u64,
    /// Messages without bytes: flows of one byte.
    pub empty_messages: u64,
    /// Receipts: messages of one byte that tell a sender that its message has been received.
    pub receipts: u64,
    /// Computations that wait for nothing although another of their rank and cpu comes before: they overlap.
    pub overlapping: u64,
    /// Computations without a duration.
    pub untimed: u64,
    /// Dependencies on ops that the file does not have.
    pub missing_dependencies: u64,
    /// The longest path through the job if messages take no time, in picoseconds.
    pub compute_ps: u64,
}
