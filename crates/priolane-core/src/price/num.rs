//! Network utility maximization (PACCP §II, Eq. 4): max sum of w_i U_i(x_i) within capacities and above minima.
//!
//! ```text
//! given prices p_l >= 0 and q_i = sum of p_l over i's links:
//!   x_i(q) = max(theta_i, U_i'^-1(q_i / w_i)) = max(theta_i, (mu / beta) / (e^(q_i / w_i) - 1))
//! for each link in turn, until converged: p_l = the price at which its flows take C_l, or 0 if they take less
//! ```
//!
//! The dual is convex and smooth with the only constraint p >= 0, so this coordinate descent converges to the optimum.
//! [`Optimum::gap`] bounds the distance of the sum of utilities from the optimum. On one bottleneck with large windows
//! the rates are those of `max_min`. Over several bottlenecks they differ: a flow pays for each link it crosses.

use super::utility::Path;
use super::{Shares, SharesError};

/// Maximum rounds of coordinate descent.
const MAX_ROUNDS: u32 = 20_000;
/// Relative change of prices below which the descent has converged.
const STILL: f64 = 1e-13;

/// The optimal rates and prices.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// By flow, in bits per second; no link carries more than its capacity.
    pub rate: Vec<f64>,
    /// By link: the increase of the sum of utilities per additional bit per second.
    pub price: Vec<f64>,
    /// V: the sum of weighted utilities (CAP's).
    pub value: f64,
    /// Upper bound of the optimal sum of utilities minus `value`, by weak duality.
    pub gap: f64,
}

/// Computes the optimum of `shares`, where flow i has the utility of `paths[i]`.
///
/// Minimum rates are those of [`Shares::guaranteed_rates`].
///
/// # Errors
/// As [`Shares::check`], and `Links` for a flow without a path.
pub fn solve(shares: &Shares, paths: &[Path]) -> Result<Optimum, SharesError> {
    shares.check()?;
    if paths.len() < shares.demands.len() {
        return Err(SharesError::Links(paths.len()));
    }
    let mut dual = Dual::new(shares, paths);
    for _ in 0..MAX_ROUNDS {
        if dual.round() < STILL {
            break;
        }
    }
    Ok(dual.optimum())
}

/// Returns the sum of weighted utilities (CAP's) of `rates` in bits per second.
pub fn value(shares: &Shares, paths: &[Path], rates: &[f64]) -> f64 {
    let each = shares.demands.iter().zip(paths).zip(rates);
    each.map(|((demand, path), &rate)| demand.w * path.avoidance(rate)).sum()
}

struct Dual<'a> {
    shares: &'a Shares,
    paths: &'a [Path],
    theta: Vec<f64>,
    users: Vec<Vec<usize>>,
    price: Vec<f64>,
    /// By flow: the sum of the prices on its path.
    paid: Vec<f64>,
}

impl<'a> Dual<'a> {
    fn new(shares: &'a Shares, paths: &'a [Path]) -> Self {
        let users = shares.users();
        Self {
            shares,
            paths,
            theta: shares.guaranteed_rates().theta,
            price: vec![0.0; users.len()],
            users,
            paid: vec![0.0; shares.demands.len()],
        }
    }

    fn rate(&self, flow: usize, paid: f64) -> f64 {
        let path = self.paths[flow];
        let wanted = path.rate_at(paid * path.packet_bits() / self.shares.demands[flow].w);
        self.theta[flow].max(if paid > 0.0 { wanted } else { f64::INFINITY })
    }

    /// Returns the largest Lagrangian at these prices, an upper bound of any feasible sum of utilities.
    fn bound(&self) -> f64 {
        let flows = self.shares.demands.iter().zip(self.paths).enumerate().map(|(flow, (demand, path))| {
            let paid: f64 = demand.links.iter().map(|&link| self.price[link]).sum();
            let wanted = self.rate(flow, paid);
            demand.w * path.avoidance(wanted) - paid * wanted
        });
        let links = self.price.iter().zip(&self.shares.capacity).map(|(price, capacity)| price * capacity);
        flows.sum::<f64>() + links.sum::<f64>()
    }

    /// Sets the price of each link in turn and returns the largest relative change.
    fn round(&mut self) -> f64 {
        let mut moved: f64 = 0.0;
        for link in 0..self.price.len() {
            if self.users[link].is_empty() {
                continue;
            }
            let (old, new) = (self.price[link], self.clearing_price(link));
            for &flow in &self.users[link] {
                self.paid[flow] = (self.paid[flow] - old + new).max(0.0);
            }
            self.price[link] = new;
            moved = moved.max((new - old).abs() / new.max(old).max(f64::MIN_POSITIVE));
        }
        moved
    }

    /// Returns the price at which the flows of `link` take its capacity, with the other prices fixed; by bisection.
    fn clearing_price(&self, link: usize) -> f64 {
        let own = self.price[link];
        let others: Vec<f64> =
            self.users[link].iter().map(|&flow| (self.paid[flow] - own).max(0.0)).collect();
        let load = |price: f64| -> f64 {
            let each = self.users[link].iter().zip(&others);
            each.map(|(&flow, &other)| self.rate(flow, other + price)).sum()
        };
        // The slack allows minima that fill the link exactly, up to rounding.
        let capacity = self.shares.capacity[link] * (1.0 + 1e-12);
        if load(0.0) <= capacity {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, if own > 0.0 { own } else { 1e-12 });
        while load(high) > capacity && high < 1e6 {
            low = high;
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if load(middle) > capacity { low = middle } else { high = middle }
        }
        high
    }

    fn optimum(self) -> Optimum {
        let mut rate: Vec<f64> = (0..self.paid.len()).map(|flow| self.rate(flow, self.paid[flow])).collect();
        self.fit(&mut rate);
        let value = value(self.shares, self.paths, &rate);
        let gap = (self.bound() - value).max(0.0);
        Optimum { rate, price: self.price, value, gap }
    }

    /// Removes rounding excess above capacity, in proportion to the rates above the minima.
    fn fit(&self, rate: &mut [f64]) {
        for (link, flows) in self.users.iter().enumerate() {
            let load: f64 = flows.iter().map(|&flow| rate[flow]).sum();
            let above: f64 = flows.iter().map(|&flow| rate[flow] - self.theta[flow]).sum();
            let excess = load - self.shares.capacity[link];
            if excess > 0.0 && above > 0.0 {
                let kept = (1.0 - excess / above).max(0.0);
                for &flow in flows {
                    rate[flow] = self.theta[flow] + (rate[flow] - self.theta[flow]) * kept;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
