//! A network: nodes, directed links, and forwarding tables.

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::units::{Rate, Span};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A source and destination of flows, with exactly one link.
    Host,
    /// A forwarder of packets.
    Switch,
}

/// A directed link with its egress port.
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
    /// Probability that a packet is lost on it, in [0, 1).
    pub loss: f64,
}

/// The way in which a packet's path is selected among equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PathChoice {
    /// By a hash of the packet's entropy, salted per switch so that tiers do not polarise.
    #[default]
    Hashed,
    /// Entropy is the number of a path: `entropy mod choices` at switches with hosts, the quotient `mod choices` at
    /// the tier above, and so on ([`Topology::equal_paths`]).
    Pinned,
    /// By a hash of the packet's entropy and the switch's tier. In a leaf-spine, fat-tree or three-tier network,
    /// packets of one entropy then take the same links in both directions (docs/assumptions.md#symmetric-routes).
    Symmetric,
    /// Independently for each packet (docs/assumptions.md#spray). [`Topology::path`] then returns one possible path,
    /// that of `Hashed`; ideal completion times are bounds over all paths.
    Sprayed(Spray),
}

/// The way in which a switch selects a link for each packet, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spray {
    /// Uniformly at random, from a random stream of the switch.
    Random,
    /// Round robin. Payload, tokens and control packets have separate positions, each with a random start per switch.
    RoundRobin,
    /// DRILL(2, 1) (SIGCOMM 2017 §3): among two random links and the best link of the last decision, the one with the
    /// fewest queued bytes.
    Drill,
}

impl PathChoice {
    /// Returns whether packets of a flow may take different paths.
    pub fn sprays(self) -> bool {
        matches!(self, Self::Sprayed(_))
    }
}

/// The equal-cost links of one switch towards one rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NextHops {
    /// For one link, its `LinkId`; for several, the start of their run in `Topology::choices`.
    pub first: u32,
    /// Number of links; 0 if the rack is unreachable, and for a rack's entry for itself.
    pub count: u32,
}

/// A network: nodes, links and routes.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of switches.
    pub switches: u32,
    /// Number of racks: switches `0..racks` have hosts, the others have none.
    pub racks: u32,
    /// All directed links, by `LinkId`. Host `h` sends on link `2 h` and receives on `2 h + 1`. Links between switches
    /// follow, with both directions adjacent.
    pub links: Vec<Link>,
    /// Names of nodes for tables and messages (`h0`, `leaf1`, `spine0`).
    pub names: Vec<String>,
    /// Next hops by switch (from 0) and rack: `next_hops[switch * racks + rack]`.
    pub next_hops: Vec<NextHops>,
    /// Egress links that `next_hops` refers to.
    pub choices: Vec<LinkId>,
    /// The way in which one of several equal-cost links is selected.
    pub path_choice: PathChoice,
    /// The rack of each host (its switch, from 0, below `racks`), for forwarding, applications and claims.
    pub rack: Vec<u32>,
    /// The tier of each switch (from 0): the number of links to the nearest switch with hosts.
    pub tier: Vec<u8>,
    /// By tier: the maximum number of combinations of choices in the tiers below, capped at 65,536.
    pub choices_below: Vec<u32>,
}

impl Topology {
    /// Returns the node of a host.
    #[inline]
    pub fn node_of(&self, host: HostId) -> NodeId {
        NodeId(u32::from(host.0))
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        (self.hosts + self.switches) as usize
    }

    /// Returns the link on which a host sends.
    #[inline]
    pub fn uplink(&self, host: HostId) -> LinkId {
        LinkId(2 * u32::from(host.0))
    }

    /// Returns the link on which a host receives.
    #[inline]
    pub fn downlink(&self, host: HostId) -> LinkId {
        LinkId(2 * u32::from(host.0) + 1)
    }

    /// Returns the opposite direction of `link`.
    #[inline]
    pub fn reverse(&self, link: LinkId) -> LinkId {
        LinkId(link.0 ^ 1)
    }

    /// Returns the egress link of a packet to `dst` with `entropy` at `switch` (a node at or above `hosts`); `None` if
    /// `dst` is unreachable from there.
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

    /// Returns how `switch` (a node at or above `hosts`) selects an equal-cost link by entropy.
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

    /// Returns the number of paths from `src` to `dst` among which a pinned flow selects, numbered from 0: the product
    /// of the choices at the switches of path 0. In a leaf-spine, path `p` uses spine `p`. In a fat-tree it uses
    /// aggregation switch `p mod k/2` of each pod and that switch's core link `p / (k/2)`.
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

    /// Returns the equal-cost links from `switch` (a node at or above `hosts`) towards `dst`, in order of link ids.
    pub(crate) fn next_links(&self, switch: NodeId, dst: HostId) -> Vec<LinkId> {
        let rack = self.rack[dst.index()];
        if rack == switch.0 - self.hosts {
            return vec![self.downlink(dst)];
        }
        self.links_to_rack(switch, rack)
    }

