//! Clocks of several machines: their offsets, and the conversion of times between clocks.
//!
//! The offset follows from four times of a question and its answer, as in NTP (RFC 5905, section 8): t1 and t4 by the
//! clock of the asking machine, t2 and t3 by that of the answering machine.
//!
//! ```text
//! offset     = ((t2 - t1) + (t3 - t4)) / 2      of the other clock, ahead of the own one
//! round trip =  (t4 - t1) - (t3 - t2)           the offset is right within half of it, whatever either way took
//! ```

use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

/// The offset of a clock from that of the machine that controls a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockOffset {
    /// The time by which the clock is ahead, in nanoseconds.
    pub offset_ns: i64,
    /// The largest error of the offset, in nanoseconds.
    pub uncertainty_ns: u64,
}

/// A machine of a run, with the offset of its clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineReport {
    /// The name of the machine.
    pub name: String,
    /// The hosts on the machine.
    pub hosts: Vec<u16>,
    /// The offset of the clock before the run.
    pub before: ClockOffset,
    /// The offset of the clock after the run.
    pub after: ClockOffset,
}

impl MachineReport {
    /// Returns the largest error of times of this machine by the clock of the controlling machine, in nanoseconds.
    pub fn uncertainty_ns(&self) -> u64 {
        self.before.uncertainty_ns.max(self.after.uncertainty_ns)
    }
}

/// The times of a question and its answer, in nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exchange {
    /// The time at which the question was sent.
    pub(crate) sent_ns: u64,
    /// The time at which the question arrived, by the other clock.
    pub(crate) received_ns: u64,
    /// The time at which the answer was sent, by the other clock.
    pub(crate) answered_ns: u64,
    /// The time at which the answer arrived.
    pub(crate) returned_ns: u64,
}

/// Returns `a - b`.
fn minus(a: u64, b: u64) -> i128 {
    i128::from(a) - i128::from(b)
}

impl Exchange {
    fn round_trip_ns(&self) -> u64 {
        let round_trip = minus(self.returned_ns, self.sent_ns) - minus(self.answered_ns, self.received_ns);
        u64::try_from(round_trip.max(0)).unwrap_or(u64::MAX)
    }

    fn offset(&self) -> ClockOffset {
        let twice = minus(self.received_ns, self.sent_ns) + minus(self.answered_ns, self.returned_ns);
        // One more for the nanosecond that the division may lose.
        let uncertainty_ns = self.round_trip_ns().div_ceil(2) + 1;
        let offset = (twice / 2).clamp(i64::MIN.into(), i64::MAX.into());
        ClockOffset { offset_ns: i64::try_from(offset).unwrap_or(i64::MAX), uncertainty_ns }
    }
}

/// The largest drift of a clock: 1 / `MOST_DRIFT` of the time, or 1 %, which is a hundred times that of oscillators.
const MOST_DRIFT: u64 = 100;
/// The time that may pass between two readings of one clock in addition, in nanoseconds, because a process may stop
/// between them.
const STOPS_NS: u64 = 100_000_000;

impl Exchange {
    /// Checks that the answer is possible: it was read and written within the time that the exchange took.
    ///
    /// # Errors
    /// Returns a text that says which times are impossible.
    pub(crate) fn check(&self) -> Result<(), String> {
        let took_ns = self.returned_ns.saturating_sub(self.sent_ns);
        let most_ns = took_ns.saturating_add(took_ns / MOST_DRIFT).saturating_add(1_000);
        match self.answered_ns.checked_sub(self.received_ns) {
            Some(held_ns) if held_ns <= most_ns => Ok(()),
            _ => Err(format!(
                "the times of its clock cannot be: it read a question at {} ns and answered it at {} ns, within {took_ns} ns",
                self.received_ns, self.answered_ns
            )),
        }
    }
}

impl ClockOffset {
    /// Checks that one clock can have had this offset and, `apart_ns` later, the offset `after`.
    ///
    /// # Errors
    /// Returns a text that says which offsets are impossible.
    pub(crate) fn check_drift(&self, after: &Self, apart_ns: u64) -> Result<(), String> {
        let known = self.uncertainty_ns.saturating_add(after.uncertainty_ns);
        let most = (apart_ns / MOST_DRIFT).saturating_add(known).saturating_add(STOPS_NS);
        if self.offset_ns.abs_diff(after.offset_ns) <= most {
            return Ok(());
        }
        Err(format!(
            "its clock was {} ns ahead, and {apart_ns} ns later {} ns: it was set, or stood still, in the run",
            self.offset_ns, after.offset_ns
        ))
    }
}

