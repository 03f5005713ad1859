//! Flow lists whose flows wait, queries, traffic that changes and links that fail: from the experiment file to rows.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_core::endpoint::FlowSpec;
use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, ResolvedRun};
use priolane_sim::outcome::StartTime;
use priolane_testkit::engines::agreed;

const FABRIC: &str = r#"title = "Reacting"
schemes = ["dctcp"]
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "10Gbps", delay = "1us" }
"#;

const TIME: &str = "time = { measure = \"20ms\" }\n";

const POISSON: &str = r#"[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "imc10"
load = { of = "host", counts = "payload", value = 0.3 }
"#;

const QUERY: &str = r#"[[group]]
name = "clients"
hosts = "0-1"
app = "query"
query = "2kB"
fan_out = 3
sizes = "imc10"
think = "5us"
pause = "100us"
concurrency = 2
"#;

fn built(text: &str) -> ResolvedRun {
    let plan = plan::from_text("x.toml", text, Path::new("."), &Options::default()).unwrap();
    plan::build(&plan.runs[0]).unwrap()
}

fn flows(text: &str) -> Vec<FlowSpec> {
    built(text).scenario.flows.iter().collect()
}

fn before(flows: &[FlowSpec], ms: u64) -> Vec<FlowSpec> {
    flows.iter().filter(|flow| flow.start.0 < ms * 1_000_000_000).copied().collect()
}

#[test]
fn a_change_of_load_moves_no_arrival_before_it_and_scales_those_after() {
    for app in ["poisson\"", "on_off\"\nburst_load = 0.6\nper = \"host\""] {
        let text = format!("{TIME}{FABRIC}{}", POISSON.replace("poisson\"", app));
        let plain = flows(&text);
        let set = |set: &str| flows(&format!("{text}[[event]]\nat = \"10ms\"\nset = {{ {set} }}\n"));
        let more = set("\"group.all.load.value\" = 0.6");
        assert_eq!(before(&plain, 10), before(&more, 10), "{app}");
        let after = |flows: &[FlowSpec]| (flows.len() - before(flows, 10).len()) as f64;
        // Twice the load is twice the flows.
        let ratio = after(&more) / after(&plain);
        assert!((1.8..2.2).contains(&ratio), "{app}: {ratio}");
        // The first flow after the change comes in half the time, exactly.
        let first = |flows: &[FlowSpec]| flows[before(flows, 10).len()].start.0 - 10_000_000_000;
        assert!(first(&plain).abs_diff(2 * first(&more)) <= 2, "{app}");
        // Larger flows at the same load: fewer of them, and sizes of another law.
        let larger = set("\"group.all.sizes\" = \"data_mining\"");
        assert_eq!(before(&plain, 10), before(&larger, 10), "{app}");
        assert!(after(&larger) < after(&plain) / 2.0, "{app}: {}", after(&larger));
        // A change to what is already so changes nothing.
        assert_eq!(set("\"group.all.load.value\" = 0.3"), plain, "{app}");
    }
}

#[test]
fn a_change_back_ends_a_change() {
    let text = format!("{TIME}{FABRIC}{POISSON}");
    let event = |ms: u64, load: f64| {
        format!("[[event]]\nat = \"{ms}ms\"\nset = {{ \"group.all.load.value\" = {load} }}\n")
    };
    let pulse = flows(&format!("{text}{}{}", event(5, 1.5), event(10, 0.3)));
    let count = |flows: &[FlowSpec], from, to| (before(flows, to).len() - before(flows, from).len()) as f64;
    let plain = flows(&text);
    let ratio = |from, to| count(&pulse, from, to) / count(&plain, from, to);
    assert_eq!(ratio(0, 5), 1.0);
    assert!((4.3..5.7).contains(&ratio(5, 10)), "{}", ratio(5, 10));
    assert!((0.85..1.15).contains(&ratio(10, 20)), "{}", ratio(10, 20));
}

