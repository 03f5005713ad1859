use std::ops::ControlFlow;

use priolane_core::units::Span;
use priolane_workload::{Counts, LoadOf};
use serde_json::json;
use tempfile::TempDir;

use super::decision::{Direction, Seeds, UndecidedReason};
use super::*;
use crate::execute::{Job, Settings};
use crate::experiment::{
    AgreeTest, BoundTest, Claim, EqualTest, MetricAt, OpenRange, RatioTest, Source, Test, TrendDirection,
    TrendTest,
};
use crate::panels::{BAR, CDF, LINE, Panel, PanelKind, SCATTER};
use crate::plan::{GroupOffer, Load, ResolvedRun};
use priolane_results::record::Demand;
use priolane_testkit::made_up::MadeUp;

use crate::plan::tests::made_up;

mod null_experiments;
mod written;

const LOAD: &str = "group.all.load.value";

/// Returns the synthetic plan with `claims`.
fn plan_of(claims: Vec<Test>) -> Plan {
    let mut plan = made_up();
    let claim = |test| Claim::new("§1", "so it is", Source::Paper, test);
    plan.experiment.claims = claims.into_iter().map(claim).collect();
    plan.warnings = vec!["of the plan".into()];
    plan
}

/// Geometric mean of the seeds 1, 2 and 3.
fn mean_seed() -> f64 {
    libm::cbrt(6.0)
}

/// Simulates all runs of `plan` except `left_out`: flow i of `dctcp` takes (i + 1) ms times seed times 10 load, and
/// half of that under `nos2`.
fn run_all(plan: &Plan, dir: &TempDir, left_out: &[usize]) {
    run_at(plan, dir, left_out, None);
}

/// The same at a requested load of 0.5, with an offered load by seed.
fn run_at(plan: &Plan, dir: &TempDir, left_out: &[usize], offered: Option<fn(u64) -> f64>) {
    run_with(plan, dir, left_out, offered, |_| 2);
}

