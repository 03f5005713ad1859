//! Tests of payments of groups: reading, drawing, the merged file, and rejection of meaningless or ignored payments.

use priolane_core::endpoint::{Control, Weights};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::scenario::VmPricing;
use priolane_testkit::one_switch;
use serde_json::Value as Json;

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

[[control]]
at = "2ms"
group = "shared"
abort = true
"#;

const SHARED: Weights = Weights { theta: Rate::from_bps(5_000_000_000), w_milli: 2_000 };

#[test]
fn pairs_reach_flows_machines_and_controls() {
    let scenario = build(&planned(FILE, &Options::default()).runs[0]).unwrap().scenario;
    let machine = VmPricing { pair: SHARED, interval: Some(Span::from_us(100)) };
    assert_eq!(scenario.machines, [None, Some(machine)]);
    assert_eq!(scenario.controls[0].control, Control::Weights { theta: None, w_milli: 1_500 });
    let group = |place| scenario.flows.iter().filter(move |f| f.group == place).map(|f| f.id);
    let aborted = scenario.controls[1..].iter().map(|c| (c.at, c.flow, c.control));
    assert!(aborted.eq(group(1).map(|flow| (Time(2_000_000_000), flow, Control::Abort))));
    assert!(scenario.flows.iter().filter(|f| f.group == 1).all(|f| f.weights == SHARED));
    let own: Vec<Weights> = scenario.flows.iter().filter(|f| f.group == 0).map(|f| f.weights).collect();
    let part = |theta: u64, w_milli| {
        let pair = Weights { theta: Rate::from_bps(theta), w_milli };
        own.iter().filter(|&&weights| weights == pair).count() as f64 / own.len() as f64
    };
    // About 2000 flows: fractions within 0.04, four standard deviations of 0.01.
    let parts = [(part(0, 1_000), 0.6), (part(0, 2_000), 0.2), (part(2_500_000_000, 2_000), 0.2)];
    assert!(own.len() > 1_500 && parts.iter().all(|(got, asked)| (got - asked).abs() < 0.04), "{parts:?}");
    // The preset's buffers scale with the link rate.
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
    let unpaid = planned(super::EXPERIMENT, &Options::default()).experiment.to_json();
    assert!(["cos", "theta", "w", "mix", "plan"].iter().all(|key| unpaid["group"][0].get(key).is_none()));
}

/// Returns sizes, starts and pairs of the flows of the group `own`, in list order.
fn own_flows(text: &str) -> Vec<(u64, Time, Weights)> {
    let scenario = build(&planned(text, &Options::default()).runs[0]).unwrap().scenario;
    let own = scenario.flows.iter().filter(|flow| flow.group == 0);
    own.map(|flow| (flow.size.unwrap(), flow.start, flow.weights)).collect()
}

#[test]
fn pairs_by_size_give_flows_of_nearly_one_size_each_pair_by_its_share() {
    let by_size = FILE
        .replace("time = { flows = 4000 }", "time = { warmup = \"20ms\", measure = \"400ms\" }")
        .replace("w = 2 }]\napp", "w = 2 }]\nmix_draw = \"by_size\"\napp");
    let independent = by_size.replace("\"by_size\"", "\"independent\"");
    let (flows, others) = (own_flows(&by_size), own_flows(&independent));
    let list = |flows: &[(u64, Time, Weights)]| flows.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>();
    assert_eq!(list(&flows), list(&others), "the draw of pairs moves no size and no start");
    let counts = |block: &[(u64, Time, Weights)]| {
        let of = |theta, w| block.iter().filter(|f| (f.2.theta_bps(), f.2.w_milli) == (theta, w)).count();
        [of(0, 1_000), of(0, 2_000), of(2_500_000_000, 2_000)]
    };
    let blocks = |flows: &[(u64, Time, Weights)]| {
        let mut measured: Vec<_> = flows.iter().copied().filter(|f| f.1 >= Time(20_000_000_000)).collect();
        measured.sort_by_key(|f| std::cmp::Reverse(f.0));
        measured.chunks_exact(5).map(counts).collect::<Vec<_>>()
    };
    // Fractions of 0.6, 0.2 and 0.2 are 3, 1 and 1 of 5.
    assert!(blocks(&flows).len() > 50 && blocks(&flows).iter().all(|&counts| counts == [3, 1, 1]));
    assert!(blocks(&others).iter().any(|&counts| counts != [3, 1, 1]));
    // Which flow of a block has which pair is random: the largest flow of a block is best effort in 0.6 of the blocks.
    let mut sorted = flows.clone();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.0));
    let first = sorted.iter().step_by(5).filter(|f| f.2 == Weights::BEST_EFFORT).count() as f64;
    let part = first / sorted.len().div_ceil(5) as f64;
    assert!((0.4..0.8).contains(&part), "{part}");
}

