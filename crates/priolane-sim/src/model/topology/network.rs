//! A network: nodes, directed links, and the table by which switches forward.

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::units::{Rate, Span};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// An end of flows, with exactly one link.
    Host,
    /// A forwarder of packets.
    Switch,
}

/// A directed link and the egress port it leaves from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node it leaves.
    pub from: NodeId,
    /// The node it enters.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, above zero.
    pub delay: Span,
    /// Probability that a packet put on it is lost, in [0, 1).
    pub loss: f64,
}

/// Which of several equal paths a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PathChoice {
    /// By a hash of the packet's entropy, mixed anew at every switch, so that tiers do not polarise.
    #[default]
    Hashed,
    /// Entropy is the number of a path: `entropy mod choices` at switches with hosts, and what is left of it after a
    /// division by those choices, `mod choices`, at the tier above, and so on ([`Topology::equal_paths`]).
    Pinned,
    /// By a hash of the packet's entropy and the switch's tier, so that in a leaf-spine, a fat-tree or a three-tier network
    /// packets of one entropy take the same links in both directions (docs/assumptions.md#symmetric-routes).
    Symmetric,
    /// Each packet by itself (docs/assumptions.md#spray). [`Topology::path`] is then one that packets may take, the one that
    /// `Hashed` names; bare completion times are bounds over all of them.
    Sprayed(Spray),
}

/// How a switch with a choice finds a link for each packet, in the order in which packets arrive there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spray {
    /// It draws one evenly, from a random stream of its own.
    Random,
    /// Links take turns; payload, tokens and control packets have turns of their own, of which each switch draws the first.
    RoundRobin,
    /// DRILL(2, 1) (SIGCOMM 2017 §3): of two links drawn, and the one that was best the last time, the one before which
    /// the fewest bytes wait.
    Drill,
}

impl PathChoice {
    /// Whether packets of a flow may take different paths.
    pub fn sprays(self) -> bool {
        matches!(self, Self::Sprayed(_))
    }
}

/// The equal-cost choices of one switch for one rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NextHops {
    /// With one choice the `LinkId` itself, with several where their run starts in `Topology::choices`.
    pub first: u32,
    /// How many choices there are; 0 if the rack cannot be reached, and for a rack's entry for itself.
    pub count: u32,
}

/// A network: who is linked to whom, and which way packets go.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of switches.
    pub switches: u32,
    /// Number of racks: the switches `0..racks` have hosts, those after them have none.
    pub racks: u32,
    /// All directed links, by `LinkId`. Host `h` sends on link `2 h` and receives on `2 h + 1`; links between
    /// switches follow, the two directions of each next to each other.
    pub links: Vec<Link>,
    /// Names of nodes for tables and messages (`h0`, `leaf1`, `spine0`).
    pub names: Vec<String>,
    /// Next hops by switch (from 0) and rack: `next_hops[switch * racks + rack]`.
    pub next_hops: Vec<NextHops>,
    /// Egress links that `next_hops` refers to.
    pub choices: Vec<LinkId>,
    /// How one of several choices is taken.
    pub path_choice: PathChoice,
    /// The rack (its switch, from 0, below `racks`) of each host, for forwarding and for apps and claims that
    /// speak of racks.
    pub rack: Vec<u32>,
    /// The tier of each switch (from 0): links to the nearest switch with hosts.
    pub tier: Vec<u8>,
    /// By tier: how many combinations of choices the tiers below have at most, 65,536 standing for more.
    pub choices_below: Vec<u32>,
}

impl Topology {
    /// The node a host is.
    #[inline]
    pub fn node_of(&self, host: HostId) -> NodeId {
        NodeId(u32::from(host.0))
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        (self.hosts + self.switches) as usize
    }

    /// The link a host sends on.
    #[inline]
    pub fn uplink(&self, host: HostId) -> LinkId {
        LinkId(2 * u32::from(host.0))
    }

    /// The link a host receives on.
    #[inline]
    pub fn downlink(&self, host: HostId) -> LinkId {
        LinkId(2 * u32::from(host.0) + 1)
    }

