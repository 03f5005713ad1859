//! Groups with transports of their own, from the file to the tables, on both engines.

use priolane_lab::execute::Settings;
use priolane_results::summary::Summary;
use priolane_testkit::one_switch;

use crate::bad_input::{expect, planned};
use crate::executed;

/// Two pairs of hosts at one switch that share no port.
const APART: &str = one_switch!(
    r#"title = "Two pairs that share no port"
schemes = ["mixed"]
time = { flows = 6 }
"#,
    8,
    r#"[metrics]
classes = { first = { group = "first" }, second = { group = "second" } }
[[group]]
name = "first"
hosts = "0-3"
app = "flows"
list = [
  { src = 0, dst = 2, size = "900kB", start = "0ns" },
  { src = 1, dst = 2, size = "1100kB", start = "3us" },
  { src = 0, dst = 2, size = "30kB", start = "700us" },
]
FIRST
[[group]]
name = "second"
hosts = "4-7"
app = "flows"
list = [
  { src = 4, dst = 6, size = "900kB", start = "0ns" },
  { src = 5, dst = 6, size = "1300kB", start = "5us" },
  { src = 5, dst = 6, size = "30kB", start = "600us" },
]
SECOND
[scheme.mixed]
host = { kind = "fifo" }
nic = { queue = "fifo", limit = "240pkt", per_flow_limit = "8pkt" }
port = { kind = "fifo", buffer = { shared = "60pkt" }, ecn = { per = "port", at = { "10Gbps" = "20pkt" } } }
transport = OWN
"#
);

fn verified() -> Settings {
    Settings { verify: true, ..Settings::default() }
}

/// Returns the summaries of `classes` in the one run of `text`, on which both engines agree.
fn summaries<const N: usize>(text: &str, classes: [&str; N]) -> [Summary; N] {
    let folder = tempfile::tempdir().unwrap();
    let records = executed::records(folder.path(), text, &verified());
    assert_eq!(records.len(), 1);
    classes.map(|class| records[0].summary[class])
}

/// Returns the mean rate of an endless flow of each class in bit/s, over the measured window.
fn rates(text: &str) -> [f64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let records = executed::records(folder.path(), text, &verified());
    let rates = records[0].rates.as_ref().unwrap();
    ["first", "second"].map(|class| rates.classes[class].mean.unwrap())
}

/// Transports that differ in what sender and receiver do: ACKs, marks, recovery, handshake, pace.
const TRANSPORTS: [&str; 5] = [
    "{ kind = \"dctcp\" }",
    "{ kind = \"cubic\", ack_every = 2, handshake = \"none\" }",
    "{ kind = \"dcqcn\", recovery = \"gbn\", dup_threshold = 1 }",
    "{ kind = \"swift\", init_window = \"4pkt\" }",
    "{ kind = \"newreno\", recovery = \"newreno\", min_rto = \"2ms\", initial_rto = \"3ms\" }",
];

#[test]
fn groups_that_share_no_port_run_as_they_do_under_a_scheme_with_their_transport() {
    let apart = |own: &str, first: &str, second: &str| {
        let key = |transport: &str| match transport {
            "" => String::new(),
            transport => format!("transport = {transport}"),
        };
        let text = APART.replace("OWN", own).replace("FIRST", &key(first)).replace("SECOND", &key(second));
        summaries(&text, ["first", "second"])
    };
    let alone = TRANSPORTS.map(|transport| apart(transport, "", ""));
    for (one, own) in TRANSPORTS.iter().enumerate() {
        for (other, transport) in TRANSPORTS.iter().enumerate() {
            let [first, second] = apart(own, "", transport);
            assert_eq!(first, alone[one][0], "{own} beside {transport}");
            assert_eq!(second, alone[other][1], "{transport} beside {own}");
        }
    }
    let distinct = alone.iter().map(|[first, _]| first.mean_fct_s.unwrap().to_bits());
    assert_eq!(distinct.collect::<std::collections::BTreeSet<_>>().len(), TRANSPORTS.len());
    // The scheme's own transport is used by no group here.
    let [first, second] = apart(TRANSPORTS[4], TRANSPORTS[1], TRANSPORTS[2]);
    assert_eq!((first, second), (alone[1][0], alone[2][1]));
}

/// Two endless flows into one port.
const SHARED: &str = r#"title = "Two transports in one port"
schemes = ["mixed"]
rates_every = "10ms"
time = { warmup = "40ms", measure = "160ms" }
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "10us" }
[metrics]
classes = { first = { group = "first" }, second = { group = "second" } }
[[group]]
name = "first"
hosts = "0,2"
app = "flows"
list = [ { src = 0, dst = 2, size = "endless", start = "0ns", class = 0 } ]
[[group]]
name = "second"
hosts = "1,2"
app = "flows"
list = [ { src = 1, dst = 2, size = "endless", start = "0ns", class = CLASS } ]
transport = SECOND
[scheme.mixed]
port = PORT
transport = FIRST
"#;

