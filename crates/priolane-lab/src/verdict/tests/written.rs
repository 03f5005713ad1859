//! Tests of a report of claims and panels, member by member, and of its text where values are missing.

use super::*;
use crate::metrics::estimate::{Estimate, Nature};
use crate::panels::{By, PanelReport};
use crate::verdict::decision::Seeds;
use crate::verdict::unfit::LoadDeviation;

fn at(load: f64) -> serde_json::Map<String, Value> {
    [(LOAD.to_owned(), json!(load))].into_iter().collect()
}

/// The members of the claims' JSON that state the test.
fn tests_of(claims: Vec<Test>) -> Vec<Value> {
    let report = serde_json::to_value(report_of(&plan_of(claims), &[])).unwrap();
    let own = |claim: &Value| {
        let keys = ["kind", "within", "above", "below", "paper", "goes"];
        let stated = keys.iter().filter_map(|key| Some(((*key).to_owned(), claim.get(key)?.clone())));
        Value::Object(stated.collect())
    };
    report["claims"].as_array().unwrap().iter().map(own).collect()
}

#[test]
fn a_claim_is_written_with_its_kind_and_its_numbers() {
    let of = || MetricAt::from("fct.all.dctcp");
    let two = || vec![of(), MetricAt::from("fct.all.nos2")];
    let range = OpenRange { above: Some(0.25), below: Some(8.0) };
    let written = tests_of(vec![
        Test::Order(two()),
        Test::Equal(EqualTest { of: two(), within: 0.125 }),
        Test::Bound(BoundTest { of: of(), over: None, range }),
        Test::Bound(BoundTest { of: of(), over: None, range: OpenRange::below(3.0) }),
        Test::Ratio(RatioTest { of: of(), over: None, paper: 7.0, within: 0.5 }),
        Test::Agree(AgreeTest { of: of(), values: vec![1.0, 2.0, 3.0], within: 0.75 }),
        Test::Trend(TrendTest { of: of(), along: LOAD.into(), goes: TrendDirection::Down }),
    ]);
    assert_eq!(
        written,
        [
            json!({ "kind": "order" }),
            json!({ "kind": "equal", "within": 0.125 }),
            json!({ "kind": "bound", "above": 0.25, "below": 8.0 }),
            json!({ "kind": "bound", "above": null, "below": 3.0 }),
            json!({ "kind": "ratio", "paper": 7.0, "within": 0.5 }),
            json!({ "kind": "agree", "within": 0.75 }),
            json!({ "kind": "trend", "goes": "down" }),
        ]
    );
}

#[test]
fn of_two_reasons_the_later_in_the_list_is_told_whichever_comes_first() {
    use UndecidedReason::{Among, Interval, NoRatio, NotMonotone, OnEdge, OneSeed, SameCount};
    let demand = Demand { of: LoadOf::Host, counts: Counts::Wire, asked: 0.2, offered: 0.6 };
    let all = [
        Interval(Seeds::TooMany),
        Among(Seeds::NotEstimated),
        OnEdge,
        NotMonotone,
        SameCount,
        OneSeed,
        NoRatio,
        UndecidedReason::Load(LoadDeviation { demand, strata_would_help: true }),
    ];
    for (place, later) in all.iter().enumerate() {
        for earlier in &all[..place] {
            let both = (earlier.clone().or(later.clone()), later.clone().or(earlier.clone()));
            assert_eq!(both, (later.clone(), later.clone()));
        }
    }
    let because: Vec<Value> =
        all.iter().map(|why| serde_json::to_value(why).unwrap()["because"].clone()).collect();
    assert_eq!(
        because,
        ["interval", "claims", "edge", "monotone", "same_count", "one_seed", "no_ratio", "load"]
    );
}

