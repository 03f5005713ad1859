//! Errors of a topology, with what to write instead.

use priolane_core::name::Alphabet;

use super::limits::{
    MAX_CHOICES, MAX_DELAY, MAX_HOSTS, MAX_LINKS, MAX_NAME, MAX_ROUTING_WORK, MAX_SWITCHES, MAX_TABLE,
};
use super::network::NodeKind;

/// The reason why a topology is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TopologyError {
    /// A line of a topology file is invalid, or its declaration is.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The mistake in the line.
        problem: Problem,
    },
    /// The network as a whole is invalid.
    #[error("{0}")]
    Network(#[from] Problem),
}

/// One error in a topology; its message states what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A line is neither a node nor a link.
    #[error("unknown record {found}: write `node,NAME,host|switch` or `link,A,B,RATE,DELAY[,LOSS]`")]
    UnknownRecord {
        /// The text in place of the record's kind.
        found: String,
    },
    /// A line has too few or too many fields.
    #[error("the line has {found} fields: write `{form}`")]
    Fields {
        /// Number of fields found.
        found: usize,
        /// The format of such a line.
        form: &'static str,
    },
    /// The kind of a node is neither host nor switch.
    #[error("unknown kind of node {found}: write `host` or `switch`")]
    UnknownKind {
        /// The text in place of the kind.
        found: String,
    },
    /// A name is empty, too long, or contains an invalid character.
    #[error("{found} is not a name: use {}", Alphabet::HyphenAndDot.rule(MAX_NAME))]
    BadName {
        /// The text in place of the name.
        found: String,
    },
    /// Two nodes have the same name.
    #[error("a node named {name} exists already: give each node a different name")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A link names a node that does not exist.
    #[error("unknown node {name}: declare it with `node,NAME,host|switch`")]
    UnknownNode {
        /// The name.
        name: String,
    },
    /// A link connects a node to itself.
    #[error("the link connects {name} to itself: link two different nodes")]
    SelfLink {
        /// The node.
        name: String,
    },
    /// A rate is not valid.
    #[error("the rate {0}")]
    Rate(QuantityError),
    /// A delay is not valid.
    #[error("the delay {0}")]
    Delay(QuantityError),
    /// A rate is zero.
    #[error("the rate is zero: a link needs a rate above zero, such as 10Gbps")]
    ZeroRate,
    /// A delay is zero.
    #[error("the delay is zero: a link needs a propagation delay above zero, such as 1us")]
    ZeroDelay,
    /// A delay is above the supported maximum.
    #[error("the delay is {ps} ps: use at most {} ms", MAX_DELAY.0 / 1_000_000_000)]
    LongDelay {
        /// The delay, in picoseconds.
        ps: u64,
    },
    /// A loss probability is not a number, or outside [0, 1).
    #[error("the loss is {found}: use a probability from 0 (no loss) to below 1, such as 0.001")]
    Loss {
        /// The loss.
        found: String,
    },
    /// A host has no link.
    #[error("host {name} has no link: link it to one switch")]
    NoLink {
        /// The host.
        name: String,
    },
    /// A host has a second link.
    #[error("host {name} has a second link: a host has exactly one link, to a switch")]
    SecondLink {
        /// The host.
        name: String,
    },
    /// Two hosts are linked to each other.
    #[error("the link connects the hosts {a} and {b}: link each of them to a switch")]
    HostToHost {
        /// The first host.
        a: String,
        /// The second host.
        b: String,
    },
    /// Some nodes cannot reach others.
    #[error("{name} cannot be reached from {from}: link the parts of the network, or remove {name}")]
    Disconnected {
        /// An unreachable switch.
        name: String,
        /// The host from which it is unreachable.
        from: String,
    },
    /// There are no hosts.
    #[error("the topology has no hosts: it needs at least one")]
    NoHosts,
    /// There are more nodes of a kind than supported.
    #[error("there are {found} {}: use at most {}", plural(*.kind), most(*.kind))]
    TooManyNodes {
        /// Host or switch.
        kind: NodeKind,
        /// The number requested, or read so far.
        found: u64,
    },
    /// There are more links than supported.
    #[error("there are {found} links: use at most {MAX_LINKS}")]
    TooManyLinks {
        /// The number requested, or read so far.
        found: u64,
    },
    /// The forwarding tables would be too large.
    #[error(
        "there are {switches} switches, {racks} of them with hosts, and {links} links between switches: use \
         at most {MAX_TABLE} switches x switches with hosts, and at most {MAX_ROUTING_WORK} switches with \
         hosts x links"
    )]
    TooLarge {
        /// Number of switches.
        switches: u64,
        /// Number of switches with hosts.
        racks: u64,
        /// Number of links between switches.
        links: u64,
    },
    /// Switches have too many distinct sets of equal-cost links.
    #[error(
        "there are more than {MAX_CHOICES} equal-cost choices: use fewer switches or fewer links between them"
    )]
    TooManyChoices,
    /// A parameter of a regular topology is zero.
    #[error("{field} is 0: use at least 1")]
    Zero {
        /// The name of the parameter.
        field: &'static str,
    },
    /// The `k` of a fat-tree is odd, zero, or too large.
    #[error("k is {k}: a fat-tree needs an even k from 2 to 64 (k^3/4 hosts, at most {MAX_HOSTS})")]
    FatTreeArity {
        /// The requested `k`.
        k: u32,
    },
    /// The core switches of a three-tier network cannot be divided among the aggregation switches of a pod.
    #[error(
        "cores is {cores}: each of a pod's {aggs} aggregation switches has the same number of cores, so use \
         a multiple of aggs_per_pod, such as {}", u64::from(*.cores).next_multiple_of(u64::from(*.aggs))
    )]
    CorePlanes {
        /// The requested number of core switches.
        cores: u32,
        /// Aggregation switches per pod.
        aggs: u32,
    },
}

/// The reason why a quantity is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It does not start with a decimal number.
    #[error(
        "{found} does not start with a number: write digits, optionally with `.` between them, and a unit \
         ({units})"
    )]
    NoNumber {
        /// The text.
        found: String,
        /// The known units.
        units: &'static str,
    },
    /// Its unit is missing or unknown.
    #[error("{found} has no known unit: add one of {units}")]
    Unit {
        /// The text.
        found: String,
        /// The known units.
        units: &'static str,
    },
    /// It is not a whole multiple of the base unit.
    #[error("{found} is not a whole number of {base}: round it")]
    NotWhole {
        /// The text.
        found: String,
        /// The base unit's name.
        base: &'static str,
    },
    /// It exceeds 64 bits.
    #[error("{found} is too large: use less than 2^64 {base}")]
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

/// Quotes `text` for a message, truncated after 40 characters.
pub(crate) fn quote(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(40).flat_map(char::escape_debug).collect();
    if chars.next().is_some() { format!("'{head}...'") } else { format!("'{head}'") }
}
