//! `[topology]` and `[frame]`: the network of an experiment.

use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};
use priolane_sim::topology::{
    Dumbbell, FatTree, LeafSpine, LinkSpec, PathChoice, SingleSwitch, Spray, ThreeTier, Topology,
    TopologyError, file,
};
use priolane_source::quantity::{as_text, show_bytes};
use priolane_source::{Field, InputError, Merge, Own, Reader, Replace, SIZE_LIMIT};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::Sources;

/// The network, as the file states it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// Its shape.
    #[serde(flatten)]
    pub shape: Shape,
    /// How one of several equal paths is taken.
    pub paths: Paths,
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// Every leaf is linked to every spine.
    LeafSpine {
        /// Leaf switches.
        leaves: u32,
        /// Spine switches.
        spines: u32,
        /// Hosts on each leaf.
        hosts_per_leaf: u32,
        /// Parallel links between each leaf and each spine.
        links_per_pair: u32,
        /// Each host's link.
        host_link: LinkText,
        /// Each link between switches.
        fabric_link: LinkText,
    },
    /// Three tiers of switches with `k` ports.
    FatTree {
        /// Ports of a switch.
        k: u32,
        /// Each host's link.
        host_link: LinkText,
        /// Each link between switches.
        fabric_link: LinkText,
    },
    /// Pods of leaves and aggregation switches under core switches.
    ThreeTier {
        /// Number of pods.
        pods: u32,
        /// Leaf switches of each pod.
        leaves_per_pod: u32,
        /// Aggregation switches of each pod.
        aggs_per_pod: u32,
        /// Core switches, a multiple of `aggs_per_pod`.
        cores: u32,
        /// Hosts on each leaf.
        hosts_per_leaf: u32,
        /// Each host's link.
        host_link: LinkText,
        /// Each link between a leaf and an aggregation switch.
        pod_link: LinkText,
        /// Each link between an aggregation and a core switch.
        core_link: LinkText,
    },
    /// Two switches with one bottleneck between them.
    Dumbbell {
        /// Hosts on the left.
        left: u32,
        /// Hosts on the right.
        right: u32,
        /// Each host's link.
        host_link: LinkText,
        /// The link between the switches.
        bottleneck: LinkText,
    },
    /// One switch.
    SingleSwitch {
        /// Number of hosts.
        hosts: u32,
        /// Each host's link.
        host_link: LinkText,
    },
    /// Nodes and links from a file.
    File {
        /// Its path, relative to the experiment file.
        path: String,
    },
}

/// A link as files state it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkText {
    /// Bits per second.
    #[serde(serialize_with = "as_text::rate")]
    pub rate: Rate,
    /// Propagation delay.
    #[serde(serialize_with = "as_text::span")]
    pub delay: Span,
    /// Probability that a packet is lost on it.
    #[serde(skip_serializing_if = "is_zero")]
    pub loss: f64,
}

/// How one of several equal paths is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Paths {
    /// By a hash of entropy drawn for each flow.
    Hashed,
    /// Path `entropy mod choices`: a pair's own `path` where it is stated, else drawn for each flow.
    Pinned,
    /// Path `splitmix64(flow) mod choices`, with the flow's place in the list.
    Splitmix64,
    /// Path `(d - s - 1) mod racks mod choices` from rack s to rack d.
    Racks,
    /// Each packet by itself, at every switch with a choice at random.
    Spray,
    /// Each packet by itself, in turns at every switch with a choice.
    #[serde(rename = "round_robin")]
    RoundRobin,
    /// Each packet by itself, by what waits at the ports of every switch with a choice.
    Drill,
}

