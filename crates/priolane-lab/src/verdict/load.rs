//! Checks that the requested load of a sweep point was offered; otherwise no claim is decided.

use super::decision::{LOAD_TOLERANCE, UndecidedReason};
use super::grid::Grid;
use priolane_results::record::Demand;

/// Returns why no claim can be decided at `point`: the mean offered load over seeds, measured as the experiment
/// requests it, deviates by more than [`LOAD_TOLERANCE`]. `None` if it does not, or no load is requested.
pub(super) fn load_deviation(grid: &Grid, point: usize) -> Option<UndecidedReason> {
    let demands = demands(grid, point);
    let off = |demand: &Demand| (demand.offered - demand.asked).abs() > LOAD_TOLERANCE * demand.asked;
    demands.into_iter().find(off).map(UndecidedReason::Load)
}

/// Returns requested and offered loads at `point`, as means over the available seeds: flow lists do not depend on the
/// scheme.
fn demands(grid: &Grid, point: usize) -> Vec<Demand> {
    let of_seed = |&seed: &u64| {
        let records = grid.schemes.iter().filter_map(|scheme| grid.record(point, scheme, seed).ok());
        records.map(|record| record.load.demands.as_slice()).next()
    };
    let seeds: Vec<&[Demand]> = grid.seeds.iter().filter_map(of_seed).collect();
    let Some(first) = seeds.first() else { return Vec::new() };
    let mean = |demand: &Demand| {
        let same = |other: &&Demand| (other.of, other.counts) == (demand.of, demand.counts);
        let all: Vec<&Demand> = seeds.iter().filter_map(|demands| demands.iter().find(same)).collect();
        let over = |value: fn(&Demand) -> f64| all.iter().map(|d| value(d)).sum::<f64>() / all.len() as f64;
        Demand { asked: over(|d| d.asked), offered: over(|d| d.offered), ..*demand }
    };
    first.iter().map(mean).collect()
}
