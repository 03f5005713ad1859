use priolane_workload::{Counts, LoadOf};
use serde_json::json;

use super::*;
use crate::experiment::OpenRange;

/// Returns the interval of `n` seeds with this mean and sample standard deviation.
fn spread(mean: f64, std: f64, n: u32) -> Interval {
    let half = student::quantile(f64::from(n - 1)) * std / f64::from(n).sqrt();
    Interval { mean: Some(mean), low: Some(mean - half), high: Some(mean + half), n }
}

fn seeds_of(decision: Decision) -> Option<UndecidedReason> {
    assert_eq!(decision.verdict, Verdict::Undecided);
    decision.undecided
}

#[test]
fn the_number_of_seeds_is_the_smallest_at_which_the_interval_is_decided() {
    let band = Band::closed(0.85, 1.15);
    for (mean, std) in [(1.0, 0.3), (1.1, 0.1), (1.3, 0.2), (0.5, 1.0)] {
        let Some(UndecidedReason::Interval(Some(n))) = seeds_of(Decision::of(&spread(mean, std, 3), band))
        else {
            panic!("mean {mean}, s {std}")
        };
        let verdict = |n| Decision::of(&spread(mean, std, n), band).verdict;
        assert_ne!(verdict(n), Verdict::Undecided, "mean {mean}, s {std}, {n} seeds");
        assert_eq!(verdict(n - 1), Verdict::Undecided, "mean {mean}, s {std}, one seed fewer than {n}");
    }
    // By hand: t(17) = 2.110, 2.110 * 0.3 / sqrt(18) = 0.149; t(16) = 2.120, 2.120 * 0.3 / sqrt(17) = 0.154.
    let decision = Decision::of(&spread(1.0, 0.3, 3), band);
    assert_eq!(seeds_of(decision), Some(UndecidedReason::Interval(Some(18))));
}

#[test]
fn seeds_of_a_ratio_are_counted_on_its_logarithm() {
    let logs = spread(0.2, 0.3, 3);
    let band = Band::from(OpenRange::above(1.0));
    let ratio = logs.map(libm::exp);
    let of_logs = Decision::of(&logs, OpenRange::above(0.0).into());
    let (Some(UndecidedReason::Interval(Some(a))), Some(UndecidedReason::Interval(Some(b)))) =
        (seeds_of(Decision::of_ratio(&ratio, band)), seeds_of(of_logs))
    else {
        panic!("both are undecided")
    };
    assert_eq!(a, b);
}

#[test]
fn no_number_of_seeds_moves_a_mean_off_the_edge() {
    let band = Band::from(OpenRange::above(1.0));
    assert_eq!(seeds_of(Decision::of(&spread(1.0, 0.1, 5), band)), Some(UndecidedReason::OnEdge));
    // At a distance of 0.001 with s = 1: about 4 million.
    assert_eq!(seeds_of(Decision::of(&spread(1.001, 1.0, 5), band)), Some(UndecidedReason::Interval(None)));
}

#[test]
fn an_interval_without_width_is_always_decided() {
    let point = |x| Interval { mean: Some(x), low: Some(x), high: Some(x), n: 3 };
    let verdict = |x| Decision::of(&point(x), Band::closed(1.0, 2.0)).verdict;
    assert_eq!([0.9, 1.0, 1.5, 2.0, 2.1].map(verdict), {
        use Verdict::{Contradicted, Reproduced};
        [Contradicted, Reproduced, Reproduced, Reproduced, Contradicted]
    });
}

#[test]
fn directions_of_parts_add_up() {
    use Direction::{Agrees, None, Opposes};
    assert_eq!(Direction::of_all([]), None);
    assert_eq!(Direction::of_all([Agrees, Agrees]), Agrees);
    assert_eq!(Direction::of_all([Agrees, None]), None);
    assert_eq!(Direction::of_all([None, Agrees]), None);
    assert_eq!(Direction::of_all([Agrees, Opposes, Agrees, None]), Opposes);
}

#[test]
fn of_several_reasons_the_one_that_needs_most_is_told() {
    let few = UndecidedReason::Interval(Some(7));
    assert_eq!(few.or(UndecidedReason::Interval(Some(9))), UndecidedReason::Interval(Some(9)));
    assert_eq!(UndecidedReason::Interval(None).or(few), UndecidedReason::Interval(None));
    assert_eq!(UndecidedReason::OneSeed.or(few), UndecidedReason::OneSeed);
    assert_eq!(few.or(UndecidedReason::OnEdge), UndecidedReason::OnEdge);
}

#[test]
fn reasons_are_told_in_words_and_numbers() {
    let demand = Demand { of: LoadOf::Host, counts: Counts::Wire, asked: 0.2, offered: 0.626 };
    let reasons =
        [UndecidedReason::Interval(Some(7)), UndecidedReason::Interval(None), UndecidedReason::Load(demand)];
    assert_eq!(
        serde_json::to_value(reasons).unwrap(),
        json!([
            { "because": "interval", "seeds": 7, "load": null, "says": "about 7 seeds would decide it" },
            { "because": "interval", "seeds": null, "load": null, "says": "more than 10000 seeds would be needed" },
            {
                "because": "load",
                "seeds": null,
                "load": { "of": "host", "counts": "wire", "asked": 0.2, "offered": 0.626 },
                "says": "requested load 0.200 of hosts, offered 0.626, tolerance ±5 %: measure longer, or use draw = \"strata\""
            }
        ])
    );
}
