//! The policy by which a full table of peers selects a peer to remove.
//!
//! A host is a stranger until one whole message was exchanged with it, busy while a message is under way, and otherwise
//! served. The places of one network are counted together: an IPv4 address, or the first 64 bits of an IPv6 address. The
//! share of a network is the size of the table divided by the number of networks in it, the newcomer's included.
//!
//! ```text
//! newcomer of a network that has less than its share       newcomer of another network
//!   1. the oldest stranger of the network with most          1. the oldest stranger of the same network
//!   2. who was served, and has been idle for long            2. who was served in the same network, and has been idle for long
//!   3. in the largest network, if it has more than its       3. the oldest stranger, if it was given a second
//!      share: who was served, then who is busy
//! ```
//!
//! No other host gives way, and the newcomer is refused. A machine that holds many addresses of one network therefore
//! displaces only its own places, and keeps no other host out. Each change and each choice takes logarithmic time.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};

use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};

/// The time for which a stranger is safe from newcomers of a network that has its share: enough for its first packets
/// to arrive.
pub(super) const GRACE: Span = Span::from_ms(1_000);

/// The standing of a host, which follows from the messages exchanged with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Standing {
    /// No message is under way, and no whole message was ever exchanged.
    Stranger,
    /// No message is under way, and a whole message was exchanged before.
    Served,
    /// A message is under way, or waits to be sent.
    Busy,
}

/// A group of addresses that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Network {
    V4(Ipv4Addr),
    V6(u64),
}

impl Network {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// The place of a host in the table.
#[derive(Clone, Copy, Debug)]
struct Place {
    network: Network,
    standing: Standing,
    /// The time of the last change of the host's standing, and the number of changes of all hosts before it (`turn`).
    since: Time,
    turn: u64,
}

/// Hosts in the order in which they joined the queue.
type Queue = BTreeSet<(u64, HostId)>;

fn first(queue: &Queue) -> Option<HostId> {
    queue.first().map(|&(_, host)| host)
}

/// The hosts of one network, by standing.
#[derive(Debug, Default)]
struct Members([Queue; 3]);

impl Members {
    fn of(&self, standing: Standing) -> &Queue {
        &self.0[standing as usize]
    }

    fn len(&self) -> usize {
        self.0.iter().map(Queue::len).sum()
    }

    /// Returns the keys of the network in the two orders of networks: by size, and by strangers, then size.
    fn keys(&self, network: Network) -> ((usize, Network), (usize, usize, Network)) {
        let (len, strangers) = (self.len(), self.of(Standing::Stranger).len());
        ((len, network), (strangers, len, network))
    }
}

/// The places of all hosts in the table.
#[derive(Debug)]
pub(super) struct Places {
    /// The number of hosts that the table has room for.
    most: usize,
    places: HashMap<HostId, Place>,
    networks: HashMap<Network, Members>,
    by_size: BTreeSet<(usize, Network)>,
    by_strangers: BTreeSet<(usize, usize, Network)>,
    /// All strangers, and all served hosts.
    strangers: Queue,
    served: Queue,
    turns: u64,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            places: HashMap::new(),
            networks: HashMap::new(),
            by_size: BTreeSet::new(),
            by_strangers: BTreeSet::new(),
            strangers: Queue::new(),
            served: Queue::new(),
            turns: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= self.most
    }

    /// Gives a host a place, or a new standing.
    pub(super) fn set(&mut self, host: HostId, address: IpAddr, standing: Standing, now: Time) {
        if self.places.get(&host).is_some_and(|place| place.standing == standing) {
            return;
        }
        self.remove(host);
        self.turns += 1;
        let place = Place { network: Network::of(address), standing, since: now, turn: self.turns };
        self.places.insert(host, place);
        self.change(place, |queue| {
            queue.insert((place.turn, host));
        });
    }