#[test]
fn claims_without_a_point_or_a_step_are_incomplete_and_say_why() {
    let trend =
        Test::Trend(TrendTest { of: "fct.all.dctcp".into(), along: LOAD.into(), goes: TrendDirection::Up });
    let mut plan = plan_of(vec![
        trend.clone(),
        trend,
        Test::Bound(BoundTest { of: "fct.all.dctcp".into(), over: None, range: OpenRange::above(0.0) }),
    ]);
    plan.experiment.claims[0].says = "one value".into();
    plan.experiment.claims[0].at = at(0.5);
    plan.experiment.claims[2].says = "no point".into();
    plan.experiment.claims[2].at = at(0.55);
    let report = report_of(&plan, &[]);
    let verdicts: Vec<(Verdict, usize)> =
        report.claims.iter().map(|claim| (claim.alone, claim.points.len())).collect();
    assert_eq!(verdicts, [(Verdict::Incomplete, 1), (Verdict::Reproduced, 1), (Verdict::Incomplete, 0)]);
    let of_claims: Vec<&String> = report.warnings.iter().filter(|w| w.starts_with("claim")).collect();
    assert_eq!(
        of_claims,
        [
            &format!("claim \"one value\": the sweep has fewer than two values of `{LOAD}`"),
            "claim \"no point\": no point of the sweep matches its `at`",
        ]
    );
    // Measured values of a trend are named by their x.
    let measured: Vec<&str> = report.claims[1].points[0].measured.iter().map(|m| m.metric.as_str()).collect();
    assert_eq!(measured, ["fct.all.dctcp at 0.5", "fct.all.dctcp at 0.6"]);
    assert_eq!(report.claims[1].points[0].contrasts[0].of, "fitted fct.all.dctcp at 0.6 / at 0.5");
}

#[test]
fn every_pair_of_equal_metrics_is_compared_and_neighbours_of_an_order() {
    let of = || ["fct.flow0.dctcp", "fct.flow1.dctcp", "fct.flow3.dctcp"].map(MetricAt::from).to_vec();
    let mut plan = plan_of(vec![Test::Order(of()), Test::Equal(EqualTest { of: of(), within: 9.0 })]);
    plan.experiment.claims.iter_mut().for_each(|claim| claim.at = at(0.5));
    let report = report_of(&plan, &[]);
    let compared = |claim: usize| -> Vec<(String, f64)> {
        let contrasts = report.claims[claim].points[0].contrasts.iter();
        contrasts
            .map(|c| (c.of.replace("fct.flow", "").replace(".dctcp", ""), c.value.mean.unwrap()))
            .collect()
    };
    // Flow i takes i + 1 ms: ratios of 1 to 2, 2 to 4 and 1 to 4.
    let near = |found: Vec<(String, f64)>, expected: &[(&str, f64)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((of, ratio), (expected_of, expected)) in found.iter().zip(expected) {
            assert!(of == expected_of && (ratio / expected - 1.0).abs() < 1e-7, "{of}: {ratio}");
        }
    };
    near(compared(0), &[("0 / 1", 0.5), ("1 / 3", 0.5)]);
    near(compared(1), &[("0 / 1", 0.5), ("0 / 3", 0.25), ("1 / 3", 0.5)]);
}

/// The marks of a series.
type Marks = Vec<(Value, Option<f64>)>;

/// Schemes, classes and values of the series of a panel.
fn series(panel: &PanelReport) -> Vec<(String, String, Marks)> {
    let marks = |series: &Series| series.points.iter().map(|mark| (mark.x.clone(), mark.y.mean)).collect();
    let named = |series: &Series| {
        (series.scheme.clone(), format!("{}.{}", series.quantity, series.class), marks(series))
    };
    panel.series.iter().map(named).collect()
}

