//! The laws of priority and what follows from them: Eqs. 6 to 14.

use super::{Model, dot};

/// A law f(x) = [gamma (x - alpha)]^e + beta (Eqs. 6 and 8): the larger, the higher the priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// gamma, above 0: 1 over the unit of x.
    pub gamma: f64,
    /// alpha, in the unit of x: at or below it the priority has no bound.
    pub alpha: f64,
    /// e, below 0.
    pub exponent: f64,
    /// beta, at least 0: the priority of what is without bound.
    pub base: f64,
}

impl Law {
    /// The priority f(x): infinite at alpha and below.
    pub fn priority(&self, x: f64) -> f64 {
        if x <= self.alpha {
            return f64::INFINITY;
        }
        libm::pow(self.gamma * (x - self.alpha), self.exponent) + self.base
    }
}

/// What follows where priority is a law of size alone (Eqs. 9 to 11).
#[derive(Clone, Debug, PartialEq)]
pub struct BytesBased {
    /// The completion time FCT_n of a flow of each size class, in seconds.
    pub fct_s: Vec<f64>,
    /// Their sum over classes, Eq. 9 as printed, in seconds.
    pub printed_s: f64,
    /// The slope a_1 of Eq. 10, Eq. 9 over gamma^-e; `None` where beta is above 0, and Eq. 9 no such line.
    pub slope: Option<f64>,
    /// The mean completion time of flows, in seconds.
    pub mean_s: f64,
    /// By size class, the part of flows that miss their deadlines.
    pub missed: Vec<f64>,
    /// R_B, the part of all flows (Eq. 11).
    pub miss_rate: f64,
}

impl BytesBased {
    /// What follows for `model` under `law` of size in bytes, where a flow of priority 1 has the rate `mu` in bytes
    /// per second, above 0.
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

/// What follows where priority is a law of the latency requirement alone (Eqs. 12 to 14).
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBased {
    /// By size class and requirement, the completion time FCT_nm of a flow, in seconds.
    pub fct_s: Vec<Vec<f64>>,
    /// Eq. 12 as printed: the sum over classes of G_n S_n over the mean rate of the class's flows, in seconds.
    pub printed_s: f64,
    /// The mean completion time of flows, in seconds: at least what is printed, since the mean of quotients is at least
    /// the quotient by the mean.
    pub mean_s: f64,
    /// By size class, the mean completion time of its flows, in seconds.
    pub class_s: Vec<f64>,
    /// By size class, the part of flows that miss their deadlines.
    pub missed: Vec<f64>,
    /// R_L, the part of all flows (Eq. 14).
    pub miss_rate: f64,
}

impl LatencyBased {
    /// What follows for `model` under `law` of requirements in seconds, where a flow of priority 1 has the rate `mu`
    /// in bytes per second, above 0.
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

/// The mean priority of a row of L; a requirement that nobody has counts nothing, even where its priority has no bound.
fn mean_priority(row: &[f64], priorities: &[f64]) -> f64 {
    row.iter().zip(priorities).filter(|&(&share, _)| share > 0.0).map(|(share, p)| share * p).sum()
}

fn late(model: &Model, fct_s: &[f64], row: &[f64]) -> f64 {
    let of = model.requirements.iter().zip(fct_s).zip(row);
    of.filter(|((allowed, fct), _)| allowed < fct).fold(0.0, |sum, (_, share)| sum + share)
}
