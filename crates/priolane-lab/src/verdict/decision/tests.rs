use priolane_workload::{Counts, LoadOf};
use serde_json::json;

use super::*;
use crate::experiment::OpenRange;
use crate::metrics::estimate::Nature;
use crate::verdict::unfit::LoadDeviation;

#[test]
fn a_mean_on_an_end_of_the_band_has_a_reason_of_its_own() {
    let decided = |values: &[f64]| {
        let decision =
            Decision::of(&Estimate::arithmetic(values, Nature::Quantity), OpenRange::above(1.0).into());
        assert_eq!(decision.verdict, Verdict::Undecided);
        decision.undecided
    };
    assert_eq!(decided(&[0.5, 1.0, 1.5]), Some(UndecidedReason::OnEdge));
    assert_eq!(decided(&[0.5, 1.0, 1.75]), Some(UndecidedReason::Interval(Seeds::NotEstimated)));
}

#[test]
fn an_interval_without_width_is_always_decided() {
    let point = |x| Estimate::of(&[x; 3], Nature::Quantity);
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
fn reasons_are_told_in_words_and_numbers() {
    let demand = Demand { of: LoadOf::Host, counts: Counts::Wire, asked: 0.2, offered: 0.626 };
    let load = |strata_would_help| UndecidedReason::Load(LoadDeviation { demand, strata_would_help });
    let between = |low, high| UndecidedReason::Among(Seeds::Between(SeedRange { low, high }));
    let reasons = [
        UndecidedReason::Interval(Seeds::Between(SeedRange { low: 7, high: Some(19) })),
        between(7, Some(7)),
        between(7, None),
        UndecidedReason::Interval(Seeds::TooMany),
        load(true),
        load(false),
    ];
    let texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    let (beyond, among) =
        ("the interval reaches beyond what the claim allows", "not decided among all claims of the figure");
    let off = "requested load 0.200 of hosts, offered 0.626, tolerance ±5 %: measure longer";
    assert_eq!(
        texts,
        [
            format!("{beyond}: 7 to 19 seeds would decide it, with even odds"),
            format!("{among}: about 7 seeds would decide it, with even odds"),
            format!("{among}: 7 seeds or many more would decide it"),
            format!("{beyond}: more than 10000 seeds would be needed"),
            format!("{off}, or use draw = \"strata\""),
            off.to_owned(),
        ]
    );
    let written = serde_json::to_value([&reasons[0], &reasons[2], &reasons[3], &reasons[5]]).unwrap();
    let members = |nth: usize, key: &str| written[nth][key].clone();
    assert_eq!([0, 1, 2].map(|nth| members(nth, "seeds")), [json!([7, 19]), json!([7, null]), json!(null)]);
    assert_eq!([0, 1, 2, 3].map(|nth| members(nth, "because")), ["interval", "claims", "interval", "load"]);
    assert_eq!(members(3, "load"), json!({ "of": "host", "counts": "wire", "asked": 0.2, "offered": 0.626 }));
}
