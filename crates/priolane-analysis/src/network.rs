//! The switches, ports and hosts of an experiment's network, as the simulator builds it. `priolane export` takes them
//! from here, and compares what it has written with the three totals.

mod failures;

use std::collections::BTreeSet;

use indexmap::IndexMap;
use priolane_lab::plan::{Definition, Options};
use priolane_sim::topology::{Topology, TopologySpec};
use priolane_source::InputError;
use serde::Serialize;

/// The network of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of switches.
    pub switches: u32,
    /// Number of ports of all switches: directed links that leave a switch.
    pub ports: usize,
    /// By host, the number of its rack: of the switch that its link leads to.
    pub racks: Vec<u32>,
    /// Rates of the links of hosts, in bits per second, the slowest first.
    pub host_rates: Vec<u64>,
    /// Switches with the same role and the same ports. Kinds with hosts come first.
    pub kinds: Vec<SwitchKind>,
    /// By rack, the rate of all links from its switch to other switches together, in bits per second.
    pub uplinks: Vec<u64>,
    /// Failures that leave every two hosts a path, as `fail` of an event names them: a link of each kind, and switches.
    pub failures: Vec<String>,
}

/// Switches with the same role and the same ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchKind {
    /// Their role, as `leaf`; for a switch of a topology file, its name.
    pub role: String,
    /// The names of the switches.
    pub names: Vec<String>,
    /// The ports of one of them: those to hosts first, then in order of links.
    pub ports: Vec<PortRun>,
}

/// Neighbouring ports of a switch with links of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PortRun {
    /// Number of ports.
    pub count: u32,
    /// Rate of each link, in bits per second.
    pub rate: u64,
}

/// Returns the network of `experiment`, at the first point of its sweep.
///
/// # Errors
/// Returns an [`InputError`] with all mistakes of the file.
pub fn network(experiment: &Definition, options: &Options) -> Result<Network, InputError> {
    let points = experiment.points(options)?;
    let own = &points.points.first().map_or(&points.experiment, |point| &*point.experiment).topology;
    let topology = own.build().map_err(|error| {
        let fix = "See docs/experiments.md for the kinds of topology";
        InputError::new(experiment.name(), None, "topology", error.to_string(), fix)
    })?;
    Ok(of(&own.spec, &topology))
}

