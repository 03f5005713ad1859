//! Firapam's closed forms (§III-A, §III-B): completion times and deadline misses of each class, if a flow's rate is
//! proportional to a priority that depends on its size alone or on its latency requirement alone.
//!
//! ```text
//! S = [S_1 .. S_N],  0 < S_1 < .. < S_N                      mean sizes of N classes                            (1)
//! T = f_t G S,  G = diag(G_1 .. G_N), sum G_n = 1            bytes of each class                                (2)
//! D = [L_1 .. L_M],  0 < L_1 < .. < L_M                      mean latency requirements of M classes             (3)
//! L = [l_nm],  sum over m of l_nm = 1                        share of a size class with each requirement        (4)
//! R = f_t G L D                                              required times of each class, summed               (5)
//! f(x) = [gamma (x - alpha)]^e + beta,  e < 0                priority of a size or of a requirement          (6, 8)
//! gamma = k sigma                                            sigma: standard deviation of T                     (7)
//! rate of a flow = mu p,  so FCT_n = S_n / (mu f_S(S_n)),  FCT_nm = S_n / (mu f_L(L_m))
//! FCT_B = sum of S_n / (mu f_S(S_n))                         one flow of each class                             (9)
//!       = a_1 gamma^-e,  a_1 = sum of S_n (S_n - alpha)^-e / mu,  if beta = 0                                  (10)
//! R_B   = sum of G_n l_nm over L_m < FCT_n                                                                     (11)
//! FCT_L = sum of G_n S_n / (mu sum over m of l_nm f_L(L_m))                                                (12, 13)
//! R_L   = sum of G_n l_nm over L_m < FCT_nm                                                                    (14)
//! ```
//!
//! Besides the sums as printed, there is the mean over flows, which a simulation measures: the sum of G_n l_nm FCT. A
//! flow that takes exactly its allowed time meets its deadline, in Eq. 11 as in Eq. 14
//! (docs/assumptions.md#firapam-closed-forms).

mod laws;

pub use laws::{BytesBased, LatencyBased, Law};

/// Tolerance of sums of shares around 1.
const ROUNDING: f64 = 1e-6;

/// The traffic and requirement model of a network (Eqs. 1 to 5).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    flows: f64,
    sizes: Vec<f64>,
    shares: Vec<f64>,
    requirements: Vec<f64>,
    mix: Vec<Vec<f64>>,
}

/// The inputs of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInput {
    /// The number of flows, f_t, above 0.
    pub flows: f64,
    /// The mean sizes S_n in bytes, above 0, increasing.
    pub sizes: Vec<f64>,
    /// The share G_n of each size class in the number of flows; the shares sum to 1.
    pub shares: Vec<f64>,
    /// The mean latency requirements L_m in seconds, above 0, increasing.
    pub requirements: Vec<f64>,
    /// By size class, the share l_nm of each latency requirement; each row sums to 1.
    pub mix: Vec<Vec<f64>>,
}

/// The reason why inputs do not form a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// f_t is not a finite number above 0.
    #[error("the number of flows must be above 0")]
    Flows,
    /// S is empty, or not increasing above 0.
    #[error("sizes must be above 0 and increase from class to class")]
    Sizes,
    /// G has another length than S, a negative share, or another sum than 1.
    #[error("there must be one share for each size, none negative, with a sum of 1")]
    Shares,
    /// D is empty, or not increasing above 0.
    #[error("latency requirements must be above 0 and increase from class to class")]
    Requirements,
    /// L is not an N x M matrix of shares whose rows sum to 1.
    #[error(
        "there must be one row for each size with one share for each latency requirement, none negative, \
         with a sum of 1"
    )]
    Mix,
}

impl Model {
    /// Creates the model of `parts`.
    ///
    /// # Errors
    /// The first input that is out of range.
    pub fn new(parts: ModelInput) -> Result<Self, ModelError> {
        let ModelInput { flows, sizes, shares, requirements, mix } = parts;
        if !(flows > 0.0 && flows.is_finite()) {
            return Err(ModelError::Flows);
        }
        if !increasing(&sizes) {
            return Err(ModelError::Sizes);
        }
        if shares.len() != sizes.len() || !whole(&shares) {
            return Err(ModelError::Shares);
        }
        if !increasing(&requirements) {
            return Err(ModelError::Requirements);
        }
        let row_fits = |row: &Vec<f64>| row.len() == requirements.len() && whole(row);
        if mix.len() != sizes.len() || !mix.iter().all(row_fits) {
            return Err(ModelError::Mix);
        }
        Ok(Self { flows, sizes, shares, requirements, mix })
    }

    /// Returns the mean sizes S in bytes (Eq. 1).
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Returns the shares G_n of size classes in the number of flows.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the latency requirements D in seconds (Eq. 3).
    pub fn requirements(&self) -> &[f64] {
        &self.requirements
    }

    /// Returns the rows K_n of L (Eq. 4).
    pub fn mix(&self) -> &[Vec<f64>] {
        &self.mix
    }

    /// Returns the number of flows, f_t.
    pub fn flows(&self) -> f64 {
        self.flows
    }

    /// Returns the traffic model T in bytes (Eq. 2).
    pub fn traffic(&self) -> Vec<f64> {
        self.shares.iter().zip(&self.sizes).map(|(share, size)| self.flows * share * size).collect()
    }

    /// Returns the requirement model R in seconds (Eq. 5).
    pub fn requirement(&self) -> Vec<f64> {
        let rows = self.shares.iter().zip(&self.mix);
        rows.map(|(share, row)| self.flows * share * dot(row, &self.requirements)).collect()
    }

    /// Returns the population standard deviation sigma of the elements of T (Eq. 7), in bytes.
    pub fn deviation(&self) -> f64 {
        let traffic = self.traffic();
        let n = traffic.len() as f64;
        let mean = traffic.iter().sum::<f64>() / n;
        (traffic.iter().map(|bytes| (bytes - mean) * (bytes - mean)).sum::<f64>() / n).sqrt()
    }

    /// Returns the fraction of the flows of size class `n` that require less than `fct_s` seconds.
    fn missed(&self, n: usize, fct_s: f64) -> f64 {
        let of = self.requirements.iter().zip(&self.mix[n]);
        of.filter(|&(&allowed, _)| allowed < fct_s).fold(0.0, |sum, (_, share)| sum + share)
    }
}

fn increasing(values: &[f64]) -> bool {
    let positive = values.first().is_some_and(|&first| first > 0.0);
    positive && values.iter().all(|value| value.is_finite()) && values.windows(2).all(|w| w[0] < w[1])
}

/// Returns whether shares are non-negative and sum to 1.
fn whole(shares: &[f64]) -> bool {
    shares.iter().all(|&share| share >= 0.0) && (shares.iter().sum::<f64>() - 1.0).abs() <= ROUNDING
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