#[test]
fn a_query_round_takes_its_parts_and_the_next_follows_after_the_pause() {
    let one = "sizes = { csv = \"imc10\", interpolation = \"linear\", max = \"1B\" }";
    let query = QUERY
        .replace("hosts = \"0-1\"", "hosts = \"0\"\nto = \"server\"")
        .replace("fan_out = 3", "fan_out = 1\nrequests = 2\npauses = \"fixed\"")
        .replace("sizes = \"imc10\"", one)
        .replace("concurrency = 2", "concurrency = 1");
    let server = "[[group]]\nname = \"server\"\nhosts = \"1\"\napp = \"long_lived\"\nsize = \"1B\"\nstart = \"9ms\"\npairs = [{ src = 5, dst = 6 }]\n";
    let text =
        format!("time = {{ measure = \"10ms\" }}\n{FABRIC}[host]\nsend_jitter = \"0ns\"\n{query}{server}");
    let built = built(&text);
    let outcome = agreed(&built.scenario);
    let began: Vec<StartTime> = outcome.flows.iter().map(|flow| flow.began).collect();
    let fct: Vec<u64> = outcome.flows.iter().map(|flow| flow.fct.unwrap().0).collect();
    // First the pause; the answer 5 us after the query is there; the next query 100 us after the answer.
    assert_eq!((built.scenario.flows.at(0).start.0, began[0]), (100_000_000, StartTime::AsPlanned));
    let at = |ps: u64| StartTime::At(priolane_core::units::Time(ps));
    let answer = 100_000_000 + fct[0] + 5_000_000;
    let again = answer + fct[1] + 100_000_000;
    assert_eq!(began[1..4], [at(answer), at(again), at(again + fct[2] + 5_000_000)]);
    // SYN and SYN/ACK of 84 B over two links of 1 us each, and the ACK before the data: 5 x 67 200 ps and 4 us. Then
    // 2000 B as 1538 B and 618 B, the second behind the first on both links; and 1 B as 84 B.
    let handshake = 5 * 67_200 + 4_000_000;
    let query = 1_230_400 + 1_000_000 + 1_230_400 + 494_400 + 1_000_000;
    assert_eq!([fct[0], fct[2]], [handshake + query; 2]);
    assert_eq!([fct[1], fct[3]], [handshake + 2 * 67_200 + 2_000_000; 2]);
}

#[test]
fn requests_are_paired_whatever_the_scheme_and_stop_at_the_end_of_the_window() {
    let text = format!("time = {{ measure = \"5ms\" }}\n{FABRIC}{QUERY}");
    let built = built(&text);
    let mut outcome = agreed(&built.scenario);
    let flows = &built.scenario.flows;
    // No flow comes before the bound that the list was made by, and no request after the window.
    let started = || outcome.flows.iter().zip(flows);
    let starts = started().filter_map(|(record, flow)| match record.began {
        StartTime::At(at) => Some((at, flow)),
        _ => None,
    });
    let starts: Vec<_> = starts.collect();
    assert!(starts.len() > 100 && starts.iter().all(|(at, flow)| *at >= flow.start), "{}", starts.len());
    let is_query = |flow: &FlowSpec| flow.src.0 < 2 && flow.size == Some(2_000);
    assert!(starts.iter().filter(|(_, flow)| is_query(flow)).all(|(at, _)| at.0 < 5_000_000_000));
    assert!(outcome.flows.iter().any(|record| record.began == StartTime::NotIssued));
    // What was issued was answered, and only that is left.
    let with_actual_starts = built.with_actual_starts(&mut outcome);
    assert_eq!(with_actual_starts.scenario.flows.len(), outcome.flows.len());
    assert!(outcome.flows.iter().all(|record| record.fct.is_some()));
    let queries = with_actual_starts.scenario.flows.iter().filter(|flow| is_query(flow)).count();
    assert!(queries * 2 >= outcome.flows.len() && queries % 3 == 0, "{queries} of {}", outcome.flows.len());
    let measured = with_actual_starts.measured.iter().filter(|&&measured| measured).count();
    let late = with_actual_starts.scenario.flows.iter().filter(|flow| flow.start.0 >= 5_000_000_000).count();
    assert_eq!(measured, with_actual_starts.scenario.flows.len() - late);
    assert!(with_actual_starts.load.offered_host.is_some_and(|load| load > 0.01));

    // Another scheme leaves every draw as it is: the lists are equal.
    let other = self::built(&text.replace("\"dctcp\"", "\"newreno\""));
    assert_eq!(other.scenario.flows, built.scenario.flows);
    assert_eq!(other.scenario.waits, built.scenario.waits);
}

