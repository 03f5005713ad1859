//! Steady states of one link against closed forms: equal shares, shortest remaining time and least attained service.
//!
//! ```text
//! lambda flows per second, F the distribution of sizes in seconds of service, rho = lambda E[S]
//! equal shares (M/G/1-PS)     T(x) = x / (1 - rho), for every F
//! SRPT                        T(x) = lambda (m(x) + x^2 (1 - F(x))) / (2 (1 - r(x))^2) + Int_0^x dt / (1 - r(t)),
//!                             m(x) = Int_0^x t^2 dF,  r(x) = lambda Int_0^x t dF          (Schrage and Miller 1966)
//! least attained service      T(x) = lambda m(x) / (2 (1 - r(x))^2) + x / (1 - r(x)),
//!                             m(x) = E[min(S, x)^2],  r(x) = lambda E[min(S, x)]           (Kleinrock 1976, 4.6)
//! ```

use std::path::Path;

use crate::executed;
use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options};
use priolane_lab::verdict;
use priolane_results::record::RunRecord;
use priolane_rounds::rounds;

/// Sizes are uniform between these bytes: 20 to 220 packets.
const SIZES: [f64; 2] = [30_000.0, 330_000.0];

/// Bytes per second of the link.
const RATE: f64 = 125e6;

/// The experiment: a host sends to another over a link on which a flow's packets are its payload.
fn experiment(time: &str, load: f64, seeds: u64, claims: &str) -> String {
    format!(
        r#"title = "One link"
schemes = ["ps", "srpt", "las"]
seeds = {seeds}
time = {{ {time} }}
frame = {{ mtu = "1501B", header = "1B", link = "0B", minimum = "0B", gap = "0B", ack = "1B", syn = "1B" }}
host = {{ send_jitter = "0ns" }}
topology = {{ kind = "single_switch", hosts = 2, host_link = {{ rate = "1Gbps", delay = "1ns" }} }}
[scheme.las]
base = "srpt"
host = {{ kind = "las" }}
[[group]]
name = "all"
hosts = "0"
to = "sink"
app = "poisson"
sizes = {{ csv = "uniform.csv", interpolation = "linear" }}
load = {{ of = "host", counts = "payload", value = {load} }}
[[group]]
name = "sink"
hosts = "1"
app = "none"
[metrics.classes]
small = {{ to = "100kB" }}
middle = {{ above = "100kB", to = "250kB" }}
large = {{ above = "250kB" }}
{claims}"#
    )
}

/// The records of an experiment, by scheme.
fn records(text: &str, folder: &Path) -> impl Fn(&str) -> Vec<RunRecord> + use<> {
    std::fs::write(folder.join("uniform.csv"), "bytes,cdf\n30000,0\n330000,1\n").unwrap();
    let all = executed::records(folder, text, &Settings::default());
    move |scheme| all.iter().filter(|record| record.scheme == scheme).cloned().collect()
}

/// Mean over sizes from `low` to `high` of a function of the size in seconds of service.
fn mean([low, high]: [f64; 2], of: impl Fn(f64) -> f64) -> f64 {
    let steps = 400;
    let at = |step: i32| (low + (high - low) * (f64::from(step) + 0.5) / f64::from(steps)) / RATE;
    (0..steps).map(|step| of(at(step))).sum::<f64>() / f64::from(steps)
}

/// The mean time in the system of a flow with `x` seconds of service.
fn time_in_system(scheme: &str, load: f64, x: f64) -> f64 {
    let lambda = load / mean(SIZES, |s| s);
    match scheme {
        "ps" => x / (1.0 - load),
        "las" => {
            let rest = 1.0 - lambda * mean(SIZES, |s| s.min(x));
            lambda * mean(SIZES, |s| s.min(x) * s.min(x)) / (2.0 * rest * rest) + x / rest
        }
        _ => {
            let rest = |t: f64| 1.0 - lambda * mean(SIZES, |s| if s <= t { s } else { 0.0 });
            let served = mean(SIZES, |s| s.min(x) * s.min(x));
            let steps = 200;
            let alone = (0..steps).map(|n| 1.0 / rest(x * (f64::from(n) + 0.5) / f64::from(steps)));
            lambda * served / (2.0 * rest(x) * rest(x)) + x * alone.sum::<f64>() / f64::from(steps)
        }
    }
}

