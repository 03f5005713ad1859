//! Tests of plans: run ids, overlays and sweeps.

use priolane_core::assign::control::{AdaptiveThresholds, ThresholdRange};
use priolane_core::assign::{EqualSplit, Opt2, Solver};
use priolane_core::endpoint::ThresholdSet;
use priolane_core::units::Time;
use priolane_testkit::made_up::EXPERIMENT;
use priolane_testkit::one_switch;

use super::*;
use crate::experiment::Seeds;

mod pay;

/// Returns the plan of the experiment of the synthetic results.
pub(crate) fn made_up() -> Plan {
    from_text("made_up.toml", EXPERIMENT, Path::new("."), &Options::default()).unwrap()
}

fn planned(text: &str, options: &Options) -> Plan {
    from_text("test.toml", text, Path::new("."), options).unwrap()
}

fn ids(text: &str) -> Vec<String> {
    planned(text, &Options::default()).runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn runs_are_points_by_seeds_by_schemes() {
    let plan = planned(EXPERIMENT, &Options::default());
    let order: Vec<(f64, u64, &str)> =
        plan.runs.iter().map(|r| (r.point[0].1.as_f64().unwrap(), r.seed, r.scheme.as_str())).collect();
    assert_eq!(
        order[..7],
        [
            (0.5, 1, "dctcp"),
            (0.5, 1, "nos2"),
            (0.5, 2, "dctcp"),
            (0.5, 2, "nos2"),
            (0.5, 3, "dctcp"),
            (0.5, 3, "nos2"),
            (0.6, 1, "dctcp")
        ]
    );
    assert_eq!(order.len(), 12);
    assert_eq!(plan.experiment.sweep[0].0, "group.all.load.value");
}

#[test]
fn ids_do_not_hang_on_comments_or_order_of_keys_but_on_values_and_seeds() {
    let base = ids(EXPERIMENT);
    assert_eq!(base, ids(&EXPERIMENT.replace("hosts = 4\n", "# four of them\n  hosts = 4\n")));
    let moved = EXPERIMENT
        .replace("app = \"poisson\"\n", "")
        .replace("hosts = \"*\"", "app = \"poisson\"\nhosts = \"*\"");
    assert_eq!(base, ids(&moved));
    let other = ids(&EXPERIMENT.replace("\"1us\"", "\"2us\""));
    assert!(base.iter().zip(&other).all(|(a, b)| a != b));
    let distinct: std::collections::BTreeSet<&String> = base.iter().collect();
    assert_eq!(distinct.len(), base.len());
    // Keys that only affect figures do not change runs.
    assert_eq!(base, ids(&EXPERIMENT.replace("baseline = \"dctcp\"", "baseline = \"nos2\"")));
}

#[test]
fn a_labelled_value_of_a_sweep_sets_several_keys() {
    let together = |keys: &str| {
        let value =
            |label: u32, load: f64| format!("{{ label = {label}, \"group.all.load.value\" = {load}{keys} }}");
        let steps = format!("steps = [{}, {}]", value(3, 0.2), value(5, 0.4));
        EXPERIMENT.replace("\"group.all.load.value\" = [0.5, 0.6]", &steps)
    };
    let plan = planned(&together(", \"scheme.nos2.transport.min_rto\" = \"7ms\""), &Options::default());
    assert_eq!(plan.experiment.sweep, [("steps".to_owned(), vec![3.into(), 5.into()])]);
    let last = plan.runs.last().unwrap();
    let of = |pointer: &str| last.merged.pointer(pointer).cloned();
    assert_eq!((last.point[0].1.as_u64(), last.scheme.as_str()), (Some(5), "nos2"));
    assert_eq!(of("/group/0/load/value").and_then(|v| v.as_f64()), Some(0.4));
    let text = last.merged.to_string();
    assert!(text.contains("\"min_rto\":\"7ms\""), "{text}");
    let set =
        |value: &str| Options { sets: vec![("steps".to_owned(), value.to_owned())], ..Options::default() };
    let one = planned(&together(""), &set("5"));
    assert!(one.runs.len() * 2 == plan.runs.len() && one.runs.iter().all(|run| run.point[0].1 == 5));
    let none = from_text("test.toml", &together(""), Path::new("."), &set("4")).unwrap_err().to_string();
    assert!(none.contains("the label 4") && none.contains("3, 5"), "{none}");
    let error =
        from_text("test.toml", &together(", seeds = 3"), Path::new("."), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("`seeds` cannot be swept"), "{error}");
}

#[test]
fn overlays_and_sets_change_the_plan() {
    let with_overlay = format!("{EXPERIMENT}\n[quick]\nseeds = 1\n");
    let quick = planned(&with_overlay, &Options { size: Size::Quick, ..Options::default() });
    assert_eq!((quick.runs.len(), quick.warnings), (4, vec![]));
    let whole = planned(EXPERIMENT, &Options { size: Size::Quick, ..Options::default() });
    assert!(whole.warnings[0].contains("has no [quick]"), "{:?}", whole.warnings);
    let set = Options { sets: vec![("group.all.load.value".into(), "0.7".into())], ..Options::default() };
    let fixed = planned(EXPERIMENT, &set);
    assert_eq!((fixed.runs.len(), fixed.experiment.sweep.len()), (6, 0));
    let one =
        Options { schemes: Some(vec!["dctcp".into()]), seeds: Some(Seeds::Count(4)), ..Options::default() };
    assert_eq!(planned(EXPERIMENT, &one).runs.len(), 8);
}

#[test]
fn a_grid_beyond_the_limit_is_refused_before_it_is_made() {
    let values: Vec<String> = (1..=60).map(|n| format!("0.{n:02}")).collect();
    let file = EXPERIMENT.replace("seeds = 3", "seeds = 10000").replace("0.5, 0.6", &values.join(", "));
    let error = from_text("f", &file, Path::new("."), &Options::default());
    assert!(error.unwrap_err().to_string().contains("1200000 runs"));
}

#[test]
fn listed_seeds_are_run_in_their_order_and_share_the_runs_of_counted_ones() {
    let seeds = |text: &str, seeds: Option<Seeds>| -> Vec<(u64, String)> {
        let plan = planned(text, &Options { seeds, ..Options::default() });
        let first = plan.runs.iter().filter(|run| run.scheme == "dctcp" && run.point[0].1 == 0.5);
        first.map(|run| (run.seed, run.id.clone())).collect()
    };
    let counted = seeds(EXPERIMENT, None);
    let listed = seeds(&EXPERIMENT.replace("seeds = 3", "seeds = [9, 2]"), None);
    assert_eq!(listed.iter().map(|run| run.0).collect::<Vec<_>>(), [9, 2]);
    // The same seed gives the same run, whether it is counted or listed.
    assert_eq!(listed[1], counted[1]);
    assert_eq!(seeds(EXPERIMENT, Some(Seeds::Listed(vec![9, 2]))), listed);
    let json =
        planned(&EXPERIMENT.replace("seeds = 3", "seeds = [9, 2]"), &Options::default()).experiment.to_json();
    assert_eq!(json["seeds"], serde_json::json!([9, 2]));
}

#[test]
fn a_seed_in_place_of_a_number_of_seeds_is_refused_with_what_was_meant() {
    let options = Options { seeds: Some(Seeds::Count(90_001)), ..Options::default() };
    let error = from_text("f", EXPERIMENT, Path::new("."), &options).unwrap_err().to_string();
    assert!(error.starts_with("--seeds: seeds: the number of seeds is 90001"), "{error}");
    assert!(error.contains("--seed-list 90001"), "{error}");
    let twice = Options { seeds: Some(Seeds::Listed(vec![7, 8, 7])), ..Options::default() };
    let error = from_text("f", EXPERIMENT, Path::new("."), &twice).unwrap_err().to_string();
    assert!(error.starts_with("--seed-list: seeds[2]: the seed 7 is listed twice"), "{error}");
    for seeds in ["[]", "[0]", "[1.5]", "0", "10001", "\"7\""] {
        let file = EXPERIMENT.replace("seeds = 3", &format!("seeds = {seeds}"));
        let error = from_text("f", &file, Path::new("."), &Options::default()).unwrap_err();
        assert_eq!((error.line, &error.key[..5]), (Some(4), "seeds"), "{error}");
    }
}

#[test]
fn a_run_says_what_load_is_offered_of_the_load_that_is_asked_for() {
    let file = EXPERIMENT.replace("\"20ms\"", "\"50ms\"");
    let load_of = |text: &str| build(&planned(text, &Options::default()).runs[0]).unwrap().load;
    let payload = load_of(&file);
    let [demand] = payload.demands[..] else { panic!("{payload:?}") };
    assert_eq!(demand.asked, 0.5);
    // All four hosts send, so this equals the load measured in payload.
    assert!((demand.offered - payload.offered_host.unwrap()).abs() < 1e-12, "{payload:?}");
    // The same flows have more bytes on the wire: 1538 B for 1460 B, and more for small ones.
    let wire = load_of(&file.replace("\"payload\"", "\"wire\""));
    assert!(wire.demands[0].offered > 1.05 * wire.offered_host.unwrap(), "{wire:?}");
    // A load that changes cannot be compared; sizes that change do not matter.
    let event = |set: &str| format!("{file}\n[[event]]\nat = \"1ms\"\nset = {{ {set} }}\n");
    assert_eq!(load_of(&event("\"group.all.load.value\" = 0.6")).demands, []);
    assert_eq!(load_of(&event("\"group.all.sizes\" = \"data_mining\"")).demands[0].asked, 0.5);
}

#[test]
fn thresholds_are_found_when_planned() {
    let plan = planned(EXPERIMENT, &Options::default());
    let nos2 = &plan.runs[1].experiment.scheme["nos2"];
    // The byte-share optimum is at the kink of the web search table at F = 0.8: 2 MB.
    assert_eq!(nos2.assign.demotion().unwrap().thresholds.bytes().unwrap(), [2_000_000]);
    assert_eq!(nos2.host.part().demotion().unwrap().thresholds.bytes().unwrap().len(), 7);
}

#[test]
fn the_flow_list_of_a_point_and_seed_is_the_same_for_all_schemes() {
    let plan = planned(EXPERIMENT, &Options::default());
    let flows = |i: usize| build(&plan.runs[i]).unwrap().scenario.into_spec().flows;
    assert_eq!(flows(0), flows(1));
    assert_ne!(flows(0), flows(2));
}

const SHIFT: &str = one_switch!(
    r#"
title = "A shift"
schemes = ["steady", "following"]
time = { measure = "20ms" }
[scheme.steady]
base = "nos2"
assign.thresholds.from = "before"
host.thresholds.from = "before"
[scheme.following]
base = "nos2"
assign.thresholds.from = "before"
assign.controller = { period = "1ms", delay = "100us", bounds = ["10kB", "30MB"], report_loss = 0.1 }
host.thresholds = { solver = "equal_split", from = "local", bytes = ["1kB", "2kB", "3kB", "4kB", "5kB", "6kB", "7kB"] }
"#,
    4,
    r#"[[group]]
name = "before"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
active = { until = "10ms" }
[[group]]
name = "after"
hosts = "*"
app = "poisson"
sizes = "imc10"
load = { of = "host", counts = "payload", value = 0.5 }
active = { from = "10ms" }
"#
);

#[test]
fn a_group_starts_flows_while_it_is_active() {
    let plan = planned(SHIFT, &Options::default());
    let flows = build(&plan.runs[0]).unwrap().scenario.into_spec().flows;
    let ms10 = Time(10_000_000_000);
    assert!(flows.iter().all(|flow| (flow.group == 0) == (flow.start < ms10)));
    // imc10 has a mean of 195 kB: 4 hosts at half of 10 Gbps start 128 flows in 10 ms; web search starts a tenth of
    // that.
    let late = flows.iter().filter(|flow| flow.group == 1).count();
    assert!((80..180).contains(&late) && late < flows.len(), "{late} of {}", flows.len());
    // The clock of a group starts when it becomes active: the same flows as from the start, 10 ms later.
    let alone = planned(
        &SHIFT.replace("active = { from = \"10ms\" }", "active = { until = \"10ms\" }"),
        &Options::default(),
    );
    let early = build(&alone.runs[0]).unwrap().scenario.into_spec().flows;
    let of_second = |flows: &priolane_core::flows::FlowList| -> Vec<(u64, Option<u64>)> {
        flows.iter().filter(|f| f.group == 1).map(|f| (f.start.0 % ms10.0, f.size)).collect()
    };
    assert_eq!(of_second(&early), of_second(&flows));
}

#[test]
fn a_controller_becomes_an_adaptation() {
    let plan = planned(SHIFT, &Options::default());
    assert_eq!(build(&plan.runs[0]).unwrap().scenario.into_spec().adaptation, None);
    let adaptation = build(&plan.runs[1]).unwrap().scenario.into_spec().adaptation.unwrap();
    assert_eq!(
        adaptation.global,
        [AdaptiveThresholds { of: ThresholdSet::Class, solver: Solver::Opt2(Opt2), levels: 2, load: 0.5 }]
    );
    let solver = Solver::EqualSplit(EqualSplit);
    let local = AdaptiveThresholds { of: ThresholdSet::HostLevel, solver, levels: 8, load: 0.5 };
    assert_eq!((adaptation.local, adaptation.config.report_loss), (vec![local], 0.1));
    let bounds = ThresholdRange { min: 10_000, max: 30_000_000 };
    assert_eq!((adaptation.config.bounds, adaptation.config.window), (bounds, 1_000));
}

#[test]
fn controllers_that_have_nothing_to_do_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = SHIFT.replace(from, to);
        assert_ne!(text, SHIFT);
        from_text("f", &text, Path::new("."), &Options::default()).unwrap_err().to_string()
    };
    let following = "assign.thresholds.from = \"before\"\nassign.controller";
    let cases = [
        ("delay = \"100us\"", "delay = \"1us\"", "below that of a packet on one link"),
        ("\"10kB\", \"30MB\"", "\"30MB\", \"10kB\"", "the smallest threshold is above the largest"),
        ("report_loss = 0.1", "report_loss = 1.1", "1.1"),
        ("period = \"1ms\"", "period = \"0ms\"", "the value is zero"),
        (following, "assign.thresholds = [\"1MB\"]\nassign.controller", "a controller cannot change"),
        ("active = { until = \"10ms\" }", "active = { from = \"10ms\", until = \"10ms\" }", "not after"),
    ];
    for (from, to, says) in cases {
        let message = refused(from, to);
        assert!(message.contains(says), "{message}");
    }
    let published = SHIFT.replace(
        "base = \"nos2\"\nassign.thresholds.from = \"before\"\nassign.con",
        "base = \"pias\"\nassign.con",
    );
    let message = from_text("f", &published, Path::new("."), &Options::default()).unwrap_err().to_string();
    assert!(message.contains("published thresholds do not depend on it"), "{message}");
}
