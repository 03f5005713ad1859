//! Checks that the requested load of a sweep point was offered; otherwise no claim is decided.

use super::decision::{LOAD_TOLERANCE, UndecidedReason};
use super::grid::Grid;
use priolane_results::record::{Demand, RunRecord};

/// Returns why no claim can be decided at `point`: the mean offered load over seeds, measured as the experiment
/// requests it, deviates by more than [`LOAD_TOLERANCE`]. `None` if it does not, or no load is requested.
pub(super) fn load_deviation(grid: &Grid, point: usize) -> Option<UndecidedReason> {
    let demands = demands(grid, point);
    let off = |demand: &Demand| (demand.offered - demand.asked).abs() > LOAD_TOLERANCE * demand.asked;
    demands.into_iter().find(off).map(UndecidedReason::Load)
}

/// Returns requested and offered loads at `point`, as means over the available runs of each seed: flow lists do not
/// depend on the scheme.
fn demands(grid: &Grid, point: usize) -> Vec<Demand> {
    let of_seed = |&seed: &u64| {
        let of_schemes = grid.schemes.iter().map(|scheme| grid.records_of(point, scheme, seed).collect());
        let records: Vec<&RunRecord> = of_schemes.max_by_key(Vec::len).unwrap_or_default();
        records.into_iter().map(|record| record.load.demands.as_slice())
    };
    let seeds: Vec<&[Demand]> = grid.seeds.iter().flat_map(of_seed).collect();
    let Some(first) = seeds.first() else { return Vec::new() };
    let mean = |demand: &Demand| {
        let same = |other: &&Demand| (other.of, other.counts) == (demand.of, demand.counts);
        let all: Vec<&Demand> = seeds.iter().filter_map(|demands| demands.iter().find(same)).collect();
        let over = |value: fn(&Demand) -> f64| all.iter().map(|d| value(d)).sum::<f64>() / all.len() as f64;
        Demand { asked: over(|d| d.asked), offered: over(|d| d.offered), ..*demand }
    };
    first.iter().map(mean).collect()
}
