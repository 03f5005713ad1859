//! Runs one scenario and measures thread CPU time, work and peak memory.

use cpu_time::ThreadTime;
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Engine, Scenario, ScenarioSpec, SendJitter};
use priolane_sim::{Drive, Simulation};
use serde::{Deserialize, Serialize};

use super::dctcp::ScenarioBuildError;
use super::error::BenchError;
use super::limit::Extent;
use super::named::NamedScenario;

/// Raw measurements of a scenario, before comparison with the yardstick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Data packets delivered to hosts.
    pub delivered: u64,
    /// Events processed by the engine.
    pub events: u64,
    /// CPU time of the thread, in seconds, the median of all runs. Covers setup of the nodes, the run and collection of
    /// the results in memory.
    pub cpu_s: f64,
    /// Peak memory beyond that of the process before, in bytes; `None` if the system does not report it.
    pub peak_bytes: Option<u64>,
    /// Average load of the network.
    pub busy: Busy,
}

/// Time averages from the start to the last completion, computed by Little's law from counters of ports and flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Packets on links.
    pub on_links: f64,
    /// Packets in queues of ports.
    pub queued: f64,
    /// Flows that had started and were not complete.
    pub open_flows: f64,
    /// Links that carried at least one packet.
    pub links_used: u32,
}

impl Busy {
    /// Assumed working set of a port, in bytes.
    const PORT: f64 = 400.0;
    /// Assumed working set of a packet, in bytes.
    const PACKET: f64 = 64.0;
    /// Assumed working set of both ends of an active flow, in bytes.
    const FLOW: f64 = 512.0;

    /// Computes the averages of a run of `scenario`.
    pub(super) fn of(scenario: &Scenario, outcome: &Outcome) -> Self {
        let ends = scenario.flows.iter().zip(&outcome.flows);
        let last = ends.filter_map(|(flow, record)| Some(flow.start.0 + record.fct?.0)).max().unwrap_or(0);
        let per_ps = 1.0 / last.max(1) as f64;
        let on_link = |record: &PortClassRecord| {
            let link = &scenario.topology.links[record.link.index()];
            record.packets as f64 * link.delay.0 as f64 + link.rate.serialize(record.bytes).0 as f64
        };
        let waited = |record: &PortClassRecord| record.waited as f64;
        let mut links: Vec<_> =
            outcome.ports.iter().filter(|port| port.packets > 0).map(|port| port.link).collect();
        links.dedup();
        Self {
            on_links: outcome.ports.iter().map(on_link).sum::<f64>() * per_ps,
            queued: outcome.ports.iter().map(waited).sum::<f64>() * per_ps,
            open_flows: outcome.flows.iter().filter_map(|flow| flow.fct).map(|fct| fct.0 as f64).sum::<f64>()
                * per_ps,
            links_used: links.len() as u32,
        }
    }

    /// Returns N (packets on links plus a timer per active flow) and F (ports, packets and active flows) of the
    /// yardstick.
    pub fn extent(&self) -> Extent {
        let footprint = f64::from(self.links_used) * Self::PORT
            + (self.on_links + self.queued) * Self::PACKET
            + self.open_flows * Self::FLOW;
        Extent { pending: (self.on_links + self.open_flows).max(1.0) as u32, footprint: footprint as u32 }
    }
}

/// Builds a scenario with its first `flows` flows, or all. Hosts send with the random times of `send_jitter`.
///
/// # Errors
/// Returns an error only if a built-in scenario is invalid.
pub(super) fn build(
    named: &NamedScenario,
    flows: Option<u32>,
    send_jitter: SendJitter,
) -> Result<Scenario, BenchError> {
    let built = || Ok(ScenarioSpec { send_jitter, ..named.spec(flows)? }.build()?);
    built().map_err(|source: ScenarioBuildError| BenchError::ScenarioBuildError {
        scenario: named.name,
        source: source.into(),
    })
}

/// A timed run.
pub(super) struct TimedRun {
    pub(super) cpu_s: f64,
    pub(super) outcome: Outcome,
}

