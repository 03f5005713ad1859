//! How long tests wait.

use std::time::{Duration, Instant};

/// How long a test waits for what happens at once on a machine that has nothing else to do: only what hangs takes so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that is so soon.
pub(crate) fn eventually(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not so within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
