//! Where the time of a run goes: hosts, switches, the engine, and what happens once per run.
//!
//! The clock is read before and after the nodes of one type run through a window, which is some hundreds of packets in
//! a busy network. Runs that are not measured do not read it.

use std::num::NonZeroU8;
use std::ops::ControlFlow;
use std::time::Duration;

use cpu_time::ThreadTime;
use priolane_sim::{PartTimes, run_in_turn};
use serde::Serialize;

use super::Request;
use super::error::BenchError;
use super::measure::build;

/// The processor time of a run on one thread, in nanoseconds per packet-hop.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Profile {
    /// Name of the scenario.
    pub name: &'static str,
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Hosts with their transports, links included.
    pub hosts: f64,
    /// Switches with their ports, links included.
    pub switches: f64,
    /// The engine: buckets, bitmaps, and the search for the next window.
    pub engine: f64,
    /// Creation of the nodes, and collection of the results in memory.
    pub once: f64,
}

/// Profiles the median run of each scenario of `request`.
///
/// # Errors
/// Returns an error if a name is unknown, or a run fails.
pub fn profile(request: &Request) -> Result<Vec<Profile>, BenchError> {
    let mut rows = Vec::new();
    for named in request.selected_scenarios()? {
        let scenario = build(named, request.flows)?;
        let mut runs = Vec::new();
        for _ in 0..request.repeat.max(1) {
            let start = ThreadTime::now();
            let run = run_in_turn(&scenario, NonZeroU8::MIN, &mut |_| ControlFlow::Continue(()));
            let all = start.elapsed();
            let (outcome, times) = run.map_err(|source| BenchError::Run { scenario: named.name, source })?;
            runs.extend(times.map(|times| (all, times, outcome.work.packet_hops)));
        }
        runs.sort_by_key(|&(all, ..)| all);
        rows.extend(runs.get(runs.len() / 2).map(|&(all, times, hops)| of(named.name, all, times, hops)));
    }
    Ok(rows)
}

fn of(name: &'static str, all: Duration, times: PartTimes, packet_hops: u64) -> Profile {
    let PartTimes { work, exchange, hosts, switches, .. } = times;
    let per_hop = |time: Duration| time.as_secs_f64() * 1e9 / packet_hops.max(1) as f64;
    Profile {
        name,
        packet_hops,
        hosts: per_hop(hosts),
        switches: per_hop(switches),
        engine: per_hop((work + exchange).saturating_sub(hosts + switches)),
        once: per_hop(all.saturating_sub(work + exchange)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_no_group_is_the_engines_and_the_rest_happens_once() {
        const MS: Duration = Duration::from_millis(1);
        let times = PartTimes {
            work: 80 * MS,
            exchange: 5 * MS,
            hosts: 40 * MS,
            switches: 30 * MS,
            ..PartTimes::default()
        };
        // 100 ms in 1,000,000 hops: 100 ns each.
        let Profile { hosts, switches, engine, once, .. } = of("x", 100 * MS, times, 1_000_000);
        let rounded = [hosts, switches, engine, once].map(f64::round);
        assert_eq!(rounded, [40.0, 30.0, 15.0, 15.0]);
    }

    #[test]
    fn hosts_and_switches_take_time() {
        let text = r#"{"scenarios": ["dctcp_leafspine144"], "repeat": 1, "flows": 3}"#;
        let [row] = profile(&serde_json::from_str(text).unwrap()).unwrap()[..] else {
            panic!("one scenario")
        };
        assert!(row.packet_hops > 10_000, "{row:?}");
        assert!([row.hosts, row.switches, row.engine, row.once].iter().all(|&ns| ns > 0.0), "{row:?}");
    }
}
