//! Port disciplines from the file to the outcome, on both engines; what does not fit is refused.

use priolane_core::ids::HostId;
use priolane_core::units::{Limit, Span, Time};
use priolane_lab::plan::{self, Options, Plan};
use priolane_sim::outcome::{Outcome, PacketCount};
use priolane_sim::scenario::{Awaited, Nic, Scenario, ScenarioSpec, Stop};
use priolane_source::InputError;
use priolane_testkit::engines::agreed;
use priolane_testkit::one_switch;

/// Three senders of classes 0, 1, 2 keep the line of one receiver busy for 2 ms.
const EXPERIMENT: &str = one_switch!(
    r#"title = "Three classes"
schemes = ["own.toml"]
time = { flows = 3, limit = "2ms" }
"#,
    4,
    r#"[[group]]
name = "all"
hosts = 4
app = "flows"
list = [
  { src = 0, dst = 3, size = "4MB", start = "0ns", class = 0 },
  { src = 1, dst = 3, size = "4MB", start = "0ns", class = 1 },
  { src = 2, dst = 3, size = "4MB", start = "0ns", class = 2 },
]
"#
);

fn planned(port: &str) -> Result<Plan, InputError> {
    let one_queue = !["queues", "pifo", "aifo"].iter().any(|word| port.contains(word));
    planned_with(port, if one_queue { "map = { class = [0, 0, 0] }\n" } else { "" })
}

fn planned_with(port: &str, map: &str) -> Result<Plan, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let scheme = format!("transport = {{ kind = \"newreno\" }}\nport = {{ {port} }}\n{map}");
    std::fs::write(folder.path().join("own.toml"), scheme).unwrap();
    plan::from_text("ports.toml", EXPERIMENT, folder.path(), &Options::default())
}

fn built(port: &str) -> Scenario {
    scenario_of(&planned(port).unwrap())
}

fn scenario_of(plan: &Plan) -> Scenario {
    plan::build(&plan.runs[0]).unwrap().scenario
}

/// Bytes of classes 0, 1, 2 that the port to the receiver served.
fn served(scenario: &Scenario, outcome: &Outcome) -> [u64; 3] {
    let port = scenario.topology.downlink(HostId(3));
    let of = |class| outcome.ports.iter().find(|p| p.link == port && p.class == class);
    [0, 1, 2].map(|class| of(class).map_or(0, |p| p.bytes))
}

fn refused(port: &str, what: &str, fix: &str) {
    let error = planned(port).unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("own.toml", Some(2)), "{error}");
    assert!(error.what.contains(what) && error.fix.contains(fix), "{error}");
}

#[test]
fn weighted_queues_share_a_line_by_weight() {
    let scenario = built("kind = \"wfq\", queues = 3, weights = [8, 4, 1], buffer = \"unbounded\"");
    let [a, b, c] = served(&scenario, &agreed(&scenario));
    // Of 2.5 MB in 2 ms the first few packets are shared otherwise, while windows open.
    let share = |bytes: u64| bytes as f64 / (a + b + c) as f64;
    assert!((share(a) - 8.0 / 13.0).abs() < 0.02, "{a} {b} {c}");
    assert!((share(b) - 4.0 / 13.0).abs() < 0.02 && (share(c) - 1.0 / 13.0).abs() < 0.02, "{a} {b} {c}");
    assert!(a + b + c > 2_300_000, "{a} {b} {c}");
}