    /// Returns the equal-cost links from `switch` (a node at or above `hosts`) towards the switch of `rack`, in order of
    /// link ids; none if there is no way.
    pub fn links_to_rack(&self, switch: NodeId, rack: u32) -> Vec<LinkId> {
        let here = switch.0 - self.hosts;
        let hops = self.next_hops[here as usize * self.racks as usize + rack as usize];
        match hops.count {
            0 => Vec::new(),
            1 => vec![LinkId(hops.first)],
            n => self.choices[hops.first as usize..(hops.first + n) as usize].to_vec(),
        }
    }

    /// Returns whether packets from `a` to `b` with `entropy` and their replies take the same links in opposite
    /// directions.
    pub fn is_symmetric(&self, (a, b): (HostId, HostId), entropy: u16) -> bool {
        let there = self.path(a, b, entropy);
        let back = self.path(b, a, entropy);
        there.len() == back.len() && there.iter().zip(back.iter().rev()).all(|(&l, &r)| self.reverse(l) == r)
    }

    /// Returns the node with this name, by a linear search.
    pub fn find_node(&self, name: &str) -> Option<NodeId> {
        self.names.iter().position(|n| n == name).map(|i| NodeId(i as u32))
    }

    /// Returns the directed links from one named node to another, in order of link ids; several if they are parallel,
    /// none if there is no such node or link.
    pub fn links_between(&self, from: &str, to: &str) -> Vec<LinkId> {
        let (Some(from), Some(to)) = (self.find_node(from), self.find_node(to)) else { return Vec::new() };
        let joins = |&(_, link): &(usize, &Link)| (link.from, link.to) == (from, to);
        self.links.iter().enumerate().filter(joins).map(|(id, _)| LinkId(id as u32)).collect()
    }

    /// Returns the first of [`Self::links_between`].
    pub fn link_between(&self, from: &str, to: &str) -> Option<LinkId> {
        self.links_between(from, to).first().copied()
    }

    /// Returns the rate of a host's link.
    pub fn host_capacity(&self, host: HostId) -> Rate {
        self.links[self.uplink(host).index()].rate
    }

    /// Returns the rate of the links of `hosts` together, in bits per second.
    pub fn hosts_capacity(&self, hosts: impl IntoIterator<Item = HostId>) -> f64 {
        hosts.into_iter().map(|host| self.host_capacity(host).bps() as f64).sum()
    }

    /// Returns the links on which traffic leaves its rack: from a switch with hosts to another switch.
    pub(crate) fn core_links(&self) -> impl Iterator<Item = LinkId> {
        let racks = self.hosts..self.hosts + self.racks;
        let is_core = move |link: &Link| racks.contains(&link.from.0) && link.to.0 >= self.hosts;
        self.links.iter().enumerate().filter(move |(_, l)| is_core(l)).map(|(id, _)| LinkId(id as u32))
    }

    /// Returns the sum of the rates of [`Self::core_links`], in bits per second, saturating: the total capacity from
    /// racks to other racks; 0 with a single switch. For a dumbbell it is twice the bottleneck, which has two
    /// directions (docs/assumptions.md#core-capacity).
    pub fn core_capacity(&self) -> u64 {
        self.core_links().fold(0, |sum, link| sum.saturating_add(self.links[link.index()].rate.bps()))
    }
}

/// The maximum number of paths that entropy can distinguish.
const MOST_PATHS: u32 = 1 << 16;

/// Returns, by tier, the product over the lower tiers of the maximum number of choices of their switches.
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

/// The way in which a switch selects one of several equal-cost links by a packet's entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// By the entropy divided by a number; `reciprocal` is 2^32 over that number, rounded up.
    Named { reciprocal: u64 },
    /// By a hash of entropy and `salt`.
    Hashed { salt: u32 },
}

impl Pick {
    /// Selects by the entropy divided by `below`, from 1 to 65,536.
    fn named(below: u32) -> Self {
        Self::Named { reciprocal: (1u64 << 32).div_ceil(u64::from(below)) }
    }

    /// Returns which of `n` choices a packet with `entropy` takes.
    #[inline(always)]
    pub(crate) fn of(self, entropy: u16, n: u32) -> u32 {
        match self {
            Self::Named { reciprocal } => {
                // Exact for 16 bits over at most 2^16: the reciprocal is less than 1 too large, so the product is too
                // large by less than 2^16 in 2^32.
                let own = ((u64::from(entropy) * reciprocal) >> 32) as u32;
                // `n` is above 0, so that this tests for a power of two.
                if n & (n - 1) == 0 { own & (n - 1) } else { own % n }
            }
            Self::Hashed { salt } => spread(entropy, salt, n),
        }
    }
}

/// Returns one of `n` choices from a packet's entropy, independent between salts: the finalizer of SplitMix64 (Steele
/// et al., OOPSLA 2014, variant 13 of Stafford's mixers) over salt and entropy. With one multiplication or one shift
/// fewer, the choices of some pairs of switches are dependent.
#[inline]
pub(super) fn spread(entropy: u16, salt: u32, n: u32) -> u32 {
    let mut x = (u64::from(salt) << 16 | u64::from(entropy)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    (((x >> 32) * u64::from(n)) >> 32) as u32
}