#[test]
fn a_panel_has_a_series_for_each_metric_and_scheme_and_a_mark_for_each_value() {
    let mut plan = plan_of(Vec::new());
    let metrics = ["fct.flow0", "fct.flow3"];
    let line = panel(&LINE, Some(LOAD), &metrics);
    let bars = panel(&BAR, None, &metrics);
    let one_scheme = Panel { schemes: Some(vec!["nos2".into()]), at: at(0.6), ..panel(&BAR, None, &metrics) };
    let nowhere = Panel { title: "N".into(), at: at(0.7), ..panel(&BAR, None, &metrics) };
    plan.experiment.panels = vec![line, bars, one_scheme, nowhere];
    let report = report_of(&plan, &[]);
    // Flow i takes i + 1 ms times ten loads times the mean seed, and half of that under `nos2`.
    let ms = |flow: u32, load: u32, scheme: &str| {
        let slow = f64::from((flow + 1) * load) * mean_seed() * 1e-3;
        if scheme == "dctcp" { slow } else { slow / 2.0 }
    };
    let near = |a: Option<f64>, b: f64| (a.unwrap() / b - 1.0).abs() < 1e-7;
    let lines = series(&report.panels[0]);
    assert_eq!(lines.len(), 4);
    let expected = [(0, "dctcp"), (0, "nos2"), (3, "dctcp"), (3, "nos2")];
    for ((scheme, metric, marks), (flow, expected)) in lines.iter().zip(expected) {
        assert_eq!((scheme.as_str(), metric.as_str()), (expected, format!("fct.flow{flow}").as_str()));
        assert_eq!(marks.iter().map(|mark| mark.0.clone()).collect::<Vec<_>>(), [json!(0.5), json!(0.6)]);
        assert!(near(marks[0].1, ms(flow, 5, scheme)) && near(marks[1].1, ms(flow, 6, scheme)), "{marks:?}");
    }
    assert_eq!(report.panels[0].x_values, [json!(0.5), json!(0.6)]);
    // Bars: by point and scheme, a mark for each metric.
    let bars = series(&report.panels[1]);
    let of_bars: Vec<(Value, &str)> =
        report.panels[1].series.iter().map(|s| (s.at[LOAD].clone(), s.scheme.as_str())).collect();
    assert_eq!(
        of_bars,
        [(json!(0.5), "dctcp"), (json!(0.5), "nos2"), (json!(0.6), "dctcp"), (json!(0.6), "nos2")]
    );
    for ((scheme, name, marks), load) in bars.iter().zip([5, 5, 6, 6]) {
        assert_eq!(name, "*.*");
        assert!(near(marks[0].1, ms(0, load, scheme)) && near(marks[1].1, ms(3, load, scheme)), "{marks:?}");
        assert_eq!(marks[1].0, json!("fct.flow3"));
    }
    let one = series(&report.panels[2]);
    assert_eq!((one.len(), one[0].0.as_str()), (1, "nos2"));
    assert!(near(one[0].2[0].1, ms(0, 6, "nos2")));
    assert!(report.panels[3].series.is_empty());
    assert!(report.warnings.contains(&"panel \"N\": no point of the sweep matches its `at`".to_owned()));
}

#[test]
fn a_distribution_gives_the_mean_over_seeds_of_the_part_of_flows_at_or_below_each_percentile() {
    let mut plan = plan_of(Vec::new());
    plan.experiment.panels = vec![
        Panel { at: at(0.5), ..panel(&CDF, None, &["fct.all"]) },
        panel(&CDF, None, &["cv.all"]),
        panel(&CDF, None, &["fct.nobody"]),
    ];
    let report = report_of(&plan, &[]);
    let [(scheme, _, marks), _] = &series(&report.panels[0])[..] else { panic!("a line for each scheme") };
    assert_eq!(scheme, "dctcp");
    // Flows of seed s take 5, 10, 15 and 20 s ms: 5 .. 20, 10 .. 40 and 15 .. 60 ms, of which nine are distinct.
    let by_seed: Vec<Vec<f64>> =
        (1..=3).map(|s| (1..=4).map(|i| f64::from(5 * i * s) / 1e3).collect()).collect();
    let mut pooled: Vec<f64> = by_seed.concat();
    pooled.sort_by(f64::total_cmp);
    pooled.dedup();
    assert_eq!(marks.iter().map(|mark| mark.0.as_f64().unwrap()).collect::<Vec<_>>(), pooled);
    for (x, y) in marks {
        let x = x.as_f64().unwrap();
        let parts: Vec<f64> =
            by_seed.iter().map(|own| own.iter().filter(|v| **v <= x).count() as f64 / 4.0).collect();
        assert!(
            (y.unwrap() - Estimate::arithmetic(&parts, Nature::Quantity).mean.unwrap()).abs() < 1e-9,
            "{x}"
        );
    }
    for what in ["panel \"P\": a cdf can show fct or", "panel \"P\": `nobody` is not a size class"] {
        assert!(report.warnings.iter().any(|w| w.starts_with(what)), "{:?}", report.warnings);
    }
}