#[test]
fn weights_that_make_no_shares_are_refused() {
    let wfq = |rest: &str| format!("kind = \"wfq\", {rest}, buffer = \"unbounded\"");
    refused(&wfq("queues = 3"), "missing", "weights = [8, 4, 1]");
    refused(&wfq("queues = 2, weights = [8, 4, 1]"), "3 weights for 2 queues", "one weight per queue");
    refused(&wfq("queues = 3, weights = [8, 0, 1]"), "0", "1");
    refused(&wfq("queues = 3, weights = [1048573, 1048571, 7]"), "least common multiple", "smaller");
    refused(&wfq("queues = 3, strict = 3, weights = [1]"), "3 of 3 queues are strict", "strict below 3");
    refused(
        &wfq("queues = 4, strict = 1, weights = [8, 4]"),
        "2 weights for 3 queues that are not strict",
        "queue 1 on",
    );
    refused(&wfq("queues = 3, strict = 16, weights = [1]"), "16", "0");
    let compat = "queues = 3, strict = 1, weights = [2, 1], clock = \"aequitas_compat\"";
    refused(&wfq(compat), "has no strict queues", "clock = \"virtual\"");
}

#[test]
fn a_strict_queue_takes_what_it_wants_and_weighted_ones_share_the_rest() {
    let scenario = built("kind = \"wfq\", queues = 3, strict = 1, weights = [3, 1], buffer = \"unbounded\"");
    let [first, ..] = served(&scenario, &agreed(&scenario));
    // Under strict priority alone the first class has as much.
    let strict = built("kind = \"strict\", queues = 3, buffer = \"unbounded\"");
    let [alone, ..] = served(&strict, &agreed(&strict));
    assert_eq!(first, alone);
    // A strict queue that nothing goes to leaves the others what they have without.
    let idle = "kind = \"wfq\", queues = 4, strict = 1, weights = [8, 4, 1], buffer = \"unbounded\"";
    let shifted = scenario_of(&planned_with(idle, "map = { class = [1, 2, 3] }\n").unwrap());
    let plain = built("kind = \"wfq\", queues = 3, weights = [8, 4, 1], buffer = \"unbounded\"");
    assert_eq!(served(&shifted, &agreed(&shifted)), served(&plain, &agreed(&plain)));
}

/// Three flows of classes 0, 1, 2 from one host, each to another.
fn from_one_host(nic: &str, port: &str) -> Result<Plan, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let scheme = format!(
        "transport = {{ kind = \"newreno\" }}\nport = {{ {port}, buffer = \"unbounded\" }}\nnic = {{ queue = \"{nic}\" }}\nhost = {{ kind = \"fifo\" }}\n"
    );
    std::fs::write(folder.path().join("own.toml"), scheme).unwrap();
    let text = EXPERIMENT.replace("src = 1, dst = 3", "src = 0, dst = 1");
    let text = text.replace("src = 2, dst = 3", "src = 0, dst = 2");
    plan::from_text("ports.toml", &text, folder.path(), &Options::default())
}

#[test]
fn a_transmit_queue_serves_classes_as_the_ports_do() {
    let sent = |nic, port| {
        let plan = from_one_host(nic, port).unwrap();
        let scenario = plan::build(&plan.runs[0]).unwrap().scenario;
        let outcome = agreed(&scenario);
        let line = scenario.topology.uplink(HostId(0));
        let of = |class| outcome.ports.iter().find(|p| p.link == line && p.class == class);
        let bytes = [0, 1, 2].map(|class| of(class).map_or(0.0, |p| p.bytes as f64));
        let all: f64 = bytes.iter().sum();
        // Of 2.5 MB in 2 ms.
        assert!(all > 2_300_000.0, "{nic}: {bytes:?}");
        bytes.map(|of_class| of_class / all)
    };
    let strict = "kind = \"strict\", queues = 3";
    let [first, ..] = sent("ports", strict);
    assert!(first > 0.95, "{first}");
    let [first, ..] = sent("fifo", strict);
    assert!(first < 0.6, "{first}");
    let [a, b, c] = sent("ports", "kind = \"wfq\", queues = 3, weights = [8, 4, 1]");
    let near = |share: f64, part: f64| (share - part / 13.0).abs() < 0.03;
    assert!(near(a, 8.0) && near(b, 4.0) && near(c, 1.0), "{a} {b} {c}");
    for (port, what) in [
        ("kind = \"tokens\"", "token limits"),
        ("kind = \"trimming\", overflow = \"return\"", "cannot return a header"),
    ] {
        let error = from_one_host("ports", port).unwrap_err();
        assert!(error.key.ends_with("nic.queue") && error.what.contains(what), "{error}");
    }
}

