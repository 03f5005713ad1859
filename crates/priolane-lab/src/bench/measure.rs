//! One scenario, run and measured: thread CPU time, work, peak memory.

use std::ops::ControlFlow;

use cpu_time::ThreadTime;
use priolane_sim::outcome::Work;
use priolane_sim::scenario::{Engine, Scenario};
use priolane_sim::{Drive, run};
use serde::{Deserialize, Serialize};

use super::BenchError;

/// What running a scenario took, before it is compared with anything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// Packets put on links.
    pub packet_hops: u64,
    /// Events the engine handled.
    pub events: u64,
    /// CPU time of the thread, in seconds, the median of all runs: from a scenario in memory to its outcome
    /// in memory, nodes set up and results collected.
    pub cpu_s: f64,
    /// The most memory held beyond what the process held before, in bytes; `None` where the system does not
    /// tell.
    pub peak_bytes: Option<u64>,
}

/// Runs `scenario`, called `name` in messages, `repeat` times (at least once) on `engine`.
///
/// # Errors
/// A run that fails, leaves a flow unfinished, or does other work than the run before.
pub(super) fn measure(
    name: &'static str,
    scenario: &Scenario,
    engine: Engine,
    repeat: u32,
) -> Result<Raw, BenchError> {
    let (first_s, work) = once(name, scenario, engine)?;
    let mut seconds = vec![first_s];
    for _ in 1..repeat {
        let (cpu_s, again) = once(name, scenario, engine)?;
        if again != work {
            return Err(BenchError::Unsteady { scenario: name, first: work, again });
        }
        seconds.push(cpu_s);
    }
    seconds.sort_by(f64::total_cmp);
    let cpu_s = seconds[seconds.len() / 2];
    Ok(Raw { packet_hops: work.packet_hops, events: work.events, cpu_s, peak_bytes: None })
}

/// CPU seconds and work of one run.
fn once(name: &'static str, scenario: &Scenario, engine: Engine) -> Result<(f64, Work), BenchError> {
    let start = ThreadTime::now();
    let outcome = run(scenario, Drive::on(engine), &mut |_| ControlFlow::Continue(()));
    let cpu_s = start.elapsed().as_secs_f64();
    let outcome = outcome.map_err(|source| BenchError::Run { scenario: name, source })?;
    let unfinished = outcome.flows.iter().filter(|flow| flow.fct.is_none()).count();
    if unfinished > 0 {
        return Err(BenchError::Unfinished { scenario: name, unfinished });
    }
    Ok((cpu_s, outcome.work))
}

/// Resident memory from a moment on (Linux: `/proc/self`).
#[derive(Debug)]
pub(super) struct Memory {
    before: Option<u64>,
}

impl Memory {
    /// From now on: forgets earlier peaks.
    pub(super) fn start() -> Self {
        let forgotten = std::fs::write("/proc/self/clear_refs", "5").is_ok();
        Self { before: status_bytes("VmRSS:").filter(|_| forgotten) }
    }

    /// The most that was held beyond what was held at the start, in bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        Some(status_bytes("VmHWM:")?.saturating_sub(self.before?))
    }
}

/// A size of `/proc/self/status`.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn peak_memory_counts_what_was_resident_since_the_start() {
        let memory = Memory::start();
        let block = vec![1u8; 128 << 20];
        assert!(std::hint::black_box(&block).iter().all(|&byte| byte == 1));
        drop(block);
        let peak = memory.peak().expect("Linux tells");
        // Other tests run beside this one: they may take memory meanwhile, or give back what they held at the start.
        assert!((96 << 20..384 << 20).contains(&peak), "{peak}");
    }
}