impl Network {
    /// The network itself, from what `sources` has read.
    pub fn build(&self, sources: &Sources) -> Result<Topology, TopologyError> {
        let mut topology = match &self.shape {
            &Shape::LeafSpine { leaves, spines, hosts_per_leaf, links_per_pair, host_link, fabric_link } => {
                let (host_link, fabric_link) = (host_link.spec(), fabric_link.spec());
                LeafSpine { leaves, spines, hosts_per_leaf, host_link, fabric_link, links_per_pair }
                    .build()?
            }
            &Shape::FatTree { k, host_link, fabric_link } => {
                FatTree { k, host_link: host_link.spec(), fabric_link: fabric_link.spec() }.build()?
            }
            &Shape::ThreeTier {
                pods,
                leaves_per_pod,
                aggs_per_pod,
                cores,
                hosts_per_leaf,
                host_link,
                pod_link,
                core_link,
            } => {
                let (host_link, pod_link, core_link) = (host_link.spec(), pod_link.spec(), core_link.spec());
                ThreeTier {
                    pods,
                    leaves_per_pod,
                    aggs_per_pod,
                    cores,
                    hosts_per_leaf,
                    host_link,
                    pod_link,
                    core_link,
                }
                .build()?
            }
            &Shape::Dumbbell { left, right, host_link, bottleneck } => {
                Dumbbell { left, right, host_link: host_link.spec(), bottleneck: bottleneck.spec() }
                    .build()?
            }
            &Shape::SingleSwitch { hosts, host_link } => {
                SingleSwitch { hosts, host_link: host_link.spec() }.build()?
            }
            Shape::File { path } => file::parse(sources.known(path))?,
        };
        topology.path_choice = match self.paths {
            Paths::Hashed => PathChoice::Hashed,
            Paths::Pinned | Paths::Splitmix64 | Paths::Racks => PathChoice::Pinned,
            Paths::Spray => PathChoice::Sprayed(Spray::Random),
            Paths::RoundRobin => PathChoice::Sprayed(Spray::RoundRobin),
            Paths::Drill => PathChoice::Sprayed(Spray::Drill),
        };
        Ok(topology)
    }
}