/// `EXPERIMENT` with three flows out of host 0, and a NIC that the scheme states.
fn behind(transport: &str, nic: &str) -> Result<Plan, InputError> {
    let folder = tempfile::tempdir().unwrap();
    let port = "port = { kind = \"strict\", queues = 3, buffer = { shared = \"240pkt\" } }";
    let map = if nic.contains("kind = \"fifo\"") { ", map = { class = [0, 0, 0] }" } else { "" };
    let scheme = format!(
        "transport = {{ kind = \"{transport}\" }}\n{port}\nhost = {{ kind = \"fifo\" }}\nnic = {{ port = {{ {nic} }}{map} }}\n"
    );
    std::fs::write(folder.path().join("own.toml"), scheme).unwrap();
    let text = EXPERIMENT.replace("src = 1, dst = 3", "src = 0, dst = 1");
    let text = text.replace("src = 2, dst = 3", "src = 0, dst = 2");
    plan::from_text("ports.toml", &text, folder.path(), &Options::default())
}

#[test]
fn any_kind_of_port_may_stand_at_the_host() {
    let shared = "buffer = { shared = \"30pkt\" }";
    for (kind, queues) in [
        ("kind = \"fifo\"", "Fifo"),
        ("kind = \"strict\", queues = 3", "Strict"),
        ("kind = \"wfq\", queues = 3, weights = [4, 2, 1]", "Wfq"),
        ("kind = \"ranked\"", "Ranked"),
        ("kind = \"pfabric\"", "PFabric"),
        ("kind = \"pifo\"", "PushOut"),
        ("kind = \"aifo\"", "Aifo"),
        ("kind = \"trimming\", headers = \"30pkt\"", "Trimming"),
    ] {
        let plan = behind("newreno", &format!("{kind}, {shared}")).unwrap();
        let scenario = plan::build(&plan.runs[0]).unwrap().scenario;
        let Nic::Queue { port, .. } = &scenario.nic else { panic!("{kind}") };
        assert!(format!("{:?}", port.discipline).starts_with(queues), "{kind}: {port:?}");
        assert_eq!(port.buffer.limit, Limit::Packets(30), "{kind}");
        // Both engines agree; ten packets of three flows at once find room, and the line is kept busy.
        let outcome = agreed(&scenario);
        let line = scenario.topology.uplink(HostId(0));
        let bytes: u64 = outcome.ports.iter().filter(|p| p.link == line).map(|p| p.bytes).sum();
        assert!(bytes > 1_500_000, "{kind}: {bytes}");
        // What `check` prints is a scheme file again.
        let merged = plan.runs[0].merged["scheme"]["own"]["nic"]["port"].clone();
        assert_eq!(merged["buffer"]["shared"], "30pkt", "{merged}");
    }
}

#[test]
fn what_only_a_switch_has_is_refused_at_the_host() {
    let shared = "buffer = { shared = \"30pkt\" }";
    for (nic, key, what) in [
        ("kind = \"tokens\", buffer = { shared = \"30pkt\" }", "nic.port.kind", "token limits"),
        (
            "kind = \"trimming\", overflow = \"return\", buffer = { shared = \"8pkt\" }",
            "nic.port.overflow",
            "cannot return a header",
        ),
        ("kind = \"fifo\", buffer = { dynamic = \"1MB\", alpha = 1 }", "nic.port.buffer", "one port"),
        ("kind = \"fifo\", buffer = { shared = \"100B\" }", "nic.port.buffer", "cannot hold one packet"),
        (
            "kind = \"strict\", queues = 2, buffer = { shared = \"30pkt\" }",
            "nic.port",
            "at hosts, packets carry 3",
        ),
        ("kind = \"pfabrik\", buffer = { shared = \"30pkt\" }", "nic.port.kind", "pfabrik"),
        ("kind = \"fifo\"", "nic.port.buffer", "missing"),
    ] {
        let error = behind("newreno", nic).unwrap_err();
        assert!(error.key.ends_with(key) && error.what.contains(what), "{nic}: {error}");
        assert!(error.line == Some(4), "{nic}: {error}");
    }
    let ranks = behind("expresspass", &format!("kind = \"pfabric\", {shared}")).unwrap_err();
    assert!(!ranks.fix.is_empty(), "{ranks}");
    let srpt = "transport = { kind = \"newreno\" }\nport = { kind = \"fifo\", buffer = \"unbounded\" }\n\
                host = { kind = \"srpt\" }\nnic = { port = { kind = \"fifo\", buffer = \"unbounded\" } }\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.toml"), srpt).unwrap();
    let error = plan::from_text("ports.toml", EXPERIMENT, folder.path(), &Options::default()).unwrap_err();
    assert!(error.what.contains("asks the host's scheduler"), "{error}");
}