/// Returns the rates of two endless flows in bit/s, with these transports at a port.
fn shared(transports: [&str; 2], class: u8, port: &str) -> [f64; 2] {
    let text = SHARED.replace("FIRST", transports[0]).replace("SECOND", transports[1]);
    let text = text.replace("CLASS", &class.to_string()).replace("PORT", port);
    rates(&text)
}

const MARKING: &str = r#"{ kind = "fifo", buffer = { shared = "200pkt" }, ecn = { per = "port", at = { "10Gbps" = "65pkt" } } }"#;

#[test]
fn queues_with_weights_divide_the_link_between_transports() {
    for (weights, ratio) in [("[1, 1]", 1.0), ("[3, 1]", 3.0)] {
        let port = format!(
            r#"{{ kind = "wfq", queues = 2, weights = {weights}, buffer = {{ per_queue = "200pkt" }}, ecn = {{ per = "queue", at = {{ "10Gbps" = "65pkt" }} }} }}"#
        );
        let [dctcp, cubic] = shared(["{ kind = \"dctcp\" }", "{ kind = \"cubic\" }"], 1, &port);
        assert!((dctcp / cubic / ratio - 1.0).abs() < 0.05, "{weights}: {dctcp} and {cubic}");
    }
}

#[test]
fn dctcp_starves_beside_a_flow_that_fills_the_buffer() {
    // NewReno packets are not ECN-capable: they fill 200 packets, so that each packet of DCTCP is marked, alpha is 1 and
    // its window is at its floor of two packets or one more, of at least 100 packets (half of the buffer) and the path's 33.
    let [dctcp, reno] = shared(["{ kind = \"dctcp\" }", "{ kind = \"newreno\" }"], 0, MARKING);
    assert!(dctcp < reno * 4.0 / 100.0, "{dctcp} and {reno}");
    // Alone in the port each takes nearly all of it.
    assert!(reno > 0.9 * 10e9 * 1460.0 / 1538.0, "{reno}");
}

#[test]
fn cubic_and_newreno_divide_a_short_path_equally() {
    // In its region of slow growth CUBIC increases by 9/17 and decreases to 0.7 (RFC 9438 §4.3). With losses at the same
    // instants, mean windows are a (1 + b) / (2 (1 - b)): 1.5 for both.
    let port = r#"{ kind = "fifo", buffer = { shared = "100pkt" } }"#;
    let [cubic, reno] = shared(["{ kind = \"cubic\" }", "{ kind = \"newreno\" }"], 0, port);
    assert!((0.67..1.5).contains(&(cubic / reno)), "{cubic} and {reno}");
}

#[test]
fn hosts_take_turns_over_flows_and_not_over_transports() {
    // One host sends three flows of one transport and one of another, to four hosts: its own link is the bottleneck.
    let text = one_switch!(
        r#"title = "Four flows of one host"
schemes = ["mixed"]
rates_every = "5ms"
time = { warmup = "5ms", measure = "20ms" }
"#,
        5,
        r#"[metrics]
classes = { first = { group = "first" }, second = { group = "second" } }
[[group]]
name = "first"
hosts = "0-3"
app = "flows"
list = [ { src = 0, dst = 1, size = "endless", start = "0ns" }, { src = 0, dst = 2, size = "endless", start = "0ns" }, { src = 0, dst = 3, size = "endless", start = "0ns" } ]
[[group]]
name = "second"
hosts = "0,4"
app = "flows"
list = [ { src = 0, dst = 4, size = "endless", start = "0ns" } ]
transport = { kind = "cubic", max_window = "64kB" }
[scheme.mixed]
base = "dctcp"
host = { kind = "round_robin" }
nic = "pull"
transport = { kind = "dctcp", max_window = "64kB" }
"#
    );
    let [of_three, of_one] = rates(text);
    assert!((of_three / of_one - 1.0).abs() < 0.01, "{of_three} and {of_one}");
}

#[test]
fn a_group_with_the_transport_of_the_scheme_changes_no_run() {
    let text = SHARED.replace("CLASS", "0").replace("PORT", MARKING).replace("FIRST", "{ kind = \"dctcp\" }");
    let same = rates(&text.replace("SECOND", "{ kind = \"dctcp\" }"));
    let plain = rates(&text.replace("transport = SECOND\n", ""));
    assert_eq!(same, plain);
}

