//! The load that flows offer to each tier of a network, on the wire and split evenly over equal paths.
//!
//! ```text
//! a link   = bytes on the wire that go over it, headers and gaps included, ACKs and what is sent again not
//! a tier   = those of its links over what these carry in the span, together (mean) and of the busiest
//! the span = that which is measured; of recorded flows from the first start to the last one there
//! ```

use std::collections::BTreeMap;

use priolane_core::ids::NodeId;
use priolane_core::units::{PS_PER_S, Time};
use priolane_lab::experiment::Experiment;
use priolane_lab::plan::{MeasuredFlows, Point, ResolvedRun, SteadyNeeds};
use priolane_sim::topology::Topology;
use priolane_workload::offered::{Volume, Window};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// The load that is offered at a point of the sweep, by its first seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointLoads {
    /// Keys and values of the point.
    pub point: Map<String, Json>,
    /// Seconds over which flows are offered.
    pub seconds: f64,
    /// From hosts up into the network and down again.
    pub tiers: Vec<TierLoad>,
    /// The needs of the steady state of each open-loop group.
    pub steady: Vec<SteadyNeeds>,
}

/// The load that is offered to the links of a tier, as parts of their capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierLoad {
    /// The name of the links: `hosts, sending`, `racks, up` and so on.
    pub tier: String,
    /// All of them together.
    pub mean: f64,
    /// The busiest.
    pub busiest: f64,
}

/// Returns the load that the flows of `built` offer; `None` if none starts within the span, or if the span is empty.
pub(super) fn offered(experiment: &Experiment, point: &Point, built: &ResolvedRun) -> Option<PointLoads> {
    let window = window(experiment, built)?;
    let span = window.until.since(window.from);
    let links = by_link(built, window);
    let topology = &built.scenario.topology;
    let mut tiers: BTreeMap<(u8, String), (f64, f64, f64)> = BTreeMap::new();
    let seconds = span.0 as f64 / PS_PER_S as f64;
    for (link, &bytes) in topology.links.iter().zip(&links) {
        let carries = link.rate.bps() as f64 / 8.0 * seconds;
        let tier = tiers.entry(tier_of(topology, [link.from.0, link.to.0])).or_default();
        *tier = (tier.0 + bytes, tier.1 + carries, tier.2.max(bytes / carries));
    }
    let line = |((_, tier), (bytes, carries, busiest))| TierLoad { tier, mean: bytes / carries, busiest };
    let tiers = tiers.into_iter().map(line).collect();
    let values = point.values.iter().cloned().collect();
    Some(PointLoads { point: values, seconds, tiers, steady: point.steady.clone() })
}

/// Returns the span in which flows count.
fn window(experiment: &Experiment, built: &ResolvedRun) -> Option<Window> {
    let sends = || experiment.groups.iter().filter(|group| group.app.part().sends());
    let recorded = sends().all(|group| group.app.part().is_replay());
    let starts = built.scenario.flows.iter().map(|flow| flow.start).filter(|&at| built.window.holds(at));
    let (first, last) = starts.fold((None::<Time>, None::<Time>), |(first, last), at| {
        (Some(first.map_or(at, |first| first.min(at))), last.max(Some(at)))
    });
    let (first, last) = first.zip(last)?;
    let window = match built.window {
        MeasuredFlows::Within(window) if !recorded => window,
        _ if recorded => Window { from: first, until: last },
        _ => Window { from: Time::ZERO, until: last },
    };
    (window.from < window.until).then_some(window)
}

/// By link, bytes on the wire of the flows that start in `window`, the last start included.
fn by_link(built: &ResolvedRun, window: Window) -> Vec<f64> {
    let (topology, frame) = (&built.scenario.topology, &built.scenario.frame);
    let mut links = vec![0.0; topology.links.len()];
    // By rack that is sent to, what each other rack sends there.
    let mut to_rack: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    for flow in &built.scenario.flows {
        let Some(size) = flow.size.filter(|_| (window.from..=window.until).contains(&flow.start)) else {
            continue;
        };
        let bytes = Volume::of_flow(size, frame).wire as f64;
        links[topology.uplink(flow.src).index()] += bytes;
        links[topology.downlink(flow.dst).index()] += bytes;
        let [from, to] = [flow.src, flow.dst].map(|host| topology.rack[host.index()]);
        if from != to {
            *to_rack.entry(to).or_default().entry(from).or_default() += bytes;
        }
    }
    for (rack, at) in to_rack {
        send_on(topology, rack, at, &mut links);
    }
    links
}

