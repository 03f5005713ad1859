//! Assigns to each flow the pair (theta, w) that it pays for: its group's pair, or one of a mix.
//!
//! With `mix_draw = "by_size"`, flows are sorted by size, largest first, and split into blocks in which each pair of
//! the mix has a whole number of flows. In each block of B flows
//!
//! ```text
//! pair of flow i of B = that of (order(i) + u_i) / B + mix_offset, modulo 1
//! order: a random permutation of 0 .. B - 1,  u_i ~ U[0, 1)
//! ```
//!
//! `order(i) + u_i` is uniform in [0, B), so a flow of any size has each pair with the probability of its share, and
//! each pair has its share in each block. Flows with different pairs then have nearly the same size
//! distribution. Their mean completion times differ only because of their pairs (docs/assumptions.md#mix-by-size).

use std::cmp::Reverse;

use priolane_core::flows::FlowList;
use priolane_core::rng::Stream;
use priolane_core::units::Time;

use crate::experiment::{MixDraw, Service};

/// Assigns to flows the pairs that they, or their virtual machines, pay for. Flows before, in and after the
/// `measured` window form separate blocks.
pub(super) fn pay(service: &Service, flows: &mut FlowList, measured: [Time; 2], stream: &mut Stream) {
    if service.mix.is_empty() {
        return flows.edit_all(|flow| flow.weights = service.pair.0);
    }
    if service.mix_draw == MixDraw::Independent {
        return flows.edit_all(|flow| flow.weights = service.draw(stream.uniform()));
    }
    let mut parts = [const { Vec::new() }; 3];
    for place in 0..flows.len() {
        let phase = measured.iter().filter(|&&at| flows.start(place) >= at).count();
        parts[phase].push(place);
    }
    let block = service.block();
    let mut order: Vec<usize> = (0..block).collect();
    let mut drawn = vec![0.0; flows.len()];
    for mut part in parts {
        part.sort_by_key(|&place| Reverse(flows.size(place).unwrap_or(u64::MAX)));
        for places in part.chunks(block) {
            stream.shuffle(&mut order);
            for (&place, &nth) in places.iter().zip(&order) {
                drawn[place] = (nth as f64 + stream.uniform()) / block as f64;
            }
        }
    }
    let mut drawn = drawn.into_iter();
    flows.edit_all(|flow| flow.weights = service.draw(drawn.next().unwrap_or_default()));
}
