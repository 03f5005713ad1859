//! The bytes of a message that have arrived, as runs of consecutive bytes by offset.
//!
//! ```text
//! payload at the end of the run written last   is appended to that run: a path without loss delivers in this order
//! payload over bytes that have arrived         overwrites them
//! payload elsewhere                            becomes a run of its own, of its length
//! ```
//!
//! Memory grows with the number of bytes that have arrived, and not with their offsets. Only the run that grows has spare capacity.

use std::collections::BTreeMap;

/// Bytes of the longest run. Growing a longer run would copy for too long.
const LONGEST_RUN: usize = 64 << 10;

/// The largest number of bytes by which the capacity of a run exceeds its length.
const SPARE: usize = 16 << 10;

/// Bytes that count for each run in addition to its capacity: its entry in the tree, and the overhead of the allocator.
pub(crate) const RUN: u64 = 128;

/// The bytes of a message.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The runs by offset. Runs do not overlap.
    runs: BTreeMap<u64, Vec<u8>>,
    /// The offset of the run that grows.
    open: u64,
    /// Memory of all runs.
    kept: u64,
}

/// The way in which a part of a payload is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Chunk {
    /// `len` bytes overwrite bytes of the run at offset `run`.
    Over { run: u64, len: u64 },
    /// `len` bytes are appended to the run at offset `run`.
    Append { run: u64, len: u64 },
    /// `len` bytes become a new run.
    New { len: u64 },
}

impl Parts {
    /// Memory of all runs, in bytes.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    /// Returns whether there are no runs.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the next chunk of a payload from `at` to `end`.
    fn chunk(&self, at: u64, end: u64) -> Chunk {
        let before = self.runs.range(..=at).next_back();
        let before = before.map(|(&run, bytes)| (run, run + bytes.len() as u64, bytes.len()));
        if let Some((run, until, _)) = before.filter(|&(_, until, _)| at < until) {
            return Chunk::Over { run, len: end.min(until) - at };
        }
        let after = self.runs.range(at + 1..end).next().map_or(end, |(&run, _)| run);
        let len = after - at;
        match before {
            Some((run, until, held))
                if at == until && run == self.open && held as u64 + len <= LONGEST_RUN as u64 =>
            {
                Chunk::Append { run, len }
            }
            _ => Chunk::New { len },
        }
    }

    /// Returns the new capacity of a run with `held` bytes and capacity `capacity` when `more` bytes are appended.
    fn grown((held, capacity): (usize, usize), more: usize) -> usize {
        let needed = held + more;
        if needed <= capacity {
            return capacity;
        }
        needed.max((held + SPARE).min(2 * held)).min(LONGEST_RUN)
    }

    /// Returns the capacity of a new run of `len` bytes at `at`. A run that continues a full run gets the largest capacity, because more
    /// bytes are likely to follow.
    fn fresh(&self, at: u64, len: usize) -> usize {
        let continues = self
            .runs
            .get(&self.open)
            .is_some_and(|run| run.len() + len > LONGEST_RUN && self.open + run.len() as u64 == at);
        if continues { LONGEST_RUN.max(len) } else { len }
    }

    /// Returns an upper bound on the growth of [`Self::kept`] by [`Self::write`].
    pub(crate) fn growth(&self, start: u64, len: usize) -> u64 {
        let (mut at, end, mut growth) = (start, start + len as u64, 0);
        while at < end {
            at += match self.chunk(at, end) {
                Chunk::Over { len, .. } => len,
                Chunk::Append { run, len } => {
                    let state = self.runs.get(&run).map_or((0, 0), |run| (run.len(), run.capacity()));
                    let appended = (Self::grown(state, len as usize) - state.1) as u64;
                    // The bytes become a new run if an earlier chunk of this payload closed the run that grew.
                    growth += if at == start { appended } else { appended.max(RUN + len) };
                    len
                }
                Chunk::New { len } => {
                    growth += RUN + self.fresh(at, len as usize) as u64;
                    len
                }
            };
        }
        growth
    }

    /// Writes `payload` at `start`.
    pub(crate) fn write(&mut self, start: u64, payload: &[u8]) {
        let (mut at, end) = (start, start + payload.len() as u64);
        while at < end {
            let chunk = self.chunk(at, end);
            let (Chunk::Over { len, .. } | Chunk::Append { len, .. } | Chunk::New { len }) = chunk;
            let from = (at - start) as usize;
            let bytes = &payload[from..from + len as usize];
            match chunk {
                Chunk::Over { run, .. } => {
                    if let Some(here) = self.runs.get_mut(&run) {
                        let place = (at - run) as usize;
                        here[place..place + bytes.len()].copy_from_slice(bytes);
                    }
                }
                Chunk::Append { run, .. } => self.append(run, bytes),
                Chunk::New { .. } => self.insert(at, bytes),
            }
            at += len;
        }
    }

    fn append(&mut self, run: u64, bytes: &[u8]) {
        let Some(here) = self.runs.get_mut(&run) else { return };
        let before = here.capacity();
        let capacity = Self::grown((here.len(), before), bytes.len());
        if capacity > before {
            here.reserve_exact(capacity - here.len());
        }
        here.extend_from_slice(bytes);
        self.kept += (here.capacity() - before) as u64;
    }