/// The same, where `nos2` is faster than `dctcp` by a factor that depends on ten times the load.
fn run_with(
    plan: &Plan,
    dir: &TempDir,
    left_out: &[usize],
    offered: Option<fn(u64) -> f64>,
    faster: fn(u64) -> u64,
) {
    let store = Store::open(dir.path()).unwrap();
    for (i, run) in plan.runs.iter().enumerate().filter(|(i, _)| !left_out.contains(i)) {
        let fixture = MadeUp::with_flows(4);
        let mut outcome = fixture.outcome.clone();
        let load = run.point[0].1.as_f64().unwrap() * 10.0;
        let mut flows = 1_u64..;
        outcome.flows.edit_all(|record| {
            let flow = flows.next().unwrap_or_default();
            let slow = flow * run.seed * load.round() as u64 * 1_000_000_000;
            // For claims, a few picoseconds by which seeds differ, so that no two ratios are equal.
            let is_claimed = u64::from(!plan.experiment.claims.is_empty());
            let apart = is_claimed * run.seed * run.seed * run.seed;
            let dctcp = slow + apart;
            let nos2 = slow / faster(load.round() as u64) + 2 * apart;
            record.fct = Some(Span(if run.scheme == "dctcp" { dctcp } else { nos2 }));
        });
        let demand = |offered| Demand { of: LoadOf::Host, counts: Counts::Payload, asked: 0.5, offered };
        let load = Load {
            asked: Some(0.5),
            offered_host: Some(0.51),
            demands: offered.map(|offered| demand(offered(run.seed))).into_iter().collect(),
            ..Load::default()
        };
        let MadeUp { scenario, groups, measured, bare_fct, .. } = fixture;
        let built = ResolvedRun {
            scenario: scenario.build().unwrap(),
            groups,
            measured,
            bare_fct,
            with_handshake: None,
            under_way: Vec::new(),
            arrivals_continue: false,
            window: crate::plan::MeasuredFlows::All,
            load,
            warnings: vec!["of the run".into()],
            pricing: None,
            zero_loss: None,
            observed_port: None,
            deadlines: Vec::new(),
        };
        let id = RunId::new(&run.id).unwrap();
        let job = Job { run, built: &built, store: &store, id: &id };
        let settings = Settings { verify: i == 0, ..Settings::default() };
        job.perform(&settings, None, &mut |_, _, _| Ok(outcome.clone()), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    }
}

fn report_of(plan: &Plan, left_out: &[usize]) -> Report {
    let dir = tempfile::tempdir().unwrap();
    run_all(plan, &dir, left_out);
    verdicts(plan, dir.path())
}

#[test]
fn claims_of_every_kind_are_judged_from_stored_runs() {
    let metric = |s: &str| MetricAt::from(s);
    let plan = plan_of(vec![
        Test::Order(vec![metric("gain.all.nos2"), metric("gain.all.dctcp")]),
        Test::Equal(EqualTest { of: vec![metric("gain.all.nos2"), metric("gain.flow0.nos2")], within: 0.1 }),
        Test::Bound(BoundTest { of: metric("gain.all.nos2"), over: None, range: OpenRange::above(1.5) }),
        Test::Ratio(RatioTest {
            of: metric("fct.all.dctcp"),
            over: Some(metric("fct.all.nos2")),
            paper: 2.1,
            within: 0.1,
        }),
        Test::Trend(TrendTest {
            of: metric("fct.flow2.dctcp"),
            along: LOAD.into(),
            goes: TrendDirection::Up,
        }),
        Test::Order(vec![metric("fct.all.nos2"), metric("fct.all.dctcp")]),
    ]);
    let report = report_of(&plan, &[]);
    let verdicts: Vec<Verdict> = report.claims.iter().map(|c| c.verdict).collect();
    assert_eq!(report.warnings, ["of the plan", "of the run (12 of 12 runs)"]);
    assert_eq!(verdicts[..5], [Verdict::Reproduced; 5]);
    assert_eq!(verdicts[5], Verdict::Contradicted);
    let directions: Vec<Direction> = report.claims.iter().map(|c| c.direction).collect();
    use Direction::{Agrees, Opposes};
    assert_eq!(directions, [Agrees, Direction::None, Agrees, Agrees, Agrees, Opposes]);
    assert_eq!(report.claims[3].undecided, None);
    let gain = &report.claims[0].points[0].measured[0];
    assert_eq!((gain.metric.as_str(), gain.value.n), ("gain.all.nos2", 3));
    assert!((gain.value.mean.unwrap() - 2.0).abs() < 1e-7, "{gain:?}");
    // Times are proportional to the load.
    let fitted = &report.claims[4].points[0].contrasts[0];
    assert_eq!(fitted.of, "fitted fct.flow2.dctcp at 0.6 / at 0.5");
    assert!((fitted.value.mean.unwrap() - 1.2).abs() < 1e-7, "{fitted:?}");
    // Flow 2 at load 0.5: 3 x 5 ms times the mean seed.
    let mean = report.claims[4].points[0].measured[0].value.mean.unwrap();
    assert!((mean - 0.015 * mean_seed()).abs() < 1e-9, "{mean}");
}

#[test]
fn numbers_from_elsewhere_are_compared_seed_by_seed() {
    let agree = |values: [f64; 3], within| {
        Test::Agree(AgreeTest { of: "fct.all.dctcp".into(), values: values.to_vec(), within })
    };
    // Seeds 1, 2, 3 take 12.5, 25 and 37.5 ms at load 0.5: far apart, but each agrees with its reference value.
    let mut plan = plan_of(vec![
        agree([0.0125, 0.025, 0.0375], 0.001),
        agree([0.0126, 0.0252, 0.0378], 0.01),
        agree([0.0126, 0.0252, 0.0378], 0.001),
        agree([0.0375, 0.025, 0.0125], 0.01),
        agree([0.0375, 0.025, 0.0125], 100.0),
    ]);
    for claim in &mut plan.experiment.claims {
        claim.at = serde_json::from_str(&format!("{{ {LOAD:?}: 0.5 }}")).unwrap();
    }
    let report = report_of(&plan, &[]);
    let verdicts: Vec<Verdict> = report.claims.iter().map(|c| c.alone).collect();
    let (yes, unsure, no) = (Verdict::Reproduced, Verdict::Undecided, Verdict::Contradicted);
    // The fourth agrees in the mean only: ratios are 1/3, 1 and 3.
    assert_eq!(verdicts, [yes, yes, no, unsure, yes]);
    // The last one: t = ln 101 / (1.0986 / sqrt(3)) = 7.28, p = 0.0092 with two degrees of freedom, above 0.025 / 3.
    assert_eq!(report.claims[4].verdict, unsure);
    assert!(matches!(report.claims[4].undecided, Some(UndecidedReason::Among(Seeds::Between(_)))));
    assert!(report.claims.iter().all(|claim| claim.direction == Direction::None));
    let first = &report.claims[0].points[0].contrasts[0];
    assert!((first.value.mean.unwrap() - 1.0).abs() < 1e-7, "{first:?}");
    assert_eq!(first.of, "fct.all.dctcp / given values by seed");
}

#[test]
fn metrics_are_means_over_the_keys_that_are_averaged_seed_by_seed() {
    // Loads 0.5 and 0.6 take 5 and 6 times 2.5 ms times the seed, and their means are 13.75 ms times the seed.
    let loads: Vec<f64> = made_up().experiment.sweep[0].1.iter().filter_map(Value::as_f64).collect();
    assert_eq!(loads, [0.5, 0.6]);
    let mean = |seeds: [f64; 3]| {
        Test::Agree(AgreeTest {
            of: "fct.all.dctcp".into(),
            values: seeds.map(|seed| seed * 0.01375).to_vec(),
            within: 0.001,
        })
    };
    let mut plan = plan_of(vec![mean([1.0, 2.0, 3.0]), mean([1.01, 2.02, 3.03])]);
    plan.experiment.metrics.average_over = Some(vec![LOAD.into()]);
    let report = report_of(&plan, &[]);
    let [own, other] = &report.claims[..] else { panic!("two claims") };
    assert_eq!((own.verdict, other.verdict), (Verdict::Reproduced, Verdict::Contradicted));
    let [point] = &own.points[..] else { panic!("one point: {:?}", own.points) };
    assert!(point.point.is_empty());
    // Intervals are those of three seeds, not of six runs.
    let measured = &point.measured[0].value;
    assert_eq!(measured.n, 3);
    assert!((measured.mean.unwrap() - 0.01375 * mean_seed()).abs() < 1e-9, "{measured:?}");
    // Both runs of a seed are one sample of a distribution; all of the 24 flows are pooled.
    plan.experiment.panels = vec![panel(&CDF, None, &["fct.all"])];
    let drawn = report_of(&plan, &[]).panels;
    let [series] = &drawn[0].series.iter().filter(|series| series.scheme == "dctcp").collect::<Vec<_>>()[..]
    else {
        panic!("one line for dctcp")
    };
    let last = series.points.last().unwrap();
    assert!((last.x.as_f64().unwrap() - 0.072).abs() < 1e-9, "{last:?}");
    assert_eq!((last.y.mean, last.y.n), (Some(1.0), 3));
    // Without one of its runs a seed has no value.
    let lacking = report_of(&plan, &[0]);
    assert_eq!(lacking.claims[0].verdict, Verdict::Incomplete);
    assert_eq!(lacking.claims[0].points[0].measured[0].value.n, 2);
}

#[test]
fn a_quotient_that_is_averaged_is_that_of_means() {
    // The gain is 1 at load 0.5 and 3 at 0.6: that of 5 + 6 over 5 + 2 is 11/7, and the mean of both is 2.
    let mut plan = plan_of(Vec::new());
    plan.experiment.metrics.average_over = Some(vec![LOAD.into()]);
    plan.experiment.panels = vec![panel(&BAR, None, &["gain.all", "gain.small"])];
    let dir = tempfile::tempdir().unwrap();
    run_with(&plan, &dir, &[], None, |load| if load == 5 { 1 } else { 3 });
    let drawn = verdicts(&plan, dir.path()).panels;
    let of_nos2: Vec<f64> = drawn[0]
        .series
        .iter()
        .filter(|series| series.scheme == "nos2")
        .flat_map(|series| series.points.iter().filter_map(|mark| mark.y.mean))
        .collect();
    assert!(of_nos2.len() == 2 && of_nos2.iter().all(|gain| (gain - 11.0 / 7.0).abs() < 1e-7), "{of_nos2:?}");
}

#[test]
fn a_band_that_a_wide_interval_only_touches_decides_nothing() {
    let of_seeds_apart =
        Test::Ratio(RatioTest { of: "fct.all.dctcp".into(), over: None, paper: 0.025, within: 0.1 });
    let of_like_seeds = Test::Ratio(RatioTest {
        of: "fct.all.dctcp".into(),
        over: Some("fct.all.nos2".into()),
        paper: 2.0,
        within: 0.1,
    });
    let mut plan = plan_of(vec![of_seeds_apart, of_like_seeds]);
    for claim in &mut plan.experiment.claims {
        claim.at.insert(LOAD.into(), json!(0.5));
    }
    let report = report_of(&plan, &[]);
    // Seeds 1, 2, 3 take 12.5, 25 and 37.5 ms at load 0.5: about 23 ms, from 6 to 90 ms, and the band is 22.5 to 27.5.
    let [apart, like] = &report.claims[..] else { panic!("two claims") };
    assert_eq!(apart.verdict, Verdict::Undecided);
    assert!(matches!(apart.undecided, Some(UndecidedReason::Interval(_))), "{:?}", apart.undecided);
    assert_eq!((like.verdict, &like.undecided), (Verdict::Reproduced, &None));
}

#[test]
fn a_ratio_of_two_metrics_has_a_bound() {
    let bound = |below| {
        Test::Bound(BoundTest {
            of: "fct.all.dctcp".into(),
            over: Some("fct.all.nos2".into()),
            range: OpenRange::below(below),
        })
    };
    let report = report_of(&plan_of(vec![bound(2.1), bound(1.9)]), &[]);
    let verdicts: Vec<Verdict> = report.claims.iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::Reproduced, Verdict::Contradicted]);
    assert_eq!(report.claims[0].points[0].contrasts[0].of, "fct.all.dctcp / fct.all.nos2");
}