/// Mean and standard error over seeds.
fn over_seeds(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[test]
fn means_by_class_are_those_of_queueing_theory() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = rounds(4, 24);
    for load in [0.5, 0.8, 0.9] {
        // The warm-up of fair sharing is an eighth of that from an empty link; the others come down from it.
        let time = r#"start = "warm", warmup = "400ms", measure = "600ms", arrivals = "continue""#;
        let of_scheme = records(&experiment(time, load, seeds, ""), folder.path());
        for scheme in ["ps", "srpt", "las"] {
            let records = of_scheme(scheme);
            for (class, sizes) in [
                ("all", SIZES),
                ("small", [SIZES[0], 100_000.0]),
                ("middle", [100_000.0, 250_000.0]),
                ("large", [250_000.0, SIZES[1]]),
            ] {
                let expected = mean(sizes, |x| time_in_system(scheme, load, x));
                let value = |record: &RunRecord| record.steady[class].mean_fct_s.unwrap();
                let (found, error) = over_seeds(&records.iter().map(value).collect::<Vec<_>>());
                // A packet that is being sent is not interrupted: two packets at most.
                let packets = 2.0 * 1_500.0 / RATE;
                let off = (found - expected).abs();
                assert!(
                    off < 4.0 * error + 0.01 * expected + packets,
                    "{scheme} at {load}, {class}: {found:.3e} +- {error:.1e} in place of {expected:.3e}"
                );
            }
        }
    }
}