#[test]
fn pairs_by_size_keep_shares_that_are_no_fifths_and_other_seeds_draw_others() {
    let mix = "mix_draw = \"by_size\"\nmix = [{ share = 0.33 }, { share = 0.67, cos = \"DS\", w = 2 }]\n";
    let start = FILE.find("mix = [").unwrap();
    let end = start + FILE[start..].find('\n').unwrap() + 1;
    let flows = own_flows(&format!("{}{mix}{}", &FILE[..start], &FILE[end..]));
    let be = flows.iter().filter(|f| f.2 == Weights::BEST_EFFORT).count() as f64 / flows.len() as f64;
    // Blocks of 100: only the last one, with fewer flows, can deviate.
    assert!((be - 0.33).abs() < 0.33 * 100.0 / flows.len() as f64, "{be}");
    let text = FILE.replace("w = 2 }]\napp", "w = 2 }]\nmix_draw = \"by_size\"\napp");
    let plan =
        planned(&text, &Options { seeds: Some(crate::experiment::Seeds::Count(2)), ..Options::default() });
    let pairs = |run: usize| {
        let scenario = build(&plan.runs[run]).unwrap().scenario;
        scenario.flows.iter().map(|flow| flow.weights).collect::<Vec<_>>()
    };
    assert_ne!(pairs(0), pairs(1));
    let merged = plan.experiment.to_json();
    assert_eq!(merged.pointer("/group/0/mix_draw").and_then(Json::as_str), Some("by_size"));
    assert_eq!(planned(&toml::to_string(&merged).unwrap(), &Options::default()).runs[0].id, plan.runs[0].id);
}

#[test]
fn offsets_rotate_pairs_over_the_same_flows() {
    let text = FILE.replace("w = 2 }]\napp", "w = 2 }]\nmix_draw = \"by_size\"\nmix_offset = 0.2\napp");
    let at = |offset| own_flows(&text.replace("mix_offset = 0.2", &format!("mix_offset = {offset}")));
    let turns = [0.0, 0.2, 0.4, 0.6, 0.8].map(at);
    let [ds, mrg] = [None, Rate::from_bps(2_500_000_000)].map(|theta| Weights { theta, w_milli: 2_000 });
    assert!(turns[0].len() > 1_500 && turns.iter().all(|turn| turn.len() == turns[0].len()));
    for flow in 0..turns[0].len() {
        let of_one = turns.iter().map(|turn| turn[flow]).collect::<Vec<_>>();
        assert!(of_one.iter().all(|&(size, start, _)| (size, start) == (of_one[0].0, of_one[0].1)));
        let of = |pair| of_one.iter().filter(|&&(.., weights)| weights == pair).count();
        assert_eq!([of(Weights::BEST_EFFORT), of(ds), of(mrg)], [3, 1, 1], "flow {flow}");
    }
    let merged = planned(&text, &Options::default()).experiment.to_json();
    assert_eq!(merged.pointer("/group/0/mix_offset").and_then(Json::as_f64), Some(0.2));
    let without = text.replace("mix_offset = 0.2", "mix_offset = 0");
    let none = FILE.replace("w = 2 }]\napp", "w = 2 }]\nmix_draw = \"by_size\"\napp");
    let id = |text: &str| planned(text, &Options::default()).runs[0].id.clone();
    assert!(id(&without) == id(&none) && id(&text) != id(&none));
}

