//! What can be wrong with a topology, and what would be right.

use super::limits::{
    MAX_CHOICES, MAX_DELAY, MAX_HOSTS, MAX_LINKS, MAX_NAME, MAX_ROUTING_WORK, MAX_SWITCHES, MAX_TABLE,
};
use super::network::NodeKind;

/// Why a topology is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TopologyError {
    /// A line of a topology file is wrong, or what it declares is.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The network as a whole is wrong.
    #[error("{0}")]
    Network(#[from] Problem),
}

/// One thing that is wrong with a topology; its message says what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A line is neither a node nor a link.
    #[error("unknown record {found}: a line is `node,NAME,host|switch` or `link,A,B,RATE,DELAY[,LOSS]`")]
    UnknownRecord {
        /// What stands where the record's kind should.
        found: String,
    },
    /// A line has too few or too many fields.
    #[error("{found} fields: write `{form}`")]
    Fields {
        /// Number of fields found.
        found: usize,
        /// The form of such a line.
        form: &'static str,
    },
    /// A node is neither host nor switch.
    #[error("unknown kind of node {found}: write `host` or `switch`")]
    UnknownKind {
        /// What stands where the kind should.
        found: String,
    },
    /// A name is empty, too long, or has a character that names cannot have.
    #[error("{found} is not a name: use 1 to {MAX_NAME} letters, digits, `_`, `-` or `.`")]
    BadName {
        /// What stands where the name should.
        found: String,
    },
    /// Two nodes have one name.
    #[error("a node named {name} exists already: give each node a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A link names a node that does not exist.
    #[error("there is no node {name}: declare it with `node,NAME,host|switch`")]
    UnknownNode {
        /// The name.
        name: String,
    },
    /// A link leads from a node to itself.
    #[error("a link from {name} to itself: link two different nodes")]
    SelfLink {
        /// The node.
        name: String,
    },
    /// A rate cannot be read.
    #[error("rate: {0}")]
    Rate(QuantityError),
    /// A delay cannot be read.
    #[error("delay: {0}")]
    Delay(QuantityError),
    /// A rate is zero.
    #[error("rate of zero: a link needs a rate above zero, such as 10Gbps")]
    ZeroRate,
    /// A delay is zero.
    #[error("delay of zero: a link needs a propagation delay above zero, such as 1us")]
    ZeroDelay,
    /// A delay is longer than runs are made for.
    #[error("delay of {ps} ps: at most {} ms", MAX_DELAY.0 / 1_000_000_000)]
    LongDelay {
        /// The delay, in picoseconds.
        ps: u64,
    },
    /// A loss probability is no number, or outside [0, 1).
    #[error("loss of {found}: a probability from 0 (no loss) to below 1, such as 0.001")]
    Loss {
        /// The loss found.
        found: String,
    },
    /// A host has no link.
    #[error("host {name} has no link: link it to one switch")]
    NoLink {
        /// The host.
        name: String,
    },
    /// A host has a second link.
    #[error("a second link of host {name}: a host has exactly one, to a switch")]
    SecondLink {
        /// The host.
        name: String,
    },
    /// Two hosts are linked to each other.
    #[error("a link between hosts {a} and {b}: link each of them to a switch")]
    HostToHost {
        /// One host.
        a: String,
        /// The other host.
        b: String,
    },
    /// Some nodes cannot reach others.
    #[error("{name} cannot be reached from {from}: link the parts of the network, or remove {name}")]
    Disconnected {
        /// A switch that cannot be reached.
        name: String,
        /// From which host.
        from: String,
    },
    /// No node is a host.
    #[error("no hosts: a topology needs at least one")]
    NoHosts,
    /// There are more nodes of a kind than priolane can name.
    #[error("{found} {}: at most {}", plural(*.kind), most(*.kind))]
    TooManyNodes {
        /// Host or switch.
        kind: NodeKind,
        /// How many were asked for, or read so far.
        found: u64,
    },
    /// There are more links than priolane can name.
    #[error("{found} links: at most {MAX_LINKS}")]
    TooManyLinks {
        /// How many were asked for, or read so far.
        found: u64,
    },
    /// The tables of next hops would be too large.
    #[error(
        "{switches} switches, {racks} of them with hosts, {links} links between switches: forwarding tables hold \
         at most {MAX_TABLE} switches x switches with hosts, and switches with hosts x links at most {MAX_ROUTING_WORK}"
    )]
    TooLarge {
        /// Number of switches.
        switches: u64,
        /// Number of switches that have hosts.
        racks: u64,
        /// Number of links between switches.
        links: u64,
    },
    /// Switches have too many different sets of equal-cost links.
    #[error("more than {MAX_CHOICES} equal-cost choices: use fewer switches or fewer links between them")]
    TooManyChoices,
    /// A number of a regular topology is zero.
    #[error("{field} = 0: at least 1")]
    Zero {
        /// The name of the number.
        field: &'static str,
    },
    /// The `k` of a fat-tree is odd, zero, or too large.
    #[error("k = {k}: a fat-tree needs an even k from 2 to 64 (k^3/4 hosts, at most {MAX_HOSTS})")]
    FatTreeArity {
        /// The `k` asked for.
        k: u32,
    },
    /// The core switches of a three-tier network cannot be dealt out to the aggregation switches of a pod.
    #[error(
        "cores = {cores}: each of a pod's {aggs} aggregation switches has as many cores of its own, so a multiple \
         of aggs_per_pod, such as {}", u64::from(*.cores).next_multiple_of(u64::from(*.aggs))
    )]
    CorePlanes {
        /// The number of core switches asked for.
        cores: u32,
        /// Aggregation switches of a pod.
        aggs: u32,
    },
}

/// Why a quantity cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It does not start with a decimal number.
    #[error(
        "{found} does not start with a number: write digits, with `.` between them or not, and a unit ({units})"
    )]
    NoNumber {
        /// The text.
        found: String,
        /// The units that exist.
        units: &'static str,
    },
    /// Its unit is missing or unknown.
    #[error("{found} has no known unit: add one of {units}")]
    Unit {
        /// The text.
        found: String,
        /// The units that exist.
        units: &'static str,
    },
    /// It is finer than the base unit.
    #[error("{found} is not a whole number of {base}: round it")]
    NotWhole {
        /// The text.
        found: String,
        /// The base unit's name.
        base: &'static str,
    },
    /// It does not fit 64 bits.
    #[error("{found} is too large: below 2^64 {base}")]
    TooLarge {
        /// The text.
        found: String,
        /// The base unit's name.
        base: &'static str,
    },
}

fn plural(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Host => "hosts",
        NodeKind::Switch => "switches",
    }
}

fn most(kind: NodeKind) -> u64 {
    match kind {
        NodeKind::Host => MAX_HOSTS,
        NodeKind::Switch => MAX_SWITCHES,
    }
}

/// `text` in quotes for a message, cut after 40 characters.
pub(crate) fn quote(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(40).flat_map(char::escape_debug).collect();
    if chars.next().is_some() { format!("'{head}...'") } else { format!("'{head}'") }
}
