//! Equal split: thresholds that give every level the same number of flows (ES-N, NOS2 §III-B).
//!
//! ```text
//! w_i = F^-1(i / N),  i = 1 .. N-1
//! ```
//!
//! If a size is as common as several levels together (half of data mining's flows are one packet), thresholds are
//! equal and the levels between them are empty. This is valid, and is what ES-N does.

use super::solver::{SolverError, SolverInput, ThresholdSolver};
use crate::keys::Keys;
use crate::part::Part;
use crate::sizes::{SizeDistribution, whole_bytes};

/// The solver `equal_split`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Keys, Part)]
#[part(
    name = "equal_split",
    summary = "the same number of flows in each level",
    source = "ES-N, NOS2 §III-B"
)]
pub struct EqualSplit;

impl ThresholdSolver for EqualSplit {
    fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        Ok(equal_split(question.sizes, question.levels))
    }

    fn needs_load(&self) -> bool {
        false
    }
}

/// Returns the `levels - 1` thresholds of ES-`levels` in whole bytes (nearest), non-decreasing; empty for 0 or 1
/// level.
pub fn equal_split(sizes: &SizeDistribution, levels: u8) -> Vec<u64> {
    let part = |i: u8| f64::from(i) / f64::from(levels);
    (1..levels).map(|i| whole_bytes(sizes.quantile(part(i)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::{Count, DemotionThresholds, byte_share};
    use crate::sizes::{Interpolation, Point};

    /// Returns the cumulative probabilities at the thresholds, before rounding to whole bytes.
    fn ends(sizes: &SizeDistribution, levels: u8) -> Vec<f64> {
        (1..levels).map(|i| sizes.cdf(sizes.quantile(f64::from(i) / f64::from(levels)))).collect()
    }

    #[test]
    fn levels_of_a_continuous_law_have_equal_mass() {
        let rows = [(0.0, 0.0), (10_000.0, 0.15), (2e6, 0.8), (30e6, 1.0)];
        let points = rows.map(|(bytes, cdf)| Point { bytes, cdf }).to_vec();
        let sizes = SizeDistribution::new(points, Interpolation::Linear).unwrap();
        for levels in 2..=16u8 {
            for (i, (end, w)) in (1..).zip(ends(&sizes, levels).iter().zip(equal_split(&sizes, levels))) {
                let want = f64::from(i) / f64::from(levels);
                assert!((end - want).abs() < 1e-9);
                // Half a byte holds at most 0.15 / 10000 / 2 = 7.5e-6.
                assert!((sizes.cdf(w as f64) - want).abs() < 7.6e-6, "{levels} {i}");
            }
        }
    }

    #[test]
    fn an_atom_fills_the_levels_it_reaches_into() {
        // 15 % of the flows of web search have exactly 6 packets.
        let sizes = byte_share::tests::web_search();
        for levels in 2..=16u8 {
            for (i, end) in (1..).zip(ends(&sizes, levels)) {
                assert!((end - (f64::from(i) / f64::from(levels)).max(0.15)).abs() < 1e-9, "{levels} {i}");
            }
        }
    }

    #[test]
    fn es8_of_the_published_tables() {
        // Published: web search 6, 16, 29.5, 48.4, 266.5, 1000, 2833 packets; data mining 1, 1, 1, 1, 2.3, 5, 202.
        let packets = |sizes: SizeDistribution| -> Vec<f64> {
            equal_split(&sizes, 8).iter().map(|&w| (w as f64 / 146.0).round() / 10.0).collect()
        };
        let web = packets(byte_share::tests::web_search());
        assert_eq!(web, [6.0, 16.0, 29.5, 48.4, 266.5, 1000.0, 2833.0]);
        let mining = packets(byte_share::tests::data_mining());
        assert_eq!(mining, [1.0, 1.0, 1.0, 1.0, 2.3, 5.0, 202.0]);
    }

    #[test]
    fn tied_thresholds_make_a_legal_ladder_with_empty_levels() {
        let thresholds = equal_split(&byte_share::tests::data_mining(), 8);
        let ladder = DemotionThresholds::new(&thresholds, Count::StreamOffset).unwrap();
        assert_eq!((ladder.levels(), ladder.level(1459), ladder.level(1460)), (8, 0, 4));
    }

    #[test]
    fn one_level_needs_no_threshold() {
        let sizes = byte_share::tests::web_search();
        assert!(equal_split(&sizes, 1).is_empty() && equal_split(&sizes, 0).is_empty());
    }
}
