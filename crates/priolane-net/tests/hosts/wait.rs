//! Waits of tests, with their limit.

use std::time::{Duration, Instant};

/// The time that a test waits for an event that an idle machine brings about at once. Only a test that hangs takes this
/// long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a condition holds, and fails if it does not within [`PATIENCE`].
pub(crate) fn eventually(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not so within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