/// Adds to `links` what goes from switches, by number, to the switch of `rack`, hop by hop.
fn send_on(topology: &Topology, rack: u32, mut at: BTreeMap<u32, f64>, links: &mut [f64]) {
    // No way is longer than there are switches.
    for _ in 0..topology.switches {
        let mut next: BTreeMap<u32, f64> = BTreeMap::new();
        for (switch, bytes) in at.into_iter().filter(|&(switch, _)| switch != rack) {
            let hops = topology.links_to_rack(NodeId(topology.hosts + switch), rack);
            for link in &hops {
                let part = bytes / hops.len() as f64;
                links[link.index()] += part;
                *next.entry(topology.links[link.index()].to.0 - topology.hosts).or_default() += part;
            }
        }
        if next.is_empty() {
            return;
        }
        at = next;
    }
}

/// Returns the place of a link between two nodes among the tiers, and the name of its tier.
fn tier_of(topology: &Topology, [from, to]: [u32; 2]) -> (u8, String) {
    let tier = |node: u32| node.checked_sub(topology.hosts).map(|switch| topology.tier[switch as usize]);
    let name = |tier: u8| if tier == 0 { "racks".to_owned() } else { format!("tier {tier}") };
    match (tier(from), tier(to)) {
        (None, _) => (0, "hosts, sending".to_owned()),
        (_, None) => (u8::MAX, "hosts, receiving".to_owned()),
        (Some(a), Some(b)) if a < b => (1 + a, format!("{}, up", name(a))),
        (Some(a), Some(b)) if a > b => (u8::MAX - 1 - b, format!("{}, down", name(b))),
        (Some(a), _) => (u8::MAX / 2, format!("between {}", name(a))),
    }
}

#[cfg(test)]
mod span;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use priolane_lab::plan::{self, Options};

    use super::*;

    const TWO_RACKS: &str = r#"title = "Two racks"
schemes = ["newreno"]
time = { warmup = "0s", measure = "10s", drain = true }
topology = { kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 2, host_link = { rate = "10Gbps", delay = "1us" }, fabric_link = { rate = "40Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = [LIST]
"#;

    fn loads(list: &str) -> PointLoads {
        let text = TWO_RACKS.replace("LIST", list);
        let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
        let point = &points.points[0];
        let built = plan::build_at(&point.experiment, "newreno", 1).unwrap();
        offered(&point.experiment, point, &built).unwrap()
    }

    #[test]
    fn recorded_flows_load_each_tier_over_their_own_span() {
        // Hosts 0 and 1 share a rack. 146,000 B are 100 full packets of 1538 B on the wire: 153,800 B.
        let found = loads(
            r#"{ src = 0, dst = 1, size = "146000B" },
               { src = 0, dst = 2, size = "146000B", start = "1ms" }"#,
        );
        // In 1 ms a host's link carries 1.25 MB, two links of a rack 10 MB.
        assert_eq!(found.seconds, 1e-3);
        let tier = |name: &str| found.tiers.iter().find(|tier| tier.tier == name).unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
        near(tier("hosts, sending").busiest, 2.0 * 153_800.0 / 1.25e6);
        near(tier("hosts, sending").mean, 2.0 * 153_800.0 / 5e6);
        near(tier("hosts, receiving").busiest, 153_800.0 / 1.25e6);
        // One flow leaves its rack, over two spines; the other rack sends nothing.
        near(tier("racks, up").busiest, 76_900.0 / 5e6);
        near(tier("racks, up").mean, 153_800.0 / 20e6);
        near(tier("racks, down").mean, 153_800.0 / 20e6);
        let names: Vec<&str> = found.tiers.iter().map(|tier| tier.tier.as_str()).collect();
        assert_eq!(names, ["hosts, sending", "racks, up", "racks, down", "hosts, receiving"]);
    }

    #[test]
    fn a_list_at_one_instant_offers_no_load() {
        let text = TWO_RACKS.replace("LIST", r#"{ src = 0, dst = 1, size = "1kB" }"#);
        let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
        let built = plan::build_at(&points.points[0].experiment, "newreno", 1).unwrap();
        assert_eq!(offered(&points.points[0].experiment, &points.points[0], &built), None);
    }

    #[test]
    fn a_stated_load_is_found_on_the_links_of_hosts_and_racks() {
        let text = TWO_RACKS.replace("\"10s\"", "\"20ms\"").replace(
            "app = \"flows\"\nlist = [LIST]",
            "app = \"incast\"\nfan_in = 2\nsize = \"10kB\"\nload = { of = \"host\", counts = \"wire\", value = 0.3 }",
        );
        let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
        let point = &points.points[0];
        let built = plan::build_at(&point.experiment, "newreno", 1).unwrap();
        let found = offered(&point.experiment, point, &built).unwrap();
        let sending = found.tiers.iter().find(|tier| tier.tier == "hosts, sending").unwrap();
        assert!((sending.mean / 0.3 - 1.0).abs() < 0.01, "{sending:?}");
        assert!(sending.busiest >= sending.mean);
    }
}
