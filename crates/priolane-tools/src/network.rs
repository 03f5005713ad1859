//! The switches, ports and hosts of an experiment's network, as the simulator builds it. `priolane export` takes them
//! from here, and compares what it has written with the three totals.

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
    let rates = topology.links.iter().filter(|link| link.from.0 < hosts).map(|link| link.rate.bps());
    Network {
        hosts,
        switches: topology.switches,
        ports: from_switches().count(),
        racks: topology.rack.clone(),
        host_rates: rates.collect::<BTreeSet<u64>>().into_iter().collect(),
        kinds: kinds.into_iter().map(kind).collect(),
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
