//! Student's t distribution: tests of mean differences.
//!
//! For integer degrees of freedom the distribution function is a finite sum (Abramowitz & Stegun 26.7.3-4), with
//! `theta = atan(t / sqrt(nu))`; `A` is the probability that |T| <= t:
//! ```text
//! A(t | nu odd)  = 2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ... up to cos^(nu-2)))
//! A(t | nu even) = sin theta (1 + 1/2 cos^2 theta + (1*3)/(2*4) cos^4 theta + ... up to cos^(nu-2))
//! ```
//! Welch's degrees of freedom need not be integers, and small tail probabilities must not be computed as 1 minus a
//! number near 1:
//! ```text
//! P(|T| > t) = I_x(nu / 2, 1 / 2),  x = nu / (nu + t^2)
//! ```
//! with the regularized incomplete beta function I, evaluated as its continued fraction (Abramowitz & Stegun 26.5.8) by
//! Lentz's method. Quantiles are found by bisection.

use std::f64::consts::FRAC_2_PI;

/// The confidence level of intervals.
pub const LEVEL: f64 = 0.95;

/// Maximum degrees of freedom for the finite sum.
const WHOLE: f64 = 1e9;

/// A mean difference with its 95 % confidence interval and two-sided p value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The p value: probability of a mean at least this far from zero if the true mean is zero.
    pub p: f64,
}

/// Welch's t test of mean(`second`) - mean(`first`), with unequal variances; `None` for fewer than two values of
/// either.
///
/// Degrees of freedom: (u + v)^2 / (u^2 / (m - 1) + v^2 / (n - 1)), with u = s^2 / m of `first` and v = s^2 / n of
/// `second` (Welch 1947).
pub fn welch(first: &[f64], second: &[f64]) -> Option<Difference> {
    let (m, n) = (first.len() as f64, second.len() as f64);
    let (u, v) = (variance(first)? / m, variance(second)? / n);
    let below = u * u / (m - 1.0) + v * v / (n - 1.0);
    let nu = if below > 0.0 { (u + v) * (u + v) / below } else { 1.0 };
    Some(test(mean(second) - mean(first), (u + v).sqrt(), nu))
}

/// Returns p values adjusted by Holm's method, in input order. Rejecting those of at most a bounds the family-wise
/// error rate by a under any dependence (Holm 1979).
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut corrected, mut worst) = (vec![0.0; values.len()], 0.0_f64);
    for (rank, &place) in order.iter().enumerate() {
        worst = worst.max(((values.len() - rank) as f64 * values[place]).min(1.0));
        corrected[place] = worst;
    }
    corrected
}

/// Returns P(|T| > `t`) at `nu` degrees of freedom, `nu` above 0.
pub fn outside(t: f64, nu: f64) -> f64 {
    if t.is_finite() { incomplete_beta(nu / (nu + t * t), nu / 2.0, 0.5) } else { 0.0 }
}

/// Returns the t for which |T| <= t with probability 0.95 at `nu` degrees of freedom, `nu` at least 1; at most 12.71.
pub fn quantile(nu: f64) -> f64 {
    quantile_of(LEVEL, nu)
}

/// Returns the t for which |T| <= t with probability `level`, at most 0.95, at `nu` degrees of freedom, `nu` at least 1.
pub(crate) fn quantile_of(level: f64, nu: f64) -> f64 {
    let whole = nu.fract() == 0.0 && nu <= WHOLE;
    let inside = |t: f64| if whole { central_probability(t, nu as u32) } else { 1.0 - outside(t, nu) };
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if inside(middle) < level { low = middle } else { high = middle }
    }
    high
}

fn test(mean: f64, error: f64, nu: f64) -> Difference {
    if error == 0.0 {
        return Difference { mean, low: mean, high: mean, p: if mean == 0.0 { 1.0 } else { 0.0 } };
    }
    let half = quantile(nu) * error;
    Difference { mean, low: mean - half, high: mean + half, p: outside(mean.abs() / error, nu) }
}

