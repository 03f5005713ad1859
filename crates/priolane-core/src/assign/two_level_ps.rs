//! Two-level processor sharing (TLPS): a flow shares the link with all flows until it has received `th` bytes, then
//! gets the capacity that those leave. Computes the threshold of least mean sojourn time, in closed form and
//! numerically.
//!
//! Sizes are a mix of two exponentials, `1 - F(x) = p1 exp(-mu1 x) + (1 - p1) exp(-mu2 x)`, `mu1 > mu2`. With
//! capacity 1 and `lambda = rho / E[X]` (Avrachenkov, Brown, Osipova, Annals of Operations Research 2009):
//!
//! ```text
//! th* = ln[(mu1 - lambda) / (mu2 (1 - rho))] / (mu1 - mu2)            approximate optimum
//!
//! S   = E[min(X, th)],  rho_th = lambda S,  W = lambda E[min(X, th)^2] / (2 (1 - rho_th))
//! T   = [ S + W (1 - F(th)) + Int_0^inf a(x) (1 - F(th + x)) dx ] / (1 - rho_th)
//! a(x) = 1 + k Int_0^inf a(y) G(x + y) dy + k Int_0^x a(y) G(x - y) dy + b G(x)
//! G(x) = 1 - F(th + x),  k = lambda / (1 - rho_th),  b = 2 lambda (W + th) / (1 - rho_th)
//! ```
//!
//! The last equation is Kleinrock's for processor sharing with batch arrivals: a batch is what one busy period of the
//! first level leaves. With `G(x) = sum_i c_i exp(-mu_i x)`, its Laplace transform has two unknowns,
//! `A_i = Int a(x) exp(-mu_i x) dx`, and the integral in `T` is `c_1 A_1 + c_2 A_2`:
//!
//! ```text
//! A_j - k sum_i c_i (A_i + A_j) / (mu_i + mu_j) = 1 / mu_j + b sum_i c_i / (mu_i + mu_j)      j = 1, 2
//! ```

use super::solver::{SolverError, SolverInput, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::sizes::{Segment, SizeDistribution, whole_bytes};

/// Sampling points between two rows of a linear table, for the distance of a fit.
const PLACES: u32 = 16;

/// A mixture of two exponential size distributions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hyperexponential {
    /// Probability of the first component, in (0, 1).
    pub p1: f64,
    /// Rate of the first component, per byte: the inverse of its mean.
    pub mu1: f64,
    /// Rate of the second component, per byte, below `mu1`.
    pub mu2: f64,
}

impl Hyperexponential {
    /// Fits the mixture with the mean and variance of `sizes` whose components carry equal bytes (balanced means).
    /// With `c2` the squared coefficient of variation, `p1 = (1 + sqrt((c2 - 1) / (c2 + 1))) / 2` and
    /// `mu_i = 2 p_i / E[X]` (docs/assumptions.md#two-level-fit).
    ///
    /// `None` if `c2 <= 1`: sizes that vary no more than an exponential distribution are not a mixture.
    pub fn fit(sizes: &SizeDistribution) -> Option<Self> {
        let mean = sizes.mean();
        let c2 = sizes.second_moment() / (mean * mean) - 1.0;
        // Within rounding of 1, the two components coincide.
        if c2 <= 1.0 + 1e-9 {
            return None;
        }
        let p1 = 0.5 * (1.0 + ((c2 - 1.0) / (c2 + 1.0)).sqrt());
        Some(Self { p1, mu1: 2.0 * p1 / mean, mu2: 2.0 * (1.0 - p1) / mean })
    }

    /// Returns `E[X]`, in bytes.
    pub fn mean(&self) -> f64 {
        self.p1 / self.mu1 + (1.0 - self.p1) / self.mu2
    }

    /// Returns the probability of a size above `x` bytes.
    pub fn beyond(&self, x: f64) -> f64 {
        let [c1, c2] = self.tail(x);
        c1 + c2
    }

