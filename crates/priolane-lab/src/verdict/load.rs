//! Whether the load that a sweep point asks for was offered: where it was not, no claim is decided.

use super::decision::{LOAD_TOLERANCE, Undecided};
use super::grid::Grid;
use priolane_results::record::Demand;

/// Why a claim cannot be decided at `point`: the mean over seeds of the offered load, measured as the experiment asks
/// for it, is off by more than [`LOAD_TOLERANCE`]. `None` if it is not, or no load is asked for.
pub(super) fn miss(grid: &Grid, point: usize) -> Option<Undecided> {
    let demands = demands(grid, point);
    let off = |demand: &Demand| (demand.offered - demand.asked).abs() > LOAD_TOLERANCE * demand.asked;
    demands.into_iter().find(off).map(Undecided::Load)
}

/// Asked and offered loads at `point`, means over the seeds that are there: flow lists do not depend on the scheme.
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