/// Compensated sum (Neumaier 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = values.fold((0.0_f64, 0.0_f64), |(sum, lost), x| {
        let next = sum + x;
        let off = if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        (next, lost + off)
    });
    sum + lost
}

fn mean(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}

/// Returns the sample variance; `None` for fewer than two values.
fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares = sum(values.iter().map(|x| (x - mean) * (x - mean)));
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

/// Returns the probability that |T| <= `t` at `nu` degrees of freedom.
fn central_probability(t: f64, nu: u32) -> f64 {
    let theta = libm::atan(t / f64::from(nu).sqrt());
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    if nu == 1 {
        return FRAC_2_PI * theta;
    }
    let odd = nu % 2 == 1;
    let mut power = nu % 2;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = term;
    while power + 4 <= nu {
        term *= f64::from(power + 1) / f64::from(power + 2) * cos * cos;
        power += 2;
        sum += term;
    }
    if odd { FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // If the fraction converges slowly, that of the mirrored argument converges fast.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let beta = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    libm::exp(beta + a * libm::log(x) + b * libm::log1p(-x)) / a / fraction(x, a, b)
}

/// Evaluates 1 + d1 / (1 + d2 / (1 + ...)), the reciprocal of the continued fraction of the incomplete beta function.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const MOST_TERMS: u32 = 10_000;
    let nonzero = |value: f64| if value.abs() > 1e-300 { value } else { 1e-300 };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for term in 1..MOST_TERMS {
        let m = f64::from(term / 2);
        let step = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / nonzero(1.0 + step * d);
        c = nonzero(1.0 + step / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn quantiles_are_those_of_the_textbook_table() {
        // Two-sided 95 % column of the usual t table.
        let table = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228)];
        let more = [(19, 2.093), (29, 2.045), (30, 2.042), (60, 2.000), (100, 1.984), (10_000, 1.960)];
        for (nu, t) in table.into_iter().chain(more) {
            let nu = f64::from(nu);
            near(quantile(nu), t, 5e-4);
            // The finite sum and the continued fraction agree.
            near(outside(quantile(nu), nu), 0.05, 1e-11);
            near(quantile(nu + 1e-9), quantile(nu), 1e-6);
        }
    }

    #[test]
    fn tails_of_one_and_two_degrees_of_freedom_have_closed_forms() {
        for t in [0.1_f64, 1.0, 5.0, 300.0] {
            let one = 1.0 - FRAC_2_PI * libm::atan(t);
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            near(outside(t, 1.0) / one, 1.0, 1e-9);
            near(outside(t, 2.0) / two, 1.0, 1e-9);
        }
        assert_eq!(outside(f64::INFINITY, 3.0), 0.0);
    }

    #[test]
    fn welchs_test_by_hand() {
        // s^2 = 1 of 3 and 20/3 of 4: u = 1/3, v = 5/3, error = sqrt(2); nu = 4 / (1/18 + 25/27) = 216/53 = 4.0755.
        let found = welch(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0, 8.0]).unwrap();
        let nu = 216.0 / 53.0;
        near(found.mean, 3.0, 1e-12);
        near(found.high - found.mean, quantile(nu) * 2_f64.sqrt(), 1e-9);
        near(found.p, outside(3.0 / 2_f64.sqrt(), nu), 1e-12);
        // Between the table values 2.776 and 2.571 for 4 and 5 degrees of freedom.
        assert!(2.571 < quantile(nu) && quantile(nu) < 2.776);
    }

    #[test]
    fn holms_correction_by_hand() {
        // In order: 4 x 0.005 = 0.02, 3 x 0.01 = 0.03, 2 x 0.03 = 0.06, 1 x 0.04 = 0.04, raised to 0.06 to keep the
        // order.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        corrected.iter().zip([0.03, 0.06, 0.06, 0.02]).for_each(|(&a, b)| near(a, b, 1e-12));
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    }
}
