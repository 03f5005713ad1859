//! Schemes of tokens from file to scenario, and what is refused of them.

use std::path::Path;

use priolane_core::ids::HostId;
use priolane_core::port::{DisciplineSpec, TokenOrder, UnscheduledData};
use priolane_core::transport::Transport;
use priolane_core::transport::tokens::priority::{Exponential, Key, Priority};
use priolane_core::transport::tokens::{Config, RankedPackets, Stop, UNSCHEDULED_CLASS};
use priolane_core::units::{Limit, Span};
use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options, Plan};
use priolane_results::summary::PortSet;
use priolane_sim::scenario::{Nic, Scenario};
use priolane_sim::topology::{PathChoice, Spray};
use priolane_source::{InputError, from_json};

use crate::executed;

const NETWORK: &str = r#"title = "Tokens"
schemes = ["top"]
time = { measure = "1ms" }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "4us" }
fabric_link = { rate = "40Gbps", delay = "4us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "imc10"
load = { of = "host", counts = "wire", value = 0.5 }
"#;

fn planned(text: &str) -> Result<Plan, InputError> {
    plan::from_text("x.toml", text, Path::new("."), &Options::default())
}

fn with(scheme: &str, keys: &str) -> Result<Plan, InputError> {
    planned(&format!("{}[scheme.{scheme}]\n{keys}", NETWORK.replace("\"top\"", &format!("{scheme:?}"))))
}

fn scenario(plan: &Plan) -> Scenario {
    plan::build(&plan.runs[0]).unwrap().scenario
}

fn transport(scenario: &Scenario) -> &Config {
    match &scenario.transport {
        Transport::Tokens(config) => config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn shipped_schemes_are_what_they_say() {
    let top = scenario(&with("top", "").unwrap());
    // The largest flow of IMC10 has 2107 packets.
    assert_eq!(transport(&top).priority, Priority::Size(vec![4, 13, 46, 165, 589]));
    assert_eq!((transport(&top).stop, transport(&top).expiry), (Stop::Complete, None));
    assert_eq!(top.topology.path_choice, PathChoice::Symmetric);
    let Nic::Queue { port, .. } = &top.nic else { panic!("{:?}", top.nic) };
    assert_eq!(port.discipline, top.ports[1].discipline, "hosts limit tokens as switches do");
    let expresspass = scenario(&with("expresspass", "").unwrap());
    assert_eq!(transport(&expresspass).priority, Priority::Single);
    assert_eq!((transport(&expresspass).stop, transport(&expresspass).token.mean()), (Stop::Sender, 88.0));
    let ideal = scenario(&with("ideal_tokens", "").unwrap());
    assert_eq!(transport(&ideal).priority, Priority::Exact(Key::Remaining));
    let DisciplineSpec::Tokens(spec) = ideal.ports[1].discipline else { panic!("{:?}", ideal.ports[1]) };
    assert_eq!((spec.order, spec.depth * u32::from(spec.classes)), (TokenOrder::Rank, 48));
}

#[test]
fn keys_reach_the_transport_and_a_merged_scheme_is_a_scheme_again() {
    let keys = "transport.expiry = \"end_host\"\ntransport.lifetime = \"45us\"\ntransport.unscheduled_packets = 8\n\
                transport.priority = \"attained\"\ntransport.thresholds = [5, 50, 500, 5000, 50000]\n\
                transport.stop = \"token_need_cap\"\nport.expiry = 0\n";
    let plan = with("top", keys).unwrap();
    let own = scenario(&plan);
    let config = transport(&own);
    assert_eq!(config.priority, Priority::Attained(vec![5, 50, 500, 5_000, 50_000]));
    assert_eq!((config.expiry, config.stop, config.unscheduled), (Some(Span::from_us(45)), Stop::NeedCap, 8));
    let DisciplineSpec::Tokens(spec) = own.ports[1].discipline else { panic!("{:?}", own.ports[1]) };
    assert_eq!(spec.expiry, None);
    assert_eq!(spec.unscheduled, Some(UnscheduledData { class: UNSCHEDULED_CLASS, room: Some(1) }));
    for scheme in ["expresspass", "top", "ideal_tokens"] {
        let plan = with(scheme, "").unwrap();
        let first = &plan.runs[0].experiment.scheme[scheme];
        let table = from_json("merged", &serde_json::to_value(first).unwrap()).unwrap();
        let origin = priolane_source::Origin { file: "merged".into(), line: None };
        assert_eq!(&priolane_lab::scheme::read(&table, "", &origin).unwrap(), first);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        ("transport.classes = 8\n", "port.classes", "8 classes, but ports have 6"),
        ("transport.classes = 14\n", "transport.classes", "14"),
        ("transport.p = 1\n", "transport.p", "1 is out of range"),
        ("transport.a = 0\n", "transport.a", "0 is out of range"),
        ("transport.thresholds = [5, 4, 6, 7, 8]\n", "transport.thresholds", "5 thresholds do not fit 6"),
        ("transport.token_min = \"100B\"\n", "transport", "token_min is above token_max"),
        ("port.token = \"88B\"\n", "port.token", "88B on average, but tokens have 84B"),
        ("port.burst = 0\n", "port.burst", "0 is out of range"),
        ("port.data_queues = 2\n", "port.data_queues", "data has 1 ranks"),
        ("transport.ranks = \"data\"\n", "port.data_queues", "1 data queues, but data has 6"),
        ("transport.tail = \"light\"\ntransport.mean = 0\n", "transport.mean", "0 is out of range"),
        ("transport.mean = 30\n", "transport.mean", ""),
        ("transport.tail = \"light\"\ntransport.a = 2\n", "transport.a", ""),
        ("port.mode = \"ingress\"\n", "port.mode", "ingress"),
        ("port.detour = \"10us\"\n", "port.detour", "do not expire"),
        ("port.order = \"rank\"\n", "port.order", "and vice versa"),
        ("transport.expiry = \"end_host\"\n", "transport.lifetime", ""),
        (
            "transport.expiry = \"end_host\"\ntransport.lifetime = \"5us\"\n",
            "transport.lifetime",
            "half of the base RTT",
        ),
        (
            "transport.stop = \"sender\"\ntransport.unscheduled_packets = 4\n",
            "transport.unscheduled_packets",
            "waits for a first token",
        ),
        (
            "transport.priority = \"deadline\"\ntransport.deadline_min = \"1ms\"\ntransport.deadline_max = \"9ms\"\n",
            "transport.priority",
            "no flow has one",
        ),
        ("transport.min_window = 2\n", "transport.min_window", ""),
        ("nic = \"pull\"\nhost.kind = \"round_robin\"\n", "transport", "a NIC that limits tokens"),
        (
            "assign = { kind = \"size\", thresholds = [\"100kB\"] }\n",
            "assign",
            "receivers assign the classes of tokens",
        ),
    ];
    for (keys, key, what) in cases {
        let error = with("top", keys).unwrap_err();
        assert_eq!(error.key, format!("scheme.top.{key}"), "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    with("top", "transport.priority = \"asked\"\nassign = { kind = \"size\", thresholds = [\"100kB\"] }\n")
        .unwrap();
}

#[test]
fn data_that_cannot_take_the_way_of_its_tokens_is_refused() {
    let ways = [("spray", Spray::Random), ("round_robin", Spray::RoundRobin), ("drill", Spray::Drill)];
    for (paths, spray) in ways {
        let sprayed = NETWORK.replace("spines = 2\n", &format!("spines = 2\npaths = {paths:?}\n"));
        for scheme in ["top", "ideal_tokens", "expresspass"] {
            let error = planned(&sprayed.replace("\"top\"", &format!("{scheme:?}"))).unwrap_err();
            assert!(
                error.key.ends_with("transport.paths") && error.what.contains("the path of its tokens"),
                "{error}"
            );
        }
        let own = format!("[scheme.top]\ntransport.paths = {paths:?}\n");
        for network in [NETWORK, &sprayed] {
            let spraying = planned(&format!("{network}{own}")).unwrap();
            assert_eq!(scenario(&spraying).topology.path_choice, PathChoice::Sprayed(spray));
        }
        // Others go the network's ways.
        let dctcp = planned(&sprayed.replace("\"top\"", "\"dctcp\"")).unwrap();
        assert_eq!(scenario(&dctcp).topology.path_choice, PathChoice::Sprayed(spray));
    }
}

#[test]
fn a_light_tail_has_its_mean_and_its_largest_flow_from_the_sizes() {
    let plan = with("top", "transport.tail = \"light\"\n").unwrap();
    // IMC10: 133.8 packets of 1460 B in the mean, at most 2107. Sixths of an exponential of 132.8: 1 - 132.8 ln(1 - i/6).
    let own = scenario(&plan);
    let Priority::Size(at) = &transport(&own).priority else { panic!("by size") };
    let by_hand = [26, 55, 94, 147, 239];
    assert!(std::iter::zip(at, by_hand).all(|(&t, by_hand)| t.abs_diff(by_hand) <= 1), "{at:?}");
    let stated = with("top", "transport.tail = \"light\"\ntransport.mean = 50\ntransport.p = 100\n").unwrap();
    let rule = Exponential { classes: 6, p: 100.0, mean: 50.0 };
    assert_eq!(transport(&scenario(&stated)).priority, Priority::Size(rule.thresholds()));
}

#[test]
fn coflows_reach_exact_keys_by_their_bytes() {
    let keys = "transport.priority = \"exact_coflow\"\n";
    let text = NETWORK.replace("\"top\"", "\"ideal_tokens\"").replace(
        "app = \"poisson\"\nsizes = \"imc10\"\nload = { of = \"host\", counts = \"wire\", value = 0.5 }\n",
        "app = \"flows\"\nlist = \"list.csv\"\n",
    );
    let folder = tempfile::tempdir().unwrap();
    // Coflow 1 has 9000 bytes, coflow 2 has 8000, and a flow of none 500.
    let list = "start_ns,src,dst,bytes,coflow\n0,0,1,4000,1\n1,2,1,8000,2\n2,3,1,5000,1\n3,4,1,500,\n";
    std::fs::write(folder.path().join("list.csv"), list).unwrap();
    let at = |text: &str| plan::from_text("x.toml", text, folder.path(), &Options::default()).unwrap();
    let places =
        |plan: &Plan| -> Vec<u32> { scenario(plan).flows.iter().map(|flow| flow.coflow_place).collect() };
    let exact = at(&format!("{text}[scheme.ideal_tokens]\n{keys}"));
    assert_eq!(transport(&scenario(&exact)).priority, Priority::Exact(Key::Coflow));
    assert_eq!(places(&exact), [2, 1, 2, 0]);
    // Who does not rank by coflows is not told.
    assert_eq!(places(&at(&text)), [0; 4]);
}

#[test]
fn data_can_be_ranked_in_place_of_tokens() {
    let plan = with("top", "transport.ranks = \"data\"\nport.data_queues = 6\n").unwrap();
    let own = scenario(&plan);
    let DisciplineSpec::Tokens(spec) = own.ports[1].discipline else { panic!("{:?}", own.ports[1]) };
    assert_eq!((transport(&own).ranked, spec.data_queues), (RankedPackets::Data, 6));
}

#[test]
fn an_incast_of_a_thousand_loses_no_data_where_buffers_are_derived() {
    // 1000 SYNCs of 84 B meet at one port, twice what they take is left for signals; 10 packets of 1460 B each.
    let text = r#"title = "Incast"
schemes = ["expresspass", "top"]
time = { measure = "1ms", drain = true, limit = "5s" }
host_delay = "1us"
[topology]
kind = "single_switch"
hosts = 1001
host_link = { rate = "10Gbps", delay = "4us" }
[[group]]
name = "all"
hosts = "*"
app = "incast"
period = "1s"
fan_in = 1000
size = "14600B"
receiver = 0
[scheme.expresspass]
port.buffer = { zero_loss = "168kB" }
[scheme.top]
transport.p = 2107
port.buffer = { zero_loss = "168kB" }
"#;
    let plan = planned(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A run that lost data would fail here.
    let records = executed::records_of(&plan, folder.path(), &Settings::default());
    for (run, record) in plan.runs.iter().zip(&records) {
        let built = plan::build(run).unwrap();
        let bounds = built.zero_loss.unwrap();
        let to_host = built.scenario.topology.downlink(HostId(0)).index();
        assert_eq!(built.scenario.ports[to_host].buffer.limit, Limit::Bytes(bounds[to_host]));
        // With ten packets in 13 ms a flow may hear nothing for a millisecond and ask again: some come twice.
        let received = record.received;
        assert!(received.loss == Some(0.0) && received.packets >= 10_000, "{}: {received:?}", run.scheme);
        let edge = record.ports[&PortSet::Edge];
        assert_eq!(edge.queue_bound_bytes, bounds.iter().copied().max());
        assert!(edge.queue_of_bound.unwrap() > 0.0 && edge.queue_of_bound.unwrap() <= 1.0, "{edge:?}");
        let tokens = record.tokens.unwrap();
        assert!(tokens.is_conserved() && tokens.used == received.packets && tokens.dropped > 0, "{tokens:?}");
    }
}

#[test]
fn only_ports_of_tokens_have_a_derived_buffer() {
    let error = with("dctcp", "port.buffer = { zero_loss = \"9kB\" }\n").unwrap_err();
    assert_eq!(error.key, "scheme.dctcp.port.buffer", "{error}");
    assert!(error.what.contains("ports of kind tokens") && !error.fix.is_empty(), "{error}");
    let error = with("top", "port.buffer = { zero_loss = \"9pkt\" }\n").unwrap_err();
    assert_eq!(error.key, "scheme.top.port.buffer.zero_loss", "{error}");
}

#[test]
fn whole_runs_are_asked_of_all_flows_only() {
    let asked = |metric: &str| {
        let panel = format!(
            "[[panel]]\ntitle = \"Tokens\"\nkind = \"bar\"\nmetrics = [\"{metric}\"]\ny_label = \"Part\"\n"
        );
        planned(&format!("{NETWORK}{panel}"))
    };
    for metric in ["token_wasted", "token_wire_share", "data_wait", "throughput", "loss", "reordering"] {
        asked(&format!("{metric}.all")).unwrap();
        let error = asked(&format!("{metric}.short")).unwrap_err();
        assert!(error.what.contains("short") && !error.fix.is_empty(), "{error}");
    }
    asked("port_max_queue.core").unwrap();
}

/// A flow of `packets` full packets alone between two hosts of a switch: its completion time in seconds.
fn alone(packets: u64, keys: &str) -> f64 {
    let text = format!(
        r#"title = "Alone"
schemes = ["top"]
time = {{ flows = 1, limit = "1s" }}
[topology]
kind = "single_switch"
hosts = 2
host_link = {{ rate = "10Gbps", delay = "4us" }}
[host]
send_jitter = "0ns"
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = [{{ start = "0ns", src = 0, dst = 1, size = "{}B" }}]
[scheme.top]
transport.p = 2107
{keys}"#,
        packets * 1460
    );
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    executed::records(folder.path(), &text, &settings)[0].summary["all"].mean_fct_s.unwrap()
}

#[test]
fn all_unscheduled_packets_of_a_lone_flow_arrive_without_tokens() {
    let keys = "transport.unscheduled_packets = 8\ntransport.classes = 5\nport.classes = 5\n";
    for packets in [1, 2, 8] {
        // SYNC and packets one after the other on the line, the last stored and forwarded once: two links of 4 us.
        let line = 8e-6 + (84.0 + 1538.0 * (packets + 1) as f64) * 0.8e-9;
        let fct = alone(packets, keys);
        assert!((fct - line).abs() < 1e-9, "{packets}: {fct} {line}");
        assert!(alone(packets, "") > 2.0 * fct);
    }
    // Of nine packets none goes without a token.
    assert!((alone(9, keys) - alone(9, "")).abs() < 1e-7);
}

#[test]
fn tokens_of_the_remedy_are_late_by_their_detours() {
    let remedy = |detour: &str| {
        let keys = "transport.expiry = \"end_host\"\ntransport.lifetime = \"60us\"\nport.expiry = 0\n";
        alone(1, &format!("{keys}port.detour = \"{detour}\"\n"))
    };
    // One token, one switch.
    assert!((remedy("10us") - remedy("0us") - 10e-6).abs() < 1e-9);
}

#[test]
fn what_ranks_data_and_sends_it_unasked_loses_it_where_what_ranks_tokens_does_not() {
    // A hundred messages of ten packets, each within the first round trip of Homa, meet room for 250 packets.
    let text = r#"title = "Who is ranked"
schemes = ["top", "homa"]
time = { measure = "1ms", drain = true, limit = "5s" }
host_delay = "1us"
[topology]
kind = "single_switch"
hosts = 101
host_link = { rate = "10Gbps", delay = "4us" }
[[group]]
name = "all"
hosts = "*"
app = "incast"
period = "1s"
fan_in = 100
size = "14600B"
receiver = 0
[scheme.top]
transport.p = 2107
[scheme.homa]
port.buffer = { shared = "250pkt" }
"#;
    let folder = tempfile::tempdir().unwrap();
    let records = executed::records(folder.path(), text, &Settings::default());
    let lost: Vec<f64> = records.iter().map(|record| record.received.loss.unwrap()).collect();
    // 750 of 1000 packets find no room but for those that the line takes meanwhile: ten packet times.
    assert!(lost[0] == 0.0 && lost[1] > 0.25, "{lost:?}");
}

/// Four hosts send to four others, sprayed over four spines.
fn sprayed(paths: &str, reordering: u32) -> Plan {
    let flow = |i: u32| format!("{{ src = {i}, dst = {}, size = \"1MB\", start = \"0ns\" }}", i + 4);
    let flows: Vec<String> = (0..4).map(flow).collect();
    let network = NETWORK.replace("spines = 2", "spines = 4").replace("40Gbps", "10Gbps");
    let network = network.replace(
        "time = { measure = \"1ms\" }",
        "time = { measure = \"1ms\", drain = true, limit = \"1s\" }",
    );
    let (head, _) = network.split_once("app = ").unwrap();
    planned(&format!(
        "{head}app = \"flows\"\nlist = [{}]\n[scheme.top]\ntransport.p = 2107\ntransport.paths = {paths:?}\n\
         transport.reordering = {reordering}\n",
        flows.join(", ")
    ))
    .unwrap()
}

#[test]
fn sprayed_packets_are_sent_once_if_late_ones_do_not_count_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    for (paths, reordering) in [("spray", 3), ("spray", 500), ("round_robin", 500), ("drill", 500)] {
        let plan = sprayed(paths, reordering);
        let warned = plan.warnings.iter().any(|w| w.contains("transport.reordering = 3"));
        assert_eq!(warned, reordering == 3, "{paths} {reordering}: {:?}", plan.warnings);
        let received = executed::records_of(&plan, folder.path(), &Settings::default())[0].received;
        assert!(received.loss == Some(0.0), "{paths} {reordering}: {received:?}");
        let needed = 4 * 1_000_000_u64.div_ceil(1_460);
        assert_eq!(received.packets > needed, reordering == 3, "{paths} {reordering}: {received:?}");
    }
}

#[test]
fn packets_of_one_path_are_not_warned_of() {
    let plan = with("top", "transport.reordering = 3\n").unwrap();
    assert!(!plan.warnings.iter().any(|w| w.contains("reordering")), "{:?}", plan.warnings);
}
