//! How fast the engines are on this machine, beside a yardstick that is measured on it too.
//!
//! Nothing here decides a test: timings are for people. docs/bench.md says how to read them.

mod limit;
mod scenarios;

use std::ops::ControlFlow;

use cpu_time::ThreadTime;
use priolane_sim::scenario::{Engine, Scenario};
use priolane_sim::{Drive, run};
use serde::{Deserialize, Serialize};

pub use limit::Limit;

/// What to measure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Scenarios by name; empty for the usual ones.
    pub scenarios: Vec<String>,
    /// Runs of each, of which the fastest counts; 0 for the usual 3.
    pub repeat: u32,
    /// Whether the wheel engine is measured in place of the window engine.
    pub wheel: bool,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The yardstick's parts.
    pub limit: Limit,
    /// The scenarios.
    pub scenarios: Vec<Measured>,
}

/// One scenario on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Packets put on links.
    pub packet_hops: u64,
    /// Events the engine handled.
    pub events: u64,
    /// Thread CPU time of the fastest run, in seconds.
    pub cpu_s: f64,
    /// CPU nanoseconds per packet-hop.
    pub ns_per_hop: f64,
    /// `ns_per_hop` over the yardstick of a scenario of this size.
    pub ratio_to_limit: f64,
    /// Peak resident memory of the process during the runs, in bytes, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// The scenarios there are.
pub fn names() -> Vec<&'static str> {
    scenarios::ALL.iter().map(|s| s.name).collect()
}

/// Measures what `request` asks for; an unknown name is left out.
pub fn bench(request: &Request) -> Bench {
    let usual = |s: &&scenarios::Named| s.usual == scenarios::Usual::Yes;
    let asked = |s: &&scenarios::Named| request.scenarios.iter().any(|name| name == s.name);
    let wanted: Vec<&scenarios::Named> = match request.scenarios.is_empty() {
        true => scenarios::ALL.iter().filter(usual).collect(),
        false => scenarios::ALL.iter().filter(asked).collect(),
    };
    let limit = Limit::measure();
    let scenarios = wanted.into_iter().map(|named| measure(named, &limit, request)).collect();
    Bench { limit, scenarios }
}

fn measure(named: &scenarios::Named, limit: &Limit, request: &Request) -> Measured {
    let scenario = (named.make)();
    let engine = if request.wheel { Engine::Wheel } else { Engine::Window };
    forget_peak();
    let repeat = if request.repeat == 0 { 3 } else { request.repeat };
    let (mut cpu_s, mut work) = (f64::INFINITY, priolane_sim::outcome::Work::default());
    for _ in 0..repeat {
        let (seconds, done) = timed(&scenario, engine);
        cpu_s = cpu_s.min(seconds);
        work = done;
    }
    let ns_per_hop = cpu_s * 1e9 / work.packet_hops.max(1) as f64;
    Measured {
        name: named.name,
        packet_hops: work.packet_hops,
        events: work.events,
        cpu_s,
        ns_per_hop,
        ratio_to_limit: ns_per_hop / limit.yardstick(named.size),
        peak_bytes: peak_bytes(),
    }
}

fn timed(scenario: &Scenario, engine: Engine) -> (f64, priolane_sim::outcome::Work) {
    let start = ThreadTime::now();
    let outcome = run(scenario, Drive::on(engine), &mut |_| ControlFlow::Continue(()));
    let seconds = start.elapsed().as_secs_f64();
    (seconds, outcome.map(|o| o.work).unwrap_or_default())
}

/// Linux only: lets the peak start anew; elsewhere there is no peak to read.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_have_names_of_their_own_and_run_to_their_end() {
        let named = &scenarios::ALL[0];
        let mut scenario = (named.make)();
        scenario.flows.truncate(20);
        let (_, work) = timed(&scenario, Engine::Window);
        assert!(work.packet_hops > 10_000, "{work:?}");
        let mut names = names();
        names.dedup();
        assert_eq!(names.len(), scenarios::ALL.len());
    }
}
