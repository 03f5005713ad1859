//! Metrics of sets of ports over a whole run: waiting time, drops, utilization and queue length.

use std::collections::BTreeMap;

use priolane_core::ids::LinkId;
use priolane_core::port::DisciplineSpec;
use priolane_core::units::{PS_PER_S, Span};
use priolane_sim::outcome::{Outcome, PortQueue};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::{Link, TokenTraffic, Topology};

use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit};
use priolane_results::summary::{PortSet, PortSummary};

const OF_SET: Metric = Metric { scope: Scope::Ports, ..Metric::OF_FLOWS };

/// Metrics of a set of ports; its name takes the place of the class in paths.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "port_wait",
        meaning: "Mean time from arrival at a port to start of service",
        unit: Unit::Seconds,
        eval: |c| of(c, |set| set.wait_s),
        ..OF_SET
    },
    Metric {
        name: "port_drop_rate",
        meaning: "Part of the offered packets that were dropped",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |set| set.drop_rate),
        ..OF_SET
    },
    Metric {
        name: "port_utilization",
        meaning: "Bytes sent over what the lines can carry, mean over ports",
        unit: Unit::Part,
        eval: |c| of(c, |set| set.utilization),
        ..OF_SET
    },
    Metric {
        name: "port_busiest",
        meaning: "The same of the busiest port",
        unit: Unit::Part,
        eval: |c| of(c, |set| set.busiest),
        ..OF_SET
    },
    Metric {
        name: "port_max_queue",
        meaning: "Most bytes that waited at once in the payload queues of one port",
        unit: Unit::Bytes,
        eval: |c| of(c, |set| Some(set.max_queue_bytes? as f64)),
        ..OF_SET
    },
    Metric {
        name: "port_queue_bound",
        meaning: "Most bytes that can wait at one port, where tokens call for data",
        unit: Unit::Bytes,
        eval: |c| of(c, |set| Some(set.queue_bound_bytes? as f64)),
        ..OF_SET
    },
    Metric {
        name: "port_queue_of_bound",
        meaning: "Largest part of its own bound that waited at a port",
        unit: Unit::Part,
        eval: |c| of(c, |set| set.queue_of_bound),
        ..OF_SET
    },
];

fn of(context: &Context, value: fn(&PortSummary) -> Option<f64>) -> Result<f64, Missing> {
    context.of_run(|run| value(run.ports.get(&PortSet::named(context.class)?)?))
}

/// Whether the egress port of `link` belongs to `set`.
fn holds(set: PortSet, link: &Link, topology: &Topology) -> bool {
    let of_host = |node: usize| node < topology.hosts as usize;
    let (from_host, to_host) = (of_host(link.from.index()), of_host(link.to.index()));
    match set {
        PortSet::Hosts => from_host,
        PortSet::Edge => !from_host && to_host,
        PortSet::Core => !from_host && !to_host,
        PortSet::Switches => !from_host,
    }
}

/// Summarizes each set of ports of a run. `zero_loss` is the buffer of each link, if buffers are dimensioned for zero
/// data loss.
pub(crate) fn summarize(
    scenario: &ScenarioSpec,
    zero_loss: Option<&[u64]>,
    outcome: &Outcome,
) -> BTreeMap<PortSet, PortSummary> {
    let bounds = bounds(scenario, zero_loss);
    let topology = &scenario.topology;
    PortSet::ALL
        .into_iter()
        .map(|set| {
            let mut summary = summarize_ports(set, topology, outcome);
            queues(&mut summary, set, (topology, bounds.as_deref()), outcome);
            (set, summary)
        })
        .collect()
}

/// Returns the bound on the queue of each link; `None` unless ports limit tokens.
fn bounds(scenario: &ScenarioSpec, zero_loss: Option<&[u64]>) -> Option<Vec<u64>> {
    let DisciplineSpec::Tokens(ports) = scenario.ports.first()?.discipline else { return None };
    let traffic = TokenTraffic { ports, frame: scenario.frame, host_jitter: Span::ZERO, signals: 0 };
    Some(zero_loss.map_or_else(|| scenario.topology.token_buffers(&traffic), <[u64]>::to_vec))
}

/// Sets the maximum queue lengths of a set, and the bounds of its links.
fn queues(
    summary: &mut PortSummary,
    set: PortSet,
    (topology, bounds): (&Topology, Option<&[u64]>),
    outcome: &Outcome,
) {
    if set == PortSet::Hosts {
        return;
    }
    let own = |link: usize| holds(set, &topology.links[link], topology);
    let queues = || outcome.queues.iter().filter(|queue| own(queue.link.index()));
    summary.max_queue_bytes = Some(queues().map(|queue| queue.peak_bytes).max().unwrap_or(0));
    let Some(bounds) = bounds else { return };
    let of_set = (0..bounds.len()).filter(|&link| own(link));
    summary.queue_bound_bytes = of_set.map(|link| bounds[link]).max();
    let part = |queue: &PortQueue| queue.peak_bytes as f64 / bounds[queue.link.index()].max(1) as f64;
    summary.queue_of_bound = Some(queues().map(part).fold(0.0, f64::max));
}

