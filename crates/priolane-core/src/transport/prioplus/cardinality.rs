//! Estimates the number of sending flows of a class: the bytes in flight divided by the flow's own window, at
//! each yield.

use super::variant::Variant;

/// Number of flows below which the released code does not scale the step.
const UNSCALED: f64 = 5.0;

/// Upper bound of the estimate; the paper has none (docs/assumptions.md#prioplus-flows).
const MOST: f64 = 2_000.0;

/// Additional round trips before the released code reduces the estimate.
const LATER: f64 = 2.0;

/// The estimate of the number of flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cardinality {
    n: f64,
    /// Round trips without queueing until the estimate begins to halve.
    countdown: f64,
}

impl Cardinality {
    pub(super) const ONE: Self = Self { n: 1.0, countdown: 0.0 };

    #[inline]
    pub(super) fn n(&self) -> f64 {
        self.n
    }

    /// Records `seen` flows at a yield; `rounds` is the number of round trips that linear start takes to
    /// reach line rate.
    pub(super) fn estimate(&mut self, seen: f64, rounds: f64, variant: Variant) {
        let (seen, countdown) = match variant {
            Variant::Paper => (seen, rounds),
            Variant::Released => (seen.floor(), rounds + LATER),
        };
        self.n = self.n.max(seen.min(MOST));
        self.countdown = countdown;
    }

    /// Records a round trip without queueing.
    pub(super) fn quiet(&mut self) {
        if self.countdown > 0.0 {
            self.countdown -= 1.0;
        } else {
            self.n = (self.n / 2.0).max(1.0);
        }
    }

    /// Returns the factor of the controller's step.
    pub(super) fn scale(&self, variant: Variant) -> f64 {
        match variant {
            Variant::Paper => 1.0 / self.n,
            Variant::Released if self.n < UNSCALED => 1.0,
            Variant::Released => UNSCALED / self.n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_stays_for_as_long_as_linear_start_takes_then_halves_to_one() {
        let mut flows = Cardinality::ONE;
        flows.estimate(10.0, 4.0, Variant::Paper);
        flows.estimate(6.0, 4.0, Variant::Paper);
        let after: Vec<f64> = (0..9).map(|_| (flows.quiet(), flows.n()).1).collect();
        assert_eq!(after, [10.0, 10.0, 10.0, 10.0, 5.0, 2.5, 1.25, 1.0, 1.0]);
    }

    #[test]
    fn the_released_code_counts_whole_flows_and_scales_from_five() {
        let mut flows = Cardinality::ONE;
        flows.estimate(4.9, 8.0, Variant::Released);
        assert_eq!(
            (flows.n(), flows.scale(Variant::Released), flows.scale(Variant::Paper)),
            (4.0, 1.0, 0.25)
        );
        flows.estimate(20.7, 8.0, Variant::Released);
        assert_eq!((flows.n(), flows.scale(Variant::Released)), (20.0, 0.25));
        flows.estimate(1e9, 8.0, Variant::Released);
        assert_eq!(flows.n(), 2_000.0);
    }
}