    /// Removes a host from its place.
    pub(super) fn remove(&mut self, host: HostId) {
        let Some(place) = self.places.remove(&host) else { return };
        self.change(place, |queue| {
            queue.remove(&(place.turn, host));
        });
    }

    /// Changes all queues that contain a place.
    fn change(&mut self, place: Place, change: impl Fn(&mut Queue)) {
        let Place { network, standing, .. } = place;
        let members = self.networks.entry(network).or_default();
        let (size, strangers) = members.keys(network);
        self.by_size.remove(&size);
        self.by_strangers.remove(&strangers);
        change(&mut members.0[standing as usize]);
        if members.len() == 0 {
            self.networks.remove(&network);
        } else {
            let (size, strangers) = members.keys(network);
            self.by_size.insert(size);
            self.by_strangers.insert(strangers);
        }
        match standing {
            Standing::Stranger => change(&mut self.strangers),
            Standing::Served => change(&mut self.served),
            Standing::Busy => {}
        }
    }

    /// Returns the host that gives way to a newcomer at `address`. A served host is idle for long after `idle`.
    pub(super) fn victim(&self, address: IpAddr, idle: Span, now: Time) -> Option<HostId> {
        let network = Network::of(address);
        let own = self.networks.get(&network);
        let share = self.most / (self.networks.len() + usize::from(own.is_none())).max(1);
        let share = share.max(1);
        let lasts = |host: &HostId, span: Span| {
            self.places.get(host).is_some_and(|place| now.since(place.since) >= span)
        };
        if let Some(own) = own.filter(|own| own.len() >= share) {
            let stranger = first(own.of(Standing::Stranger));
            let served = || first(own.of(Standing::Served)).filter(|host| lasts(host, idle));
            let old = || first(&self.strangers).filter(|host| lasts(host, GRACE));
            return stranger.or_else(served).or_else(old);
        }
        let most_strangers = self.by_strangers.last().and_then(|(_, _, network)| self.networks.get(network));
        let stranger = most_strangers.and_then(|members| first(members.of(Standing::Stranger)));
        let served = || first(&self.served).filter(|host| lasts(host, idle));
        let largest = || {
            let &(len, network) = self.by_size.last()?;
            let members = self.networks.get(&network).filter(|_| len > share)?;
            first(members.of(Standing::Served)).or_else(|| first(members.of(Standing::Busy)))
        };
        stranger.or_else(served).or_else(largest)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    const IDLE: Span = Span::from_ms(5_000);

    /// A table whose hosts have the names 1, 2, ... in the order in which they came.
    struct Table {
        places: Places,
        now: Time,
        names: u16,
    }

    fn v4(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    impl Table {
        fn new(most: usize) -> Self {
            Self { places: Places::new(most), now: Time::ZERO, names: 0 }
        }

        fn add(&mut self, address: IpAddr, standing: Standing) -> HostId {
            self.names += 1;
            self.places.set(HostId(self.names), address, standing, self.now);
            HostId(self.names)
        }

        fn victim(&self, address: IpAddr) -> Option<HostId> {
            self.places.victim(address, IDLE, self.now)
        }

        fn wait(&mut self, span: Span) {
            self.now += span;
        }
    }

    #[test]
    fn the_oldest_stranger_of_the_network_with_most_gives_way_first() {
        let mut table = Table::new(6);
        let lone = table.add(v4(1), Standing::Stranger);
        table.add(v4(2), Standing::Busy);
        let oldest = table.add(v4(2), Standing::Stranger);
        let next = table.add(v4(2), Standing::Stranger);
        let served = table.add(v4(3), Standing::Served);
        table.add(v4(4), Standing::Busy);
        assert_eq!(table.victim(v4(9)), Some(oldest));
        // A standing that is set again changes nothing; one that changes makes a host the youngest.
        table.places.set(oldest, v4(2), Standing::Stranger, table.now);
        assert_eq!(table.victim(v4(9)), Some(oldest));
        table.places.set(oldest, v4(2), Standing::Busy, table.now);
        table.places.set(oldest, v4(2), Standing::Stranger, table.now);
        assert_eq!(table.victim(v4(9)), Some(next));
        for host in [next, oldest] {
            table.places.remove(host);
        }
        assert_eq!(table.victim(v4(9)), Some(lone));
        table.places.remove(lone);
        assert_eq!(table.victim(v4(9)), None, "10.0.0.3 has no more than its share");
        table.wait(IDLE);
        assert_eq!(table.victim(v4(9)), Some(served));
    }

    #[test]
    fn the_largest_network_gives_way_if_it_has_more_than_its_share() {
        let mut table = Table::new(6);
        let oldest = table.add(v4(1), Standing::Busy);
        let served = table.add(v4(1), Standing::Served);
        for _ in 0..2 {
            table.add(v4(1), Standing::Busy);
        }
        table.add(v4(2), Standing::Served);
        table.add(v4(3), Standing::Busy);
        // 6 places for 4 networks: a share of 1.
        assert_eq!(table.victim(v4(9)), Some(served));
        table.places.set(served, v4(1), Standing::Busy, table.now);
        assert_eq!(table.victim(v4(9)), Some(oldest));
        // Without a newcomer there are 3 networks, with a share of 2: 10.0.0.3 has less, 10.0.0.1 has more.
        assert_eq!((table.victim(v4(3)), table.victim(v4(1))), (Some(oldest), None));
    }

    #[test]
    fn a_network_that_has_its_share_displaces_only_itself_and_strangers_of_long() {
        let mut table = Table::new(4);
        let mine =
            [Standing::Stranger, Standing::Served, Standing::Busy].map(|standing| table.add(v4(1), standing));
        let other = table.add(v4(2), Standing::Stranger);
        assert_eq!(table.victim(v4(1)), Some(mine[0]));
        table.places.set(mine[0], v4(1), Standing::Busy, table.now);
        assert_eq!(table.victim(v4(1)), None);
        table.wait(GRACE);
        assert_eq!(table.victim(v4(1)), Some(other));
        table.places.set(other, v4(2), Standing::Served, table.now);
        table.wait(Span(IDLE.0 - GRACE.0));
        assert_eq!(table.victim(v4(1)), Some(mine[1]), "before one of another network");
        table.places.remove(mine[1]);
        table.wait(IDLE);
        assert_eq!(table.victim(v4(1)), None, "who was served elsewhere stays");
    }

    #[test]
    fn addresses_of_one_network_are_counted_together() {
        let v6 =
            |high: u64, low: u64| IpAddr::from(Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)));
        for (same, other) in [([v6(1, 1), v6(1, 2)], v6(2, 3)), ([v4(1); 2], v4(2))] {
            let mut table = Table::new(3);
            let first = table.add(same[0], Standing::Busy);
            table.add(same[1], Standing::Busy);
            table.add(other, Standing::Busy);
            assert_eq!(table.victim(v4(99)), Some(first));
        }
        let mapped = IpAddr::from(Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped());
        assert_eq!(Network::of(mapped), Network::of(v4(1)));
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let mut table = Table::new(4);
        let hosts =
            [Standing::Stranger, Standing::Served, Standing::Busy].map(|standing| table.add(v4(1), standing));
        assert!(!table.places.is_full());
        table.add(v4(2), Standing::Busy);
        assert!(table.places.is_full());
        for host in hosts.into_iter().chain([HostId(4), HostId(9)]) {
            table.places.remove(host);
        }
        let Places { places, networks, by_size, by_strangers, strangers, served, .. } = &table.places;
        assert!(places.is_empty() && networks.is_empty() && by_size.is_empty() && by_strangers.is_empty());
        assert!(strangers.is_empty() && served.is_empty());
        assert_eq!(table.victim(v4(1)), None);
    }
}