#[test]
fn a_claim_is_undecided_where_the_offered_load_is_off() {
    let order = || Test::Order(vec!["gain.all.nos2".into(), "gain.all.dctcp".into()]);
    let trend =
        Test::Trend(TrendTest { of: "fct.all.dctcp".into(), along: LOAD.into(), goes: TrendDirection::Up });
    let judge = |offered: fn(u64) -> f64, left_out: &[usize], may_use_strata: bool| {
        let dir = tempfile::tempdir().unwrap();
        let mut plan = plan_of(vec![order(), trend.clone()]);
        for run in &mut plan.runs {
            let as_said = |offer: &GroupOffer| GroupOffer { may_use_strata, ..offer.clone() };
            run.offers = run.offers.iter().map(as_said).collect();
        }
        run_at(&plan, &dir, left_out, Some(offered));
        verdicts(&plan, dir.path())
    };
    let judge_loads = |offered, left_out: &[usize]| judge(offered, left_out, false);
    // Seeds 1 to 3 have offered loads of 0.45, 0.50 and 0.55: individually off, but 0.50 on average.
    let right = judge_loads(|seed| 0.4 + 0.05 * seed as f64, &[]);
    assert_eq!(right.claims[0].verdict, Verdict::Reproduced);
    // 0.47 on average: 6 % too low.
    let low = judge_loads(|seed| 0.37 + 0.05 * seed as f64, &[]);
    for claim in &low.claims {
        assert_eq!((claim.verdict, claim.direction), (Verdict::Undecided, Direction::None));
        let says = claim.undecided.as_ref().map(ToString::to_string);
        assert_eq!(
            says.as_deref(),
            Some("requested load 0.500 of hosts, offered 0.470, tolerance ±5 %: measure longer")
        );
        // The measurements stay in the report.
        assert_eq!(claim.points[0].contrasts.len(), 1);
    }
    let with_strata = judge(|seed| 0.37 + 0.05 * seed as f64, &[], true);
    let says = with_strata.claims[0].undecided.as_ref().map(ToString::to_string).unwrap();
    assert!(says.ends_with("measure longer, or use draw = \"strata\""), "{says}");
    assert_eq!(low.claims[0].alone, Verdict::Undecided);
    assert_eq!(low.claims[0].points[0].contrasts[0].verdict, Verdict::Reproduced);
    // A missing run takes precedence over the load.
    assert_eq!(judge_loads(|_| 0.1, &[3]).claims[0].verdict, Verdict::Incomplete);
}

