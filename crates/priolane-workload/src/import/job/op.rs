//! The ops of a job.

use super::JobReport;

/// Work of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A computation of this duration in picoseconds; zero for a join.
    Compute(u64),
    /// A message to a rank.
    Send { bytes: u64, to: u32, tag: u32 },
    /// The receipt of a message; `None` for any rank or any tag.
    Receive { bytes: u64, from: Option<u32>, tag: Option<u32> },
}

/// Work of a rank, and the ops of the rank that it depends on, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) kind: Kind,
    /// Begins when these have ended.
    pub(super) after_end: Vec<u32>,
    /// Begins when these have begun.
    pub(super) after_start: Vec<u32>,
    /// The number of the collective that it is a part of.
    pub(super) collective: Option<u32>,
}

impl Op {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, after_end: Vec::new(), after_start: Vec::new(), collective: None }
    }
}

/// The ops of each rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) ranks: Vec<Vec<Op>>,
    pub(super) report: JobReport,
}

/// An op of a job: its rank, and its index in that rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) rank: u32,
    pub(super) op: u32,
}

/// Values of all ops of a job, one after the other.
#[derive(Clone, Debug)]
pub(super) struct PerOp<T> {
    first: Vec<usize>,
    values: Vec<T>,
}

impl<T: Clone> PerOp<T> {
    pub(super) fn new(job: &Job, value: T) -> Self {
        let mut first = Vec::with_capacity(job.ranks.len());
        let mut count = 0;
        for ops in &job.ranks {
            first.push(count);
            count += ops.len();
        }
        Self { first, values: vec![value; count] }
    }

    pub(super) fn get(&self, place: Place) -> &T {
        &self.values[self.first[place.rank as usize] + place.op as usize]
    }

    pub(super) fn of(&mut self, place: Place) -> &mut T {
        &mut self.values[self.first[place.rank as usize] + place.op as usize]
    }
}

impl Job {
    /// Returns the places of all ops, by rank.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let ranks = self.ranks.iter().zip(0..);
        ranks.flat_map(|(ops, rank)| (0..ops.len() as u32).map(move |op| Place { rank, op }))
    }

    pub(super) fn op(&self, place: Place) -> &Op {
        &self.ranks[place.rank as usize][place.op as usize]
    }
}
