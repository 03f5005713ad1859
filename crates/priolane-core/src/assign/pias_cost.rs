//! Mean completion time of demotion thresholds as PIAS and its successors state it: the same series of stages as
//! [`byte_share`](super::byte_share), with other loads.
//!
//! With `G(w) = 1 - F(w)`, `theta_m = F(w_m) - F(w_{m-1})`, service rate 1, `w_0 = 0` and `w_N` the largest size:
//!
//! ```text
//! cost       = sum_l theta_l sum_{m <= l} T_m = sum_l G(w_{l-1}) T_l          the first weight being 1
//! FlowShare  : T_l = 1 / (1 - rho sum_{m < l} theta_m)                            NSDI 2015 §3.3
//! Printed    : T_l = 1 / (1 - sum_{m <= l} rho theta_m (w_m - w_{m-1}) / E[X])    ToN 2017 §3.3
//! Normalised : T_l = 1 / (1 - rho sum_{m <= l} g_m / sum_m g_m),  g_m = G(w_{m-1}) (w_m - w_{m-1})
//! ```
//!
//! `FlowShare` is smallest if every flow stays in the first queue, whose time does not depend on its own load.
//! `Printed` overloads the last queue of both published tables, so its cost is infinite there. `Normalised` is how the
//! authors of Homa reconstructed the problem. It is finite below load 1, and the search minimises it
//! (docs/assumptions.md#pias-cost).

use crate::sizes::SizeDistribution;

/// The share of the load in a stage (see the module documentation).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PiasForm {
    /// By number of flows; only the load of the stages above counts.
    FlowShare,
    /// By an upper bound of the bytes of flows that end in the stage.
    Printed,
    /// By an upper bound of the bytes of all flows that reach the stage, scaled to the load.
    Normalised,
}

/// Returns the mean completion time under `thresholds` (bytes, non-decreasing), in units of the mean service time of a
/// stage. `load` is in [0, 1). Infinite if a stage has no capacity left.
pub fn pias_cost(sizes: &SizeDistribution, thresholds: &[u64], load: f64, form: PiasForm) -> f64 {
    let largest = sizes.max();
    let stages = Stages { sizes, thresholds };
    let bound = |stage: Stage| stage.visitors * stage.width;
    let scale = match form {
        PiasForm::FlowShare => load,
        PiasForm::Printed => load / sizes.mean(),
        // The widths of all stages sum to the largest size, and all flows visit the first stage.
        PiasForm::Normalised => load / stages.each(largest).map(bound).sum::<f64>(),
    };
    let (mut taken, mut total) = (0.0, 0.0);
    for stage in stages.each(largest) {
        let share = match form {
            PiasForm::FlowShare => stage.ending,
            PiasForm::Printed => stage.ending * stage.width,
            PiasForm::Normalised => bound(stage),
        };
        let after = taken + scale * share;
        let left = 1.0 - if form == PiasForm::FlowShare { taken } else { after };
        if stage.visitors > 0.0 {
            if left <= 0.0 {
                return f64::INFINITY;
            }
            total += stage.visitors / left;
        }
        taken = after;
    }
    total
}

/// Terms of a stage's share.
#[derive(Clone, Copy)]
struct Stage {
    /// `G(w_{l-1})`; 1 for the first stage.
    visitors: f64,
    /// `theta_l`.
    ending: f64,
    /// `w_l - w_{l-1}`, in bytes.
    width: f64,
}

struct Stages<'a> {
    sizes: &'a SizeDistribution,
    thresholds: &'a [u64],
}

impl Stages<'_> {
    fn each(&self, largest: f64) -> impl Iterator<Item = Stage> + '_ {
        let ends = self.thresholds.iter().map(|&w| w as f64).chain([f64::INFINITY]);
        let mut before = (0.0, 0.0);
        ends.map(move |end| {
            let (start, below) = before;
            let end = end.min(largest);
            let cdf = self.sizes.cdf(end);
            before = (end, cdf);
            Stage { visitors: 1.0 - below, ending: cdf - below, width: end - start }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::byte_share;
    use crate::assign::byte_share::tests::{data_mining, web_search};
    use crate::assign::pias_published::pias_published;
    use crate::sizes::{Interpolation, Point};

    /// Uniform on 0 to 100 bytes.
    fn even() -> SizeDistribution {
        let rows = [(0.0, 0.0), (100.0, 1.0)].map(|(bytes, cdf)| Point { bytes, cdf });
        SizeDistribution::new(rows.to_vec(), Interpolation::Linear).unwrap()
    }

    fn close(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-12, "{found} {want}");
    }

    #[test]
    fn forms_by_hand() {
        // w = 60: theta = 0.6, 0.4; G = 1, 0.4; widths 60, 40; E[X] = 50; load 0.5.
        let of = |form| pias_cost(&even(), &[60], 0.5, form);
        close(of(PiasForm::FlowShare), 1.0 + 0.4 / (1.0 - 0.5 * 0.6));
        // 0.5 * 0.6 * 60 / 50 = 0.36, 0.5 * 0.4 * 40 / 50 = 0.16
        close(of(PiasForm::Printed), 1.0 / 0.64 + 0.4 / 0.48);
        // g = 60, 16: the first stage takes 0.5 * 60 / 76, both take 0.5.
        close(of(PiasForm::Normalised), 1.0 / (1.0 - 30.0 / 76.0) + 0.4 / 0.5);
    }

    #[test]
    fn one_queue_for_all_is_the_least_of_flow_shares() {
        let sizes = web_search();
        let all = sizes.max() as u64;
        close(pias_cost(&sizes, &[all], 0.8, PiasForm::FlowShare), 1.0);
        for w in [8760, 100_000, 1_946_180] {
            assert!(pias_cost(&sizes, &[w], 0.8, PiasForm::FlowShare) > 1.0);
        }
    }

    #[test]
    fn the_printed_form_overloads_the_published_tables() {
        for (name, sizes) in [("web_search", web_search()), ("data_mining", data_mining())] {
            for load in [0.5, 0.6, 0.7, 0.8, 0.9] {
                let table = pias_published(name, load).unwrap();
                assert_eq!(pias_cost(&sizes, &table, load, PiasForm::Printed), f64::INFINITY);
                assert!(pias_cost(&sizes, &table, load, PiasForm::Normalised).is_finite());
            }
        }
    }

    #[test]
    fn many_levels_bring_the_normalised_form_to_exact_byte_shares() {
        // The error of N rectangles is 1 / N of the error of one.
        let thresholds: Vec<u64> = (1..1000).map(|i| i * 1_000_000).collect();
        let sizes = even().scaled(1e7).unwrap();
        let exact = byte_share::cost(&sizes, &thresholds, 0.8);
        let bound = pias_cost(&sizes, &thresholds, 0.8, PiasForm::Normalised);
        assert!((bound / exact - 1.0).abs() < 2e-3, "{bound} {exact}");
    }

    #[test]
    fn one_queue_is_an_mm1_queue_and_the_unit_does_not_matter() {
        close(pias_cost(&web_search(), &[], 0.8, PiasForm::Normalised), 5.0);
        let scaled = web_search().scaled(16.0).unwrap();
        let of = |sizes: &SizeDistribution, w: u64| pias_cost(sizes, &[w, 2 * w], 0.7, PiasForm::Normalised);
        close(of(&web_search(), 100_000), of(&scaled, 1_600_000));
    }
}
