//! Admission on transports whose classes are not queues: the class that a flow is given is that of its tokens, or of its
//! channel.

use std::path::Path;

use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options, Plan};
use priolane_results::record::RunRecord;
use priolane_source::InputError;
use priolane_testkit::one_switch;

use crate::executed;

const FILE: &str = one_switch!(
    r#"title = "Lanes"
schemes = ["lanes"]
time = { warmup = "0s", measure = "12ms" }
"#,
    5,
    r#"[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "facebook_hadoop", interpolation = "linear", scale_to_mean = "40kB" }
load = { of = "host", counts = "payload", value = 0.4 }
deadline = [{ share = 0.5, within = "60us" }, { share = 0.5, within = "20ms" }]
[scheme.lanes]
"#
);

const TOP: &str = r#"base = "top"
transport = { kind = "top", priority = "asked", classes = 3 }
port.classes = 3
"#;

const PRIOPLUS: &str = r#"base = "prioplus_swift"
transport.priorities = 3
transport.fluctuation = "24us"
transport.noise = "8us"
"#;

/// A policy whose targets no flow meets: all but a tenth of the flows end in the lowest class.
const OUT_OF_REACH: &str =
    "admit = { kind = \"aequitas\", levels = 3, targets = [\"1ns\", \"1ns\"], window = \"1s\", beta = 1 }\n";

fn planned(scheme: &str) -> Result<Plan, InputError> {
    plan::from_text("x.toml", &format!("{FILE}{scheme}"), Path::new("."), &Options::default())
}

fn run(scheme: &str) -> RunRecord {
    record(&format!("{FILE}{scheme}"))
}

fn record(text: &str) -> RunRecord {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    executed::records(folder.path(), text, &settings).remove(0)
}

/// Packets that carry each of the three classes.
fn packets(record: &RunRecord) -> [u64; 3] {
    [0, 1, 2]
        .map(|class| record.ledger.iter().filter(|row| row.class == class).map(|row| row.made.packets).sum())
}

#[test]
fn tokens_and_channels_are_those_of_the_class_given() {
    for transport in [TOP, PRIOPLUS] {
        // All ask for class 0.
        let [high, none, never] = packets(&run(transport));
        assert!(high > 1_000 && none == 0 && never == 0, "{transport}: {high} {none} {never}");
        let record = run(&format!("{transport}{OUT_OF_REACH}"));
        let [high, none, low] = packets(&record);
        assert!(none == 0 && low > 3 * high && high > 0, "{transport}: {high} {none} {low}");
        let transitions = record.admission.unwrap().transitions;
        assert_eq!(transitions.iter().map(|t| (t.asked, t.given)).collect::<Vec<_>>(), [(0, 0), (0, 2)]);
    }
}

#[test]
fn flows_under_way_take_the_tokens_or_the_channel_of_their_new_class() {
    let moving = "assign = { kind = \"random_fraction\", fractions = [0, 1, 0] }\n\
                  admit = { kind = \"firapam\", levels = 3, mi = \"20us\", remap = \"per_mi\", a = 1 }\n";
    for transport in [TOP, PRIOPLUS] {
        let record = run(&format!("{transport}{moving}"));
        assert!(record.admission.as_ref().unwrap().moves > 10, "{transport}");
        let [up, same, down] = packets(&record);
        assert!(up > 0 && same > 0 && down > 0, "{transport}: {up} {same} {down}");
    }
}

/// Every transport whose senders report on flows under way.
fn reporting() -> Vec<String> {
    let on_window = [
        "newreno",
        "cubic",
        "dctcp",
        "paccp",
        "paccp_dctcp",
        "d2tcp",
        "swift",
        "ledbat",
        "hpcc",
        "timely",
        "dcqcn",
    ];
    let by_queue = on_window.map(|kind| format!("base = \"firapam\"\ntransport = {{ kind = {kind:?} }}\n"));
    let ledbat = PRIOPLUS.replace("prioplus_swift", "prioplus_ledbat");
    let own = [TOP, PRIOPLUS, &ledbat, "base = \"pfabric\"\n"].map(str::to_owned);
    by_queue.into_iter().chain(own).collect()
}

#[test]
fn who_is_never_moved_runs_as_without_admission() {
    // With a step of 0, Firapam moves nobody. A report is a call of the host at an instant at which nothing else happens.
    // Hosts of TOP once discarded expired tokens at every call, so that reports shortened the recorded waits of tokens.
    let file = FILE.replace("12ms", "4ms");
    for transport in reporting() {
        let assign = "assign = { kind = \"deadline_rank\", fractions = [0.5, 0.3, 0.2] }\n";
        let scheme = format!("{file}{transport}{assign}");
        let without = record(&format!("{scheme}admit = {{ kind = \"none\" }}\n"));
        let still = |keys: &str| {
            let admit = format!("admit = {{ kind = \"firapam\", levels = 3, a = 0{keys} }}\n");
            let with = record(&format!("{scheme}{admit}"));
            assert_eq!(with.digest, without.digest, "{transport}{keys}");
            with.admission.unwrap().keys.median_updates
        };
        let (by_round_trip, by_flow) = (still(""), still(", mi = \"rpc\""));
        assert!(by_round_trip > by_flow, "{transport}: {by_round_trip:?} {by_flow:?}");
    }
}

#[test]
fn classes_that_no_token_or_channel_has_are_refused() {
    let refused = |scheme: &str, key: &str| {
        let error = planned(scheme).unwrap_err();
        assert_eq!(error.key, format!("scheme.lanes.{key}"), "{error}");
        assert!(error.line.is_some() && !error.fix.is_empty(), "{error}");
        error
    };
    let firapam = "admit = { kind = \"firapam\", levels = 3 }\n";
    let by_size = refused(&format!("base = \"top\"\ntransport.p = 100\n{firapam}"), "admit");
    assert!(by_size.fix.contains("asked"), "{by_size}");
    refused(&format!("base = \"expresspass\"\n{firapam}"), "admit");
    let few = refused(&format!("{}{firapam}", TOP.replace("= 3", "= 2")), "transport.classes");
    assert!(few.what.contains("3 classes"), "{few}");
    let few = refused(&format!("{}{firapam}", PRIOPLUS.replace("= 3", "= 2")), "transport.priorities");
    assert!(few.fix.contains("priorities = 3"), "{few}");
}
