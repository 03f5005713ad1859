//! Networks of every kind, their paths and the times over them, which stay the same.
//!
//! Few runs use them all: links, tiers and racks, the path of each entropy in each way of choosing paths, the times of
//! flows alone and the lower bounds of all schemes, and the buffers with which tokens lose nothing.

use std::fmt::Write as _;

use priolane_core::ids::HostId;
use priolane_core::keys::WrittenValue;
use priolane_core::packet::Frame;
use priolane_core::port::TokenGroupSpec;
use priolane_core::units::Span;
use priolane_sim::topology::{
    AllowedPaths, BareTimes, Dumbbell, FatTree, LeafSpine, LeastTimes, LinkSpec, PathChoice, SingleSwitch,
    Spray, TokenTraffic, Topology, TopologySpec, file,
};

use crate::support::in_memory::InMemory;
use crate::support::kept::{assert_kept, digest_of};
use crate::support::{link, three_tiers};

/// A file with unlike paths and racks of unlike size.
const UNLIKE: &str = "node,a,host\nnode,b,host\nnode,c,host\nnode,l,switch\nnode,r,switch\nnode,fast,switch\n\
    node,near,switch\nlink,a,l,10Gbps,1us\nlink,c,l,25Gbps,2us\nlink,b,r,10Gbps,1us\nlink,l,fast,800Gbps,1us\n\
    link,fast,r,800Gbps,1us\nlink,l,near,1Gbps,100ns\nlink,near,r,1Gbps,100ns\n";

fn dragonfly() -> TopologySpec {
    let link = |rate: &str, delay: &str| {
        WrittenValue::Table(vec![("rate".into(), rate.into()), ("delay".into(), delay.into())])
    };
    let keys = [
        ("a", 3.into()),
        ("p", 2.into()),
        ("h", 2.into()),
        ("g", 4.into()),
        ("host_link", link("10Gbps", "1us")),
        ("local_link", link("40Gbps", "500ns")),
        ("global_link", link("100Gbps", "3us")),
    ];
    let table = InMemory(keys.map(|(key, value)| (key.to_owned(), value)).to_vec());
    TopologySpec::read("dragonfly", &mut table.clone())
        .expect("the keys are valid")
        .expect("there is such a kind")
}

fn networks() -> Vec<(&'static str, Topology)> {
    let slow = LinkSpec { loss: 0.01, ..link(10, Span::from_us(1)) };
    let (host_link, fabric_link, core_link) =
        (slow, link(40, Span::from_us(2)), link(100, Span::from_ns(700)));
    let leaf_spine =
        LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 4, host_link, fabric_link, links_per_pair: 2 };
    vec![
        ("leaf-spine", leaf_spine.build().unwrap()),
        ("fat tree", FatTree { k: 4, host_link, fabric_link }.build().unwrap()),
        ("three tiers", three_tiers(host_link, fabric_link, core_link).build().unwrap()),
        ("dragonfly", dragonfly().build().unwrap()),
        ("dumbbell", Dumbbell { left: 4, right: 3, host_link, bottleneck: core_link }.build().unwrap()),
        ("switch", SingleSwitch { hosts: 5, host_link }.build().unwrap()),
        ("unlike paths", file::parse(UNLIKE).unwrap()),
    ]
}

/// The paths between hosts and the times over them.
fn paths(topology: &Topology, frame: &Frame) -> String {
    let mut listing = String::new();
    let mut least =
        [AllowedPaths::Shortest, AllowedPaths::Any].map(|ways| LeastTimes::new(topology, frame, ways));
    let mut bare = BareTimes::new(topology, frame);
    for (src, dst) in
        (0..topology.hosts as u16).flat_map(|src| (0..topology.hosts as u16).map(move |dst| (src, dst)))
    {
        if src == dst || (src + dst) % 3 == 2 {
            continue;
        }
        let pair = (HostId(src), HostId(dst));
        for entropy in [0, 1, 2, 3, 77, 40_503, u16::MAX] {
            let path = topology.path(pair.0, pair.1, entropy);
            let fct = topology.bare_fct(frame, pair.0, pair.1, entropy, 30_001);
            write!(listing, "{path:?} {fct:?} {} ", topology.is_symmetric(pair, entropy)).unwrap();
        }
        for payload in [1, 1_460, 1_461, 100_000] {
            let bounds =
                least.each_mut().map(|least| (least.alone(pair, payload), least.legs(pair, payload)));
            write!(listing, "{bounds:?} {:?} ", bare.of(pair, 5, payload)).unwrap();
        }
        write!(listing, "{} ", topology.equal_paths(pair.0, pair.1)).unwrap();
    }
    listing
}

#[test]
fn networks_their_paths_and_the_times_over_them_are_what_they_always_were() {
    let choices =
        [PathChoice::Hashed, PathChoice::Pinned, PathChoice::Symmetric, PathChoice::Sprayed(Spray::Random)];
    let frame = Frame::ETHERNET;
    let mut lines = Vec::new();
    for (name, mut topology) in networks() {
        let rates = (0..topology.hosts as u16).map(|host| topology.host_capacity(HostId(host)));
        let rates: Vec<_> = rates.collect();
        let sum = topology.hosts_capacity((0..3).map(HostId));
        let whole = digest_of(&(&topology, topology.core_capacity(), rates, sum, topology.lookahead(&frame)));
        lines.push(format!("{name},nodes and links,{whole}"));
        for (expiry, signals) in [(Some(8), 0), (None, 10_000)] {
            let ports = TokenGroupSpec { expiry, ..TokenGroupSpec::TOP };
            let traffic = TokenTraffic { ports, frame, host_jitter: Span::from_ns(300), signals };
            lines.push(format!("{name},buffers {expiry:?},{}", digest_of(&topology.token_buffers(&traffic))));
        }
        for choice in choices {
            topology.path_choice = choice;
            lines.push(format!("{name},{choice:?},{}", digest_of(&paths(&topology, &frame))));
        }
    }
    assert_kept("networks.csv", &lines);
}