/// Runs `scenario`, called `name` in messages, `repeat` times (at least once) on `engine`.
///
/// # Errors
/// Returns an error if a run fails, leaves a flow incomplete, or does different work from the run before.
pub(super) fn measure(
    name: &'static str,
    scenario: &Scenario,
    engine: Engine,
    repeat: u32,
) -> Result<Raw, BenchError> {
    let TimedRun { cpu_s, outcome } = once(name, scenario, engine)?;
    let work = outcome.work;
    let delivered = outcome.received.packets;
    let mut seconds = vec![cpu_s];
    let busy = Busy::of(scenario, &outcome);
    drop(outcome);
    for _ in 1..repeat {
        let TimedRun { cpu_s, outcome } = once(name, scenario, engine)?;
        let again = outcome.work;
        if again != work {
            return Err(BenchError::Unsteady { scenario: name, first: work, again });
        }
        seconds.push(cpu_s);
    }
    seconds.sort_by(f64::total_cmp);
    let cpu_s = seconds[seconds.len() / 2];
    Ok(Raw { packet_hops: work.packet_hops, delivered, events: work.events, cpu_s, peak_bytes: None, busy })
}

/// Runs the scenario once, until all its flows complete.
pub(super) fn once(name: &'static str, scenario: &Scenario, engine: Engine) -> Result<TimedRun, BenchError> {
    let start = ThreadTime::now();
    let outcome = Simulation::of(scenario).run(Drive::on(engine));
    let cpu_s = start.elapsed().as_secs_f64();
    let outcome = outcome.map_err(|source| BenchError::Run { scenario: name, source })?;
    let unfinished = outcome.flows.iter().filter(|flow| flow.fct.is_none()).count();
    if unfinished > 0 {
        return Err(BenchError::Unfinished { scenario: name, unfinished });
    }
    Ok(TimedRun { cpu_s, outcome })
}

/// Resident memory from an instant on (Linux: `/proc/self`).
#[derive(Debug)]
pub(super) struct Memory {
    before: Option<u64>,
}

impl Memory {
    /// Starts now and resets the recorded peak.
    pub(super) fn start() -> Self {
        let forgotten = std::fs::write("/proc/self/clear_refs", "5").is_ok();
        Self { before: status_bytes("VmRSS:").filter(|_| forgotten) }
    }

    /// Returns the peak beyond the memory at the start, in bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        Some(status_bytes("VmHWM:")?.saturating_sub(self.before?))
    }
}

/// Reads a size in `/proc/self/status`.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::super::scenarios::find;
    use super::*;

    #[test]
    fn one_flow_is_on_its_links_as_often_as_its_packets_take() {
        let named = find("dctcp_permutation128").unwrap();
        let mut spec = named.spec(Some(1)).unwrap();
        spec.flows.edit(0, |flow| flow.size = Some(u64::from(spec.frame.mss())));
        let scenario = spec.build().unwrap();
        let TimedRun { outcome, .. } = once(named.name, &scenario, Engine::Window).unwrap();
        let busy = Busy::of(&scenario, &outcome);
        let counted: u64 = outcome.ports.iter().map(|port| port.packets).sum();
        assert_eq!(counted, outcome.work.packet_hops);
        // SYN, SYN/ACK and data follow each other without a gap, so that one packet is on a link from start to end; the
        // last ACKs come in addition.
        assert!((1.0..1.6).contains(&busy.on_links) && busy.queued == 0.0, "{busy:?}");
        // The whole duration except the jitter of the flow's start.
        assert!((busy.open_flows - 1.0).abs() < 1e-3, "{busy:?}");
        let flow = scenario.flows.at(0);
        let path = scenario.topology.path(flow.src, flow.dst, flow.entropy);
        assert_eq!(busy.links_used as usize, 2 * path.len());
        assert_eq!(busy.extent().pending, 2);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn peak_memory_counts_what_was_resident_since_the_start() {
        // Other tests allocate and free memory in the same process, so this test reruns itself in a process of its own.
        const ALONE: &str = "PRIOLANE_TEST_OF_PEAK_MEMORY";
        if std::env::var_os(ALONE).is_none() {
            let name = "measure::tests::peak_memory_counts_what_was_resident_since_the_start";
            let program = std::env::current_exe().expect("Linux names it");
            let child = std::process::Command::new(program)
                .args(["--exact", name, "--nocapture"])
                .env(ALONE, "1")
                .output();
            let child = child.expect("a test program starts again");
            let text = String::from_utf8_lossy(&child.stdout);
            assert!(child.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let memory = Memory::start();
        let block = vec![1u8; 128 << 20];
        assert!(std::hint::black_box(&block).iter().all(|&byte| byte == 1));
        drop(block);
        let peak = memory.peak().expect("Linux tells");
        assert!((127 << 20..132 << 20).contains(&peak), "{peak}");
    }
}