#[test]
fn a_panel_by_size_pools_the_flows_of_all_seeds_and_tells_where_flows_are_too_few() {
    let mut plan = plan_of(Vec::new());
    let by_size = |metric| Panel { by: Some(By::Size), at: at(0.5), ..panel(&LINE, None, &[metric]) };
    plan.experiment.panels = vec![by_size("fct.all"), by_size("fct_p50.all"), by_size("fct_p99.all")];
    let report = report_of(&plan, &[]);
    // Flows take 5, 10, 15 and 20 ms times their seed, 1 to 3, and half of that under `nos2`: the mean of the twelve is 25
    // ms, and the sixth of 5, 10, 10, 15, 15, 20, 20, 30, 30, 40, 45 and 60 ms is 20 ms.
    for (panel, of_dctcp) in report.panels.iter().zip([0.025, 0.020]) {
        let [dctcp, nos2] = &panel.series[..] else { panic!("a line for each scheme: {panel:?}") };
        for (series, expected) in [(dctcp, of_dctcp), (nos2, of_dctcp / 2.0)] {
            let [mark] = &series.points[..] else { panic!("ten flows make one bin: {series:?}") };
            assert!((mark.y.mean.unwrap() / expected - 1.0).abs() < 1e-9, "{mark:?}");
            assert!(mark.y.ends().is_some_and(|(low, high)| low < expected && expected < high), "{mark:?}");
            assert_eq!(mark.y.n, 3);
        }
    }
    assert!(report.panels[2].series.iter().all(|series| series.points.is_empty()));
    let few = "panel \"P\": fct_p99.all: too few flows of some scheme finished for one bin of sizes";
    assert!(report.warnings.contains(&few.to_owned()), "{:?}", report.warnings);
    let written = serde_json::to_value(&report.panels[0]).unwrap();
    assert_eq!((&written["by"], &written["x"]), (&json!("size"), &Value::Null));
}

#[test]
fn checks_count_what_runs_leave_and_name_what_is_wrong() {
    let plan = plan_of(Vec::new());
    let dir = tempfile::tempdir().unwrap();
    run_all(&plan, &dir, &[1]);
    let store = Store::open(dir.path()).unwrap();
    // The stored run of dctcp, seed 2, load 0.5 has inversions, a leak, a load that is off and flows that did not end.
    let id = RunId::new(&plan.runs[2].id).unwrap();
    let mut record = store.accept(&id).unwrap();
    record.priorities[0].inversions = 1;
    record.priorities[0].packets = 8;
    record.ledger[0].dropped.packets += 1;
    record.load.offered_host = Some(0.53);
    record.summary.get_mut("all").unwrap().unfinished = 3;
    let path = store.path(&id).join("run.json");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, record.to_text().unwrap()).unwrap();
    let checks = verdicts(&plan, dir.path()).checks;
    let found: Vec<(&str, State, &str)> =
        checks.iter().map(|check| (check.name, check.state, check.says.as_str())).collect();
    let leaks = format!("packets or bytes are not conserved in {}", plan.runs[2].id);
    assert_eq!(
        found,
        [
            ("runs", State::Fail, "11 of 12 runs are present and complete"),
            ("conservation", State::Fail, leaks.as_str()),
            ("engines", State::Ok, "1 of 11 runs were executed on both engines, which agreed in every row"),
            (
                "unfinished",
                State::Warn,
                "some measured flows are unfinished and left out of means and percentiles: dctcp 3 of 24"
            ),
            ("load", State::Warn, "requested 0.500, offered to hosts 0.510 to 0.530, to the core unknown"),
            (
                "priorities",
                State::Warn,
                "packets were served while a packet of a higher-priority class was queued: dctcp 4.35 % of packets"
            ),
        ]
    );
}