#[test]
fn a_claim_is_contradicted_if_it_is_at_one_point() {
    // fct.all.dctcp is 12.5, 25, 37.5 ms at 0.5 and 15, 30, 45 ms at 0.6; run 3 of load 0.5 is missing.
    let bound =
        Test::Bound(BoundTest { of: "gain.all.nos2".into(), over: None, range: OpenRange::below(1.0) });
    let report = report_of(&plan_of(vec![bound]), &[3]);
    let points: Vec<Verdict> = report.claims[0].points.iter().map(|p| p.verdict).collect();
    assert_eq!(points, [Verdict::Incomplete, Verdict::Contradicted]);
    assert_eq!(report.claims[0].verdict, Verdict::Contradicted);
}

#[test]
fn reports_say_whose_claim_it_is() {
    let mut plan = plan_of(vec![Test::Order(vec!["gain.all.nos2".into(), "gain.all.dctcp".into()])]);
    plan.experiment.claims[0].source = Source::Ours;
    let report = serde_json::to_value(report_of(&plan, &[])).unwrap();
    assert_eq!(report["claims"][0]["source"], json!("ours"));
}

#[test]
fn the_report_says_what_the_experiment_and_its_schemes_assume() {
    let mut plan = plan_of(Vec::new());
    plan.experiment.assumptions = vec!["equal-band", "buffers"];
    let scheme = plan.experiment.scheme.values_mut().next().unwrap();
    scheme.assumptions = vec!["buffers", "marking"];
    let assumed: Vec<&str> = report_of(&plan, &[]).assumptions.iter().map(|entry| entry.anchor).collect();
    // In the order of the document, without duplicates.
    let mine = assumed.iter().filter(|anchor| ["marking", "buffers", "equal-band"].contains(anchor));
    assert_eq!(mine.copied().collect::<Vec<_>>(), ["marking", "buffers", "equal-band"]);
}

