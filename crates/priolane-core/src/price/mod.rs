//! What network shares cost and what they should be: price plans (PACCP §IV) and optimal rates (PACCP §II).
//!
//! ```text
//! who pays for what   vbp   a virtual machine's (theta, w), split over its active flows       (§IV-A)
//!                     fbp   a flow's own (theta, w), changed while it runs                    (§IV-B)
//! how much            tariff    P0 + P1 (w - 1) + P2 theta per second, metered over time
//! what it promises    max_min   x_i = max(theta_i, w_i nu) on each bottleneck                 (§IV-C)
//!                     num       max sum of w_i U(x_i), U TCP's utility                        (§II, Eq. 4)
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
    /// The class that this pair buys.
    pub fn of(pair: Weights) -> Self {
        match pair {
            Weights { theta: Some(_), .. } => Self::MinimumRate,
            Weights { w_milli: 1_001.., .. } => Self::Differentiated,
            _ => Self::BestEffort,
        }
    }
}

/// A flow that wants a share of the links on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Its links, as places in [`Shares::capacity`], each once; at least one.
    pub links: Vec<usize>,
    /// Minimum rate in bits per second, 0 for none.
    pub theta: f64,
    /// Weight, above 0.
    pub w: f64,
}

/// Flows that share links: any topology, any routing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Shares {
    /// Capacity of each link, in bits per second, above 0.
    pub capacity: Vec<f64>,
    /// The flows.
    pub demands: Vec<Demand>,
}

/// Why shares cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SharesError {
    /// A capacity that is not a finite number above 0.
    #[error("link {0} has no capacity above zero")]
    Capacity(usize),
    /// A flow without links, or with one that does not exist or comes twice.
    #[error("the links of flow {0} are none, unknown or repeated")]
    Links(usize),
    /// A weight that is not a finite number above 0.
    #[error("the weight of flow {0} is not above zero")]
    Weight(usize),
    /// A minimum rate that is negative or no number.
    #[error("the minimum rate of flow {0} is not zero or more")]
    Theta(usize),
}

/// Minimum rates that fit the links.
#[derive(Clone, Debug, PartialEq)]
pub struct Promised {
    /// By flow, in bits per second; what was asked where all fit.
    pub theta: Vec<f64>,
    /// Links whose flows ask for more than they carry.
    pub overbooked: Vec<usize>,
}

impl Shares {
    /// Whether each number makes sense.
    ///
    /// # Errors
    /// The first that does not.
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

    /// The flows of each link.
    pub(crate) fn users(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.capacity.len()];
        for (flow, demand) in self.demands.iter().enumerate() {
            demand.links.iter().for_each(|&link| users[link].push(flow));
        }
        users
    }

    /// What can be promised: on a link whose flows ask for more than it carries they get shares in proportion, and
    /// a flow over several the smallest of these (docs/assumptions.md#overbooked).
    pub fn promised(&self) -> Promised {
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
        Promised { theta, overbooked }
    }
}