#[test]
fn a_warm_start_is_the_steady_state_of_equal_shares_from_the_first_flow_on() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = rounds(250, 2_000);
    // A fifth of the warm-up that an empty start takes: 1.8 E[S^2] / E[S] / C / (1 - rho)^2 = 80 ms.
    let of = |start: &str| {
        let time = format!(r#"start = "{start}", warmup = "1us", measure = "15ms", arrivals = "continue""#);
        let text = experiment(&time, 0.8, seeds, "")
            .replace(r#""ps", "srpt", "las""#, r#""ps""#)
            .replace("[scheme.las]\nbase = \"srpt\"\nhost = { kind = \"las\" }\n", "");
        let records = records(&text, folder.path())("ps");
        let (mut time, mut arrivals) = (0.0, 0.0);
        for record in &records {
            let all = record.steady["all"];
            time += all.mean_slowdown.unwrap() * all.arrivals as f64;
            arrivals += all.arrivals as f64;
        }
        time / arrivals
    };
    let (empty, warm) = (of("empty"), of("warm"));
    // The number of flows in the system has a standard deviation of 4.5.
    let error = 4.5 / (seeds as f64).sqrt();
    assert!((warm - 5.0).abs() < 4.0 * error, "{warm}");
    assert!(empty < 3.5, "{empty}");
}

const LONGER: &str = "[[claim]]\nsection = \"1\"\nsays = \"equal shares take longer\"\n\
                      order = [\"fct.all.ps\", \"fct.all.srpt\"]\n";

/// The report of a claim at a load, of four seeds.
fn judged(time: &str, load: f64) -> serde_json::Value {
    judged_text(&experiment(time, load, 4, LONGER))
}

fn judged_text(text: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    drop(records(text, folder.path()));
    let plan = plan::from_text("x.toml", text, folder.path(), &Options::default()).unwrap();
    let report = verdict::verdicts(&plan, folder.path());
    serde_json::to_value(&report.claims[0]).unwrap()
}

/// Returns the text of a claim about a steady state that is not reached.
fn without_steady_state(claim: &serde_json::Value) -> &str {
    let reason = &claim["points"][0]["undecided"];
    assert!(claim["verdict"] == "undecided" && reason["because"] == "steady_state", "{claim}");
    reason["says"].as_str().unwrap()
}

#[test]
fn a_claim_about_a_link_that_is_offered_more_than_it_carries_is_undecided_or_flagged() {
    let saturated = |claim: &serde_json::Value| {
        let flags = claim["flags"].as_array().unwrap();
        let own: Vec<String> = flags
            .iter()
            .filter(|flag| flag["kind"] == "saturated")
            .map(|flag| flag["says"].as_str().unwrap().to_owned())
            .collect();
        own
    };
    assert_eq!(saturated(&judged(r#"measure = "30ms""#, 0.9)), [""; 0]);
    // 1.2 of payload, 1,501 / 1,500 of which is on the wire.
    let over = saturated(&judged(r#"measure = "30ms""#, 1.2));
    assert!(
        over.len() == 1 && over[0].contains("the links of senders") && over[0].contains("1.201"),
        "{over:?}"
    );
    // Where a steady state is claimed, the claim is undecided for it and not flagged.
    let continued =
        judged(r#"warmup = "10ms", measure = "1200ms", arrivals = "continue", limit = "1300ms""#, 1.2);
    let says = without_steady_state(&continued);
    assert!(says.starts_with("no steady state at a load of 1.20 on the wire: lower the load"), "{says}");
    assert_eq!(saturated(&continued), [""; 0]);
}

#[test]
fn claims_are_decided_only_where_the_steady_state_is_reached() {
    let judged = |time: &str| judged(time, 0.9);
    let steady = judged(r#"start = "warm", warmup = "1s", measure = "3s", arrivals = "continue""#);
    assert_eq!(steady["verdict"], "reproduced", "{steady}");
    // Flows that start within 30 ms of an empty start wait for those that come behind them.
    let early = judged(r#"measure = "30ms", arrivals = "continue", limit = "3s""#);
    assert_ne!(without_steady_state(&early), "");
    // No steady state is claimed of flows from an empty network.
    let stopped = judged(r#"measure = "30ms""#);
    assert_ne!(stopped["points"][0]["undecided"]["because"], "steady_state", "{stopped}");
}

#[test]
fn classes_without_flows_do_not_hide_that_flows_accumulate() {
    let judged = |time: &str| {
        let text = experiment(time, 0.95, 60, LONGER);
        let classes = "small = { to = \"100kB\" }\nmiddle = { above = \"100kB\", to = \"250kB\" }\n\
                       large = { above = \"250kB\" }\n";
        assert!(text.contains(classes));
        judged_text(&text.replace(classes, "huge = { above = \"1MB\" }\n"))
    };
    // Flows that start within 60 ms of an empty start wait for those that come behind them.
    let early = judged(r#"measure = "60ms", arrivals = "continue", limit = "300ms""#);
    assert!(without_steady_state(&early).contains("class `all`"), "{early}");
    // The limit comes before they have completed.
    let cut = judged(r#"measure = "60ms", arrivals = "continue", limit = "61ms""#);
    let says = without_steady_state(&cut);
    assert!(says.contains("of the flows of class `all`") && says.contains("time.limit"), "{says}");
    // The end of the window cuts them off, while their number grows.
    let open = judged(r#"measure = "60ms", arrivals = "continue", drain = false"#);
    assert!(without_steady_state(&open).contains("class `all`"), "{open}");
}

/// The warnings of the experiment with this time, load and more lines, or its error.
fn check(time: &str, load: f64, more: &str) -> Result<Vec<String>, String> {
    checked(&experiment(time, load, 1, more))
}

fn checked(text: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("uniform.csv"), "bytes,cdf\n30000,0\n330000,1\n").unwrap();
    let points = plan::points_of("x.toml", text, folder.path(), &Options::default());
    points.map(|points| points.warnings).map_err(|error| error.to_string())
}

#[test]
fn a_start_that_cannot_be_warm_is_refused_at_its_key() {
    let warm = r#"start = "warm", warmup = "1s", measure = "1s""#;
    assert!(check(warm, 0.8, "").is_ok());
    let refused = |time: &str, load, more: &str| check(time, load, more).unwrap_err();
    let alone = refused(r#"start = "warm", measure = "1s""#, 0.8, "");
    assert!(
        alone.contains("x.toml:4") && alone.contains("time.start") && alone.contains("warmup = ..."),
        "{alone}"
    );
    let counted = refused(r#"start = "warm", flows = 10"#, 0.8, "");
    assert!(counted.contains("both a number of flows and a window are set"), "{counted}");
    let counted = refused(r#"arrivals = "continue", flows = 10"#, 0.8, "");
    assert!(counted.contains("both a number of flows and a window are set"), "{counted}");
    let over = refused(warm, 1.01, "");
    assert!(over.contains("group.all.load.value") && over.contains("no steady state"), "{over}");
    // Bursts have a steady state of their own, which is not known; an incast has none.
    let bursts = "[[group]]\nname = \"more\"\nhosts = \"0\"\nto = \"sink\"\napp = \"on_off\"\nsizes = \"imc10\"\n\
                  load = { of = \"host\", counts = \"payload\", value = 0.1 }\nburst_load = 0.2\nburst_flows = 2\n";
    let bursts = refused(warm, 0.5, bursts);
    assert!(bursts.contains("time.start") && bursts.contains("\"more\""), "{bursts}");
    let one = "[[group]]\nname = \"more\"\nhosts = \"0\"\nto = \"sink\"\napp = \"flows\"\n\
               list = [{ src = 0, dst = 1, size = \"1kB\" }]\n";
    assert!(check(warm, 0.5, one).is_ok());
    let late = experiment(warm, 0.5, 1, "")
        .replace("to = \"sink\"\n", "to = \"sink\"\nactive = { from = \"1ms\" }\n");
    let late = checked(&late).unwrap_err();
    assert!(late.contains("time.start") && late.contains("no group"), "{late}");
}

#[test]
fn what_a_steady_state_lacks_is_a_warning_with_its_numbers() {
    // E[S^2] / E[S] = 39.9e9 / 180e3 B = 221.7 kB: 1.773 ms on the link. At 0.8 * 1501 / 1500: 1.8 * 1.773 / 0.0398 =
    // 80.23 ms, an eighth 10.03 ms, rounded up. The largest flow takes 2.64 ms alone.
    let of = |time: &str| -> Vec<String> {
        let warnings = check(time, 0.8, "").unwrap();
        warnings.into_iter().filter(|warning| warning.starts_with("group all")).collect()
    };
    let short = of(r#"warmup = "70ms", measure = "10ms", arrivals = "continue""#);
    assert_eq!(
        short,
        [
            "group all: a steady state at the load of 0.801 on the wire wants a warm-up of about 80.3ms, or 10.1ms \
             with time.start = \"warm\"; time.warmup is 70ms",
            "group all: time.measure is 3.79 times the 2.64ms that the largest flow takes alone; means of the largest \
             flows want 4 times",
        ]
    );
    assert_eq!(of(r#"warmup = "81ms", measure = "11ms", arrivals = "continue""#), [""; 0]);
    assert_eq!(of(r#"start = "warm", warmup = "11ms", measure = "11ms", arrivals = "continue""#), [""; 0]);
    assert_eq!(of(r#"start = "warm", warmup = "9ms", measure = "11ms", arrivals = "continue""#).len(), 1);
    // No steady state is claimed.
    assert_eq!(of(r#"measure = "1ms""#), [""; 0]);
    let over = check(r#"measure = "1ms""#, 1.5, "").unwrap();
    assert!(
        over[0].contains("1.501 on the wire") && over[0].contains("the number of flows is part"),
        "{over:?}"
    );
}

/// The warnings about groups.
fn of_groups(text: &str) -> Vec<String> {
    checked(text).unwrap().into_iter().filter(|warning| warning.starts_with("group")).collect()
}

/// Eight senders to one receiver of the same rate, and groups beside them.
fn incast(load: f64, more: &str) -> String {
    let time = r#"warmup = "70ms", measure = "11ms", arrivals = "continue""#;
    experiment(time, load, 1, more)
        .replace("hosts = 2", "hosts = 9")
        .replace("hosts = \"0\"", "hosts = \"0-7\"")
        .replace("hosts = \"1\"", "hosts = \"8\"")
}

#[test]
fn loads_of_all_groups_on_a_link_add_up() {
    // 8 x 0.1 x 1501 / 1500 at the receiver is what 0.8 is on one link, as above. `warm` would draw by 0.1.
    let short = of_groups(&incast(0.1, ""));
    let says = "group all: a steady state at the load of 0.801 on the wire wants a warm-up of about 80.3ms, or 10.1ms \
                with time.start = \"warm_path\"; time.warmup is 70ms";
    assert_eq!(short, [says]);
    assert_eq!(of_groups(&incast(0.1, "").replace("70ms", "80.3ms")), [""; 0]);
    // Two groups of one sender, to receivers of their own.
    let two = |time: &str| {
        let second = "[[group]]\nname = \"more\"\nhosts = \"0\"\nto = \"other\"\napp = \"poisson\"\n\
                      sizes = { csv = \"uniform.csv\", interpolation = \"linear\" }\n\
                      load = { of = \"host\", counts = \"wire\", value = 0.55 }\n\
                      [[group]]\nname = \"other\"\nhosts = \"2\"\napp = \"none\"\n";
        let text = experiment(time, 0.55, 1, second).replace("counts = \"payload\"", "counts = \"wire\"");
        checked(&text.replace("hosts = 2", "hosts = 3"))
    };
    let over = two(r#"measure = "1ms""#).unwrap();
    assert!(over[0].starts_with("groups all, more: the load of host 0 is 1.100 on the wire"), "{over:?}");
    let warm = two(r#"start = "warm", warmup = "1ms", measure = "1ms""#).unwrap_err();
    assert!(warm.contains("x.toml:4") && warm.contains("time.start") && warm.contains("1.100"), "{warm}");
}

#[test]
fn flows_that_wait_at_both_ends_want_a_longer_warm_up() {
    // U = 1.773 ms / (1 - 0.8 * 1501 / 1500)^2 = 44.57 ms: five times, and one with the flows of the whole path.
    let both = |time: &str| {
        let text = experiment(time, 0.8, 1, "")
            .replace("hosts = 2", "hosts = 8")
            .replace("hosts = \"0\"", "hosts = \"*\"");
        of_groups(&text.replace("to = \"sink\"", "to = \"*\""))
    };
    let with = |start: &str, warmup: &str| {
        both(&format!(r#"start = "{start}", warmup = "{warmup}", measure = "11ms", arrivals = "continue""#))
    };
    let says = "group all: a steady state at the load of 0.801 on the wire wants a warm-up of about 223ms, or 44.6ms with \
                time.start = \"warm_path\"; time.warmup is 50ms";
    assert_eq!(with("empty", "50ms"), [says]);
    assert_eq!(with("warm", "50ms"), [says]);
    assert_eq!(with("warm_path", "50ms"), [""; 0]);
    assert!(!with("warm_path", "40ms")[0].contains("time.start"));
    // ACKs of what comes in are 1/1501 of what goes out.
    let full = checked(
        &experiment(r#"start = "warm_path", warmup = "1ms", measure = "1ms""#, 0.999, 1, "")
            .replace("to = \"sink\"", "to = \"*\"")
            .replace("hosts = \"0\"", "hosts = \"*\""),
    );
    let full = full.unwrap_err();
    assert!(full.contains("time.start") && full.contains("up to 0.98"), "{full}");
}

#[test]
fn a_warm_up_that_is_advised_is_enough_and_a_start_that_is_advised_is_accepted() {
    let wanted = |warnings: &[String]| -> Option<(String, Option<String>)> {
        let rest = warnings.first()?.split("wants a warm-up of about ").nth(1)?;
        let (empty, rest) = rest.split_once([',', ';'])?;
        let warm = rest.strip_prefix(" or ").and_then(|rest| rest.split_once(" with time.start"));
        Some((empty.to_owned(), warm.map(|(warm, _)| warm.to_owned())))
    };
    for load in [0.3, 0.55, 0.79, 0.93] {
        let with = |time: &str| {
            let time = format!("{time}, measure = \"11ms\", arrivals = \"continue\"");
            of_groups(&experiment(&time, load, 1, ""))
        };
        let (empty, warm) = wanted(&with(r#"warmup = "1us""#)).unwrap();
        assert_eq!(with(&format!("warmup = {empty:?}")), [""; 0], "{load}");
        let warm = format!("start = \"warm\", warmup = {:?}", warm.unwrap());
        assert_eq!(with(&warm), [""; 0], "{load}");
        // Who starts warm is not told to do so.
        let early = with(r#"start = "warm", warmup = "1us""#);
        assert!(!early[0].contains("time.start"), "{early:?}");
    }
    // Bursts have no flows of a steady state to start with.
    let bursts = experiment(r#"warmup = "1us", measure = "11ms", arrivals = "continue""#, 0.5, 1, "")
        .replace("app = \"poisson\"", "app = \"on_off\"\nburst_load = 0.9\nburst_flows = 2");
    let bursts = of_groups(&bursts);
    assert!(bursts[0].contains("wants a warm-up") && !bursts[0].contains("time.start"), "{bursts:?}");
}

#[test]
fn flows_that_are_aborted_claim_no_steady_state() {
    let abort = format!("[[control]]\nat = \"20ms\"\ngroup = \"all\"\nabort = true\n{LONGER}");
    let text = experiment(r#"measure = "30ms", arrivals = "continue", limit = "60ms""#, 0.5, 4, &abort);
    let judged = judged_text(&text);
    assert_ne!(judged["points"][0]["undecided"]["because"], "steady_state", "{judged}");
}