/// Returns the offset by the exchange with the smallest round trip.
pub(crate) fn best(exchanges: &[Exchange]) -> Option<ClockOffset> {
    exchanges.iter().min_by_key(|exchange| exchange.round_trip_ns()).map(Exchange::offset)
}

/// A clock that cannot be set: it starts with the time of the machine at its creation, and continues with the monotonic
/// clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineClock {
    at_ns: u64,
    made: Instant,
}

/// The number of readings of both clocks of a machine, of which the closest is taken, because other processes may run
/// between two readings.
const READINGS: usize = 5;

/// Reads the monotonic clock and the system clock, in nanoseconds since 1970, at one instant.
#[expect(clippy::disallowed_methods, reason = "real machines have clocks")]
pub(crate) fn read() -> (Instant, u64) {
    let reading = |_| {
        let before = Instant::now();
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (before.elapsed(), before, nanos(wall))
    };
    let closest = (0..READINGS).map(reading).min_by_key(|&(took, ..)| took);
    closest.map_or_else(|| (Instant::now(), 0), |(took, before, wall)| (before + took / 2, wall))
}

/// Returns the present instant by the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "a real host depends on the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the nanoseconds from `start` to `at`, or 0 if `at` is earlier.
pub(crate) fn since_ns(start: Instant, at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(start).as_nanos()).unwrap_or(u64::MAX)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

impl MachineClock {
    /// Returns the clock of this machine with an error of `shift_ns`.
    pub(crate) fn shifted(shift_ns: i64) -> Self {
        let (made, wall) = read();
        Self { at_ns: wall.saturating_add_signed(shift_ns), made }
    }

    /// Returns the present time in nanoseconds since 1970.
    pub(crate) fn now_ns(&self) -> u64 {
        self.at_ns.saturating_add(nanos(read().0.saturating_duration_since(self.made)))
    }

    /// Returns the time of the machine's system clock when this clock reads `at_ns`, or `None` if that time has passed.
    pub(crate) fn on_the_wall(&self, at_ns: u64) -> Option<u64> {
        // By one reading of both: a process may stop between two.
        let (instant, wall) = read();
        let now_ns = self.at_ns.saturating_add(nanos(instant.saturating_duration_since(self.made)));
        Some(wall.saturating_add(at_ns.checked_sub(now_ns)?))
    }
}

/// The drift of a clock during a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// The offsets of the clock before and after the run.
    pub(crate) offsets: [ClockOffset; 2],
    /// The times at which the offsets were measured, by the controller's clock in nanoseconds.
    pub(crate) measured_ns: [u64; 2],
    /// The start of the run by the controller's clock, based on the first offset, in nanoseconds.
    pub(crate) start_ns: u64,
}

