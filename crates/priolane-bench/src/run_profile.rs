//! The parts of the time of a run, from the experiment to its tables.
//!
//! A second thread looks every half millisecond at what the run does. A run that takes less than a second is repeated, so
//! that each share is within some 3 percentage points (two standard deviations of 1,000 looks).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use priolane_lab::execute::{Failure, Job, OnProgress, Settings};
use priolane_lab::plan::{self, Run};
use priolane_results::store::{RunId, Store};
use priolane_sim::{Phase, PhaseMarker, Simulation};
use serde::Serialize;

/// Time between two looks.
const PERIOD: Duration = Duration::from_micros(500);
/// Number of looks until which a run is repeated, if it is short.
const LOOKS: u64 = 2_000;
/// Maximum number of repetitions.
const ROUNDS: u32 = 1_000;

/// The parts of the time of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Name of the scheme.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Processor time of one execution in seconds, mean over the repetitions.
    pub seconds: f64,
    /// Number of repetitions.
    pub rounds: u32,
    /// Share of each phase, largest first; they add up to 1.
    pub shares: Vec<Share>,
}

/// The share of a phase in the time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Name of the phase.
    pub phase: &'static str,
    /// Its share, 0 to 1.
    pub share: f64,
}

/// The result of a sampled execution.
#[derive(Debug)]
pub(crate) struct Sampled<T> {
    /// The result of the last repetition.
    pub(crate) last: T,
    /// Processor time of a repetition in seconds, mean.
    pub(crate) seconds: f64,
    /// Number of repetitions.
    pub(crate) rounds: u32,
    /// Share of each phase, largest first.
    pub(crate) shares: Vec<Share>,
}

/// The number of times that each phase was seen, in the order of [`Phase::ALL`].
type Counts = [u64; Phase::ALL.len()];

/// Executes `run` on this thread, as `priolane run` does, and profiles it. `dir`, which is empty, receives its results.
///
/// # Errors
/// As [`priolane_lab::execute::execute`].
pub fn profile(run: &Run, dir: &Path, progress: &mut OnProgress) -> Result<Profile, Failure> {
    let mut round = 0;
    let sampled = sample(|marker| {
        round += 1;
        execute_once(run, &dir.join(round.to_string()), marker, progress)
    })?;
    let Sampled { last: packet_hops, seconds, rounds, shares } = sampled;
    let (scheme, seed) = (run.scheme.clone(), run.seed);
    Ok(Profile { scheme, seed, packet_hops, seconds, rounds, shares })
}

/// Repeats `execute` on this thread until it took long enough, while another thread looks at the marker.
///
/// # Errors
/// The first error of `execute`.
pub(crate) fn sample<T, E>(
    mut execute: impl FnMut(&Arc<PhaseMarker>) -> Result<T, E>,
) -> Result<Sampled<T>, E> {
    let marker = PhaseMarker::new();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let counts = scope.spawn(|| count(&marker, &over));
        let repeated = repeat(|| execute(&marker));
        over.store(true, Ordering::Relaxed);
        let counts = counts.join().unwrap_or_default();
        let (last, seconds, rounds) = repeated?;
        Ok(Sampled { last, seconds, rounds, shares: shares(&counts) })
    })
}

/// Counts phases until the run is over.
fn count(marker: &PhaseMarker, over: &AtomicBool) -> Counts {
    let mut counts = Counts::default();
    while !over.load(Ordering::Relaxed) {
        thread::sleep(PERIOD);
        let phase = marker.phase();
        if let Some(place) = Phase::ALL.iter().position(|&each| each == phase) {
            counts[place] += 1;
        }
    }
    counts
}

/// Repeats `execute` until it took long enough. Returns the last result, the mean processor time, and the repetitions.
fn repeat<T, E>(mut execute: impl FnMut() -> Result<T, E>) -> Result<(T, f64, u32), E> {
    let enough = PERIOD.as_secs_f64() * LOOKS as f64;
    let start = ThreadTime::now();
    let mut rounds = 0;
    loop {
        let last = execute()?;
        rounds += 1;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= enough || rounds == ROUNDS {
            return Ok((last, seconds / f64::from(rounds), rounds));
        }
    }
}

fn execute_once(
    run: &Run,
    dir: &Path,
    marker: &Arc<PhaseMarker>,
    progress: &mut OnProgress,
) -> Result<u64, Failure> {
    marker.enter(Phase::Setup);
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    let (built, store) = (plan::build(run)?, Store::open(dir)?);
    let job = Job { run, built: &built, store: &store, id: &id };
    let simulate = &mut |scenario: &_, _, progress: &mut OnProgress| {
        let outcome = Simulation::of(scenario).reporting_to(progress).profile(marker);
        marker.enter(Phase::Results);
        outcome
    };
    let done = job.perform(&Settings::default(), None, simulate, progress)?;
    Ok(done.record().counters.packet_hops)
}

fn shares(counts: &Counts) -> Vec<Share> {
    let all: u64 = counts.iter().sum();
    let share = |(phase, &count): (Phase, &u64)| Share {
        phase: phase.name(),
        share: count as f64 / all.max(1) as f64,
    };
    let mut shares: Vec<Share> = Phase::ALL.into_iter().zip(counts).map(share).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use priolane_lab::plan::{Options, plan};

    use super::*;

    const EXPERIMENT: &str = r#"
title = "One switch"
schemes = ["dctcp"]
seeds = 1
time = { warmup = "0ms", measure = "5ms", drain = true }

[topology]
kind = "single_switch"
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.6 }
"#;

    #[test]
    fn shares_are_sorted_and_add_up() {
        let mut counts = Counts::default();
        counts[0] = 300;
        counts[2] = 700;
        let found = shares(&counts);
        assert_eq!(found[0], Share { phase: "switches", share: 0.7 });
        assert_eq!(found[1], Share { phase: "transport", share: 0.3 });
        assert_eq!(found.iter().map(|each| each.share).sum::<f64>(), 1.0);
    }

    #[test]
    fn a_run_spends_time_in_transport_hosts_and_switches_and_has_the_results_of_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("star.toml");
        std::fs::write(&file, EXPERIMENT).unwrap();
        let planned = plan(&file, &Options::default()).unwrap();
        let run = &planned.runs[0];
        let go_on = &mut |_| ControlFlow::Continue(());
        let found = profile(run, &dir.path().join("profiled"), go_on).unwrap();
        assert_eq!((found.scheme.as_str(), found.seed), ("dctcp", 1));
        for name in ["transport", "hosts", "switches"] {
            let share = found.shares.iter().find(|each| each.phase == name).map(|each| each.share);
            assert!(share.is_some_and(|share| share > 0.01), "{name}: {:?}", found.shares);
        }
        let plain =
            priolane_lab::execute::execute(run, &dir.path().join("plain"), &Settings::default(), go_on);
        let first = Store::at(&dir.path().join("profiled/1")).accept(&RunId::new(&run.id).unwrap()).unwrap();
        assert_eq!(&first, plain.unwrap().record());
        assert_eq!(found.packet_hops, first.counters.packet_hops);
    }
}
