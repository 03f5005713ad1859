//! Weighted max-min rates with minima (PACCP §IV-C), by progressive filling.
//!
//! ```text
//! level nu rises from 0; a flow that is not frozen has x_i = max(theta_i, w_i nu)
//! the links of least nu_l with  sum over flows of l of x_i = C_l  freeze their flows; continue with the others
//! ```
//!
//! Each nu_l is exact: between two of the levels theta_i / w_i, at which a flow exceeds its minimum, the sum is
//! linear. Every worked example of PACCP §IV-C uses this max, although its prose first allocates the minima and shares
//! the rest among all: docs/assumptions.md#max-not-sum.

use super::{Shares, SharesError};

/// Computes the rate of each flow, in bits per second.
///
/// Minimum rates are those of [`Shares::guaranteed_rates`].
///
/// # Errors
/// As [`Shares::check`].
pub fn solve(shares: &Shares) -> Result<Vec<f64>, SharesError> {
    shares.check()?;
    let theta = shares.guaranteed_rates().theta;
    let users = shares.users();
    let mut rate: Vec<Option<f64>> = vec![None; shares.demands.len()];
    let mut open: Vec<usize> = (0..users.len()).filter(|&link| !users[link].is_empty()).collect();
    while !open.is_empty() {
        let level = |&link: &usize| {
            let taken: f64 = users[link].iter().filter_map(|&flow| rate[flow]).sum();
            let free = users[link].iter().filter(|&&flow| rate[flow].is_none());
            let free: Vec<UnfilledFlow> =
                free.map(|&flow| UnfilledFlow { theta: theta[flow], w: shares.demands[flow].w }).collect();
            fill((shares.capacity[link] - taken).max(0.0), &free)
        };
        let levels: Vec<f64> = open.iter().map(level).collect();
        let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let tied = least * (1.0 + 1e-12);
        for (&link, _) in open.iter().zip(&levels).filter(|&(_, &level)| level <= tied) {
            for &flow in &users[link] {
                let at_level = theta[flow].max(shares.demands[flow].w * least);
                rate[flow].get_or_insert(at_level);
            }
        }
        open.retain(|&link| users[link].iter().any(|&flow| rate[flow].is_none()));
    }
    Ok(rate.into_iter().map(Option::unwrap_or_default).collect())
}

/// A flow that is not frozen.
#[derive(Clone, Copy, Debug)]
struct UnfilledFlow {
    theta: f64,
    w: f64,
}

/// Returns the level nu with `sum max(theta, w nu) = room`; 0 if the minima exhaust the room.
fn fill(room: f64, flows: &[UnfilledFlow]) -> f64 {
    let mut flows = flows.to_vec();
    flows.sort_by(|a, b| (a.theta / a.w).total_cmp(&(b.theta / b.w)));
    // Below the first level theta / w, no flow exceeds its minimum.
    let mut held: f64 = flows.iter().map(|flow| flow.theta).sum();
    let mut weight = 0.0;
    let mut level = 0.0;
    for (i, flow) in flows.iter().enumerate() {
        held -= flow.theta;
        weight += flow.w;
        level = ((room - held) / weight).max(flow.theta / flow.w);
        match flows.get(i + 1) {
            Some(next) if level > next.theta / next.w => {}
            _ => break,
        }
    }
    if held + weight * level > room * (1.0 + 1e-9) { 0.0 } else { level }
}

#[cfg(test)]
mod tests;
