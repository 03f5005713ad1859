//! Predicts how much faster several threads are, from the work of each part of the network in each window.
//!
//! One thread runs the parts in turn ([`PartTimes`]). Threads meet once per window, so the time of a run on a thread
//! for each part is
//!
//! ```text
//! set-up and results + sum over windows of the slowest part + exchange / parts + windows * barrier
//! ```
//!
//! A barrier is a counter that all threads increment in turn: its time is measured with as many threads as the machine
//! has cores, and grows in proportion to the threads beyond. A part is assumed to take as long on a core of its own.

use std::num::NonZeroU8;
use std::time::Duration;

use cpu_time::ThreadTime;
use priolane_sim::scenario::{Scenario, SendJitter};
use priolane_sim::{PartTimes, Simulation, barrier_time};
use serde::Serialize;

use super::error::BenchError;
use super::measure::build;
use super::{NamedScenario, Request};

/// The numbers of parts.
const PARTS: [u8; 5] = [1, 2, 4, 8, 16];

/// The prediction for one scenario and number of threads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Predicted {
    /// Name of the scenario.
    pub name: &'static str,
    /// Number of parts, one for each thread; fewer than requested if the network has fewer racks.
    pub parts: usize,
    /// Windows in which a part had work.
    pub windows: u64,
    /// Time of all parts together, in seconds.
    pub work_s: f64,
    /// Sum over the windows of the time of the slowest part, in seconds.
    pub longest_s: f64,
    /// Time of the exchange between all parts, in seconds.
    pub exchange_s: f64,
    /// Time of a barrier, in microseconds.
    pub barrier_us: f64,
    /// Time of one thread divided by the predicted time.
    pub speedup: f64,
}

/// Predicts each scenario of `request` for several numbers of parts.
///
/// # Errors
/// Returns an error if a name is unknown, or a run fails.
pub fn predict(request: &Request) -> Result<Vec<Predicted>, BenchError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let barrier = Barriers::measure(cores);
    let mut rows = Vec::new();
    for named in request.selected_scenarios()? {
        let scenario = build(named, request.flows, SendJitter::PACKET)?;
        let mut alone: Option<Duration> = None;
        let mut parts_before = 0;
        for parts in PARTS {
            let parts = NonZeroU8::new(parts).unwrap_or(NonZeroU8::MIN);
            let Some(run) = Run::median(named, &scenario, parts, request.repeat)? else { break };
            if run.times.parts == parts_before {
                break;
            }
            parts_before = run.times.parts;
            let alone = *alone.get_or_insert(run.serial + run.times.work);
            rows.push(run.predicted(named.name, alone, barrier.time(parts_before)));
        }
    }
    Ok(rows)
}

/// Times of barriers.
#[derive(Clone, Copy, Debug)]
struct Barriers {
    /// Threads that were measured.
    threads: usize,
    time: Duration,
}

impl Barriers {
    fn measure(cores: usize) -> Self {
        let threads = cores.clamp(2, 64);
        let measured = NonZeroU8::new(threads as u8).unwrap_or(NonZeroU8::MIN);
        Self { threads, time: barrier_time(measured) }
    }

    /// Returns the time of a barrier of `parts` threads.
    fn time(self, parts: usize) -> Duration {
        if parts == 1 { Duration::ZERO } else { self.time.mul_f64(parts as f64 / self.threads as f64) }
    }
}

/// A measured run.
#[derive(Clone, Copy, Debug)]
struct Run {
    times: PartTimes,
    /// Set-up of nodes and collection of results.
    serial: Duration,
}

impl Run {
    fn once(
        named: &'static NamedScenario,
        scenario: &Scenario,
        parts: NonZeroU8,
    ) -> Result<Option<Self>, BenchError> {
        let start = ThreadTime::now();
        let run = Simulation::of(scenario).run_in_turn(parts);
        let all = start.elapsed();
        let (_, times) = run.map_err(|source| BenchError::Run { scenario: named.name, source })?;
        Ok(times.map(|times| Self { times, serial: all.saturating_sub(times.work + times.exchange) }))
    }

    /// Returns the run of median time; `None` if the scenario has no windows.
    fn median(
        named: &'static NamedScenario,
        scenario: &Scenario,
        parts: NonZeroU8,
        repeat: u32,
    ) -> Result<Option<Self>, BenchError> {
        let runs = (0..repeat.max(1)).map(|_| Self::once(named, scenario, parts));
        let Some(mut runs) = runs.collect::<Result<Option<Vec<_>>, _>>()? else { return Ok(None) };
        runs.sort_by_key(|run| run.serial + run.times.longest);
        Ok(Some(runs[runs.len() / 2]))
    }

    /// Predicts the speed-up over `alone` with a barrier of this time.
    fn predicted(&self, name: &'static str, alone: Duration, barrier: Duration) -> Predicted {
        let PartTimes { parts, windows, work, longest, exchange, .. } = self.times;
        let threads = self.serial.as_secs_f64()
            + longest.as_secs_f64()
            + if parts == 1 { 0.0 } else { exchange.as_secs_f64() / parts as f64 }
            + barrier.as_secs_f64() * windows as f64;
        Predicted {
            name,
            parts,
            windows,
            work_s: work.as_secs_f64(),
            longest_s: longest.as_secs_f64(),
            exchange_s: exchange.as_secs_f64(),
            barrier_us: barrier.as_secs_f64() * 1e6,
            speedup: alone.as_secs_f64() / threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_slowest_part_its_share_of_the_exchange_and_a_barrier_for_each_window_count() {
        let times =
            PartTimes { parts: 4, windows: 1_000, work: 800 * MS, longest: 300 * MS, exchange: 40 * MS };
        let run = Run { times, serial: 20 * MS };
        let barriers = Barriers { threads: 2, time: Duration::from_micros(1) };
        assert_eq!(barriers.time(4), Duration::from_micros(2));
        // 20 + 300 + 40 / 4 + 1,000 x 0.002 = 332 ms instead of 820 ms.
        let predicted = run.predicted("x", 820 * MS, barriers.time(4));
        assert!((predicted.speedup - 820.0 / 332.0).abs() < 1e-9, "{predicted:?}");
        // One part needs no barrier.
        assert_eq!(barriers.time(1), Duration::ZERO);
    }

    #[test]
    fn every_part_does_a_part_of_the_work() {
        let text = r#"{"scenarios": ["dctcp_leafspine144"], "repeat": 1, "flows": 3}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        let rows = predict(&request).unwrap();
        // The network has nine racks.
        assert_eq!(rows.iter().map(|row| row.parts).collect::<Vec<_>>(), [1, 2, 4, 8, 9]);
        for row in &rows {
            assert!(row.windows == rows[0].windows && row.windows > 1_000, "{row:?}");
            assert!(row.longest_s <= row.work_s && row.work_s <= row.longest_s * row.parts as f64, "{row:?}");
        }
        assert_eq!(rows[0].longest_s, rows[0].work_s);
    }
}
