//! Collectives as an application, against closed forms on an idle network, and what connections do to them.

use std::ops::ControlFlow;

use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options};
use priolane_results::jobs::JobRecord;
use priolane_source::InputError;

/// Seconds of a packet of 1460 B on a line of 10 Gbps, and of its ACK.
const PACKET: f64 = 1.230_4e-6;
const ACK: f64 = 67.2e-9;

/// A message of `packets` over two such lines of 1 us each, alone.
fn message(packets: f64) -> f64 {
    (packets + 1.0) * PACKET + 2e-6
}

fn text(ranks: u32, keys: &str, transport: &str) -> String {
    format!(
        r#"title = "A job"
schemes = ["plain"]
scheme = {{ plain = {{ base = "newreno", transport = {{ {transport} }} }} }}
host = {{ send_jitter = "0ns" }}
time = {{ measure = "1s", drain = true }}
topology = {{ kind = "single_switch", hosts = {ranks}, host_link = {{ rate = "10Gbps", delay = "1us" }} }}
[[group]]
name = "job"
hosts = "*"
app = "collective"
{keys}
"#
    )
}

/// The record of the job, by both engines.
fn job(ranks: u32, keys: &str, transport: &str) -> JobRecord {
    let folder = tempfile::tempdir().unwrap();
    let text = text(ranks, keys, transport);
    let plan = plan::from_text("x.toml", &text, folder.path(), &Options::default()).unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    let out = folder.path().join("out");
    let done = execute(&plan.runs[0], &out, &settings, &mut |_| ControlFlow::Continue(()));
    done.unwrap().record().jobs["all"].clone()
}

fn refused(ranks: u32, keys: &str, transport: &str) -> InputError {
    let text = text(ranks, keys, transport);
    plan::from_text("x.toml", &text, std::env::temp_dir().as_path(), &Options::default()).unwrap_err()
}

const AT_ONCE: &str = "handshake = \"none\", init_window = \"10000pkt\"";

fn is(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-11), "{found:?}, not {expected}");
}

#[test]
fn a_ring_all_reduce_takes_2_n_minus_1_steps_of_a_message_of_an_nth_part() {
    for n in [2_u32, 3, 4, 7] {
        let steps = f64::from(2 * (n - 1));
        let size = 1460 * u64::from(n);
        // A packet a step. From the second step on, the ACK of the packet that came is on the line first.
        let comm = steps * message(1.0) + (steps - 1.0) * ACK;
        let once = job(n, &format!("operation = \"all_reduce\"\nsize = \"{size}B\"\n"), AT_ONCE);
        is(once.time_s, comm);
        is(once.exposed_s, comm);
        // NCCL: bus bandwidth = algorithm bandwidth x 2 (n - 1) / n.
        let bus = size as f64 * 8.0 / comm * steps / f64::from(n);
        assert!((once.bus_bandwidth_bps.unwrap() / bus - 1.0).abs() < 1e-9);
        // Three iterations with computations: the ACK of the last message leaves while the rank computes.
        let keys =
            format!("operation = \"all_reduce\"\nsize = \"{size}B\"\niterations = 3\ncompute = \"50us\"\n");
        let thrice = job(n, &keys, AT_ONCE);
        is(thrice.time_s, 3.0 * (50e-6 + comm));
        is(thrice.exposed_s, 3.0 * comm);
        let iterations = thrice.iterations.unwrap();
        assert_eq!(iterations.count, 3);
        is(Some(iterations.mean_s), 50e-6 + comm);
        is(Some(iterations.p99_s), 50e-6 + comm);
        assert!(iterations.cv < 1e-9);
        is(thrice.straggle_s, 0.0);
        is(thrice.slowdown, (50e-6 + comm) / (50e-6 + steps * message(1.0)));
        is(thrice.computing, 50e-6 / (50e-6 + comm));
    }
}

