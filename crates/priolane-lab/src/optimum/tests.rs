use std::path::{Path as FilePath, PathBuf};

use priolane_sim::scenario::Scenario;

use super::*;
use crate::plan::{Options, build, from_text, plan};

/// Payload rate at 1 bit per second on the wire: 1460 B in 1538 B.
const PAYLOAD: f64 = 1460.0 / 1538.0;

fn figure(name: &str, point: usize) -> Scenario {
    let file = format!("../../study/papers/paccp/{name}/figure.toml");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    let plan =
        plan(&path, &Options { seeds: Some(crate::experiment::Seeds::Count(1)), ..Options::default() })
            .unwrap();
    build(&plan.runs[point]).unwrap().scenario
}

/// Returns the promised rate of each group's flows, in Gbit/s, which are equal to within a millionth.
fn promised(scenario: &ScenarioSpec, groups: u16) -> Vec<f64> {
    let optimum = of(scenario).unwrap();
    let of_group = |group| {
        let own = optimum
            .flows
            .iter()
            .zip(&optimum.max_min)
            .filter(|(flow, _)| scenario.flows.at(**flow).group == group);
        let rates: Vec<f64> = own.map(|(_, rate)| rate / 1e9).collect();
        assert!(rates.iter().all(|rate| (rate / rates[0] - 1.0).abs() < 1e-6), "{rates:?}");
        rates[0]
    };
    (0..groups).map(of_group).collect()
}

fn near(got: &[f64], expected: &[f64]) {
    let close = got.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-6);
    assert!(close && got.len() == expected.len(), "{got:?} is not {expected:?}");
}

#[test]
fn figure_2_has_the_optimum_of_the_paper_on_every_link() {
    // With B = 40 Gbps on the wire: 4 x + 2 (2 x) + 2 x = B, and the minimum of 2 Gbps is below 4 Gbps: B / 10, B / 5,
    // B / 10.
    let b = 40.0 * PAYLOAD;
    near(&promised(&figure("fig2", 0), 3), &[b / 10.0, b / 5.0, b / 10.0]);
    // 7 Gbps exceeds the share by weight: 4 x + 2 (2 x) = B - 14.
    near(&promised(&figure("fig2", 1), 3), &[(b - 14.0) / 8.0, (b - 14.0) / 4.0, 7.0]);
}

#[test]
fn figure_3_splits_the_pairs_of_machines() {
    let b = 40.0 * PAYLOAD;
    let be = (b - 14.0) / 8.0;
    near(&promised(&figure("fig3", 0), 6), &[be, be / 2.0, 2.0 * be, be, 7.0, 3.5]);
}

#[test]
fn figure_5_is_the_testbed_of_the_paper() {
    // With B = 1 Gbps on the wire, 0.949 Gbps of payload: 0.4 Gbps exceeds two fifths, and 3 x = B - 0.4.
    let be = (PAYLOAD - 0.4) / 3.0;
    near(&promised(&figure("fig5", 0), 3), &[be, 2.0 * be, 0.4]);
}

#[test]
fn no_path_of_a_pair_of_racks_shares_a_link_with_another_pair() {
    let scenario = figure("fig2", 0);
    let mut pairs: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for flow in &scenario.flows {
        let racks = (scenario.topology.rack[flow.src.index()], scenario.topology.rack[flow.dst.index()]);
        let path = scenario.topology.path(flow.src, flow.dst, flow.entropy);
        for link in &path[1..3] {
            assert_eq!(*pairs.entry(link.0).or_insert(racks), racks);
        }
    }
    // 6 racks with 5 uplinks and 5 downlinks each.
    assert_eq!(pairs.len(), 60);
}

#[test]
fn utility_of_the_optimum_is_one_and_of_less_is_less() {
    let optimum = of(&figure("fig2", 1)).unwrap();
    assert!((optimum.relative(&optimum.best.rate) - 1.0).abs() < 1e-12);
    assert!(optimum.best.gap / optimum.best.value < 1e-6, "{} of {}", optimum.best.gap, optimum.best.value);
    let less: Vec<f64> = optimum.best.rate.iter().map(|rate| rate * 0.9).collect();
    assert!(optimum.relative(&less) < 1.0);
    // With large windows, max-min is nearly optimal.
    assert!(optimum.relative(&optimum.max_min) > 0.9999);
}

const OVERBOOKED: &str = r#"
title = "More than there is"
schemes = ["paccp"]
time = { measure = "1ms" }
topology = { kind = "dumbbell", left = 2, right = 2, host_link = { rate = "10Gbps", delay = "1us" }, bottleneck = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "0-1"
theta = "6Gbps"
app = "long_lived"
pairs = [{ src = 0, dst = 2 }, { src = 1, dst = 3 }]
size = "endless"
"#;

/// Property 21.
#[test]
fn minimum_rates_that_do_not_fit_are_promised_in_proportion_and_warned_of() {
    let run =
        |text: &str| from_text("x", text, FilePath::new("."), &Options::default()).unwrap().runs[0].clone();
    let optimum = of(&build(&run(OVERBOOKED)).unwrap().scenario).unwrap();
    let half = 5e9 * PAYLOAD;
    near(&optimum.max_min, &[half, half]);
    let warning = optimum.warning().unwrap();
    assert!(warning.contains("exceed the capacity of") && warning.contains("->"), "{warning}");
    let fits = of(&build(&run(&OVERBOOKED.replace("6Gbps", "4Gbps"))).unwrap().scenario).unwrap();
    assert_eq!(fits.warning(), None);
    let finite = OVERBOOKED.replace("endless", "1MB");
    assert_eq!(of(&build(&run(&finite)).unwrap().scenario).unwrap_err(), NoOptimum::NoFlow);
}