#[test]
fn missing_runs_make_claims_incomplete_and_are_named() {
    let plan = plan_of(vec![
        Test::Order(vec!["gain.all.nos2".into(), "gain.all.dctcp".into()]),
        Test::Trend(TrendTest { of: "fct.all.dctcp".into(), along: LOAD.into(), goes: TrendDirection::Up }),
    ]);
    // Run 3 is scheme nos2 of seed 2 at load 0.5.
    let report = report_of(&plan, &[3]);
    assert_eq!(report.claims[0].verdict, Verdict::Incomplete);
    assert_eq!(report.claims[0].points[1].verdict, Verdict::Reproduced);
    assert_ne!(report.claims[1].verdict, Verdict::Incomplete);
    assert_eq!(report.missing.len(), 1);
    assert_eq!((report.missing[0].scheme.as_str(), report.missing[0].seed), ("nos2", 2));
    assert_eq!(report.checks[0].state, State::Fail);
    assert_eq!(report.runs.len(), 11);
}

#[test]
fn metrics_without_a_value_are_told() {
    let plan = plan_of(vec![Test::Order(vec!["fct.flow9.nos2".into(), "fct.all.dctcp".into()])]);
    let report = report_of(&plan, &[]);
    assert_eq!(report.claims[0].verdict, Verdict::Incomplete);
    assert!(report.warnings.iter().any(|w| w.contains("`flow9`")), "{:?}", report.warnings);
}

