//! Comparisons with other simulators on the same flows (docs/validation.md): the shipped experiments, run here.

use std::path::Path;

use priolane_lab::experiment::{AgreeTest, Test};
use priolane_lab::plan::{self, Options, Plan};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::Engine;
use priolane_sim::{Drive, Simulation};

fn planned(name: &str) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/validation").join(name);
    plan::plan(&path, &Options::default()).unwrap()
}

fn outcome(plan: &Plan, run_of: usize, engine: Engine) -> (plan::ResolvedRun, Outcome) {
    let built = plan::build(&plan.runs[run_of]).unwrap();
    let outcome = Simulation::of(&built.scenario).run(Drive::on(engine)).unwrap();
    (built, outcome)
}

/// Returns the statement of each `agree` claim for seed 1: the metric, the number, the band.
fn stated(plan: &Plan) -> Vec<(String, f64, f64)> {
    let claims = plan.experiment.claims.iter();
    let agree = |claim: &priolane_lab::experiment::Claim| match &claim.test {
        Test::Agree(AgreeTest { of, values, within }) => (of.metric.clone(), values[0], *within),
        other => panic!("{other:?}"),
    };
    claims.map(agree).collect()
}

fn assert_within(what: &str, ours: f64, theirs: f64, within: f64) {
    assert!((ours / theirs - 1.0).abs() <= within, "{what}: {ours} s, {theirs} s elsewhere");
}

/// Each flow's time to its last acknowledgement is the one stated, on both engines.
fn every_flow_agrees(name: &str) {
    let plan = planned(name);
    for engine in [Engine::Window, Engine::Wheel] {
        let (built, outcome) = outcome(&plan, 0, engine);
        let stated = stated(&plan);
        assert_eq!(stated.len(), built.scenario.flows.len());
        for (number, (of, theirs, within)) in stated.into_iter().enumerate() {
            assert!(of.starts_with(&format!("fct_acked.flow{number}.")), "{of}");
            let ours = outcome.flows.at(number).fct_acked.unwrap().as_secs_f64();
            assert_within(&format!("{of} on {engine:?}"), ours, theirs, within);
        }
    }
}

#[test]
fn lone_flows_and_two_that_share_a_line_take_the_times_yaps_says() {
    every_flow_agrees("yaps_alone.toml");
}

#[test]
fn lone_flows_take_the_times_htsim_says() {
    every_flow_agrees("htsim_ndp_alone.toml");
}

fn mean_acked(outcome: &Outcome, counts: impl Fn(usize) -> bool) -> f64 {
    let flows = (0..outcome.flows.len()).filter(|&i| counts(i));
    let times: Vec<f64> = flows.map(|i| outcome.flows.at(i).fct_acked.unwrap().as_secs_f64()).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn a_thousand_flows_of_pfabric_take_the_mean_times_yaps_says() {
    let plan = planned("yaps_pfabric.toml");
    let (built, outcome) = outcome(&plan, 0, Engine::Window);
    let bytes: Vec<u64> = built.scenario.flows.iter().map(|f| f.size.unwrap()).collect();
    let bounds = [(0, 10_000), (10_001, 100_000), (100_001, 1_000_000), (1_000_001, 10_000_000)];
    let all = [(10_000_001, u64::MAX), (0, u64::MAX)];
    for ((least, most), (of, theirs, within)) in bounds.into_iter().chain(all).zip(stated(&plan)) {
        let ours = mean_acked(&outcome, |flow| (least..=most).contains(&bytes[flow]));
        assert_within(&of, ours, theirs, within);
    }
    // It is a busy list: thousands of packets are lost at hosts and at switches.
    let dropped: u64 = outcome.ports.iter().map(|p| p.dropped).sum();
    assert!(dropped > 10_000, "{dropped}");
}

#[test]
fn an_incast_of_ndp_ends_when_htsim_says() {
    let plan = planned("htsim_ndp_incast.toml");
    let (_, outcome) = outcome(&plan, 0, Engine::Window);
    let [(_, mean, within), (of, last, _), ..] = &stated(&plan)[..] else { panic!("claims") };
    assert_within("the mean", mean_acked(&outcome, |_| true), *mean, *within);
    // A pull more or less, of 0.73 us, is 0.02 %.
    let ours = outcome.flows.iter().map(|f| f.fct.unwrap()).max().unwrap().as_secs_f64();
    assert_within(of, ours, *last, 0.0005);
}
