//! Calls that wait.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::settings;

/// The time that a call waits between two checks for signals.
const SLICE: Duration = Duration::from_millis(100);

/// Calls `attempt` with how long it may wait, until it returns a value or `timeout` seconds have passed; looks for
/// signals in between.
#[expect(clippy::disallowed_methods, reason = "how long a caller waits reaches no result of a simulation")]
pub(super) fn wait<T: Send>(
    py: Python<'_>,
    timeout: Option<f64>,
    attempt: impl Fn(Duration) -> Option<T> + Sync,
) -> PyResult<Option<T>> {
    let timeout = timeout.map(|most| settings::seconds("timeout", most)).transpose()?;
    let started = Instant::now();
    loop {
        let left = timeout.map_or(SLICE, |most| most.saturating_sub(started.elapsed()));
        if let Some(value) = py.detach(|| attempt(left.min(SLICE))) {
            return Ok(Some(value));
        }
        py.check_signals()?;
        if timeout.is_some_and(|most| started.elapsed() >= most) {
            return Ok(None);
        }
    }
}