#[test]
fn listed_flows_wait_and_rows_tell_when_they_started() {
    let folder = std::env::temp_dir().join(format!("priolane-reacting-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list = "start_ns,src,dst,bytes,after,delay_ns\n0,0,4,1460,,\n0,1,2,1460,0,2.5\n0,2,3,1460,0+1,\n900000,3,0,1460,2,\n";
    std::fs::write(folder.join("f.csv"), list).unwrap();
    let text = format!(
        "time = {{ warmup = \"10us\", measure = \"500us\" }}\n{FABRIC}[[group]]\nname = \"l\"\nhosts = \"*\"\napp = \"flows\"\nlist = \"f.csv\"\nafter_delay = \"3us\"\n"
    );
    let plan = plan::from_text("x.toml", &text, &folder, &Options::default()).unwrap();
    let built = plan::build(&plan.runs[0]).unwrap();
    let mut outcome = agreed(&built.scenario);
    let fct = |flow: usize| outcome.flows.at(flow).fct.unwrap().0;
    let second = fct(0) + 2_500;
    let third = second + fct(1) + 3_000_000;
    let at = |ps| StartTime::At(priolane_core::units::Time(ps));
    let began: Vec<StartTime> = outcome.flows.iter().map(|flow| flow.began).collect();
    assert_eq!(began, [StartTime::AsPlanned, at(second), at(third), at(900_000_000)]);
    let with_actual_starts = built.with_actual_starts(&mut outcome);
    assert_eq!(*with_actual_starts.measured, [false, true, true, false]);
    assert_eq!(with_actual_starts.scenario.flows.at(2).start.0, third);
    // Both flows of the window offer to the links of all hosts that send; before the run neither is counted.
    let payload = 2.0 * 1460.0 * 8.0 / (10e9 * 500e-6);
    assert_eq!(built.load.offered_host, Some(0.0));
    assert!((with_actual_starts.load.offered_host.unwrap() - payload / 4.0).abs() < 1e-12);

    // The whole way: two engines, files and records.
    let settings = Settings { verify: true, ..Settings::default() };
    let done = execute(&plan.runs[0], &folder.join("out"), &settings, &mut |_| ControlFlow::Continue(()));
    let record = done.unwrap().record().clone();
    assert_eq!((record.counters.flows, record.summary["all"].flows), (4, 2));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_failure_and_its_repair_go_the_whole_way_from_the_file_to_the_ledger() {
    let event =
        "[[event]]\nat = \"5ms\"\nfail = \"switch:spine1\"\nuntil = \"10ms\"\nreconvergence = \"500us\"\n";
    let built = built(&format!("{TIME}{FABRIC}{POISSON}{event}"));
    let outcome = agreed(&built.scenario);
    assert!(outcome.flows.iter().all(|flow| flow.fct.is_some()));
    let lost: u64 = outcome.ledger.lost.iter().map(|tally| tally.packets).sum();
    assert!(lost > 10, "{lost}");
    let plain = agreed(&self::built(&format!("{TIME}{FABRIC}{POISSON}")).scenario);
    assert_eq!(plain.ledger.lost.iter().map(|tally| tally.packets).sum::<u64>(), 0);
}

#[test]
fn a_merged_experiment_with_events_is_an_experiment_again() {
    let events = "[[event]]\nat = \"7ms\"\nset = { \"group.all.sizes\" = \"data_mining\", \"group.all.load.value\" = 0.5 }\n\
                  [[event]]\nat = \"5ms\"\nfail = \"link:leaf0-spine1\"\n";
    let plan = plan::from_text(
        "x.toml",
        &format!("{TIME}{FABRIC}{POISSON}{events}"),
        Path::new("."),
        &Options::default(),
    );
    let merged = plan.unwrap().experiment.to_json();
    assert_eq!(merged["event"][0]["fail"], "link:leaf0-spine1");
    assert_eq!(
        (&merged["event"][0]["reconvergence"], &merged["event"][0]["at"]),
        (&"1ms".into(), &"5ms".into())
    );
    assert_eq!(merged["event"][1]["set"]["group.all.load.value"], 0.5);
    assert_eq!(merged["event"][1]["set"]["group.all.sizes"]["csv"], "data_mining");
}