#[test]
fn the_base_of_a_transport_is_that_of_a_shipped_scheme() {
    let text =
        SHARED.replace("CLASS", "0").replace("PORT", MARKING).replace("FIRST", "{ kind = \"newreno\" }");
    let transport = |second: &str| {
        let plan = planned(&text.replace("SECOND", second)).unwrap();
        plan.runs[0].experiment.group("second").unwrap().flows.transport.clone().unwrap()
    };
    let based = transport("{ base = \"dcqcn\", min_rto = \"2ms\", initial_rto = \"2ms\" }");
    assert_eq!(
        based,
        transport(
            "{ kind = \"dcqcn\", handshake = \"none\", recovery = \"gbn\", dup_threshold = 1, min_rto = \"2ms\", \
             initial_rto = \"2ms\" }"
        )
    );
    let error = planned(&text.replace("SECOND", "{ base = \"dcqcm\" }")).unwrap_err();
    assert!(error.key == "group.second.transport.base" && error.fix.contains("dcqcn"), "{error}");
}

#[test]
fn classes_of_the_scheme_are_those_of_its_own_flows() {
    // Equal bytes halve those of the flows that the rule is for: flows of the other transport count in neither half.
    let by = |rule: &str| {
        APART
            .replace("OWN", &format!("{{ kind = \"dctcp\" }}\nassign = {rule}"))
            .replace("{ kind = \"fifo\", buffer", "{ kind = \"strict\", queues = 2, buffer")
            .replace("FIRST", "")
    };
    let beside =
        |rule: &str| summaries(&by(rule).replace("SECOND", "transport = { kind = \"cubic\" }"), ["first"]);
    let alone = |rule: &str| {
        let only = by(rule).replace("SECOND", "");
        let (head, rest) = only.split_once("[[group]]\nname = \"second\"").unwrap();
        let tail = rest.split_once("[scheme.mixed]").unwrap().1;
        let head = head.replace("flows = 6", "flows = 3").replace(", second = { group = \"second\" }", "");
        summaries(&format!("{head}[scheme.mixed]{tail}"), ["first"])
    };
    let (halves, larger) =
        ("{ kind = \"equal_bytes\", levels = 2 }", "{ kind = \"size\", thresholds = [\"1MB\"] }");
    for rule in [halves, larger] {
        assert_eq!(beside(rule), alone(rule), "{rule}");
    }
    // The flow of 1,100 kB is in class 1, behind that of 900 kB to the same host.
    assert_ne!(beside(larger), beside("{ kind = \"none\" }"));
}

#[test]
fn transports_that_cannot_share_a_network_are_refused_at_the_group() {
    let base = SHARED.replace("CLASS", "0").replace("PORT", MARKING);
    let line = base.lines().position(|line| line.starts_with("transport = SECOND")).unwrap() + 1;
    let refused = |first: &str, second: &str, what: &str| {
        let text = base.replace("FIRST", first).replace("SECOND", second);
        let error = expect(&text, line, "group.second.transport");
        assert!(error.what.contains(what), "{error}");
    };
    refused("{ kind = \"dctcp\" }", "{ kind = \"homa\" }", "cannot share a network");
    refused("{ kind = \"dctcp\" }", "{ kind = \"hpcc\" }", "cannot share a network");
    let host = "{ kind = \"dctcp\" }\nhost = { kind = \"srpt\" }\nnic = \"pull\"";
    refused(host, "{ kind = \"cubic\" }", "`srpt`");
    let admit = "{ kind = \"dctcp\" }\nadmit = { kind = \"aequitas\", levels = 2, targets = [\"15us\"], percentile = 99.9 }\n\
                 map = { class = [0, 0] }";
    refused(admit, "{ kind = \"cubic\" }", "admission by `aequitas`");
    let unmarked = base.replace(MARKING, "{ kind = \"fifo\", buffer = { shared = \"200pkt\" } }");
    let text = unmarked.replace("FIRST", "{ kind = \"newreno\" }").replace("SECOND", "{ kind = \"dctcp\" }");
    assert!(expect(&text, line, "group.second.transport").what.contains("mark"), "{text}");
    let text = base.replace("FIRST", "{ kind = \"dctcp\" }").replace("SECOND", "{ kind = \"cubik\" }");
    assert!(planned(&text).unwrap_err().to_string().contains("cubic"));
    // A class above the queues of the port.
    let port = "{ kind = \"strict\", queues = 2, buffer = { shared = \"200pkt\" } }";
    let text = SHARED.replace("PORT", port).replace("CLASS", "2").replace("SECOND", "{ kind = \"cubic\" }");
    assert!(
        planned(&text.replace("FIRST", "{ kind = \"newreno\" }")).unwrap_err().what.contains("3 classes")
    );
}
