//! The 95 % confidence interval of a rate of one run, whose flows are treated as independent.

/// The 97.5th percentile of the standard normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// Returns the half-width of Wilson's 95 % interval of the miss rate, treating flows as independent; `None` without
/// flows.
pub(crate) fn half_width(missed: u64, met: u64) -> Option<f64> {
    let (missed, n) = (missed as f64, (missed + met) as f64);
    let (p, z2) = (missed / n, Z * Z);
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    (n > 0.0).then_some(half)
}
