//! What groups pay for: read, drawn, kept in the merged file, refused where it makes no sense or would be ignored.

use priolane_core::endpoint::{Control, Weights};
use priolane_core::port::Limit;
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::Machine;

use super::*;

const FILE: &str = r#"
title = "Who pays"
schemes = ["paccp"]
rates_every = "1ms"
time = { flows = 4000 }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "10us" }
fabric_link = { rate = "40Gbps", delay = "20us" }
[[group]]
name = "own"
hosts = "0-3"
mix = [{ share = 0.6 }, { share = 0.2, cos = "DS", w = 2 }, { share = 0.2, theta = "2.5Gbps", w = 2 }]
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.3 }
[[group]]
name = "shared"
hosts = "4-7"
theta = "5Gbps"
w = 2
plan = "vbp"
resplit = "100us"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.3 }
[[control]]
at = "1ms"
flow = 3
pay = { w = 1.5 }
"#;

const SHARED: Weights = Weights { theta: Rate::from_bps(5_000_000_000), w_milli: 2_000 };

#[test]
fn pairs_reach_flows_machines_and_controls() {
    let scenario = build(&planned(FILE, &Options::default()).runs[0]).unwrap().scenario;
    let machine = Machine { pair: SHARED, interval: Some(Span::from_us(100)) };
    assert_eq!(scenario.machines, [None, Some(machine)]);
    assert_eq!(scenario.controls[0].control, Control::Weights { theta: None, w_milli: 1_500 });
    assert!(scenario.flows.iter().filter(|f| f.group == 1).all(|f| f.weights == SHARED));
    let own: Vec<Weights> = scenario.flows.iter().filter(|f| f.group == 0).map(|f| f.weights).collect();
    let part = |theta: u64, w_milli| {
        let pair = Weights { theta: Rate::from_bps(theta), w_milli };
        own.iter().filter(|&&weights| weights == pair).count() as f64 / own.len() as f64
    };
    // About 2000 flows: shares within 0.04, four standard deviations of 0.01.
    let parts = [(part(0, 1_000), 0.6), (part(0, 2_000), 0.2), (part(2_500_000_000, 2_000), 0.2)];
    assert!(own.len() > 1_500 && parts.iter().all(|(got, asked)| (got - asked).abs() < 0.04), "{parts:?}");
    // The preset's buffers follow the rate of the link.
    let limit = |gbps| {
        let link = scenario.topology.links.iter().position(|l| l.rate == Rate::from_gbps(gbps));
        scenario.ports[link.unwrap()].buffer.limit
    };
    assert_eq!([limit(10), limit(40)], [Limit::Packets(100), Limit::Packets(400)]);
}

#[test]
fn the_merged_file_states_what_is_paid_for_and_nothing_where_nothing_is() {
    let plan = planned(FILE, &Options::default());
    let merged = plan.experiment.to_json();
    let again = planned(&toml::to_string(&merged).unwrap(), &Options::default());
    assert_eq!(again.runs[0].id, plan.runs[0].id);
    assert_eq!(merged.pointer("/group/1/theta").and_then(Json::as_str), Some("5Gbps"));
    let unpaid = planned(super::FILE, &Options::default()).experiment.to_json();
    assert!(["cos", "theta", "w", "mix", "plan"].iter().all(|key| unpaid["group"][0].get(key).is_none()));
}

#[test]
fn what_cannot_be_paid_for_is_refused() {
    let cases = [
        ("theta = \"5Gbps\"", "theta = \"50Gbps\"", "group.shared.theta", "on a link of 10Gbps"),
        ("w = 2\nplan", "w = 0\nplan", "group.shared.w", "a weight of 0 is out of range"),
        ("w = 2\nplan", "w = -1\nplan", "group.shared.w", "a weight of -1 is out of range"),
        ("cos = \"DS\"", "cos = \"XS\"", "group.own.mix[1].cos", "there is no \"XS\" here"),
        ("cos = \"DS\"", "cos = \"BE\"", "group.own.mix[1].cos", "BE is without theta"),
        ("share = 0.6", "share = 0.5", "group.own.mix", "the shares sum to 0.9"),
        ("plan = \"vbp\"", "plan = \"fbp\"", "group.shared.resplit", "nothing is split"),
        ("\"paccp\"", "\"dctcp\"", "scheme.dctcp.transport", "`dctcp` ignores"),
    ];
    for (old, new, key, what) in cases {
        assert!(FILE.contains(old), "{old}");
        let text = FILE.replacen(old, new, 1);
        let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
        assert_eq!(error.key, key, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn a_transport_that_ignores_weights_is_refused_for_a_change_in_mid_life_too() {
    let control = "[[control]]\nat = \"1ms\"\nflow = 0\npay = { w = 2 }\n[sweep]";
    let text = super::FILE.replace("[sweep]", control);
    let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
    assert!(error.what.contains("flows that share by weight"), "{error}");
}
