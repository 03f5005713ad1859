//! Schemes of tokens from file to scenario, and what is refused of them.

use std::path::Path;

use priolane_core::port::Among;
use priolane_core::transport::Transport;
use priolane_core::transport::tokens::priority::{Key, Priority};
use priolane_core::transport::tokens::{Config, Stop, UNSCHEDULED_CLASS};
use priolane_core::units::Span;
use priolane_lab::plan::{self, Options, Plan};
use priolane_lab::source::{InputError, from_json};
use priolane_sim::scenario::{Nic, Queues, Scenario};
use priolane_sim::topology::PathChoice;

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
    assert_eq!(port.queues, top.ports[1].queues, "hosts limit tokens as switches do");
    let expresspass = scenario(&with("expresspass", "").unwrap());
    assert_eq!(transport(&expresspass).priority, Priority::Single);
    assert_eq!((transport(&expresspass).stop, transport(&expresspass).token.mean()), (Stop::Sender, 88.0));
    let ideal = scenario(&with("ideal_tokens", "").unwrap());
    assert_eq!(transport(&ideal).priority, Priority::Exact(Key::Remaining));
    let Queues::Tokens(spec) = ideal.ports[1].queues else { panic!("{:?}", ideal.ports[1]) };
    assert_eq!((spec.among, spec.depth * u32::from(spec.classes)), (Among::Rank, 48));
}

#[test]
fn keys_reach_the_transport_and_a_merged_scheme_is_a_scheme_again() {
    let keys = "transport.expiry = \"end_host\"\ntransport.lifetime = \"45us\"\ntransport.unscheduled = 8\n\
                transport.priority = \"attained\"\ntransport.thresholds = [5, 50, 500, 5000, 50000]\n\
                transport.stop = \"token_need_cap\"\nport.expiry = 0\n";
    let plan = with("top", keys).unwrap();
    let own = scenario(&plan);
    let config = transport(&own);
    assert_eq!(config.priority, Priority::Attained(vec![5, 50, 500, 5_000, 50_000]));
    assert_eq!((config.expiry, config.stop, config.unscheduled), (Some(Span::from_us(45)), Stop::NeedCap, 8));
    let Queues::Tokens(spec) = own.ports[1].queues else { panic!("{:?}", own.ports[1]) };
    assert_eq!((spec.expiry, spec.unscheduled), (None, Some(UNSCHEDULED_CLASS)));
    for scheme in ["expresspass", "top", "ideal_tokens"] {
        let plan = with(scheme, "").unwrap();
        let first = &plan.runs[0].experiment.scheme[scheme];
        let table = from_json("merged", &serde_json::to_value(first).unwrap()).unwrap();
        let origin = priolane_lab::source::Origin { file: "merged".into(), line: None };
        assert_eq!(&priolane_lab::scheme::read(&table, "", &origin).unwrap(), first);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        ("transport.classes = 8\n", "port.classes", "8 classes, and ports tell 6 apart"),
        ("transport.classes = 14\n", "transport.classes", "14"),
        ("transport.p = 1\n", "transport.p", "not above 1"),
        ("transport.a = 0\n", "transport.a", "not above 0"),
        ("transport.thresholds = [5, 4, 6, 7, 8]\n", "transport.thresholds", "5 thresholds for 6"),
        ("transport.token_min = \"100B\"\n", "transport", "token_min is above token_max"),
        ("port.token = \"88B\"\n", "port.token", "88B on average, and they have 84B"),
        ("port.burst = 0\n", "port.burst", "0"),
        ("port.order = \"rank\"\n", "port.order", "need each other"),
        ("transport.expiry = \"end_host\"\n", "transport.lifetime", ""),
        (
            "transport.expiry = \"end_host\"\ntransport.lifetime = \"5us\"\n",
            "transport.lifetime",
            "half of an empty round trip",
        ),
        (
            "transport.stop = \"sender\"\ntransport.unscheduled = 4\n",
            "transport.unscheduled",
            "wait for one first",
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
            "receivers give tokens theirs",
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
    let sprayed = NETWORK.replace("spines = 2\n", "spines = 2\npaths = \"spray\"\n");
    let error = planned(&sprayed).unwrap_err();
    assert!(
        error.key.ends_with("transport.paths") && error.what.contains("the way of its tokens"),
        "{error}"
    );
    let spraying = planned(&format!("{sprayed}[scheme.top]\ntransport.paths = \"spray\"\n")).unwrap();
    assert_eq!(scenario(&spraying).topology.path_choice, PathChoice::Sprayed);
}
