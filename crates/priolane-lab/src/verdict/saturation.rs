//! Whether more flows arrive than the network can carry, so that means grow with the simulated time.
//!
//! ```text
//! planned    a tier of links that flows of the class use is offered 1 or more on the wire, by groups with a stated load
//! measured   if arrivals continue: of the flows of the class, those that start in the second half of the window exceed
//!            those that complete in it by more than 10 %, and the 95 % interval of the excess over runs is above 0
//! ```
//!
//! The rules are our choice: docs/assumptions.md#flags.

use priolane_results::record::RunRecord;
use priolane_results::steady::SteadySummary;

use super::grid::Grid;
use super::scheme_class::SchemeClass;
use crate::metrics::SizeClass;
use crate::metrics::estimate::{Estimate, Nature};
use crate::plan::GroupOffer;

/// Load on the wire from which on the number of flows grows without bound.
const FULL: f64 = 1.0;

/// Largest part of the arrivals of half a window by which they may exceed completions.
const MOST_GROWTH: f64 = 0.1;

/// The effect of saturation on a metric.
const GROWS: &str = "so that its values grow with the simulated time";

/// Returns the largest load of a link on the wire, if it is 1 or more.
pub(super) fn overload(offers: &[GroupOffer]) -> Option<f64> {
    offers.iter().map(|offer| offer.load).filter(|&load| load >= FULL).reduce(f64::max)
}

/// That more flows arrive than the network can carry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Saturation {
    /// The load on the wire, or the part of the arrivals by which they exceed completions.
    pub(super) measured: f64,
    /// The largest value without saturation.
    pub(super) limit: f64,
    /// Both in words.
    pub(super) says: String,
}

/// Returns which tier of links is full, if flows of `class` use one at a point.
pub(super) fn of_point(grid: &Grid, class: &str, point: usize) -> Option<Saturation> {
    full(grid.offers_at(point), grid.classes(), class)
}

fn full(offers: &[GroupOffer], classes: &[SizeClass], class: &str) -> Option<Saturation> {
    let groups = classes.iter().find(|own| own.name == class).map_or(&[][..], |own| &own.group);
    let own = offers.iter().filter(|offer| groups.is_empty() || groups.contains(&offer.group));
    let offer =
        own.max_by(|one, other| one.load.total_cmp(&other.load)).filter(|offer| offer.load >= FULL)?;
    let GroupOffer { tier, load, .. } = offer;
    let says = format!(
        "class `{class}` uses {tier}, which are offered {load:.3} of their capacity on the wire, {GROWS}"
    );
    Some(Saturation { measured: *load, limit: FULL, says })
}

/// Returns by how much the flows of a class in progress grow in the second half of the window.
pub(super) fn of_runs(records: &[&RunRecord], of: SchemeClass<'_>) -> Option<Saturation> {
    let runs: Vec<&SteadySummary> = records.iter().filter_map(|record| record.steady.get(of.class)).collect();
    growth(&runs, of)
}

fn growth(runs: &[&SteadySummary], of: SchemeClass<'_>) -> Option<Saturation> {
    let arrivals: u64 = runs.iter().map(|run| run.second_half_arrivals).sum();
    let completions: u64 = runs.iter().map(|run| run.second_half_completions).sum();
    let excess = |run: &&SteadySummary| run.second_half_arrivals as f64 - run.second_half_completions as f64;
    let by_run: Vec<f64> = runs.iter().map(excess).collect();
    let above_zero = Estimate::arithmetic(&by_run, Nature::Quantity).ends().is_some_and(|(low, _)| low > 0.0);
    let grown = arrivals as f64 - completions as f64;
    let says = || {
        format!(
            "{arrivals} flows of {of} started in the second half of the window and {completions} completed, {GROWS}"
        )
    };
    let found = || Saturation { measured: grown / arrivals as f64, limit: MOST_GROWTH, says: says() };
    (grown > MOST_GROWTH * arrivals as f64 && above_zero).then(found)
}

#[cfg(test)]
mod tests {
    use priolane_workload::{Counts, LoadOf};

    use super::*;
    use crate::plan::Tier;

    fn offer(group: &str, tier: Tier, load: f64) -> GroupOffer {
        let (of, counts) = (LoadOf::Host, Counts::Wire);
        let (may_use_strata, may_draw_path) = (false, false);
        GroupOffer { group: group.to_owned(), of, counts, tier, load, may_use_strata, may_draw_path }
    }

    #[test]
    fn a_class_is_flagged_if_a_group_that_it_holds_uses_a_full_tier() {
        let offers = [offer("web", Tier::Core, 1.0), offer("backup", Tier::Senders, 0.999)];
        let of = |name: &str, group: &[&str]| SizeClass {
            name: name.to_owned(),
            group: group.iter().map(|&name| name.to_owned()).collect(),
            ..SizeClass::all()
        };
        let classes = [of("web", &["web"]), of("backup", &["backup"]), of("both", &["backup", "web"])];
        let full = |class: &str| full(&offers, &classes, class);
        let says = full("web").unwrap().says;
        assert!(
            says.contains("the links out of racks") && says.contains("1.000 of their capacity"),
            "{says}"
        );
        assert!(full("both").is_some() && full("all").is_some());
        assert_eq!(full("backup"), None);
    }

    /// Runs with these arrivals and completions in the second half of the window.
    fn grown(runs: &[[u64; 2]]) -> Option<String> {
        let steady = |&[second_half_arrivals, second_half_completions]: &[u64; 2]| SteadySummary {
            second_half_arrivals,
            second_half_completions,
            ..SteadySummary::default()
        };
        let runs: Vec<SteadySummary> = runs.iter().map(steady).collect();
        let of = SchemeClass { scheme: "pias", class: "all" };
        growth(&runs.iter().collect::<Vec<_>>(), of).map(|found| found.says)
    }

    #[test]
    fn arrivals_may_exceed_completions_by_a_tenth_or_by_chance() {
        // 30 of 300 is a tenth, 31 is more.
        assert_eq!(grown(&[[100, 90], [100, 89], [100, 91]]), None);
        let says = grown(&[[100, 90], [100, 89], [100, 90]]).unwrap();
        assert!(
            says.starts_with("300 flows of class `all` of `pias` started") && says.contains("269"),
            "{says}"
        );
        // As much in the sum, but one seed has all of it.
        assert_eq!(grown(&[[100, 99], [100, 100], [100, 40]]), None);
        // One run has no interval.
        assert_eq!(grown(&[[100, 50]]), None);
        assert_eq!(grown(&[]), None);
    }
}