    /// Returns the largest difference of cumulative probability to `sizes` (Kolmogorov distance), evaluated at all
    /// rows, on both sides of atoms, and at 16 points between rows of linear tables.
    pub fn distance(&self, sizes: &SizeDistribution) -> f64 {
        let mut cdf = 0.0;
        let mut largest = 0.0_f64;
        for Segment { mass, low, high } in sizes.segments() {
            let places = if low == high { 1 } else { PLACES };
            for place in 0..=places {
                let part = f64::from(place) / f64::from(places);
                let other = 1.0 - self.beyond(low + part * (high - low));
                largest = largest.max((cdf + part * mass - other).abs());
            }
            cdf += mass;
        }
        largest
    }

    /// Returns the tails `c_1`, `c_2` of the components beyond `x`.
    fn tail(&self, x: f64) -> [f64; 2] {
        [self.p1 * libm::exp(-self.mu1 * x), (1.0 - self.p1) * libm::exp(-self.mu2 * x)]
    }
}

/// Returns the threshold in bytes of approximately the least mean sojourn time, `th*` above, at a load in (0, 1).
///
/// `None` if the formula has no positive value: the mean of the first component is above the mean inter-arrival time.
pub(crate) fn tlps_h2_approx(law: &Hyperexponential, load: f64) -> Option<f64> {
    let lambda = load / law.mean();
    let threshold = libm::log((law.mu1 - lambda) / (law.mu2 * (1.0 - load))) / (law.mu1 - law.mu2);
    (threshold > 0.0 && threshold.is_finite()).then_some(threshold)
}

/// The solver `closed_form`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "closed_form",
    summary = "approximately minimizes the mean sojourn time of two-level processor sharing",
    source = "Avrachenkov, Brown, Osipova 2009; docs/assumptions.md#two-level-fit"
)]
pub struct ClosedForm;

impl ThresholdSolver for ClosedForm {
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        let found = closed_form(question.sizes, question.load);
        found.map(|threshold| vec![threshold]).ok_or_else(|| {
            let what = format!(
                "no mix of two exponentials fits sizes {:?}: their standard deviation is not above their \
                 mean",
                question.name
            );
            SolverError::new(what, "solver = \"opt2\"")
        })
    }

    fn levels(&self) -> Option<u8> {
        Some(2)
    }
}

/// Returns [`tlps_h2_approx`] in whole bytes, at least 1, for the fit of `sizes`; `None` without a fit, or without a
/// threshold for it.
pub fn closed_form(sizes: &SizeDistribution, load: f64) -> Option<u64> {
    let threshold = tlps_h2_approx(&Hyperexponential::fit(sizes)?, load)?;
    Some(whole_bytes(threshold))
}

/// Returns the mean sojourn time `T` of a flow with `threshold` bytes, in bytes at capacity 1, at a load in (0, 1).
pub fn mean_sojourn(law: &Hyperexponential, load: f64, threshold: f64) -> f64 {
    let lambda = load / law.mean();
    let (mu, c) = ([law.mu1, law.mu2], law.tail(threshold));
    let p = [law.p1, 1.0 - law.p1];
    // E[min(X, th)] = sum (p - c) / mu and E[min(X, th)^2] = sum 2 [(p - c) / mu^2 - th c / mu].
    let sum = |term: &dyn Fn(usize) -> f64| term(0) + term(1);
    let first = sum(&|i| (p[i] - c[i]) / mu[i]);
    let second = sum(&|i| 2.0 * ((p[i] - c[i]) / (mu[i] * mu[i]) - threshold * c[i] / mu[i]));
    let left = 1.0 - lambda * first;
    let wait = lambda * second / (2.0 * left);
    let (k, b) = (lambda / left, 2.0 * lambda * (wait + threshold) / left);
    let over = |j: usize| sum(&|i| c[i] / (mu[i] + mu[j]));
    let row = |j: usize| {
        let mut row = [0, 1].map(|i| -k * c[i] / (mu[i] + mu[j]));
        row[j] += 1.0 - k * over(j);
        (row, 1.0 / mu[j] + b * over(j))
    };
    let (([a11, a12], r1), ([a21, a22], r2)) = (row(0), row(1));
    let determinant = a11 * a22 - a12 * a21;
    let unknown = [(r1 * a22 - a12 * r2) / determinant, (a11 * r2 - r1 * a21) / determinant];
    (first + wait * (c[0] + c[1]) + sum(&|i| c[i] * unknown[i])) / left
}

#[cfg(test)]
mod tests;
