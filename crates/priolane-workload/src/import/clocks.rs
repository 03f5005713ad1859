//! The times of a file, relative to one near them.
//!
//! A log may have rows whose clock was wrong: of 1970, or of another year. Times that are at most 26 days apart share a
//! base. The most flows that start within 26 days are listed.

use crate::context::LATEST_START;

/// Number of bases; times beyond them are dropped.
const MOST_BASES: usize = 64;

/// The base of times that have none.
const NO_BASE: u8 = u8::MAX;

/// A time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    /// The number of its base.
    pub(super) base: u8,
    /// Picoseconds after the base.
    pub(super) apart: i64,
}

/// A flow whose start is on one of the bases.
pub(super) trait Dated: Copy {
    /// Returns its start; the base is [`NO_BASE`] if it has none.
    fn start(&self) -> Instant;

    /// Sets its start, in picoseconds after the base of listed flows.
    fn set_start(&mut self, apart: i64);
}

/// The bases of a file, in the order in which they were needed.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    bases: Vec<u128>,
    /// The base of the flows that are listed.
    chosen: u8,
}

impl Clocks {
    /// Returns a time on the first base that is near it, or on a new one.
    pub(super) fn place(&mut self, time: u128) -> Instant {
        for (base, &begin) in (0..).zip(&self.bases) {
            let apart = time as i128 - begin as i128;
            if let Some(apart) =
                i64::try_from(apart).ok().filter(|apart| apart.unsigned_abs() <= LATEST_START.0)
            {
                return Instant { base, apart };
            }
        }
        if self.bases.len() == MOST_BASES {
            return Instant { base: NO_BASE, apart: 0 };
        }
        self.bases.push(time);
        Instant { base: self.bases.len() as u8 - 1, apart: 0 }
    }

    /// Returns the time for which [`Self::place`] returned `instant`; 0 if it has no base.
    pub(super) fn time(&self, instant: Instant) -> u128 {
        let begin = self.bases.get(usize::from(instant.base)).copied().unwrap_or(0);
        (begin as i128 + i128::from(instant.apart)) as u128
    }

    /// Returns the time of a listed flow that starts at `apart`.
    pub(super) fn listed(&self, apart: i64) -> u128 {
        self.time(Instant { base: self.chosen, apart })
    }

    /// Keeps the most flows that start within 26 days, and places their starts on one base; returns the others.
    pub(super) fn keep_most<F: Dated>(&mut self, flows: &mut Vec<F>) -> Vec<F> {
        let time = |clocks: &Self, flow: &F| {
            let start = flow.start();
            (start.base != NO_BASE).then(|| clocks.time(start))
        };
        let mut times: Vec<u128> = flows.iter().filter_map(|flow| time(self, flow)).collect();
        times.sort_unstable();
        let Some((first, last)) = window(&times) else { return std::mem::take(flows) };
        self.chosen = self.place(first).base;
        let begin = self.listed(0) as i128;
        let mut far = Vec::new();
        flows.retain_mut(|flow| match time(self, flow).filter(|time| (first..=last).contains(time)) {
            Some(time) => {
                // Both are within 26 days of `first`.
                flow.set_start((time as i128 - begin) as i64);
                true
            }
            None => {
                far.push(*flow);
                false
            }
        });
        far
    }
}

/// Returns the ends of the first window of 26 days that holds most of the sorted `times`; `None` if there are none.
fn window(times: &[u128]) -> Option<(u128, u128)> {
    let (mut begin, mut best) = (0, 0..0);
    for end in 0..times.len() {
        while times[end] - times[begin] > u128::from(LATEST_START.0) {
            begin += 1;
        }
        if end + 1 - begin > best.len() {
            best = begin..end + 1;
        }
    }
    let held = times.get(best)?;
    Some((*held.first()?, *held.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_from_their_bases_and_far_ones_share_none() {
        let mut clocks = Clocks::default();
        let day = 86_400_000_000_000_000u128;
        let times =
            [20_000 * day, 20_000 * day + 7, 3, 20_026 * day, 19_974 * day, 20_027 * day, 3 + 26 * day];
        let placed = times.map(|time| clocks.place(time));
        assert_eq!(placed.map(|instant| instant.base), [0, 0, 1, 0, 0, 2, 1]);
        assert_eq!(placed.map(|instant| clocks.time(instant)), times);
        let many: Vec<u8> = (1..70).map(|year| clocks.place(year * 100 * day + (1 << 90)).base).collect();
        assert_eq!((many[0], many[60], many[61]), (3, 63, NO_BASE));
    }

    #[test]
    fn the_window_holds_most_starts() {
        let day = 86_400_000_000_000_000u128;
        let at = |days: &[u128]| window(&days.iter().map(|days| days * day).collect::<Vec<_>>());
        assert_eq!(at(&[0, 30, 40, 56]), Some((30 * day, 56 * day)));
        assert_eq!(at(&[0, 26, 30, 40]), Some((26 * day, 40 * day)));
        assert_eq!((at(&[5]), at(&[])), (Some((5 * day, 5 * day)), None));
    }
}
