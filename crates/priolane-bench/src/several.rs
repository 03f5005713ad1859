//! Compares one run on several threads with the same run on one thread, for `priolane bench --threads N`.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads clocks")]

use std::num::NonZeroU8;
use std::time::Instant;

use priolane_sim::scenario::{Scenario, SendJitter};
use priolane_sim::{Drive, Fallback, Simulation, Threads};
use serde::{Deserialize, Serialize};

use super::error::BenchError;
use super::measure::build;
use super::scenarios::find;

/// The scenarios to compare.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Scenarios by name.
    pub scenarios: Vec<String>,
    /// Number of threads of the parallel run.
    pub threads: NonZeroU8,
    /// Pairs of runs, at least 1.
    pub repeat: u32,
    /// Number of flows of each scenario to run, at least 1; `None` for all.
    #[serde(default)]
    pub flows: Option<u32>,
}

/// A scenario on one thread and on several, run alternately.
#[derive(Clone, Debug, Serialize)]
pub struct Several {
    /// Name of the scenario.
    pub name: &'static str,
    /// Number of threads of the parallel run.
    pub threads: u8,
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Wall-clock time on one thread, in seconds: the median.
    pub alone_s: f64,
    /// Wall-clock time on several threads, in seconds: the median; fallback to one thread is disabled.
    pub several_s: f64,
    /// Median over the pairs of the single-threaded time divided by the multi-threaded time.
    pub speedup: f64,
}

/// Compares each scenario of `request`.
///
/// # Errors
/// Returns an error if a name is unknown, a run fails, or the outcome on several threads differs.
pub fn several(request: &Request) -> Result<Vec<Several>, BenchError> {
    let one = |name: &String| {
        let named = find(name).ok_or_else(|| BenchError::Unknown { name: name.clone() })?;
        let scenario = build(named, request.flows, SendJitter::PACKET)?;
        let mut pairs = Vec::new();
        let mut packet_hops = 0;
        for _ in 0..request.repeat.max(1) {
            let alone = timed(named.name, &scenario, Threads::ONE)?;
            let threads = Threads { most: request.threads, fallback: Fallback::Never };
            let several = timed(named.name, &scenario, threads)?;
            if alone.work != several.work {
                return Err(BenchError::Unsteady {
                    scenario: named.name,
                    first: alone.work,
                    again: several.work,
                });
            }
            packet_hops = alone.work.packet_hops;
            pairs.push((alone.seconds, several.seconds));
        }
        let median = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = pairs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Ok(Several {
            name: named.name,
            threads: request.threads.get(),
            packet_hops,
            alone_s: median(|pair| pair.0),
            several_s: median(|pair| pair.1),
            speedup: median(|pair| pair.0 / pair.1),
        })
    };
    request.scenarios.iter().map(one).collect()
}

struct TimedRun {
    seconds: f64,
    work: priolane_sim::outcome::Work,
}

fn timed(name: &'static str, scenario: &Scenario, threads: Threads) -> Result<TimedRun, BenchError> {
    let start = Instant::now();
    let drive = Drive { threads, ..Drive::on(priolane_sim::scenario::Engine::Window) };
    let outcome = Simulation::of(scenario).run(drive);
    let seconds = start.elapsed().as_secs_f64();
    let outcome = outcome.map_err(|source| BenchError::Run { scenario: name, source })?;
    Ok(TimedRun { seconds, work: outcome.work })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runs_do_the_same_work() {
        let text = r#"{"scenarios": ["dctcp_leafspine144"], "threads": 2, "repeat": 1, "flows": 3}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        let [row] = &several(&request).unwrap()[..] else { panic!("one scenario") };
        assert!(row.packet_hops > 10_000 && row.speedup > 0.0 && row.threads == 2, "{row:?}");
        let unknown = Request { scenarios: vec!["dctcp".to_owned()], ..request };
        assert!(several(&unknown).unwrap_err().to_string().contains("dctcp_leafspine144"));
    }
}