impl Drift {
    /// Returns the time since the start that was `since_start_ns` by the drifting clock. The result is negative for
    /// times before the start. The drift is taken to be uniform.
    pub(crate) fn corrected(&self, since_start_ns: u64) -> i64 {
        let [before, after] = self.measured_ns;
        let lasted = minus(after, before).max(1);
        let gained = i128::from(self.offsets[1].offset_ns) - i128::from(self.offsets[0].offset_ns);
        let passed = minus(self.start_ns, before) + i128::from(since_start_ns);
        let corrected = i128::from(since_start_ns) - gained * passed / lasted;
        i64::try_from(corrected).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an exchange with a clock that is `ahead_ns` ahead. The question takes `there_ns`, the answer `back_ns`,
    /// and the other side 5 us.
    fn exchange(sent_ns: u64, ahead_ns: i64, [there_ns, back_ns]: [u64; 2]) -> Exchange {
        let received = sent_ns + there_ns;
        let answered = received + 5_000;
        Exchange {
            sent_ns,
            received_ns: received.saturating_add_signed(ahead_ns),
            answered_ns: answered.saturating_add_signed(ahead_ns),
            returned_ns: answered + back_ns,
        }
    }

    #[test]
    fn the_true_offset_is_within_half_of_the_smallest_round_trip() {
        for ahead_ns in [0, 3_600_000_000_000, -7_000_000_001] {
            let ways = [[400_000, 100_000], [30_000, 10_001], [10_000, 900_000]];
            let exchanges = ways.map(|ways| exchange(1_800_000_000_000_000_000, ahead_ns, ways));
            let found = best(&exchanges).unwrap();
            // The second took 40,001 ns: half of that and a nanosecond.
            assert_eq!(found.uncertainty_ns, 20_002);
            assert!(found.offset_ns.abs_diff(ahead_ns) <= found.uncertainty_ns, "{found:?}, not {ahead_ns}");
            // The way there took 20 us longer than the way back.
            assert!(found.offset_ns.abs_diff(ahead_ns + 10_000) <= 1, "{found:?}, not {ahead_ns}");
        }
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn an_answer_outside_the_time_of_its_question_cannot_be() {
        let right = exchange(1_800_000_000_000_000_000, -7_000_000_001, [400_000, 100_000]);
        assert_eq!(right.check(), Ok(()));
        for (received_ns, answered_ns) in [(u64::MAX, 0), (0, u64::MAX), (10, 9), (0, 511_051)] {
            let wrong = Exchange { received_ns, answered_ns, ..right };
            assert!(
                wrong.check().unwrap_err().starts_with("the times of its clock cannot be: "),
                "{wrong:?}"
            );
        }
        // It took 505,000 ns: a hundredth and a microsecond more.
        assert_eq!(Exchange { received_ns: 0, answered_ns: 511_050, ..right }.check(), Ok(()));
    }

    #[test]
    fn a_clock_that_was_set_in_the_run_is_noticed() {
        let offset = |offset_ns| ClockOffset { offset_ns, uncertainty_ns: 10 };
        // 1 % of 10 s, 20 ns and 100 ms.
        let before = offset(-5);
        for (after, right) in
            [(200_000_015, true), (200_000_016, false), (-200_000_025, true), (-200_000_026, false)]
        {
            assert_eq!(before.check_drift(&offset(after), 10_000_000_000).is_ok(), right, "{after}");
        }
        assert!(offset(i64::MIN).check_drift(&offset(i64::MAX), u64::MAX).is_err());
    }

    #[test]
    fn a_drift_is_taken_off_evenly() {
        let offset = |offset_ns| ClockOffset { offset_ns, uncertainty_ns: 10 };
        // 100 ppm over 10 s; the run starts 1 s after the first measurement.
        let drift = Drift {
            offsets: [offset(5_000_000), offset(6_000_000)],
            measured_ns: [1_000_000_000, 11_000_000_000],
            start_ns: 2_000_000_000,
        };
        // At the start the clock has gained 0.1 ms: what it calls the start was so much earlier.
        assert_eq!(drift.corrected(0), -100_000);
        // At 4 s of the run, 5 s after the measurement, the clock has gained 0.5 ms.
        assert_eq!(drift.corrected(4_000_000_000), 3_999_500_000);
        let slow = Drift { offsets: [offset(6_000_000), offset(5_000_000)], ..drift };
        assert_eq!(slow.corrected(4_000_000_000), 4_000_500_000);
        let even = Drift { offsets: [offset(5_000_000); 2], ..drift };
        assert_eq!(even.corrected(4), 4);
    }

    #[test]
    fn a_shifted_clock_knows_the_time_on_the_wall() {
        let shift = 5_000_000_000;
        let clock = MachineClock::shifted(shift);
        let own = MachineClock::shifted(0);
        let apart = clock.now_ns() - own.now_ns();
        assert!(apart.abs_diff(5_000_000_000) < 1_000_000_000, "{apart}");
        let at = clock.now_ns() + 10_000_000_000;
        let wall = clock.on_the_wall(at).unwrap();
        assert!(wall.abs_diff(own.now_ns() + 10_000_000_000) < 1_000_000_000, "{wall}");
        assert_eq!(clock.on_the_wall(1), None);
    }

    #[test]
    fn a_clock_is_as_uncertain_as_at_its_worse_reading() {
        let offset = |uncertainty_ns| ClockOffset { offset_ns: 0, uncertainty_ns };
        let of = |before, after| MachineReport {
            name: String::new(),
            hosts: Vec::new(),
            before: offset(before),
            after: offset(after),
        };
        assert_eq!((of(3, 7).uncertainty_ns(), of(7, 3).uncertainty_ns()), (7, 7));
    }
}
