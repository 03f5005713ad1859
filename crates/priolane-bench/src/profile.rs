//! The parts of a scenario's processor time.

use priolane_sim::scenario::SendJitter;
use priolane_sim::{Phase, Simulation};
use serde::Serialize;

use super::Request;
use super::error::BenchError;
use super::measure::build;
use crate::run_profile::{Sampled, Share, sample};

/// The parts of the processor time of a scenario, on one thread.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Name of the scenario.
    pub name: &'static str,
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Nanoseconds per packet-hop.
    pub ns_per_hop: f64,
    /// Share of each phase, largest first; results are those in memory.
    pub shares: Vec<Share>,
}

/// Profiles each scenario of `request`.
///
/// # Errors
/// Returns an error if a name is unknown, or a run fails.
pub fn profile(request: &Request) -> Result<Vec<Profile>, BenchError> {
    let mut rows = Vec::new();
    for named in request.selected_scenarios()? {
        let sampled = sample(|marker| {
            marker.enter(Phase::Setup);
            let scenario = build(named, request.flows, SendJitter::PACKET)?;
            let run = Simulation::of(&scenario).profile(marker);
            run.map_err(|source| BenchError::Run { scenario: named.name, source })
        })?;
        let Sampled { last, seconds, shares, .. } = sampled;
        let packet_hops = last.work.packet_hops;
        let ns_per_hop = seconds * 1e9 / packet_hops.max(1) as f64;
        rows.push(Profile { name: named.name, packet_hops, ns_per_hop, shares });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_switches_take_time() {
        let text = r#"{"scenarios": ["dctcp_leafspine144"], "repeat": 1, "flows": 3}"#;
        let found = profile(&serde_json::from_str(text).unwrap()).unwrap();
        let [row] = &found[..] else { panic!("one scenario") };
        assert!(row.packet_hops > 10_000 && row.ns_per_hop > 0.0, "{row:?}");
        for name in ["transport", "hosts", "switches", "engine", "setup"] {
            let share = row.shares.iter().find(|each| each.phase == name).map(|each| each.share);
            assert!(share.is_some_and(|share| share > 0.0), "{name}: {row:?}");
        }
    }
}
