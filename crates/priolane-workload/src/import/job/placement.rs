//! The host of each rank.

use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_source::InputError;

use crate::import::imported::MAX_HOSTS;

/// The order in which hosts get ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By number, so that ranks fill one rack after the other.
    #[default]
    Packed,
    /// The first host of each rack of this many hosts, then the second of each, and so on.
    RoundRobin {
        /// Hosts of a rack.
        rack: u32,
    },
    /// A random permutation.
    Random {
        /// Its seed.
        seed: u64,
    },
}

/// The hosts of a job's ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The order of hosts.
    pub order: Order,
    /// Number of hosts, from the first in this order on, that the job does not get: those of other jobs.
    pub first: u32,
}

impl Placement {
    /// Returns the host of each rank, and the number of hosts that the network must have. If `hosts` are too few for the
    /// ranks, each gets as many as the others.
    ///
    /// # Errors
    /// Fails if no host is left, or too many are needed.
    pub(super) fn hosts(
        &self,
        ranks: usize,
        hosts: Option<u32>,
        file: &str,
    ) -> Result<(Vec<HostId>, u32), InputError> {
        let own = ranks as u64 + u64::from(self.first);
        let hosts = hosts.map_or(own.max(2), u64::from);
        if hosts > MAX_HOSTS || u64::from(self.first) >= hosts {
            let what = format!("{hosts} hosts are too many, or --first {} leaves none of them", self.first);
            return Err(InputError::new(file, None, "", what, "--hosts up to 65536, and --first below it"));
        }
        let mut order: Vec<HostId> = (0..hosts).map(|host| HostId(host as u16)).collect();
        match self.order {
            Order::Packed => {}
            Order::RoundRobin { rack } => {
                let rack = rack.max(1);
                order.sort_by_key(|host| (u32::from(host.0) % rack, host.0));
            }
            Order::Random { seed } => Stream::new(seed, Purpose::Pairs, 0).shuffle(&mut order),
        }
        let free = &order[self.first as usize..];
        Ok(((0..ranks).map(|rank| free[rank % free.len()]).collect(), hosts as u32))
    }
}