#[test]
fn what_cannot_be_paid_for_is_refused() {
    let cases = [
        ("theta = \"5Gbps\"", "theta = \"50Gbps\"", "group.shared.theta", "above the link rate 10Gbps"),
        (
            "w = 2\nplan",
            "w = 2\nmix_draw = \"by_size\"\nplan",
            "group.shared.mix_draw",
            "no effect without a mix",
        ),
        (
            "w = 2\nplan",
            "w = 2\nmix_offset = 0.2\nplan",
            "group.shared.mix_offset",
            "no effect without a mix",
        ),
        ("}]\napp", "}]\nmix_offset = 1\napp", "group.own.mix_offset", "an offset of 1 is the same as 0"),
        ("}]\napp", "}]\nmix_offset = -0.2\napp", "group.own.mix_offset", "-0.2"),
        ("}]\napp", "}]\nmix_draw = \"sorted\"\napp", "group.own.mix_draw", "unknown value \"sorted\""),
        ("w = 2\nplan", "w = 0\nplan", "group.shared.w", "the weight 0 is out of range"),
        ("w = 2\nplan", "w = -1\nplan", "group.shared.w", "the weight -1 is out of range"),
        ("cos = \"DS\"", "cos = \"XS\"", "group.own.mix[1].cos", "unknown value \"XS\""),
        ("cos = \"DS\"", "cos = \"BE\"", "group.own.mix[1].cos", "BE has no theta"),
        ("share = 0.6", "share = 0.5", "group.own.mix", "the shares sum to 0.9"),
        ("plan = \"vbp\"", "plan = \"fbp\"", "group.shared.resplit", "do not split a pair"),
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
    let text = super::EXPERIMENT.replace("[sweep]", control);
    let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
    assert!(error.what.contains("flows that share by weight"), "{error}");
}

/// A fifth of the load pays for w = 2, in a group of its own.
const PRIVILEGE: &str = one_switch!(
    r#"
title = "Price and priority on one flow list"
schemes = ["paccp", "strict", "plain"]
time = { flows = 400 }
"#,
    4,
    r#"[[group]]
name = "payer"
hosts = "*"
w = 2
app = "poisson"
sizes = "imc10"
load = { of = "host", counts = "payload", value = 0.5, part = 0.2 }
[[group]]
name = "rest"
hosts = "*"
app = "poisson"
sizes = { like = "payer" }
load = { like = "payer", part = 0.8 }
[scheme.strict]
base = "dctcp"
assign = { kind = "paid_weight", weights = [2] }
port = { kind = "strict", queues = 2 }
[scheme.plain]
base = "dctcp"
pay = "ignored"
"#
);

#[test]
fn each_scheme_reads_what_one_flow_list_pays_for_in_its_own_way() {
    let plan = planned(PRIVILEGE, &Options::default());
    let flows = |scheme: &str| {
        let run = plan.runs.iter().find(|run| run.scheme == scheme).unwrap();
        let scenario = build(run).unwrap().scenario;
        scenario
            .flows
            .iter()
            .map(|flow| (flow.group, flow.start, flow.weights.w_milli, flow.class))
            .collect::<Vec<_>>()
    };
    let (shared, classes, plain) = (flows("paccp"), flows("strict"), flows("plain"));
    assert_eq!(shared, plain);
    assert!(
        shared.iter().all(|&(group, _, w, class)| (w, class) == (if group == 0 { 2_000 } else { 1_000 }, 0))
    );
    assert_eq!(classes.len(), shared.len());
    for (class, weight) in classes.iter().zip(&shared) {
        assert_eq!((class.0, class.1, class.2), (weight.0, weight.1, weight.2));
        assert_eq!(class.3, u8::from(class.0 == 1));
    }
    // The key is written only if it is set, so that the ids of other schemes do not change.
    let merged = |scheme: &str| {
        let run = plan.runs.iter().find(|run| run.scheme == scheme).unwrap();
        run.merged["scheme"][scheme].get("pay").cloned()
    };
    assert_eq!((merged("plain"), merged("paccp")), (Some(Json::from("ignored")), None));
    let again = planned(&toml::to_string(&plan.experiment.to_json()).unwrap(), &Options::default());
    assert!(again.runs.iter().map(|run| &run.id).eq(plan.runs.iter().map(|run| &run.id)));
}

#[test]
fn two_readings_of_what_is_paid_for_or_none_are_refused() {
    let control = "[[control]]\nat = \"1ms\"\nflow = 0\npay = { w = 3 }\n[scheme.strict]";
    let cases = [
        ("pay = \"ignored\"", "", "scheme.plain.transport", "`dctcp` ignores"),
        (
            "base = \"dctcp\"\nassign",
            "base = \"paccp\"\nassign",
            "scheme.strict.assign",
            "the transport `paccp` use what",
        ),
        ("base = \"dctcp\"\npay", "base = \"paccp\"\npay", "scheme.plain.pay", "transport `paccp` uses"),
        ("port = {", "pay = \"ignored\"\nport = {", "scheme.strict.pay", "assign `paid_weight` uses"),
        ("w = 2", "theta = \"1Gbps\"\nw = 2", "scheme.strict.assign", "groups pay for minimum rates"),
        ("w = 2", "w = 2\nplan = \"vbp\"", "scheme.strict.assign", "changes while it is active"),
        ("[scheme.strict]", control, "scheme.strict.assign", "changes while it is active"),
        ("w = 2", "w = 1", "scheme.strict.assign", "no group pays"),
        ("w = 2", "w = 2\nclass = 1", "scheme.strict.assign", "request classes up to 1"),
        ("weights = [2]", "weights = [2, 4]", "scheme.strict.assign.weights", "not in decreasing order"),
        ("weights = [2]", "weights = []", "scheme.strict.assign.weights", "the list is empty"),
        ("weights = [2]", "weights = [0]", "scheme.strict.assign.weights", ""),
        ("\"ignored\"", "\"often\"", "scheme.plain.pay", "unknown value \"often\""),
    ];
    for (old, new, key, what) in cases {
        assert!(PRIVILEGE.contains(old), "{old}");
        let text = PRIVILEGE.replacen(old, new, 1);
        let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
        assert!(error.key.starts_with(key), "{error}");
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn prices_are_read_with_the_papers_p1_and_kept_in_the_merged_file() {
    let text = FILE.replace("rates_every", "price = { p0 = 2, p2 = 0.5, charge = \"sent\" }\nrates_every");
    let plan = planned(&text, &Options::default());
    let price = plan.experiment.price.unwrap();
    assert_eq!(
        (price.p0, price.p1, price.p2, price.p0s, price.p1s, price.p2s),
        (2.0, 1.2, 0.5, 0.0, 1.2, 0.5)
    );
    // Prices are per gigabit: 5 Gbps for a second cost 2.5.
    assert!((price.machines().per_second(SHARED) - (2.0 + 1.2 + 2.5)).abs() < 1e-9);
    let again = planned(&toml::to_string(&plan.experiment.to_json()).unwrap(), &Options::default());
    assert_eq!(again.runs[0].id, plan.runs[0].id);
    let built = build(&plan.runs[0]).unwrap();
    let groups = built.pricing.unwrap().groups;
    assert_eq!(
        groups.iter().map(|g| (g.plan.name(), g.hosts.len())).collect::<Vec<_>>(),
        [("fbp", 4), ("vbp", 4)]
    );
}

#[test]
fn what_cannot_be_priced_is_refused() {
    let cases = [
        ("price = { p0 = -1 }", "price.p0", "the price -1"),
        ("price = { p0 = 1, p1 = -0.1 }", "price.p1", "the price -0.1"),
        ("price = { p0 = 1, p2s = -3 }", "price.p2s", "the price -3"),
        ("price = { charge = \"sent\" }", "price.p0", "the key is missing"),
        ("price = { p0 = 1, charge = \"none\" }", "price.charge", "unknown value \"none\""),
        ("price = { p0 = 1, P1 = 1 }", "price.P1", ""),
    ];
    for (price, key, what) in cases {
        let text = FILE.replace("rates_every", &format!("{price}\nrates_every"));
        let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
        assert_eq!(error.key, key, "{error}");
        assert!(error.what.contains(what) && error.line == Some(4), "{error}");
    }
    let unmetered = FILE.replace("rates_every = \"1ms\"", "price = { p0 = 1, charge = \"sent\" }");
    let error = from_text("test.toml", &unmetered, Path::new("."), &Options::default()).unwrap_err();
    assert!(error.key == "price.charge" && error.fix.contains("rates_every"), "{error}");
}

#[test]
fn groups_follow_each_other_and_loads_have_parts() {
    let text = FILE
        .replace("sizes = \"web_search\"\nload = { of = \"host\", counts = \"payload\", value = 0.3 }\n[[group]]", "sizes = \"web_search\"\nload = { of = \"host\", counts = \"payload\", value = 0.4, part = 0.5 }\n[[group]]")
        .replace("sizes = \"web_search\"\nload = { of = \"host\", counts = \"payload\", value = 0.3 }\n[[control]]", "sizes = { like = \"own\" }\nload = { like = \"own\", part = 0.25 }\n[[control]]");
    let load = |text: &str, sets: &[(&str, &str)]| {
        let sets = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let plan = planned(text, &Options { sets, ..Options::default() });
        plan.experiment
            .groups
            .iter()
            .map(|g| g.app.part().open_loop().unwrap().load.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(load(&text, &[]), [0.2, 0.1]);
    assert_eq!(load(&text, &[("group.own.load.value", "0.8")]), [0.4, 0.2]);
    let error = |text: &str| from_text("t", text, Path::new("."), &Options::default()).unwrap_err();
    assert!(
        error(&text.replace("load = { like = \"own\"", "load = { like = \"nobody\"")).key.contains("like")
    );
    assert!(error(&text.replace("part = 0.25", "part = 1.5")).key.contains("part"));
}

const OWN_SPLIT: &str = r#"
title = "A machine splits as it likes"
schemes = ["paccp"]
time = { measure = "1ms" }
topology = { kind = "dumbbell", left = 2, right = 2, host_link = { rate = "10Gbps", delay = "1us" }, bottleneck = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "0-1"
theta = "2Gbps"
w = 3
plan = "vbp"
split = [{ theta = "2Gbps", w = 1 }, { w = 2 }]
app = "long_lived"
pairs = [{ src = 0, dst = 2, count = 2 }, { src = 1, dst = 3 }]
size = "endless"
"#;

#[test]
fn a_machine_may_split_its_pair_as_it_likes_but_not_overdraw_it() {
    let scenario = build(&planned(OWN_SPLIT, &Options::default()).runs[0]).unwrap().scenario;
    let pairs: Vec<(u64, u32)> =
        scenario.flows.iter().map(|f| (f.weights.theta_bps() / 1_000_000_000, f.weights.w_milli)).collect();
    assert_eq!(pairs, [(2, 1_000), (0, 2_000), (2, 1_000)]);
    assert_eq!(scenario.machines, [None]);
    let cases = [
        ("{ w = 2 }]", "{ w = 2.5 }]", "weights sum to 3500 thousandths"),
        ("{ w = 2 }]", "{ w = 2, theta = \"1Mbps\" }]", "minimum rates sum to 2001000000 bit/s"),
        ("count = 2", "count = 3", "host 0 sends more flows"),
        ("plan = \"vbp\"", "plan = \"fbp\"", "do not split a pair"),
    ];
    for (old, new, what) in cases {
        let text = OWN_SPLIT.replacen(old, new, 1);
        let error = from_text("test.toml", &text, Path::new("."), &Options::default()).unwrap_err();
        let is_named = error.what.contains(what) || build_error(&text).is_some_and(|e| e.what.contains(what));
        assert!(error.key == "group.all.split" && is_named, "{error}");
    }
}

fn build_error(text: &str) -> Option<priolane_source::InputError> {
    let plan = from_text("test.toml", text, Path::new("."), &Options::default()).ok()?;
    build(&plan.runs[0]).err()
}