#[test]
fn at_restricts_a_claim_to_its_points() {
    let mut plan = plan_of(vec![Test::Bound(BoundTest {
        of: "gain.all.nos2".into(),
        over: None,
        range: OpenRange::above(1.5),
    })]);
    plan.experiment.claims[0].at.insert(LOAD.into(), json!(0.6));
    let report = report_of(&plan, &[]);
    assert_eq!(report.claims[0].points.len(), 1);
    assert_eq!(report.claims[0].points[0].point[LOAD], json!(0.6));
}

#[test]
fn metrics_are_compared_across_points_where_a_claim_says_so() {
    let at = |load: f64| MetricAt {
        metric: "fct.all.dctcp".into(),
        at: [(LOAD.to_owned(), json!(load))].into_iter().collect(),
    };
    let ratio = |over| {
        Test::Ratio(RatioTest { of: "fct.all.dctcp".into(), over: Some(over), paper: 1.2, within: 0.01 })
    };
    let order = Test::Order(vec![at(0.6), "fct.all.dctcp".into(), "fct.all.nos2".into()]);
    let mut plan = plan_of(vec![ratio(at(0.5)), order, ratio(at(0.7))]);
    for (claim, load) in plan.experiment.claims.iter_mut().zip([0.6, 0.5, 0.6]) {
        claim.at.insert(LOAD.into(), json!(load));
    }
    let report = report_of(&plan, &[]);
    // Times are proportional to the load: ratio 6 / 5 for each seed, an interval of zero width.
    let [first, second, third] = &report.claims[..] else { panic!("{:?}", report.claims) };
    assert_eq!(first.verdict, Verdict::Reproduced);
    let contrast = &first.points[0].contrasts[0];
    assert_eq!(contrast.of, "fct.all.dctcp / fct.all.dctcp at group.all.load.value = 0.5");
    assert!((contrast.value.mean.unwrap() - 1.2).abs() < 1e-7 && first.points.len() == 1);
    assert_eq!(second.verdict, Verdict::Reproduced);
    assert_eq!(second.points[0].measured[0].metric, "fct.all.dctcp at group.all.load.value = 0.6");
    assert_eq!(third.verdict, Verdict::Incomplete);
    assert!(
        report.warnings.iter().any(|w| w.contains("no point for fct.all.dctcp at")),
        "{:?}",
        report.warnings
    );
}

fn panel(kind: &'static PanelKind, x: Option<&str>, metrics: &[&str]) -> Panel {
    Panel {
        title: "P".into(),
        kind,
        x: x.map(str::to_owned),
        by: None,
        x_label: None,
        metric: None,
        metrics: metrics.iter().map(|&m| m.to_owned()).collect(),
        schemes: None,
        y_label: None,
        log_y: None,
        reference: Some(1.0),
        at: Default::default(),
        x_at: Default::default(),
        y_at: Default::default(),
        rays: Vec::new(),
        published: None,
        curves: Vec::new(),
    }
}

