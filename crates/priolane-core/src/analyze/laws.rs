//! The priority functions and the resulting completion times and miss rates: Eqs. 6 to 14.

use super::{Model, dot};

/// A priority function f(x) = [gamma (x - alpha)]^e + beta (Eqs. 6 and 8); larger values are higher priorities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// gamma, above 0: the inverse of the unit of x.
    pub gamma: f64,
    /// alpha, in the unit of x: at or below it the priority is infinite.
    pub alpha: f64,
    /// e, below 0.
    pub exponent: f64,
    /// beta, at least 0: the limit of the priority for large x.
    pub base: f64,
}

impl Law {
    /// Returns the priority f(x): infinite for x at or below alpha.
    pub fn priority(&self, x: f64) -> f64 {
        if x <= self.alpha {
            return f64::INFINITY;
        }
        libm::pow(self.gamma * (x - self.alpha), self.exponent) + self.base
    }
}

/// Results if priority is a function of size alone (Eqs. 9 to 11).
#[derive(Clone, Debug, PartialEq)]
pub struct BytesBased {
    /// The completion time FCT_n of a flow of each size class, in seconds.
    pub fct_s: Vec<f64>,
    /// Their sum over classes, Eq. 9 as printed, in seconds.
    pub printed_s: f64,
    /// The slope a_1 of Eq. 10, Eq. 9 over gamma^-e; `None` if beta is above 0, since Eq. 9 is then not linear.
    pub slope: Option<f64>,
    /// The mean completion time of flows, in seconds.
    pub mean_s: f64,
    /// By size class, the fraction of flows that miss their deadlines.
    pub missed: Vec<f64>,
    /// R_B, the fraction of all flows that miss their deadlines (Eq. 11).
    pub miss_rate: f64,
}

impl BytesBased {
    /// Computes the results for `model` under `law`, a function of size in bytes. A flow of priority 1 has the rate
    /// `mu` in bytes per second, above 0.
    pub fn new(model: &Model, law: &Law, mu: f64) -> Self {
        let fct_s: Vec<f64> = model.sizes.iter().map(|&size| size / (mu * law.priority(size))).collect();
        let missed: Vec<f64> = fct_s.iter().enumerate().map(|(n, &fct)| model.missed(n, fct)).collect();
        let printed_s = fct_s.iter().sum();
        let slope = (law.base == 0.0).then(|| printed_s * libm::pow(law.gamma, law.exponent));
        let mean_s = dot(&model.shares, &fct_s);
        let miss_rate = dot(&model.shares, &missed);
        Self { fct_s, printed_s, slope, mean_s, missed, miss_rate }
    }
}

/// Results if priority is a function of the latency requirement alone (Eqs. 12 to 14).
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBased {
    /// By size class and requirement, the completion time FCT_nm of a flow, in seconds.
    pub fct_s: Vec<Vec<f64>>,
    /// Eq. 12 as printed: the sum over classes of G_n S_n over the mean rate of the class's flows, in seconds.
    pub printed_s: f64,
    /// The mean completion time of flows, in seconds; at least `printed_s`, since the mean of quotients is at least
    /// the quotient by the mean.
    pub mean_s: f64,
    /// By size class, the mean completion time of its flows, in seconds.
    pub class_s: Vec<f64>,
    /// By size class, the fraction of flows that miss their deadlines.
    pub missed: Vec<f64>,
    /// R_L, the fraction of all flows that miss their deadlines (Eq. 14).
    pub miss_rate: f64,
}

impl LatencyBased {
    /// Computes the results for `model` under `law`, a function of requirements in seconds. A flow of priority 1 has
    /// the rate `mu` in bytes per second, above 0.
    pub fn new(model: &Model, law: &Law, mu: f64) -> Self {
        let priorities: Vec<f64> = model.requirements.iter().map(|&allowed| law.priority(allowed)).collect();
        let fct_s: Vec<Vec<f64>> =
            model.sizes.iter().map(|size| priorities.iter().map(|p| size / (mu * p)).collect()).collect();
        let terms = model.sizes.iter().zip(&model.shares).zip(&model.mix);
        let printed_s =
            terms.map(|((size, share), row)| share * size / (mu * mean_priority(row, &priorities))).sum();
        let class_s: Vec<f64> = fct_s.iter().zip(&model.mix).map(|(fct, row)| dot(row, fct)).collect();
        let missed: Vec<f64> = fct_s.iter().zip(&model.mix).map(|(fct, row)| late(model, fct, row)).collect();
        let mean_s = dot(&model.shares, &class_s);
        let miss_rate = dot(&model.shares, &missed);
        Self { fct_s, printed_s, mean_s, class_s, missed, miss_rate }
    }
}

/// Returns the mean priority of a row of L; a requirement without flows does not count, even if its priority is
/// infinite.
fn mean_priority(row: &[f64], priorities: &[f64]) -> f64 {
    row.iter().zip(priorities).filter(|&(&share, _)| share > 0.0).map(|(share, p)| share * p).sum()
}

fn late(model: &Model, fct_s: &[f64], row: &[f64]) -> f64 {
    let of = model.requirements.iter().zip(fct_s).zip(row);
    of.filter(|((allowed, fct), _)| allowed < fct).fold(0.0, |sum, (_, share)| sum + share)
}