/// Counts what the ports of a set transmitted and dropped.
fn summarize_ports(set: PortSet, topology: &Topology, outcome: &Outcome) -> PortSummary {
    let mut bytes = vec![0_u64; topology.links.len()];
    for port in &outcome.ports {
        bytes[port.link.index()] += port.bytes;
    }
    let seconds = outcome.stopped_at.0 as f64 / PS_PER_S as f64;
    let used = |link: usize| bytes[link] as f64 * 8.0 / (topology.links[link].rate.bps() as f64 * seconds);
    let own = |link: LinkId| holds(set, &topology.links[link.index()], topology);
    let mut summary = PortSummary::default();
    let mut waited = 0_u128;
    for port in outcome.ports.iter().filter(|port| own(port.link)) {
        summary.packets += port.packets;
        summary.dropped += port.dropped;
        waited += u128::from(port.waited);
    }
    let links = (0..topology.links.len()).filter(|&link| holds(set, &topology.links[link], topology));
    let used: Vec<f64> = links.map(used).collect();
    summary.ports = used.len() as u64;
    let offered = summary.packets + summary.dropped;
    let over = |value: f64, count: u64| (count > 0).then(|| value / count as f64);
    summary.wait_s = over(waited as f64 / PS_PER_S as f64, summary.packets);
    summary.drop_rate = over(summary.dropped as f64, offered);
    if seconds > 0.0 {
        summary.utilization = over(used.iter().sum(), summary.ports);
        summary.busiest = used.iter().copied().reduce(f64::max);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::units::{Rate, Span, Time};
    use priolane_sim::outcome::PortClassRecord;
    use priolane_sim::topology::{Dumbbell, LinkSpec};

    /// Two hosts on each side at 10 Gbps, 40 Gbps in between: links 0 to 7 are the hosts' up- and downlinks, 8 and 9
    /// the core.
    #[test]
    fn sums_are_by_set_over_all_classes() {
        let link = |gbps: u64| LinkSpec {
            rate: Rate::from_bps(gbps * 1_000_000_000).unwrap(),
            delay: Span::from_us(1),
            loss: 0.0,
        };
        let topology = Dumbbell { left: 2, right: 2, host_link: link(10), bottleneck: link(40) };
        let topology = topology.build().unwrap();
        let row = |link, class, packets, waited| PortClassRecord {
            link: LinkId(link),
            class,
            packets,
            bytes: packets * 1_000,
            waited,
            dropped: u64::from(link == 8),
            ..PortClassRecord::default()
        };
        let ports = vec![row(0, 0, 10, 0), row(8, 0, 3, 3_000_000), row(8, 1, 1, 5_000_000), row(5, 0, 4, 0)];
        let stopped_at = Time(10_000_000);
        let queue = |link, peak_bytes| PortQueue { link: LinkId(link), peak_bytes, waited: 1 };
        let queues = vec![queue(5, 3_076), queue(8, 1_538)];
        let outcome = Outcome { ports, queues, stopped_at, ..Outcome::default() };
        // Bounds are 10,000 B at hosts' links and 2,000 B at core links.
        let bounds: Vec<u64> = (0..10).map(|link| if link < 8 { 10_000 } else { 2_000 }).collect();
        let sets: BTreeMap<PortSet, PortSummary> = PortSet::ALL
            .into_iter()
            .map(|set| {
                let mut summary = summarize_ports(set, &topology, &outcome);
                super::queues(&mut summary, set, (&topology, Some(&bounds)), &outcome);
                (set, summary)
            })
            .collect();
        // Link 0: 10,000 B of 12,500 B in 10 us; link 8: 4,000 B of 50,000 B, and two directions; link 5: 4,000 B.
        let [hosts, edge, core, switches] = PortSet::ALL.map(|set| sets[&set]);
        let near = |got: Option<f64>, expected: f64| (got.unwrap() / expected - 1.0).abs() < 1e-12;
        assert!(hosts.ports == 4 && near(hosts.utilization, 0.2) && near(hosts.busiest, 0.8), "{hosts:?}");
        assert!(edge.ports == 4 && near(edge.busiest, 0.32) && edge.wait_s == Some(0.0), "{edge:?}");
        assert!(core.ports == 2 && near(core.utilization, 0.04) && near(core.busiest, 0.08), "{core:?}");
        // 8 us over four packets; two of six dropped.
        assert_eq!((core.packets, core.wait_s), (4, Some(2e-6)));
        assert_eq!((core.dropped, core.drop_rate), (2, Some(2.0 / 6.0)));
        assert_eq!((switches.ports, switches.packets, switches.wait_s), (6, 8, Some(1e-6)));
        let waiting = |set: PortSummary| (set.max_queue_bytes, set.queue_bound_bytes, set.queue_of_bound);
        assert_eq!(waiting(hosts), (None, None, None));
        assert_eq!(waiting(edge), (Some(3_076), Some(10_000), Some(0.3076)));
        assert_eq!(waiting(core), (Some(1_538), Some(2_000), Some(0.769)));
        assert_eq!(waiting(switches), (Some(3_076), Some(10_000), Some(0.769)));
    }
}
