//! Our side of a comparison with another simulator: the common flow list, and one timed run of it.

use priolane_sim::scenario::{Engine, SendJitter};
use serde::Serialize;

use super::dctcp::LIST;
use super::error::BenchError;
use super::measure::{TimedRun, build, once};
use super::named::NamedScenario;
use super::scenarios::find;

/// The scenario that the other simulators run too; docs/performance.md has its parameters.
pub(crate) const SCENARIO: &str = "dctcp_leafspine144";

/// One run, with the fields that the programs of the other simulators print.
#[derive(Clone, Debug, Serialize)]
pub struct PeerResult {
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// CPU time in seconds, for setup, run and collection of results.
    pub cpu_s: f64,
    /// Payload bytes of each flow.
    pub flow_bytes: Vec<u64>,
    /// Flow completion time of each flow, in seconds, including the handshake.
    pub fct_s: Vec<f64>,
}

/// Returns the header of the flow list (comment and column names) and its first `flows` flows.
pub fn flow_list(flows: u32) -> String {
    let is_flow = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
    let head = LIST.lines().filter(|line| !is_flow(line));
    let rows = LIST.lines().filter(is_flow).take(flows as usize);
    head.chain(rows).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the common scenario.
///
/// # Errors
/// Returns an error only if the scenario was renamed.
pub(super) fn scenario() -> Result<&'static NamedScenario, BenchError> {
    find(SCENARIO).ok_or_else(|| BenchError::Unknown { name: SCENARIO.to_owned() })
}

/// Runs the first `flows` flows once, in this thread. The other simulators have no random times at hosts, so neither has
/// this run.
///
/// # Errors
/// Returns an error if the run fails or leaves a flow incomplete.
pub fn side(flows: u32) -> Result<PeerResult, BenchError> {
    let named = scenario()?;
    let scenario = build(named, Some(flows), SendJitter::NONE)?;
    let TimedRun { cpu_s, outcome } = once(named.name, &scenario, Engine::Window)?;
    let fct_s = outcome.flows.iter().filter_map(|flow| Some(flow.fct?.as_secs_f64())).collect();
    let flow_bytes = scenario.flows.iter().filter_map(|flow| flow.size).collect();
    Ok(PeerResult { packet_hops: outcome.work.packet_hops, cpu_s, flow_bytes, fct_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_the_head_and_the_first_flows() {
        let list = flow_list(2);
        let rows: Vec<&str> = list.lines().skip_while(|line| line.starts_with('#')).collect();
        assert_eq!(rows, ["start_ns,src,dst,bytes", "2286,16,66,7861", "24962,120,97,1887233"]);
        assert_eq!(flow_list(u32::MAX).lines().count(), LIST.lines().count());
    }

    #[test]
    fn side_has_each_flow_of_the_list_in_order() {
        let side = side(3).unwrap();
        assert_eq!(side.flow_bytes, [7_861, 1_887_233, 57_561]);
        // 1,887,233 B at 10G take at least 1.51 ms.
        assert!(side.fct_s.len() == 3 && (1.5e-3..1.0e-2).contains(&side.fct_s[1]), "{:?}", side.fct_s);
        // The second flow alone: 1,304 packets and as many ACKs, each over 2 or 4 links.
        assert!(side.packet_hops > 2 * 2 * 1_304, "{}", side.packet_hops);
    }
}