#[test]
fn one_queue_tells_classes_apart_by_what_it_keeps() {
    // 2.5 MB in 2 ms, most of them of the best class.
    for port in [
        "kind = \"pifo\", buffer = { shared = \"60pkt\" }",
        "kind = \"aifo\", buffer = { shared = \"60pkt\" }",
    ] {
        let scenario = built(port);
        let outcome = agreed(&scenario);
        let [a, b, c] = served(&scenario, &outcome);
        assert!(a > b && b >= c && a > 2 * c && a + b + c > 2_300_000, "{port}: {a} {b} {c}");
    }
}

#[test]
fn ports_that_keep_by_rank_have_a_room_of_their_own() {
    refused(
        "kind = \"pifo\", buffer = { dynamic = \"300kB\", alpha = 1 }",
        "kind pifo has one queue with its own drop rule",
        "shared",
    );
    refused("kind = \"aifo\", buffer = { push_out = \"240pkt\" }", "pushes no packets out", "shared");
    refused("kind = \"aifo\", buffer = \"unbounded\"", "the occupancy of the buffer", "shared");
    refused("kind = \"aifo\", buffer = { shared = \"60pkt\" }, k = 1", "1", "0.999");
    refused("kind = \"aifo\", buffer = { shared = \"60pkt\" }, window = 0", "0", "1");
    refused("kind = \"pifo\", buffer = { shared = \"60pkt\" }, window = 9", "unknown key", "");
}

#[test]
fn a_shared_buffer_leaves_room_where_alpha_says() {
    // One queue of n = 1: alpha B / (1 + alpha) of 300 kB, and a packet on top: 150 kB with 1, 33.3 kB with 1/8.
    for (alpha, most) in [("1", 150_000), ("\"1/8\"", 33_333)] {
        let scenario =
            built(&format!("kind = \"fifo\", buffer = {{ dynamic = \"300kB\", alpha = {alpha} }}"));
        let sample_every = Some(Span::from_us(1));
        let scenario = ScenarioSpec { sample_every, ..scenario.into_spec() }.build().unwrap();
        let outcome = agreed(&scenario);
        let port = scenario.topology.downlink(HostId(3));
        let deepest =
            outcome.samples.ports.iter().filter(|s| s.link == port).map(|s| s.queued_bytes).max().unwrap();
        assert!((most - 3_076..=most + 1_538).contains(&deepest), "{alpha}: {deepest}");
        assert!(outcome.ledger.dropped.iter().map(|t| t.packets).sum::<u64>() > 0);
    }
}

#[test]
fn shared_buffers_that_make_no_sense_are_refused() {
    let with = |buffer: &str| format!("kind = \"fifo\", buffer = {{ {buffer} }}");
    refused(&with("dynamic = \"12MB\""), "missing", "alpha = 1");
    refused(&with("dynamic = \"12MB\", alpha = 0"), "not a valid alpha", "above 0");
    refused(&with("dynamic = \"12MB\", alpha = 0.1234567"), "not a valid alpha", "six decimals");
    refused(&with("dynamic = \"1000B\", alpha = 1"), "cannot hold one packet", "1538B");
    refused(&with("dynamic = \"12MB\", alpha = 1, shared = \"9pkt\""), "both shared and dynamic", "one of");
    refused(&with("dynamic = \"12MB\", alpha = 1, at = {}"), "unknown key", "one of");
}