impl LinkText {
    fn spec(self) -> LinkSpec {
        LinkSpec { rate: self.rate, delay: self.delay, loss: self.loss }
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// How the keys of a kind of network are read.
type ReadShape = fn(&mut Reader<'_>, &mut Sources) -> Result<Shape, InputError>;

/// Kinds of networks, each with how its keys are read.
const SHAPES: [(&str, ReadShape); 6] = [
    ("leaf_spine", |keys, _| leaf_spine(keys)),
    ("fat_tree", |keys, _| fat_tree(keys)),
    ("three_tier", |keys, _| three_tier(keys)),
    ("dumbbell", |keys, _| dumbbell(keys)),
    ("single_switch", |keys, _| single_switch(keys)),
    ("file", file),
];

const PATHS: [(&str, Paths); 7] = [
    ("hashed", Paths::Hashed),
    ("pinned", Paths::Pinned),
    ("splitmix64", Paths::Splitmix64),
    ("racks", Paths::Racks),
    ("spray", Paths::Spray),
    ("round_robin", Paths::RoundRobin),
    ("drill", Paths::Drill),
];

fn leaf_spine(keys: &mut Reader<'_>) -> Result<Shape, InputError> {
    Ok(Shape::LeafSpine {
        leaves: count(keys, "leaves", "leaves = 4")?,
        spines: count(keys, "spines", "spines = 3")?,
        hosts_per_leaf: count(keys, "hosts_per_leaf", "hosts_per_leaf = 30")?,
        links_per_pair: keys.take("links_per_pair").map_or(Ok(1), |f| f.integer(1, 1_000))? as u32,
        host_link: link(keys, "host_link")?,
        fabric_link: link(keys, "fabric_link")?,
    })
}

fn fat_tree(keys: &mut Reader<'_>) -> Result<Shape, InputError> {
    Ok(Shape::FatTree {
        k: count(keys, "k", "k = 4")?,
        host_link: link(keys, "host_link")?,
        fabric_link: link(keys, "fabric_link")?,
    })
}

fn three_tier(keys: &mut Reader<'_>) -> Result<Shape, InputError> {
    Ok(Shape::ThreeTier {
        pods: count(keys, "pods", "pods = 4")?,
        leaves_per_pod: count(keys, "leaves_per_pod", "leaves_per_pod = 4")?,
        aggs_per_pod: count(keys, "aggs_per_pod", "aggs_per_pod = 2")?,
        cores: count(keys, "cores", "cores = 8")?,
        hosts_per_leaf: count(keys, "hosts_per_leaf", "hosts_per_leaf = 16")?,
        host_link: link(keys, "host_link")?,
        pod_link: link(keys, "pod_link")?,
        core_link: link(keys, "core_link")?,
    })
}

fn dumbbell(keys: &mut Reader<'_>) -> Result<Shape, InputError> {
    Ok(Shape::Dumbbell {
        left: count(keys, "left", "left = 8")?,
        right: count(keys, "right", "right = 8")?,
        host_link: link(keys, "host_link")?,
        bottleneck: link(keys, "bottleneck")?,
    })
}

fn single_switch(keys: &mut Reader<'_>) -> Result<Shape, InputError> {
    Ok(Shape::SingleSwitch {
        hosts: count(keys, "hosts", "hosts = 16")?,
        host_link: link(keys, "host_link")?,
    })
}

fn file(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<Shape, InputError> {
    let path = keys.need("path", "path = \"network.csv\"")?;
    sources.read(&path, path.text()?, SIZE_LIMIT)?;
    Ok(Shape::File { path: path.text()?.to_owned() })
}

/// What a network keeps of a base of another kind.
pub(super) const MERGE: Merge = Merge::of(&[Replace::Kind {
    tag: "kind",
    default: None,
    own: Own::AllBut(&["paths"]),
    shared: &[
        (&["leaf_spine", "fat_tree", "three_tier", "dumbbell", "single_switch"], &["host_link"]),
        (&["leaf_spine", "fat_tree"], &["fabric_link"]),
        (&["leaf_spine", "three_tier"], &["hosts_per_leaf"]),
    ],
}]);

/// Reads `[topology]`.
pub(super) fn network(field: &Field<'_>, sources: &mut Sources) -> Result<Network, InputError> {
    let mut keys = field.table()?;
    let kind = keys.need("kind", "kind = \"leaf_spine\"")?.word(&SHAPES)?;
    let shape = kind(&mut keys, sources)?;
    let paths = keys.word_or("paths", &PATHS, Paths::Hashed)?;
    keys.finish()?;
    Ok(Network { shape, paths })
}

fn count(keys: &mut Reader<'_>, key: &'static str, fix: &'static str) -> Result<u32, InputError> {
    Ok(keys.need(key, fix)?.integer(1, u64::from(u32::MAX))? as u32)
}

fn link(keys: &mut Reader<'_>, key: &'static str) -> Result<LinkText, InputError> {
    let fix = format!("{key} = {{ rate = \"10Gbps\", delay = \"1us\" }}");
    let mut keys = keys.need(key, &fix)?.table()?;
    let rate = keys.need("rate", "rate = \"10Gbps\"")?.rate()?;
    let delay_field = keys.need("delay", "delay = \"1us\"")?;
    let delay = delay_field.span()?;
    if delay == Span::ZERO {
        return Err(delay_field.error("the delay is zero", "a propagation delay above zero, such as \"1us\""));
    }
    let loss = match keys.take("loss") {
        None => 0.0,
        Some(field) => match field.number(0.0, 1.0)? {
            1.0 => return Err(field.error("every packet would be lost", "a probability from 0 to below 1")),
            loss => loss,
        },
    };
    keys.finish()?;
    Ok(LinkText { rate, delay, loss })
}

/// Reads `[frame]`; keys left out are those of Ethernet.
pub(super) fn frame(field: &Field<'_>) -> Result<Frame, InputError> {
    let mut keys = field.table()?;
    let mut size = |key, default: u16| match keys.take(key) {
        None => Ok(default),
        Some(field) => {
            let too_long = |_| field.error("this is more than a packet's 65535 bytes", "such as \"1500B\"");
            u16::try_from(field.bytes()?).map_err(too_long)
        }
    };
    let ethernet = Frame::ETHERNET;
    let frame = Frame {
        mtu: size("mtu", ethernet.mtu)?,
        header: size("header", ethernet.header)?,
        link: size("link", ethernet.link)?,
        minimum: size("minimum", ethernet.minimum)?,
        gap: size("gap", ethernet.gap)?,
        ack: size("ack", ethernet.ack)?,
        syn: size("syn", ethernet.syn)?,
    };
    let network = frame.mtu.max(frame.ack).max(frame.syn);
    let largest =
        (u32::from(network) + u32::from(frame.link)).max(u32::from(frame.minimum)) + u32::from(frame.gap);
    if frame.mtu <= frame.header {
        return Err(keys.error("mtu leaves no room for payload", "an mtu above header"));
    }
    if largest > u32::from(u16::MAX) {
        return Err(
            keys.error("the largest packet exceeds 65535 bytes on the wire", "a smaller mtu, link or gap")
        );
    }
    if frame.header == 0 || frame.ack == 0 || frame.syn == 0 {
        return Err(keys.error("header, ack or syn is zero", "sizes above zero, such as \"40B\""));
    }
    keys.finish()?;
    Ok(frame)
}

/// A frame as files state it.
pub(super) fn frame_text<S: Serializer>(frame: &Frame, s: S) -> Result<S::Ok, S::Error> {
    let mut out = s.serialize_struct("frame", 7)?;
    let Frame { mtu, header, link, minimum, gap, ack, syn } = *frame;
    let named = [
        ("mtu", mtu),
        ("header", header),
        ("link", link),
        ("minimum", minimum),
        ("gap", gap),
        ("ack", ack),
        ("syn", syn),
    ];
    for (name, bytes) in named {
        out.serialize_field(name, &show_bytes(u64::from(bytes)))?;
    }
    out.end()
}