#[test]
fn collectives_are_within_their_acks_of_latency_and_serialization() {
    // n = 8, 80 packets. Steps of latency, and the fewest and most packets that follow each other.
    let cases = [
        ("reduce_scatter", "ring", 7.0, [70.0, 70.0]),
        ("all_gather", "ring", 7.0, [70.0, 70.0]),
        ("all_reduce", "halving_doubling", 6.0, [140.0, 140.0]),
        ("reduce_scatter", "halving_doubling", 3.0, [70.0, 70.0]),
        ("all_gather", "halving_doubling", 3.0, [70.0, 70.0]),
        // Three messages of the vector up; down, one after the other or, at most, all that a rank sends at once.
        ("all_reduce", "tree", 6.0, [480.0, 720.0]),
        ("all_to_all", "ring", 1.0, [70.0, 70.0]),
    ];
    for (operation, algorithm, steps, [fewest, largest]) in cases {
        let algorithm_key =
            if operation == "all_to_all" { String::new() } else { format!("algorithm = \"{algorithm}\"\n") };
        let keys =
            format!("operation = \"{operation}\"\n{algorithm_key}size = \"116800B\"\ncompute = \"1us\"\n");
        let found = job(8, &keys, AT_ONCE);
        let latency = steps * (PACKET + 2e-6);
        let least = latency + fewest * PACKET;
        let time = found.exposed_s.unwrap();
        // An ACK of 84 B for each 1538 B shares the line: 5.5 %, and a packet may wait for one in each step.
        let most = latency + largest * (PACKET + ACK) + 2.0 * steps * (PACKET + ACK);
        assert!((least - 1e-11..most).contains(&time), "{operation} {algorithm}: {time} in {least}..{most}");
        // What NCCL's tests print: S / t times 2 (n - 1) / n or (n - 1) / n.
        let factor = if operation == "all_reduce" { 2.0 * 7.0 / 8.0 } else { 7.0 / 8.0 };
        let bus = 116_800.0 * 8.0 / time * factor;
        assert!((found.bus_bandwidth_bps.unwrap() / bus - 1.0).abs() < 1e-9, "{operation} {algorithm}");
    }
}

#[test]
fn connections_save_the_handshakes_and_first_windows_of_all_messages_but_the_first() {
    // A handshake is a round trip of control packets: 84 B each way over two lines of 1 us.
    let keys = "operation = \"all_reduce\"\nsize = \"5840B\"\n";
    let greeting = 4.0 * (1e-6 + ACK);
    let window = "handshake = \"1rtt\", init_window = \"10000pkt\"";
    let own = job(4, keys, window).time_s.unwrap();
    let shared = job(4, &format!("{keys}connections = \"per_pair\"\n"), window).time_s.unwrap();
    assert!((shared - (6.0 * message(1.0) + 5.0 * ACK + greeting)).abs() < 3.0 * ACK, "{shared}");
    assert!(own - shared > 4.9 * greeting, "{own} {shared}");
}

#[test]
fn what_a_collective_cannot_be_is_refused_at_its_key() {
    let of = |keys: &str, ranks: u32| refused(ranks, keys, AT_ONCE).to_string();
    let halving = "operation = \"all_reduce\"\nsize = \"1MB\"\nalgorithm = \"halving_doubling\"\n";
    let found = of(halving, 6);
    assert!(
        found.contains("group.job.algorithm: halving_doubling needs a power of two, not 6 ranks"),
        "{found}"
    );
    let tree = "operation = \"all_gather\"\nsize = \"1MB\"\nalgorithm = \"tree\"\n";
    assert!(of(tree, 4).contains("algorithm: a tree does all-reduces only"));
    let all = "operation = \"all_to_all\"\nsize = \"1MB\"\nalgorithm = \"tree\"\n";
    assert!(of(all, 4).contains("algorithm: an all-to-all sends all messages at once"));
    let many = "operation = \"all_to_all\"\nsize = \"1MB\"\niterations = 1000000\nstart = \"1us\"\n";
    let found = of(many, 200);
    assert!(found.contains("there would be more than 50 million flows"), "{found}");
}

#[test]
fn a_transport_without_connections_is_refused_with_those_that_have_them() {
    let keys = "operation = \"all_reduce\"\nsize = \"1MB\"\nconnections = \"per_pair\"\n";
    let with = |change: (&str, &str)| {
        let text = text(4, keys, AT_ONCE).replace(change.0, change.1);
        plan::from_text("x.toml", &text, std::env::temp_dir().as_path(), &Options::default())
    };
    for kind in ["pfabric", "paccp"] {
        let plain = (
            "base = \"newreno\", transport = { handshake = \"none\", init_window = \"10000pkt\" }",
            format!("base = \"{kind}\""),
        );
        let found = with((plain.0, &plain.1)).unwrap_err().to_string();
        let says =
            format!("flows of the group job share connections, but `{kind}` sends each flow by itself");
        assert!(found.contains(&says) && found.contains("newreno"), "{found}");
    }
    let rates = with(("host = {", "rates_every = \"1ms\"\nhost = {")).unwrap_err().to_string();
    assert!(rates.contains("whose senders do not report on active flows"), "{rates}");
    assert!(with(("", "")).is_ok());
}