#[test]
fn a_trimming_port_drops_nothing_and_every_flow_ends() {
    let mut spec = built("kind = \"trimming\", buffer = { shared = \"8pkt\" }").into_spec();
    spec.flows.edit_all(|flow| flow.size = Some(400_000));
    spec.stop = Stop::WhenDone {
        awaits: Awaited::Finite,
        grace: Span::from_ms(1),
        not_before: Time::ZERO,
        limit: Time(1_000_000_000_000),
    };
    let scenario = spec.build().unwrap();
    let outcome = agreed(&scenario);
    let sum = |tallies: &[PacketCount]| tallies.iter().map(|t| t.packets).sum::<u64>();
    assert!(sum(&outcome.ledger.trimmed) > 20 && sum(&outcome.ledger.dropped) == 0, "{:?}", outcome.ledger);
    assert!(outcome.flows.iter().all(|f| f.fct.is_some() && f.retransmits > 5), "{:?}", outcome.flows);
    let port = scenario.topology.downlink(HostId(3));
    let of_port: u64 = outcome.ports.iter().filter(|p| p.link == port).map(|p| p.trimmed).sum();
    assert_eq!(of_port, sum(&outcome.ledger.trimmed));
}

#[test]
fn a_header_queue_holds_a_header() {
    refused(
        "kind = \"trimming\", buffer = { shared = \"8pkt\" }, headers = \"80B\"",
        "cannot hold one header",
        "1pkt",
    );
}

#[test]
fn a_token_port_limits_data_to_what_tokens_leave() {
    // No token comes: of 2 ms x 10 Gbps = 2.5 MB data may take 1538/1622 in mode a and b, all of it without limit.
    for (mode, most) in [("a", 2_371_000), ("b", 2_371_000), ("unlimited_data_high", 2_500_000)] {
        let scenario =
            built(&format!("kind = \"tokens\", buffer = {{ shared = \"200pkt\" }}, mode = \"{mode}\""));
        let bytes = served(&scenario, &agreed(&scenario)).iter().sum::<u64>();
        assert!((most - 90_000..=most).contains(&bytes), "{mode}: {bytes}");
    }
}

#[test]
fn token_ports_that_make_no_sense_are_refused() {
    let with = |rest: &str| format!("kind = \"tokens\", buffer = \"unbounded\", {rest}");
    refused(&with("classes = 0"), "0", "from 1 to 16");
    refused(&with("mode = \"something\""), "something", "unlimited_data_low");
    refused(&with("token = \"0B\""), "0B is out of range", "from 1 to 9999");
    refused(&with("expiry = -1"), "-1", "0");
}

#[test]
fn a_lossless_class_is_paused_and_loses_nothing() {
    // 3 links of 10 Gbps, 1 us: (1538 + 84) + 2,500 + 3,076 + 1 B, and 1538 B for the random time of a host:
    // 8,737 B of headroom each, and the receiver's.
    let port = |pfc: &str| format!("kind = \"fifo\", buffer = {{ dynamic = \"108kB\", alpha = 1 }}{pfc}");
    let lossy = agreed(&built(&port("")));
    let scenario = built(&port(", pfc = { classes = [0, 1, 2], xoff = \"1/8\" }"));
    let lossless = agreed(&scenario);
    let drops = |outcome: &Outcome| outcome.ledger.dropped.iter().map(|t| t.packets).sum::<u64>();
    assert!(drops(&lossy) > 0 && drops(&lossless) == 0);
    for host in 0..3 {
        let uplink = scenario.topology.uplink(HostId(host));
        let paused =
            lossless.ports.iter().find(|p| p.link == uplink && p.class == host as u8).unwrap().paused;
        // Each of three sends a third of the time.
        assert!((Span::from_us(200)..Span::from_us(1_800)).contains(&paused), "{paused:?}");
    }
}