#[test]
fn panels_hold_a_mark_per_scheme_and_x() {
    let mut plan = plan_of(Vec::new());
    let bars = panel(&BAR, None, &["gain.small", "gain.all"]);
    plan.experiment.panels = vec![panel(&LINE, Some(LOAD), &["fct.all"]), bars];
    let report = report_of(&plan, &[]);
    let line = &report.panels[0];
    assert_eq!(line.x_values, [json!(0.5), json!(0.6)]);
    assert_eq!(line.series.iter().map(|s| s.scheme.as_str()).collect::<Vec<_>>(), ["dctcp", "nos2"]);
    // Mean of 1..=4 ms is 2.5 ms; times 5, times the mean seed.
    let expected = 0.0125 * mean_seed();
    assert!((line.series[0].points[0].y.mean.unwrap() - expected).abs() < 1e-9);
    assert!(line.series[0].points[0].y.low.unwrap() < expected);
    let bars = &report.panels[1];
    assert_eq!(bars.x_values, [json!("gain.small"), json!("gain.all")]);
    assert_eq!(bars.series.len(), 4);
    assert_eq!(bars.series[1].points[1].y.mean, Some(2.0));
}

#[test]
fn a_dot_reads_its_metrics_at_the_points_that_x_and_y_are_of() {
    let at = |load: f64| serde_json::Map::from_iter([(LOAD.to_owned(), json!(load))]);
    let mut plan = plan_of(Vec::new());
    let apart =
        Panel { x_at: at(0.5), y_at: at(0.6), ..panel(&SCATTER, None, &["fct.all", "fct.all", "fct.flow0"]) };
    let joined = panel(&SCATTER, Some(LOAD), &["gain.all", "fct.all"]);
    let only_y = Panel { y_at: at(0.6), ..panel(&SCATTER, None, &["fct.all", "fct.all"]) };
    plan.experiment.panels = vec![apart, joined, only_y];
    let report = report_of(&plan, &[]);
    // Both sweep points form one dot per scheme: 2.5 ms times the mean seed times 5, and times 6.
    let series = &report.panels[0].series;
    assert_eq!(
        series.iter().map(|s| (s.scheme.as_str(), s.points.len())).collect::<Vec<_>>(),
        [("dctcp", 1), ("nos2", 1)]
    );
    assert!(series.iter().all(|s| s.at.is_empty()));
    let mark = &series[0].points[0];
    let dot = mark.dot.as_ref().unwrap();
    let near = |a: f64, b: f64| (a - b * mean_seed()).abs() < 1e-9;
    assert!(near(mark.x.as_f64().unwrap(), 0.0125) && near(mark.y.mean.unwrap(), 0.015), "{mark:?}");
    assert_eq!((dot.x_interval.mean, dot.along.as_ref()), (mark.x.as_f64(), None));
    // The area is evaluated at the point of x: flow 0 takes 1 ms.
    assert!(near(dot.size.unwrap().mean.unwrap(), 0.005));
    let line = &report.panels[1].series[1];
    let along: Vec<_> =
        line.points.iter().map(|mark| mark.dot.as_ref().unwrap().along.clone().unwrap()).collect();
    assert_eq!((line.scheme.as_str(), along), ("nos2", vec![json!(0.5), json!(0.6)]));
    assert!(line.points.iter().all(|mark| mark.x == json!(2.0) && mark.dot.as_ref().unwrap().size.is_none()));
    // With y at one point only, each point is a dot of its own, which is of no point as a whole.
    let series = &report.panels[2].series;
    assert!(series.iter().all(|s| s.at.is_empty()), "{series:?}");
    let dots = series.iter().filter(|s| s.scheme == "dctcp").flat_map(|s| &s.points);
    let dots: Vec<_> = dots.map(|mark| (mark.x.as_f64().unwrap(), mark.y.mean.unwrap())).collect();
    assert!(dots.len() == 2 && near(dots[0].0, 0.0125) && near(dots[1].0, 0.015), "{dots:?}");
    assert!(dots.iter().all(|dot| near(dot.1, 0.015)), "{dots:?}");
    let written = serde_json::to_value(&report.panels).unwrap();
    assert_eq!(written[1]["series"][1]["points"][0]["x_interval"]["mean"], json!(2.0));
}

