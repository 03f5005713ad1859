//! The order in which a node takes packets that arrive at one instant.
//!
//! The better class is first. Packets of one class are in the order of a number that is drawn from the seed, the node,
//! the instant, and the link. No link is preferred over many instants, and neither engine, thread nor order of visit has
//! any influence.

use priolane_core::ids::{Class, NodeId};
use priolane_core::rng::{CounterRng, Purpose};
use priolane_core::units::Time;

/// Bits of the drawn number; the class has those above.
const DRAWN_BITS: u32 = 60;

/// Draws the order of simultaneous arrivals in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TieOrder(CounterRng);

impl TieOrder {
    /// Of the run with `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(CounterRng::new(seed, Purpose::Ties, 0))
    }

    /// Returns the place of a packet among those that arrive at `node` at the instant `at`: the smallest is first.
    /// `rank` is that of its ingress link.
    #[inline]
    pub(crate) fn place(self, (at, node): (Time, NodeId), rank: u32, class: Class) -> u64 {
        let drawn = self.0.of(at.0).bits(u64::from(node.0) << 32 | u64::from(rank));
        u64::from(class) << DRAWN_BITS | drawn >> (u64::BITS - DRAWN_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_class_is_first_and_within_a_class_each_order_is_equally_frequent() {
        let ties = TieOrder::new(5);
        let at = |t: u64| (Time(t * 1_230_400), NodeId(9));
        let mut orders = std::collections::HashMap::new();
        for t in 0..24_000 {
            assert!(ties.place(at(t), 0, 1) > ties.place(at(t), 7, 0), "the class comes before the draw");
            let mut ranks = [0, 1, 2, 3];
            ranks.sort_by_key(|&rank| ties.place(at(t), rank, 3));
            *orders.entry(ranks).or_insert(0u32) += 1;
        }
        // 24 orders, 1,000 of each, standard deviation 31.
        assert_eq!(orders.len(), 24);
        assert!(orders.values().all(|count| (860..1_140).contains(count)), "{orders:?}");
        assert_ne!(TieOrder::new(6).place(at(1), 0, 0), ties.place(at(1), 0, 0));
        assert_ne!(ties.place((Time(0), NodeId(1)), 0, 0), ties.place((Time(0), NodeId(2)), 0, 0));
    }
}