    /// The other direction of `link`.
    #[inline]
    pub fn reverse(&self, link: LinkId) -> LinkId {
        LinkId(link.0 ^ 1)
    }

    /// The egress link a packet for `dst` with `entropy` takes at `switch` (a node at or above `hosts`);
    /// `None` if `dst` cannot be reached from there.
    #[inline]
    pub(crate) fn next_link(&self, switch: NodeId, dst: HostId, entropy: u16) -> Option<LinkId> {
        let here = switch.0 - self.hosts;
        let rack = self.rack[dst.index()];
        if rack == here {
            return Some(self.downlink(dst));
        }
        let hops = self.next_hops[here as usize * self.racks as usize + rack as usize];
        let pick = match hops.count {
            0 => return None,
            1 => return Some(LinkId(hops.first)),
            n => self.pick(switch).of(entropy, n),
        };
        Some(self.choices[(hops.first + pick) as usize])
    }

    /// How `switch` (a node at or above `hosts`) picks one of equal choices by entropy.
    pub(crate) fn pick(&self, switch: NodeId) -> Pick {
        match self.path_choice {
            PathChoice::Pinned => {
                let tier = usize::from(self.tier[(switch.0 - self.hosts) as usize]);
                Pick::named(self.choices_below.get(tier).copied().unwrap_or(1))
            }
            PathChoice::Hashed | PathChoice::Sprayed(_) => Pick::Hashed { salt: switch.0 },
            PathChoice::Symmetric => {
                Pick::Hashed { salt: u32::from(self.tier[(switch.0 - self.hosts) as usize]) }
            }
        }
    }

    /// How many paths from `src` to `dst` a pinned flow chooses from, numbered from 0: the product of the choices at the
    /// switches of path 0. In a leaf-spine path `p` goes by spine `p`; in a fat-tree by aggregation switch `p mod k/2`
    /// of each pod and that switch's core link `p / (k/2)`.
    pub fn equal_paths(&self, src: HostId, dst: HostId) -> u32 {
        let racks = self.racks as usize;
        let choices = |link: &LinkId| {
            let here = (self.links[link.index()].from.0.checked_sub(self.hosts)?) as usize;
            let rack = self.rack[dst.index()] as usize;
            (rack != here).then(|| self.next_hops[here * racks + rack].count)
        };
        let path = self.path(src, dst, 0);
        path.iter().filter_map(choices).fold(1u32, u32::saturating_mul).min(MOST_PATHS)
    }

    /// The equal-cost links from `switch` (a node at or above `hosts`) towards `dst`, in order of link ids.
    pub(crate) fn next_links(&self, switch: NodeId, dst: HostId) -> Vec<LinkId> {
        let here = switch.0 - self.hosts;
        let rack = self.rack[dst.index()];
        if rack == here {
            return vec![self.downlink(dst)];
        }
        let hops = self.next_hops[here as usize * self.racks as usize + rack as usize];
        match hops.count {
            0 => Vec::new(),
            1 => vec![LinkId(hops.first)],
            n => self.choices[hops.first as usize..(hops.first + n) as usize].to_vec(),
        }
    }

    /// Whether what goes from `a` to `b` with `entropy` and what comes back take the same links in opposite directions.
    pub fn is_symmetric(&self, (a, b): (HostId, HostId), entropy: u16) -> bool {
        let there = self.path(a, b, entropy);
        let back = self.path(b, a, entropy);
        there.len() == back.len() && there.iter().zip(back.iter().rev()).all(|(&l, &r)| self.reverse(l) == r)
    }

    /// The node of that name, found by looking through all names.
    pub fn find_node(&self, name: &str) -> Option<NodeId> {
        self.names.iter().position(|n| n == name).map(|i| NodeId(i as u32))
    }