/// Returns the network of `topology`, which was built from `spec`.
fn of(spec: &TopologySpec, topology: &Topology) -> Network {
    let hosts = topology.hosts;
    let mut ports: Vec<Vec<PortRun>> = vec![Vec::new(); topology.switches as usize];
    let from_switches = || topology.links.iter().filter(|link| link.from.0 >= hosts);
    for link in from_switches() {
        let runs = &mut ports[(link.from.0 - hosts) as usize];
        match runs.last_mut() {
            Some(run) if run.rate == link.rate.bps() => run.count += 1,
            _ => runs.push(PortRun { count: 1, rate: link.rate.bps() }),
        }
    }
    let mut kinds: IndexMap<(&str, Vec<PortRun>), Vec<String>> = IndexMap::new();
    for (name, ports) in topology.names[hosts as usize..].iter().zip(ports) {
        kinds.entry((spec.role(name), ports)).or_default().push(name.clone());
    }
    let kind = |((role, ports), names): ((&str, Vec<PortRun>), Vec<String>)| SwitchKind {
        role: role.to_owned(),
        names,
        ports,
    };
    let racks = topology.rack.iter().max().map_or(0, |&last| last as usize + 1);
    let mut uplinks = vec![0; racks];
    for (from, _, rate) in failures::joins(topology).filter(|&(from, ..)| from < racks) {
        uplinks[from] += rate;
    }
    let rates = topology.links.iter().filter(|link| link.from.0 < hosts).map(|link| link.rate.bps());
    Network {
        hosts,
        switches: topology.switches,
        ports: from_switches().count(),
        racks: topology.rack.clone(),
        host_rates: rates.collect::<BTreeSet<u64>>().into_iter().collect(),
        kinds: kinds.into_iter().map(kind).collect(),
        uplinks,
        failures: failures::survived(topology),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = r#"{ rate = "10Gbps", delay = "1us" }"#;

    /// Returns the network of an experiment with the topology `keys`.
    fn built(keys: &str) -> Network {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            r#"
            title = "Network"
            schemes = ["dctcp"]
            time = {{ measure = "1ms" }}
            topology = {{ {keys}, host_link = {LINK} }}
            group = [{{ name = "all", hosts = "*", app = "permutation", size = "1kB" }}]
            "#
        );
        let path = folder.path().join("x.toml");
        std::fs::write(&path, text).unwrap();
        network(&Definition::from_path(&path).unwrap(), &Options::default()).unwrap()
    }

    /// Returns the role, the number of switches and the ports of each kind.
    fn kinds(network: &Network) -> Vec<(&str, usize, u32)> {
        let ports = |kind: &SwitchKind| kind.ports.iter().map(|run| run.count).sum();
        network.kinds.iter().map(|kind| (kind.role.as_str(), kind.names.len(), ports(kind))).collect()
    }

    #[test]
    fn a_leaf_spine_has_leaves_and_spines() {
        let found = built(&format!(
            r#"kind = "leaf_spine", leaves = 3, spines = 2, hosts_per_leaf = 4, fabric_link = {LINK}"#
        ));
        // 3 (4 + 2) + 2 x 3.
        assert_eq!((found.hosts, found.switches, found.ports), (12, 5, 24));
        assert_eq!(kinds(&found), [("leaf", 3, 6), ("spine", 2, 3)]);
        assert_eq!(found.host_rates, [10_000_000_000]);
        assert_eq!(found.uplinks, [20_000_000_000; 3]);
        assert_eq!(found.failures, ["link:leaf0-spine0", "switch:spine0", "switch:spine1"]);
    }

    #[test]
    fn only_what_leaves_every_two_hosts_a_path_fails() {
        let spine = built(&format!(
            r#"kind = "leaf_spine", leaves = 3, spines = 1, hosts_per_leaf = 1, fabric_link = {LINK}"#
        ));
        assert!(spine.failures.is_empty());
        let twice = built(&format!(
            r#"kind = "leaf_spine", leaves = 2, spines = 1, links_per_pair = 2, hosts_per_leaf = 1, fabric_link = {LINK}"#
        ));
        assert_eq!(twice.failures, ["link:leaf0-spine0"]);
        let many = built(&format!(
            r#"kind = "leaf_spine", leaves = 2, spines = 9, hosts_per_leaf = 1, fabric_link = {LINK}"#
        ));
        assert_eq!(many.failures.len(), 1 + 6);
        assert!(built(r#"kind = "single_switch", hosts = 4"#).failures.is_empty());
    }

    #[test]
    fn each_tier_of_links_and_switches_fails() {
        let pods = format!(
            r#"kind = "three_tier", pods = 2, leaves_per_pod = 2, aggs_per_pod = 2, cores = 2, hosts_per_leaf = 2,
               pod_link = {LINK}, core_link = {LINK}"#
        );
        let cores = ["switch:core0", "switch:core1"];
        let aggregation = ["switch:agg0-0", "switch:agg0-1", "switch:agg1-0"];
        let found = built(&pods.replace('\n', ""));
        assert_eq!(found.failures[..2], ["link:leaf0-0-agg0-0", "link:agg0-0-core0"]);
        assert_eq!(found.failures[2..5], aggregation);
        assert_eq!(found.failures[5..], cores);
        assert_eq!(found.uplinks, [20_000_000_000; 4]);
        let fat = built(&format!(r#"kind = "fat_tree", k = 4, fabric_link = {LINK}"#));
        assert_eq!(fat.failures.iter().filter(|name| name.starts_with("link:")).count(), 2);
        assert_eq!(fat.failures.iter().filter(|name| name.starts_with("switch:core")).count(), 3);
        let keys = r#"kind = "dragonfly", a = 2, p = 1, h = 1, g = 3"#;
        let ring = built(&format!("{keys}, local_link = {LINK}, global_link = {LINK}"));
        // Three groups of two routers in a ring of six: any link may fail, and each router has hosts.
        assert_eq!(ring.failures, ["link:r0-0-r0-1"]);
    }

    #[test]
    fn routers_of_a_dragonfly_with_free_ports_are_of_two_kinds() {
        let keys = r#"kind = "dragonfly", a = 4, p = 1, h = 2, g = 4"#;
        let found = built(&format!("{keys}, local_link = {LINK}, global_link = {LINK}"));
        // Each of 4 groups has 2 links to each of 3 others, from its first 3 routers; 16 (1 + 3) + 24.
        assert_eq!((found.hosts, found.switches, found.ports), (16, 16, 88));
        assert_eq!(kinds(&found), [("router", 12, 6), ("router", 4, 4)]);
        assert_eq!(found.kinds[1].names, ["r0-3", "r1-3", "r2-3", "r3-3"]);
    }
}
