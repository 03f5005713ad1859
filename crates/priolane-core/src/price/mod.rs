//! Pricing of network shares: price plans (PACCP §IV) and optimal rates (PACCP §II).
//!
//! ```text
//! payer       vbp       a virtual machine's (theta, w), split over its active flows       (§IV-A)
//!             fbp       a flow's own (theta, w), changed while it runs                    (§IV-B)
//! price       tariff    P0 + P1 (w - 1) + P2 theta per second, metered over time
//! rates       max_min   x_i = max(theta_i, w_i nu) on each bottleneck                     (§IV-C)
//!             num       max sum of w_i U(x_i), U TCP's utility                            (§II, Eq. 4)
//! ```

pub mod fbp;
pub mod ledger;
pub mod max_min;
pub mod num;
pub mod tariff;
pub mod utility;
pub mod vbp;

use crate::endpoint::Weights;
use crate::keys::Words;

/// A class of service (PACCP §III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Words)]
pub enum Cos {
    /// Best effort: (0, w) with w at most 1.
    #[word("BE")]
    BestEffort,
    /// Differentiated service: (0, w) with w above 1.
    #[word("DS")]
    Differentiated,
    /// Minimum rate guaranteed: theta above 0.
    #[word("MRG")]
    MinimumRate,
}

impl Cos {
    /// Returns the class of this pair.
    pub fn of(pair: Weights) -> Self {
        match pair {
            Weights { theta: Some(_), .. } => Self::MinimumRate,
            Weights { w_milli: 1_001.., .. } => Self::Differentiated,
            _ => Self::BestEffort,
        }
    }
}

/// A flow that demands a share of the links on its path.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Links of its path, as indices in [`Shares::capacity`], each once; at least one.
    pub links: Vec<usize>,
    /// Minimum rate in bits per second, 0 for none.
    pub theta: f64,
    /// Weight, above 0.
    pub w: f64,
}

/// Flows that share links, with any topology and routing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Shares {
    /// Capacity of each link, in bits per second, above 0.
    pub capacity: Vec<f64>,
    /// The flows.
    pub demands: Vec<Demand>,
}

/// The reason why rates cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SharesError {
    /// A capacity that is not a finite number above 0.
    #[error("the capacity of link {0} is not above zero")]
    Capacity(usize),
    /// A flow without links, or with an unknown or repeated link.
    #[error("flow {0} has no links, or unknown or repeated ones")]
    Links(usize),
    /// A weight that is not a finite number above 0.
    #[error("the weight of flow {0} is not above zero")]
    Weight(usize),
    /// A minimum rate that is negative or not a number.
    #[error("the minimum rate of flow {0} is negative or not finite")]
    Theta(usize),
}

/// Minimum rates that the links can carry.
#[derive(Clone, Debug, PartialEq)]
pub struct GuaranteedRates {
    /// By flow, in bits per second; the requested rates if all fit.
    pub theta: Vec<f64>,
    /// Links whose flows request more than their capacity.
    pub overbooked: Vec<usize>,
}

impl Shares {
    /// Checks that all numbers are valid.
    ///
    /// # Errors
    /// The first invalid number.
    pub fn check(&self) -> Result<(), SharesError> {
        if let Some(link) = self.capacity.iter().position(|&c| !(c > 0.0 && c.is_finite())) {
            return Err(SharesError::Capacity(link));
        }
        for (flow, Demand { links, theta, w }) in self.demands.iter().enumerate() {
            let known =
                |(i, &link): (usize, &usize)| link < self.capacity.len() && !links[..i].contains(&link);
            if links.is_empty() || !links.iter().enumerate().all(known) {
                return Err(SharesError::Links(flow));
            }
            if !(*w > 0.0 && w.is_finite()) {
                return Err(SharesError::Weight(flow));
            }
            if !(*theta >= 0.0 && theta.is_finite()) {
                return Err(SharesError::Theta(flow));
            }
        }
        Ok(())
    }

    /// Returns the flows of each link.
    pub(crate) fn users(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.capacity.len()];
        for (flow, demand) in self.demands.iter().enumerate() {
            demand.links.iter().for_each(|&link| users[link].push(flow));
        }
        users
    }

    /// Returns the minimum rates that can be guaranteed. On an overbooked link, flows get shares in proportion to
    /// their requests; a flow over several such links gets the smallest (docs/assumptions.md#overbooked).
    pub fn guaranteed_rates(&self) -> GuaranteedRates {
        let mut factor = vec![1.0_f64; self.demands.len()];
        let mut overbooked = Vec::new();
        for (link, flows) in self.users().iter().enumerate() {
            let asked: f64 = flows.iter().map(|&flow| self.demands[flow].theta).sum();
            if asked > self.capacity[link] * (1.0 + 1e-12) {
                overbooked.push(link);
                for &flow in flows {
                    factor[flow] = factor[flow].min(self.capacity[link] / asked);
                }
            }
        }
        let theta = self.demands.iter().zip(&factor).map(|(demand, factor)| demand.theta * factor).collect();
        GuaranteedRates { theta, overbooked }
    }
}