    /// The directed links from one named node to another, in order of link ids; several if they are parallel,
    /// none if there is no such node or link.
    pub fn links_between(&self, from: &str, to: &str) -> Vec<LinkId> {
        let (Some(from), Some(to)) = (self.find_node(from), self.find_node(to)) else { return Vec::new() };
        let joins = |&(_, link): &(usize, &Link)| (link.from, link.to) == (from, to);
        self.links.iter().enumerate().filter(joins).map(|(id, _)| LinkId(id as u32)).collect()
    }

    /// The first of [`Self::links_between`].
    pub fn link_between(&self, from: &str, to: &str) -> Option<LinkId> {
        self.links_between(from, to).first().copied()
    }

    /// The rate of a host's link.
    pub fn host_capacity(&self, host: HostId) -> Rate {
        self.links[self.uplink(host).index()].rate
    }

    /// The links on which traffic leaves its rack: from a switch with hosts to another switch.
    pub(crate) fn core_links(&self) -> impl Iterator<Item = LinkId> {
        let racks = self.hosts..self.hosts + self.racks;
        let is_core = move |link: &Link| racks.contains(&link.from.0) && link.to.0 >= self.hosts;
        self.links.iter().enumerate().filter(move |(_, l)| is_core(l)).map(|(id, _)| LinkId(id as u32))
    }

    /// The sum of the rates of [`Self::core_links`], in bits per second: what all racks together can send to
    /// others; 0 if there is one switch only, saturating. Of a dumbbell it is twice the bottleneck, which has two
    /// directions (docs/assumptions.md#core-capacity).
    pub fn core_capacity(&self) -> u64 {
        self.core_links().fold(0, |sum, link| sum.saturating_add(self.links[link.index()].rate.bps()))
    }
}

/// The most paths that entropy can number.
const MOST_PATHS: u32 = 1 << 16;

/// By tier: the product of the most choices that switches of each lower tier have.
pub(crate) fn choices_below(tier: &[u8], next_hops: &[NextHops], racks: u32) -> Vec<u32> {
    let tiers = tier.iter().max().map_or(0, |&highest| usize::from(highest) + 1);
    let mut most = vec![1u32; tiers];
    for (hops, &tier) in next_hops.chunks(racks.max(1) as usize).zip(tier) {
        let here = &mut most[usize::from(tier)];
        *here = hops.iter().map(|hops| hops.count).fold(*here, u32::max);
    }
    let below = |done: &mut u32, &most: &u32| {
        let below = *done;
        *done = done.saturating_mul(most).min(MOST_PATHS);
        Some(below)
    };
    most.iter().scan(1, below).collect()
}

/// How a switch picks one of equal choices by a packet's entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The entropy, divided by a number, names it; `reciprocal` is 2^32 over that number, rounded up.
    Named { reciprocal: u64 },
    /// By a hash of entropy and `salt`.
    Hashed { salt: u32 },
}

impl Pick {
    /// Entropy over `below`, from 1 to 65,536, names it.
    fn named(below: u32) -> Self {
        Self::Named { reciprocal: (1u64 << 32).div_ceil(u64::from(below)) }
    }

    /// Which of `n` choices a packet with `entropy` takes.
    #[inline(always)]
    pub(crate) fn of(self, entropy: u16, n: u32) -> u32 {
        match self {
            Self::Named { reciprocal } => {
                // Exact for 16 bits over at most 2^16: the reciprocal is less than 1 too large, so that the product is too
                // large by less than 2^16 in 2^32.
                let own = ((u64::from(entropy) * reciprocal) >> 32) as u32;
                if n.is_power_of_two() { own & (n - 1) } else { own % n }
            }
            Self::Hashed { salt } => spread(entropy, salt, n),
        }
    }
}

/// One of `n` choices from a packet's entropy, independent from salt to salt: the finalizer of SplitMix64
/// (Steele et al., OOPSLA 2014, variant 13 of Stafford's mixers) over salt and entropy. A multiplier less, or
/// a shift less, leaves pairs of switches whose choices depend on each other.
#[inline]
pub(super) fn spread(entropy: u16, salt: u32, n: u32) -> u32 {
    let mut x = (u64::from(salt) << 16 | u64::from(entropy)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    (((x >> 32) * u64::from(n)) >> 32) as u32
}
