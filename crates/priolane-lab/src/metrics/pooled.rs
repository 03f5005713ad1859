//! Means of a steady state over several runs: ratios of sums, with the jackknife.
//!
//! The mean of a run by Little's law is the time that flows spend in its window over the flows that arrive in it. The
//! mean of the steady state is the expectation of the first over that of the second. Neither the geometric nor the
//! arithmetic mean of the runs' quotients is: short windows are quiet more often than they are busy.
//!
//! ```text
//! v_i       value of run i, a sum over its weight w_i
//! L         ln(sum of w v / sum of w) over all n runs; L_i without run i
//! run i     exp(n L - (n - 1) L_i)
//! ```
//!
//! The geometric mean of the returned values is the jackknife estimate of the ratio of sums, without its bias of first
//! order, and the interval of their logarithms is that of the jackknife. The quotient of the values of two metrics, run by
//! run, is what this would return for the quotient of both: so pairs of schemes are compared as before.

/// A part of a metric's value for a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    value: f64,
    /// The arrivals that the value is per, if it is a mean of a steady state.
    arrivals: Option<f64>,
}

impl Part {
    /// Returns the mean over the runs of a seed, as a ratio of sums if the values are per arrivals.
    pub(crate) fn of(values: &[f64], arrivals: Option<&[f64]>) -> Self {
        let ones = vec![1.0; values.len()];
        let weights = arrivals.unwrap_or(&ones);
        let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let all: f64 = weights.iter().sum();
        Self { value: sum / all, arrivals: arrivals.map(|_| all) }
    }

    /// Returns this part of a metric for each seed, [`pooled`] if all seeds have arrivals.
    pub(crate) fn over_seeds(parts: &[Self]) -> Vec<f64> {
        let weighted: Option<Vec<(f64, f64)>> =
            parts.iter().map(|part| Some((part.value, part.arrivals?))).collect();
        weighted.map_or_else(|| parts.iter().map(|part| part.value).collect(), |runs| pooled(&runs))
    }
}

/// Returns a value for each run, of which the geometric mean is the ratio of sums; the values themselves if one is not
/// above 0, or for fewer than two runs. `runs` has the value and the weight of each.
pub fn pooled(runs: &[(f64, f64)]) -> Vec<f64> {
    let values = runs.iter().map(|&(value, _)| value);
    let is_positive = |&(value, weight): &(f64, f64)| value > 0.0 && weight > 0.0;
    if runs.len() < 2 || !runs.iter().all(is_positive) {
        return values.collect();
    }
    let n = runs.len() as f64;
    let whole = log_ratio(runs.iter());
    let without =
        |nth: usize| log_ratio(runs.iter().enumerate().filter(|&(i, _)| i != nth).map(|(_, run)| run));
    (0..runs.len()).map(|nth| libm::exp(n * whole - (n - 1.0) * without(nth))).collect()
}

fn log_ratio<'a>(runs: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    let (sum, weight) =
        runs.fold((0.0, 0.0), |(sum, all), &(value, weight)| (sum + value * weight, all + weight));
    libm::log(sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::estimate::{Estimate, Nature};

    fn near(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn equal_weights_and_values_stay_as_they_are() {
        for value in pooled(&[(3.0, 10.0), (3.0, 10.0), (3.0, 7.0)]) {
            near(value, 3.0);
        }
        assert_eq!(pooled(&[(5.0, 2.0)]), [5.0]);
        assert_eq!(pooled(&[(5.0, 2.0), (0.0, 2.0)]), [5.0, 0.0]);
        assert_eq!(pooled(&[(5.0, 0.0), (4.0, 2.0)]), [5.0, 4.0]);
    }

    #[test]
    fn two_runs_have_the_pseudo_values_of_the_jackknife() {
        // Sums 8 and 9 over weights 4 and 1: 17 / 5, without the first 9, without the second 2.
        let [first, second] = pooled(&[(2.0, 4.0), (9.0, 1.0)])[..] else { panic!("two runs") };
        near(first, 3.4 * 3.4 / 9.0);
        near(second, 3.4 * 3.4 / 2.0);
    }

    #[test]
    fn quotients_of_two_metrics_are_the_values_of_their_quotient() {
        let arrivals = [7.0, 3.0, 5.0];
        let (slow, fast) = ([4.0, 9.0, 2.0], [2.0, 3.0, 1.5]);
        let of = |values: [f64; 3]| pooled(&[0, 1, 2].map(|i| (values[i], arrivals[i])));
        let gain = pooled(&[0, 1, 2].map(|i| (slow[i] / fast[i], arrivals[i] * fast[i])));
        for ((slow, fast), gain) in of(slow).into_iter().zip(of(fast)).zip(gain) {
            near(slow / fast, gain);
        }
    }

    /// Processor sharing of unit jobs: the mean time in the system of the jobs of a window, and their number.
    fn window(load: f64, length: f64, draw: &mut impl FnMut() -> f64) -> (f64, f64) {
        let warm = 60.0;
        let (mut now, mut jobs, mut time, mut arrivals) = (0.0, Vec::<f64>::new(), 0.0, 0.0);
        let mut next = -libm::log(1.0 - draw()) / load;
        while now < warm + length {
            let shared = jobs.len() as f64;
            let least = jobs.iter().copied().fold(f64::INFINITY, f64::min);
            let step = (next - now).min(least * shared).min(warm + length - now);
            if now + step > warm {
                time += shared * step.min(now + step - warm);
            }
            jobs.iter_mut().for_each(|left| *left -= step / shared);
            jobs.retain(|&left| left > 1e-9);
            now += step;
            if now >= next {
                jobs.push(1.0);
                arrivals += f64::from(u8::from(now >= warm));
                next = now - libm::log(1.0 - draw()) / load;
            }
        }
        (time / arrivals, arrivals)
    }

    /// A queue whose mean is known: 1 / (1 - load), whatever the sizes.
    #[test]
    fn intervals_of_short_windows_contain_the_mean_of_the_steady_state() {
        let mut state = 9_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let contains = |values: &[f64]| {
            let (low, high) = Estimate::of(values, Nature::Quantity).ends().unwrap();
            low < 5.0 && 5.0 < high
        };
        let (mut of_pooled, mut of_quotients) = (0, 0);
        for _ in 0..100 {
            let runs: Vec<(f64, f64)> = (0..40).map(|_| window(0.8, 50.0, &mut draw)).collect();
            of_pooled += u32::from(contains(&pooled(&runs)));
            of_quotients += u32::from(contains(&runs.iter().map(|run| run.0).collect::<Vec<_>>()));
        }
        assert!(of_pooled >= 85, "{of_pooled} of 100");
        assert!(of_quotients < 60, "{of_quotients} of 100");
    }
}