#[test]
fn distributions_rise_to_one() {
    let mut plan = plan_of(Vec::new());
    plan.experiment.panels = vec![panel(&CDF, None, &["fct.all"])];
    let report = report_of(&plan, &[]);
    let marks = &report.panels[0].series[0].points;
    let y: Vec<f64> = marks.iter().map(|m| m.y.mean.unwrap()).collect();
    assert!(y.windows(2).all(|w| w[0] <= w[1]), "{y:?}");
    assert_eq!(y.last(), Some(&1.0));
    // The slowest of 12 pooled flows: 4 x seed 3 x 5 ms.
    assert_eq!(marks.last().unwrap().x, json!(0.06));
}

#[test]
fn checks_tell_loads_engines_and_conservation() {
    let report = report_of(&plan_of(Vec::new()), &[]);
    let names: Vec<(&str, State)> = report.checks.iter().map(|c| (c.name, c.state)).collect();
    let expected =
        ["runs", "conservation", "engines", "unfinished", "load", "priorities"].map(|n| (n, State::Ok));
    assert_eq!(names, expected);
    assert!(report.checks[2].says.starts_with("1 of 12 runs"), "{}", report.checks[2].says);
    assert_eq!(report.checks[4].says, "requested 0.500, offered to hosts 0.510, to the core unknown");
}

#[test]
fn report_digest_changes_with_any_run() {
    let plan = plan_of(Vec::new());
    assert_eq!(report_of(&plan, &[]).digest, report_of(&plan, &[]).digest);
    assert_ne!(report_of(&plan, &[]).digest, report_of(&plan, &[3]).digest);
}

#[test]
fn runs_without_a_measured_flow_are_told() {
    let plan = plan_of(Vec::new());
    let dir = tempfile::tempdir().unwrap();
    run_all(&plan, &dir, &[0]);
    let (store, run) = (Store::open(dir.path()).unwrap(), &plan.runs[0]);
    let MadeUp { scenario, groups, bare_fct, outcome, .. } = MadeUp::with_flows(4);
    let (measured, load) = (vec![false; 4], Load::default());
    let built = ResolvedRun {
        scenario: scenario.build().unwrap(),
        groups,
        measured,
        bare_fct,
        with_handshake: None,
        under_way: Vec::new(),
        arrivals_continue: false,
        window: crate::plan::MeasuredFlows::All,
        load,
        warnings: Vec::new(),
        pricing: None,
        zero_loss: None,
        observed_port: None,
        deadlines: Vec::new(),
    };
    let job = Job { run, built: &built, store: &store, id: &RunId::new(&run.id).unwrap() };
    let mut go_on = |_| ControlFlow::Continue(());
    job.perform(&Settings::default(), None, &mut |_, _, _| Ok(outcome.clone()), &mut go_on).unwrap();
    let report = verdicts(&plan, dir.path());
    assert_eq!(report.checks[3].says, "1 of 12 runs measured no flow: use a longer measurement");
    assert_eq!(report.checks[3].state, State::Warn);
}

#[test]
fn equal_values_of_few_seeds_decide_only_where_no_seed_changes_anything() {
    // All gains are exactly 2, in runs that differ by the seed and in runs that do not.
    let judged = |seed_of: fn(u64) -> u64| {
        let mut plan = plan_of(Vec::new());
        let dir = tempfile::tempdir().unwrap();
        let mut like = plan.clone();
        like.runs.iter_mut().for_each(|run| run.seed = seed_of(run.seed));
        run_all(&like, &dir, &[]);
        let bound =
            Test::Bound(BoundTest { of: "gain.all.nos2".into(), over: None, range: OpenRange::above(1.5) });
        plan.experiment.claims = plan_of(vec![bound]).experiment.claims;
        verdicts(&plan, dir.path()).claims.remove(0)
    };
    let by_seed = judged(|seed| seed);
    assert_eq!((by_seed.verdict, by_seed.undecided), (Verdict::Undecided, Some(UndecidedReason::SameCount)));
    assert_eq!(by_seed.points[0].measured[0].value.ends(), None);
    let same = judged(|_| 1);
    assert_eq!(same.verdict, Verdict::Reproduced);
    assert_eq!(same.points[0].measured[0].value.ends(), Some((2.0, 2.0)));
}