#[test]
fn lossless_classes_that_cannot_be_are_refused() {
    let with = |rest: &str| format!("kind = \"fifo\", {rest}");
    let memory = "buffer = { dynamic = \"104kB\", alpha = 1 }";
    // 3 classes x 4 links x 8,737 B.
    refused(
        &with(&format!("{memory}, pfc = {{ classes = [0, 1, 2], xoff = \"1/8\" }}")),
        "needs 104844 B",
        "headroom = \"free\"",
    );
    let free = format!("{memory}, pfc = {{ classes = [0, 1, 2], xoff = \"20kB\", headroom = \"free\" }}");
    assert!(planned(&with(&free)).is_ok());
    refused(
        &with("buffer = { shared = \"90pkt\" }, pfc = { classes = [0], xoff = \"1/8\" }"),
        "no memory is set",
        "dynamic",
    );
    refused(&with(&format!("{memory}, pfc = {{ classes = [8], xoff = \"1/8\" }}")), "8", "from 0 to 7");
    let beyond = format!("{memory}, pfc = {{ classes = [12], xoff = \"1/8\", headroom = \"free\" }}");
    assert!(planned(&with(&beyond)).is_ok());
    // 4 links of 30 kB at least.
    let least = format!("{memory}, pfc = {{ classes = [0], xoff = \"1/8\", headroom_least = \"30kB\" }}");
    refused(&with(&least), "needs 120000 B", "headroom = \"free\"");
    // 12 times what 10 Gbps carry in 2 us.
    let least = format!("{memory}, pfc = {{ classes = [0], xoff = \"1/8\", headroom_round_trips = 12 }}");
    refused(&with(&least), "needs 120000 B", "headroom = \"free\"");
    refused(&with(&format!("{memory}, pfc = {{ classes = [0] }}")), "missing", "xoff");
    refused(
        &format!("kind = \"ranked\", {memory}, pfc = {{ classes = [0], xoff = \"1/8\" }}"),
        "cannot pause a class",
        "strict",
    );
}

#[test]
fn a_nic_of_another_kind_takes_the_place_of_the_bases() {
    let nic = |base: &str, keys: &str| {
        let text = EXPERIMENT.replace("[\"own.toml\"]", "[\"mine\"]");
        let text = format!("{text}[scheme.mine]\nbase = \"{base}\"\n{keys}\n");
        let plan = plan::from_text("ports.toml", &text, std::path::Path::new("."), &Options::default())?;
        Ok::<_, InputError>(plan.runs[0].merged["scheme"]["mine"]["nic"].clone())
    };
    let host = "host = { kind = \"fifo\" }\nport = { ecn = { at = { \"10Gbps\" = \"65pkt\" } } }\n\
                map = { class = [0, 0, 0] }";
    let strict = "kind = \"strict\", queues = 3, buffer = { shared = \"60pkt\" }";
    // `limit` and `ecn` of the base are of the queue that it had.
    let port = nic("dctcp", &format!("{host}\nnic = {{ port = {{ {strict} }} }}")).unwrap();
    let port_keys: Vec<&String> = port.as_object().unwrap().keys().collect();
    assert_eq!(port_keys, ["port"], "{port}");
    let queue = nic("dctcp", &format!("{host}\nnic = {{ limit = \"70pkt\" }}")).unwrap();
    assert_eq!((&queue["queue"], &queue["limit"]), (&"fifo".into(), &"70pkt".into()), "{queue}");
    let both =
        nic("dctcp", &format!("{host}\nnic = {{ queue = \"fifo\", port = {{ {strict} }} }}")).unwrap_err();
    assert_eq!(both.key, "scheme.mine.nic.port", "{both}");
}