    fn insert(&mut self, at: u64, bytes: &[u8]) {
        let mut run = Vec::with_capacity(self.fresh(at, bytes.len()));
        run.extend_from_slice(bytes);
        self.close();
        self.kept += RUN + run.capacity() as u64;
        self.runs.insert(at, run);
        self.open = at;
    }

    /// Releases the spare capacity of the run that grew.
    fn close(&mut self) {
        if let Some(run) = self.runs.get_mut(&self.open)
            && run.capacity() > run.len()
        {
            let before = run.capacity();
            run.shrink_to_fit();
            self.kept -= (before - run.capacity()) as u64;
        }
    }

    /// Returns the first `len` bytes of the message, with zeros in place of bytes that have not arrived. It copies unless there is a single
    /// run, so it is called on the thread of an application.
    pub(crate) fn into_bytes(mut self, len: usize) -> Vec<u8> {
        let is_one_run = self.runs.len() == 1 && self.runs.get(&0).is_some_and(|run| run.len() == len);
        if is_one_run && let Some(run) = self.runs.remove(&0) {
            return run;
        }
        let mut bytes = Vec::with_capacity(len);
        while let Some((start, run)) = self.runs.pop_first() {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            if start >= len {
                break;
            }
            bytes.resize(start, 0);
            bytes.extend_from_slice(&run[..run.len().min(len - start)]);
        }
        bytes.resize(len, 0);
        bytes
    }

    /// Drops at most `most` runs, and returns how many it dropped.
    pub(crate) fn drop_runs(&mut self, most: usize) -> usize {
        (0..most).take_while(|_| self.runs.pop_first().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::rng::{Purpose, Stream};

    /// Writes `payload`, and checks that `growth` bounds the growth of the memory.
    fn write(parts: &mut Parts, start: u64, payload: &[u8]) {
        let (before, growth) = (parts.kept(), parts.growth(start, payload.len()));
        parts.write(start, payload);
        assert!(parts.kept() <= before + growth, "{} > {before} + {growth}", parts.kept());
        let capacities: u64 = parts.runs.values().map(|run| RUN + run.capacity() as u64).sum();
        assert_eq!(parts.kept(), capacities);
    }

    #[test]
    fn parts_agree_with_a_plain_array_in_whatever_order_and_size_they_come() {
        for seed in 0..priolane_rounds::rounds(20, 400) {
            let mut draw = Stream::new(seed, Purpose::Ties, 0);
            let (mut parts, mut plain, mut came) = (Parts::default(), vec![0; 200_000], 0);
            let mut next = 0;
            for _ in 0..300 {
                let most = if draw.chance(0.5) { 1_456 } else { 9_000 };
                let len = 1 + draw.below(most) as usize;
                let start = if draw.chance(0.7) { next } else { draw.below(150_000) as usize };
                next = (start + len) % 150_000;
                let byte = draw.below(256) as u8;
                write(&mut parts, start as u64, &vec![byte; len]);
                plain[start..start + len].fill(byte);
                came += len as u64;
            }
            let len = 100_000 + draw.below(100_000) as usize;
            plain.truncate(len);
            assert!(parts.kept() <= 2 * came + 2 * 300 * RUN);
            assert!(parts.into_bytes(len) == plain, "seed {seed}");
        }
    }

    #[test]
    fn memory_grows_with_the_bytes_that_came_and_not_with_offsets() {
        let mut parts = Parts::default();
        write(&mut parts, (16 << 20) - 1, &[1]);
        assert_eq!(parts.kept(), RUN + 1);
        // In order: no byte is reserved before as many have come.
        let mut parts = Parts::default();
        for n in 0..1_000u64 {
            write(&mut parts, n * 1_456, &[7; 1_456]);
            let came = (n + 1) * 1_456;
            assert!(parts.kept() <= 2 * came + RUN, "{} of {came}", parts.kept());
        }
        assert!(parts.runs.len() <= 23, "{} runs of 64 KiB", parts.runs.len());
        // One byte at a time, each beside another, from the last to the first.
        let mut parts = Parts::default();
        (0..1_000u64).rev().for_each(|at| write(&mut parts, at, &[at as u8]));
        assert_eq!(parts.kept(), 1_000 * (RUN + 1));
    }

    #[test]
    fn every_other_packet_late_leaves_nothing_to_spare() {
        let mut parts = Parts::default();
        for n in 0..500u64 {
            write(&mut parts, (2 * n + 1) * 1_456, &[1; 1_456]);
            write(&mut parts, 2 * n * 1_456, &[2; 1_456]);
        }
        assert!(parts.kept() <= 1_000 * (1_456 + RUN) + SPARE as u64, "{}", parts.kept());
    }

    #[test]
    fn a_short_message_is_handed_over_without_a_copy() {
        let mut parts = Parts::default();
        write(&mut parts, 0, &[3; 40]);
        write(&mut parts, 40, &[4; 20]);
        let place = parts.runs[&0].as_ptr();
        let bytes = parts.into_bytes(60);
        assert_eq!((bytes.as_ptr(), bytes.len()), (place, 60));
    }

    #[test]
    fn what_is_dropped_is_dropped_little_by_little() {
        let mut parts = Parts::default();
        (0..10u64).for_each(|n| write(&mut parts, 2 * n, &[1]));
        assert_eq!([4, 4, 4, 4].map(|most| parts.drop_runs(most)), [4, 4, 2, 0]);
        assert!(parts.is_empty());
    }
}
