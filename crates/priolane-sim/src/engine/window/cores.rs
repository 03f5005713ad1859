//! The number of cores that other programs leave to a run, as Linux counts them.
//!
//! Threads meet once per window. A thread that shares its core with another program delays all others at each meeting,
//! so that a run with more threads than idle cores is slower than one with fewer.

use std::time::Duration;

/// Number of looks at the system before a core counts as busy: programs that run for a moment do not count.
const LOOKS: u32 = 5;

/// Time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Returns the number of cores that no other thread of the system uses, this thread's included and thus at least one;
/// `most` if they are at least as many, or if the system does not tell.
pub(super) fn idle(most: usize) -> usize {
    idle_by(most, || std::fs::read_to_string("/proc/stat").ok(), || std::thread::sleep(BETWEEN_LOOKS))
}

/// As [`idle`], by the statistics that `read` returns. `wait` passes the time between two looks.
fn idle_by(most: usize, mut read: impl FnMut() -> Option<String>, mut wait: impl FnMut()) -> usize {
    let mut best = 1;
    for look in 0..LOOKS {
        if look > 0 {
            wait();
        }
        let Some(idle) = read().and_then(|stat| idle_in(&stat)) else { return most };
        best = best.max(idle);
        if best >= most {
            return most;
        }
    }
    best
}

/// Returns the number of idle cores by `/proc/stat` (proc_stat(5)), where this thread is one of those that run.
fn idle_in(stat: &str) -> Option<usize> {
    let is_core = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let cores = stat.lines().filter(is_core).count();
    let running: usize =
        stat.lines().find_map(|line| line.strip_prefix("procs_running "))?.trim().parse().ok()?;
    Some(cores.saturating_sub(running.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cores, and this many running threads.
    fn stat(running: usize) -> String {
        format!(
            "cpu  20 0 9 700\ncpu0 10 0 4 350\ncpu1 10 0 5 350\nintr 9 8\nprocs_running {running}\nprocs_blocked 0\n"
        )
    }

    /// Returns the idle cores of at most two, and the number of waits, if the system shows these numbers in turn.
    fn seen(running: &[usize]) -> (usize, usize) {
        let (mut looks, mut waits) = (running.iter(), 0);
        let idle = idle_by(2, || looks.next().map(|&running| stat(running)), || waits += 1);
        (idle, waits)
    }

    #[test]
    fn other_running_threads_take_cores_and_one_is_left() {
        assert_eq!(idle_in(&stat(1)), Some(2));
        assert_eq!(idle_in(&stat(2)), Some(1));
        assert_eq!(idle_in(&stat(12)), Some(0));
        assert_eq!(seen(&[12; 5]), (1, 4));
    }

    #[test]
    fn programs_that_run_for_a_moment_do_not_count() {
        assert_eq!(seen(&[1]), (2, 0));
        assert_eq!(seen(&[3, 2, 1]), (2, 2));
    }

    #[test]
    fn a_system_that_does_not_tell_has_all_cores() {
        assert_eq!(idle_in("cpu0 1 2 3\n"), None);
        assert_eq!(idle_by(7, || None, || ()), 7);
    }
}
