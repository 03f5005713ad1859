//! pFabric, pHost, NDP and Homa from the file to the tables, on both engines; and what of them is refused.

use std::path::Path;

use priolane_core::transport::homa::Levels;
use priolane_core::transport::{Spec, Transport};
use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options, Plan};
use priolane_source::InputError;

use crate::executed;

const EXPERIMENT: &str = r#"title = "Two racks, sprayed"
schemes = ["pfabric", "phost", "ndp", "homa"]
time = { flows = 300 }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "20Gbps", delay = "1us" }
paths = "spray"
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "web_search", interpolation = "linear", max = "2MB" }
load = { of = "host", counts = "payload", value = 0.5 }
"#;

fn planned(text: &str) -> Result<Plan, InputError> {
    plan::from_text("rivals.toml", text, Path::new("."), &Options::default())
}

/// Returns the mistake in the experiment after `text`, at `key`.
fn refused(scheme: &str, text: &str, key: &str) -> String {
    let of_scheme = EXPERIMENT.replace(r#"["pfabric", "phost", "ndp", "homa"]"#, &format!("[\"{scheme}\"]"));
    let error = planned(&format!("{of_scheme}{text}")).unwrap_err();
    assert_eq!(error.key, key, "{error}");
    assert!(!error.fix.is_empty(), "{error}");
    error.what
}

#[test]
fn every_shipped_scheme_ends_all_flows_and_short_ones_go_first() {
    let text = format!("{EXPERIMENT}[metrics]\nclasses = {{ short = {{ below = \"20kB\" }} }}\n");
    let plan = planned(&text).unwrap();
    // That pFabric knows sizes is all there is to warn of, sprayed as packets are.
    assert!(
        plan.warnings.iter().all(|w| w.contains("srpt")) && plan.warnings.len() == 1,
        "{:?}",
        plan.warnings
    );
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    for record in executed::records_of(&plan, folder.path(), &settings) {
        let [all, short] = ["all", "short"].map(|class| &record.summary[class]);
        assert_eq!((all.flows, all.unfinished), (300, 0), "{}", record.scheme);
        let slowdowns = [short.mean_slowdown.unwrap(), all.mean_slowdown.unwrap()];
        assert!(slowdowns[0] >= 1.0 && slowdowns[1] < 8.0, "{}: {slowdowns:?}", record.scheme);
        if record.scheme != "ndp" {
            assert!(slowdowns[0] < 1.1 * slowdowns[1], "{}: {slowdowns:?}", record.scheme);
        }
    }
}

#[test]
fn merged_files_say_only_what_a_transport_has() {
    let plan = planned(EXPERIMENT).unwrap();
    for run in &plan.runs {
        let transport = &run.merged["scheme"][&run.scheme]["transport"];
        assert_eq!(transport["kind"], run.scheme.as_str());
        let on_window = run.scheme == "pfabric";
        assert_eq!(transport.get("min_rto").is_some(), on_window, "{transport}");
        assert_eq!(transport.get("init_window").is_some(), on_window, "{transport}");
        let host = &run.merged["scheme"][&run.scheme]["host"]["kind"];
        assert_eq!(host, if on_window { "srpt" } else { "own" });
    }
}

#[test]
fn cutoffs_of_homa_follow_the_sizes_or_are_stated() {
    let with = |keys: &str| {
        let text = format!(
            "{}[scheme.mine]\nbase = \"homa\"\ntransport = {{ kind = \"homa\", scheduled_classes = 5, {keys} }}\n",
            EXPERIMENT.replace(r#"["pfabric", "phost", "ndp", "homa"]"#, r#"["mine"]"#)
        );
        planned(&text)
    };
    let found = with("unscheduled_classes = 3, rtt_bytes = \"10kB\"").unwrap();
    let run = &found.runs[0];
    let Spec::Homa(keys) = &run.experiment.scheme["mine"].transport else { panic!("no Homa") };
    let cutoffs = keys.cutoffs.clone().unwrap();
    // Web search is 10 kB and more in nearly all flows: each sends 10 kB blind, so cut-offs are quantiles of sizes.
    assert!(cutoffs.len() == 2 && cutoffs[0] > 10_000 && cutoffs[0] < cutoffs[1], "{cutoffs:?}");
    let stated = with("unscheduled_classes = 3, cutoffs = [\"2kB\", \"15kB\"]").unwrap();
    let built = plan::build(&stated.runs[0]).unwrap();
    let Transport::Homa(config) = built.scenario.into_spec().transport else { panic!("no Homa") };
    assert_eq!(config.levels, Levels::new(&[2_000, 15_000], 5).unwrap());
    let wrong = [
        ("unscheduled_classes = 3, cutoffs = [\"15kB\", \"2kB\"]", "the cutoffs are not in increasing order"),
        ("unscheduled_classes = 3, cutoffs = [\"15kB\"]", "there are 1 cutoffs for 3 unscheduled classes"),
        ("unscheduled_classes = 3", "rtt_bytes is not set"),
        ("rtt_bytes = \"1GB\"", "1GB are more than 65535 packets"),
        ("unscheduled_classes = 15, cutoffs = [\"2kB\"]", "15 unscheduled and 5 scheduled classes"),
    ];
    for (keys, what) in wrong {
        let error = with(keys).unwrap_err();
        assert!(error.what.contains(what) && error.key.starts_with("scheme.mine.transport"), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused_in_one_message() {
    let scheme = |name: &str, line: &str| format!("[scheme.{name}]\n{line}\n");
    for own in ["phost", "ndp", "homa"] {
        let line = "host = { kind = \"srpt\" }";
        let host = refused(own, &scheme(own, line), &format!("scheme.{own}.host"));
        assert!(host.contains(&format!("`{own}` schedules the flows of a host itself")), "{host}");
    }
    for other in ["pfabric", "swift"] {
        let line = "host = { kind = \"own\" }";
        let host = refused(other, &scheme(other, line), &format!("scheme.{other}.host"));
        assert!(host.contains(&format!("`{other}` does not schedule the flows")), "{host}");
    }
    let fifo = "transport = { kind = \"ndp\" }\nport = { kind = \"fifo\", buffer = { shared = \"100pkt\" } }";
    let port = refused("mine", &scheme("mine", fifo), "scheme.mine.transport");
    assert!(port.contains("trim packets"), "{port}");
    let levels = refused("homa", &scheme("homa", "port = { queues = 4 }"), "scheme.homa.map");
    assert!(levels.contains("8 classes"), "{levels}");
    let nic = refused("ndp", &scheme("ndp", "nic = { queue = \"fifo\" }"), "scheme.ndp.host");
    assert!(nic.contains("asks the host's scheduler"), "{nic}");
    let window =
        refused("homa", "[scheme.homa.transport]\nmin_rto = \"1ms\"\n", "scheme.homa.transport.min_rto");
    assert!(window.contains("min_rto") || window.contains("key"), "{window}");
    let rto =
        refused("pfabric", "[scheme.pfabric.transport]\nmin_rto = \"1us\"\n", "scheme.pfabric.transport");
    assert!(rto.contains("fixed timeout"), "{rto}");
    let sizes = "assign = { kind = \"size\", thresholds = [\"10kB\"] }";
    let classes = refused("homa", &scheme("homa", sizes), "scheme.homa.transport");
    assert!(classes.contains("ignores classes"), "{classes}");
}

#[test]
fn the_rate_at_which_ndp_pulls_is_a_part_of_the_line() {
    let with = |rate: &str| {
        let keys = format!("[scheme.ndp]\ntransport = {{ pull_rate = {rate} }}\n");
        EXPERIMENT.replace(r#"["pfabric", "phost", "ndp", "homa"]"#, r#"["ndp"]"#) + &keys
    };
    let rate = |text: &str| -> Result<(u32, String), InputError> {
        let plan = plan::from_text("rivals.toml", text, Path::new("."), &Options::default())?;
        match plan::build(&plan.runs[0])?.scenario.into_spec().transport {
            Transport::Ndp(config) => Ok((config.pull_rate_ppm, plan.runs[0].id.clone())),
            other => panic!("{other:?}"),
        }
    };
    let (ppm, id) = rate(&with("0.99")).unwrap();
    let (whole, own_id) = rate(&with("1")).unwrap();
    assert_eq!((ppm, whole), (990_000, 1_000_000));
    assert_ne!(id, own_id);
    for bad in ["0", "1.01", "-0.5", "0.0000001", "\"99 %\""] {
        let error = rate(&with(bad)).unwrap_err();
        assert_eq!(error.key, "scheme.ndp.transport.pull_rate", "{error}");
        assert!(error.line.is_some() && !error.fix.is_empty(), "{error}");
    }
}

#[test]
fn ndp_pulls_by_the_classes_of_flows_if_asked_to() {
    let assign = "assign = { kind = \"size\", thresholds = [\"10kB\"] }";
    let ndp = EXPERIMENT.replace(r#"["pfabric", "phost", "ndp", "homa"]"#, "[\"ndp\"]");
    let text = format!("{ndp}[scheme.ndp]\n{assign}\ntransport = {{ pull = \"by_class\" }}\n");
    assert_eq!(planned(&text).unwrap().runs.len(), 1);
    let fair = refused("ndp", &format!("[scheme.ndp]\n{assign}\n"), "scheme.ndp.transport");
    assert!(fair.contains("ignores classes"), "{fair}");
}
