//! Checks that the requested load of a sweep point was offered; otherwise no claim is decided.

use super::grid::Grid;
use super::unfit::{LOAD_TOLERANCE, LoadDeviation};
use crate::plan::GroupOffer;
use priolane_results::record::{Demand, RunRecord};

/// Returns why no claim can be decided at `point`: the mean offered load over seeds, measured as the experiment
/// requests it, deviates by more than [`LOAD_TOLERANCE`]. `None` if it does not, or no load is requested.
pub(super) fn load_deviation(grid: &Grid, point: usize) -> Option<LoadDeviation> {
    let demands = demands(grid, point);
    let off = |demand: &Demand| (demand.offered - demand.asked).abs() > LOAD_TOLERANCE * demand.asked;
    let demand = demands.into_iter().find(off)?;
    let own = |offer: &&GroupOffer| (offer.of, offer.counts) == (demand.of, demand.counts);
    let strata_would_help = grid.offers_at(point).iter().filter(own).any(|offer| offer.may_use_strata);
    Some(LoadDeviation { demand, strata_would_help })
}

/// Returns requested and offered loads at `point`, as means over seeds, for each combination of values that metrics
/// average over. Flow lists do not depend on the scheme.
fn demands(grid: &Grid, point: usize) -> Vec<Demand> {
    let of_seed = |&seed: &u64| grid.schemes.iter().find_map(|scheme| grid.records_of(point, scheme, seed));
    let seeds: Vec<Vec<&RunRecord>> = grid.seeds.iter().filter_map(of_seed).collect();
    let combinations = seeds.iter().map(Vec::len).max().unwrap_or(0);
    let of_combination = |nth: usize| {
        let runs = seeds.iter().filter_map(|runs| runs.get(nth));
        mean_demands(&runs.map(|run| run.load.demands.as_slice()).collect::<Vec<_>>())
    };
    (0..combinations).flat_map(of_combination).collect()
}

/// Returns the means of the demands of several runs.
fn mean_demands(runs: &[&[Demand]]) -> Vec<Demand> {
    let mean = |demand: &Demand| {
        let same = |other: &&Demand| (other.of, other.counts) == (demand.of, demand.counts);
        let all: Vec<&Demand> = runs.iter().filter_map(|demands| demands.iter().find(same)).collect();
        let over = |value: fn(&Demand) -> f64| all.iter().map(|d| value(d)).sum::<f64>() / all.len() as f64;
        Demand { asked: over(|d| d.asked), offered: over(|d| d.offered), ..*demand }
    };
    runs.first().map_or_else(Vec::new, |first| first.iter().map(mean).collect())
}
