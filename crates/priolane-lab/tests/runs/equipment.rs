//! `[switch]` and `[host]`: what every scheme of an experiment takes, and what stays its own.

use std::path::Path;

use priolane_lab::plan::{self, Options, Plan};
use priolane_source::InputError;
use serde_json::{Value as Json, json};

use crate::bad_input::GOOD;
use crate::merged::assert_runs_read_back;

fn planned(schemes: &str, tables: &str, sets: &[(&str, &str)]) -> Result<Plan, InputError> {
    let listed = GOOD.lines().find(|line| line.starts_with("schemes")).unwrap();
    let text = GOOD.replace(listed, &format!("schemes = [{schemes}]")) + tables;
    let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let options = Options { sets, ..Options::default() };
    plan::from_text("f.toml", &text, Path::new("."), &options)
}

/// A value of the merged file: `dctcp/port/buffer`.
fn merged(plan: &Plan, pointer: &str) -> Json {
    let scheme = pointer.split('/').next().unwrap();
    plan.experiment.merged(scheme).pointer(&format!("/scheme/{pointer}")).cloned().unwrap_or_default()
}

const TABLES: &str = r#"
[switch]
buffer = { shared = "123pkt" }
ecn = { per = "port", at = { "10Gbps" = "30pkt", "40Gbps" = "90pkt" } }

[host]
min_rto = "3ms"
handshake = "none"
nic = { limit = "50pkt", ecn = { per = "port", at = { "10Gbps" = "7pkt" } } }
"#;

/// DCTCP's thresholds with [`TABLES`]: at rates that the experiment does not state they are the preset's.
fn marks() -> Json {
    json!({ "1Gbps": "20pkt", "10Gbps": "30pkt", "40Gbps": "90pkt", "100Gbps": "650pkt" })
}

#[test]
fn every_scheme_takes_the_switch_and_the_host() {
    let plan = planned("\"dctcp\", \"newreno\", \"paccp\"", TABLES, &[]).unwrap();
    for scheme in ["dctcp", "newreno", "paccp"] {
        assert_eq!(
            merged(&plan, &format!("{scheme}/port/buffer")),
            json!({ "shared": "123pkt" }),
            "{scheme}"
        );
        assert_eq!(merged(&plan, &format!("{scheme}/transport/min_rto")), "3ms", "{scheme}");
        assert_eq!(merged(&plan, &format!("{scheme}/transport/initial_rto")), "10ms", "{scheme}");
        assert_eq!(merged(&plan, &format!("{scheme}/transport/handshake")), "none", "{scheme}");
    }
    assert_eq!(merged(&plan, "dctcp/port/ecn/at"), marks());
    assert_eq!(merged(&plan, "dctcp/nic/ecn/at"), json!({ "10Gbps": "7pkt" }));
    assert_eq!(merged(&plan, "paccp/nic/limit"), "50pkt");
    assert_eq!(merged(&plan, "newreno/port/ecn"), Json::Null, "NewReno does not read marks");
    assert_eq!(merged(&plan, "paccp/nic/ecn"), false, "nor does PACCP");
}

/// Rates of the preset that the experiment does not state stay, so that the merged file, laid over the preset again, is itself.
#[test]
fn an_experiment_that_states_fewer_rates_than_its_preset_reads_back() {
    let tables = "[switch]\nbuffer = { shared = \"99pkt\" }\necn = { per = \"port\", at = { \"10Gbps\" = \"33pkt\", \"40Gbps\" = \"90pkt\" } }\n";
    let plan = planned("\"dctcp\", \"swift\", \"aequitas\", \"paccp\"", tables, &[]).unwrap();
    let preset = planned("\"dctcp\"", "", &[]).unwrap();
    let rates = |plan: &Plan| merged(plan, "dctcp/port/ecn/at").as_object().unwrap().len();
    assert!(rates(&preset) > 2, "the preset must state more rates");
    assert_eq!(rates(&plan), rates(&preset));
    assert_eq!(merged(&plan, "dctcp/port/ecn/at/10Gbps"), "33pkt");
    assert_runs_read_back(&plan, Path::new("."));
}

#[test]
fn thresholds_of_rates_that_none_states_are_in_proportion_and_said_so() {
    let text = GOOD.replacen("\"10Gbps\"", "\"25Gbps\"", 1);
    assert!(text.contains("rate = \"25Gbps\""), "{text}");
    let plan = plan::from_text("f.toml", &text, Path::new("."), &Options::default()).unwrap();
    // 65 packets at 10 Gbit/s are 162.5 at 25.
    assert_eq!(merged(&plan, "dctcp/port/ecn/at/25Gbps"), "163pkt");
    let expected =
        "dctcp: switch ports mark above 163pkt at 25Gbps, in proportion to the threshold at 10Gbps";
    assert!(plan.warnings.iter().any(|warning| warning == expected), "{:?}", plan.warnings);
    assert_runs_read_back(&plan, Path::new("."));
}

#[test]
fn thresholds_are_in_proportion_to_the_next_slower_rate_in_whatever_order_they_are_stated() {
    let text = GOOD.replacen("\"10Gbps\"", "\"25Gbps\"", 1);
    for at in ["\"20Gbps\" = \"30pkt\", \"5Gbps\" = \"7pkt\"", "\"5Gbps\" = \"7pkt\", \"20Gbps\" = \"30pkt\""]
    {
        let text = format!("{text}[switch]\necn = {{ per = \"port\", at = {{ {at} }} }}\n");
        let plan = plan::from_text("f.toml", &text, Path::new("."), &Options::default()).unwrap();
        // 30 packets at 20 Gbit/s are 37.5 at 25.
        assert_eq!(merged(&plan, "dctcp/port/ecn/at/25Gbps"), "38pkt", "{at}");
    }
}

#[test]
fn switches_that_mark_automatically_take_the_thresholds_of_each_scheme_at_every_rate() {
    let text = GOOD.replacen("\"10Gbps\"", "\"25Gbps\"", 1);
    let text = text.replacen("[\"dctcp\"]", "[\"dctcp\", \"nos2\", \"ns3_dctcp\", \"newreno\", \"bare\"]", 1);
    let tables = "[switch]\necn = \"auto\"\n\
                  [scheme.bare]\ntransport = { kind = \"dctcp\" }\n\
                  port = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }\n";
    let plan =
        plan::from_text("f.toml", &format!("{text}{tables}"), Path::new("."), &Options::default()).unwrap();
    // 65 packets at 10 Gbit/s are 162.5 at 25; ns-3's 66 are 165.
    for (scheme, at_25, at_40) in
        [("dctcp", "163pkt", "260pkt"), ("nos2", "163pkt", "260pkt"), ("ns3_dctcp", "165pkt", "261pkt")]
    {
        assert_eq!(merged(&plan, &format!("{scheme}/port/ecn/per")), "queue", "{scheme}");
        assert_eq!(merged(&plan, &format!("{scheme}/port/ecn/at/25Gbps")), at_25, "{scheme}");
        assert_eq!(merged(&plan, &format!("{scheme}/port/ecn/at/40Gbps")), at_40, "{scheme}");
        let start = format!("{scheme}: switch ports mark above {at_25} at 25Gbps, in proportion to the");
        assert!(plan.warnings.iter().any(|warning| warning.starts_with(&start)), "{:?}", plan.warnings);
    }
    let bare = json!({ "1Gbps": "20pkt", "10Gbps": "65pkt", "25Gbps": "163pkt", "40Gbps": "260pkt" });
    assert_eq!(merged(&plan, "bare/port/ecn/at"), bare, "a scheme without thresholds has DCTCP's");
    assert_eq!(merged(&plan, "newreno/port/ecn"), Json::Null, "NewReno does not read marks");
    assert_runs_read_back(&plan, Path::new("."));
}

#[test]
fn a_scheme_may_say_otherwise_where_switches_mark_automatically() {
    let auto = "[switch]\necn = \"auto\"\n";
    let own = "[scheme.dctcp]\nport.ecn = { per = \"port\", at = { \"10Gbps\" = \"30pkt\" } }\n";
    let plan = planned("\"dctcp\", \"nos2\"", &format!("{auto}{own}"), &[]).unwrap();
    assert_eq!(merged(&plan, "dctcp/port/ecn/per"), "port");
    assert_eq!(merged(&plan, "dctcp/port/ecn/at/10Gbps"), "30pkt");
    assert_eq!(merged(&plan, "nos2/port/ecn/per"), "queue");
    assert_eq!(merged(&plan, "nos2/port/ecn/at/10Gbps"), "65pkt");
    let stated = [("switch.ecn", "{ per = 'port', at = { '10Gbps' = '9pkt' } }")];
    let plan = planned("\"nos2\"", auto, &stated).unwrap();
    assert_eq!(merged(&plan, "nos2/port/ecn/at/10Gbps"), "9pkt");
}

#[test]
fn parameters_of_algorithms_stay() {
    let plan = planned("\"dctcp\", \"ndp\", \"pfabric\", \"srpt_ranked\"", TABLES, &[]).unwrap();
    let alone = planned("\"dctcp\", \"ndp\", \"pfabric\", \"srpt_ranked\"", "", &[]).unwrap();
    for pointer in ["ndp/port", "ndp/transport", "pfabric/transport/min_rto", "srpt_ranked/port/buffer"] {
        assert_eq!(merged(&plan, pointer), merged(&alone, pointer), "{pointer}");
    }
    assert_eq!(merged(&plan, "pfabric/port/buffer"), json!({ "shared": "123pkt" }));
}

#[test]
fn what_a_scheme_states_itself_comes_first() {
    let own = "[scheme.dctcp]\nport.buffer = { dynamic = \"1MB\", alpha = 1 }\ntransport.min_rto = \"9ms\"\n";
    let plan = planned("\"dctcp\", \"newreno\"", &format!("{TABLES}{own}"), &[]).unwrap();
    assert_eq!(merged(&plan, "dctcp/port/buffer"), json!({ "dynamic": "1MB", "alpha": "1/1" }));
    assert_eq!(merged(&plan, "dctcp/transport/min_rto"), "9ms");
    assert_eq!(merged(&plan, "dctcp/port/ecn/at"), marks());
    assert_eq!(merged(&plan, "newreno/transport/min_rto"), "3ms");
}

#[test]
fn a_derived_scheme_and_one_without_a_base_take_them_too() {
    let own = "[scheme.two]\nbase = \"nos2\"\nhost.levels = 2\n\
               [scheme.bare]\ntransport = { kind = \"newreno\" }\nport = { kind = \"fifo\" }\n";
    let plan = planned("\"dctcp\", \"two\", \"bare\"", &format!("{TABLES}{own}"), &[]).unwrap();
    assert_eq!(merged(&plan, "two/nic/ecn/at"), json!({ "10Gbps": "7pkt" }));
    assert_eq!(merged(&plan, "bare/port/buffer"), json!({ "shared": "123pkt" }));
    assert_eq!(merged(&plan, "bare/transport/min_rto"), "3ms");
}

#[test]
fn they_can_be_set_and_alternatives_replace_each_other() {
    let sets = [("switch.buffer", "{ dynamic = '2MB', alpha = 1 }"), ("host.min_rto", "4ms")];
    let plan = planned("\"dctcp\", \"newreno\"", TABLES, &sets).unwrap();
    assert_eq!(merged(&plan, "dctcp/port/buffer"), json!({ "dynamic": "2MB", "alpha": "1/1" }));
    assert_eq!(merged(&plan, "dctcp/transport/min_rto"), "4ms");
}

#[test]
fn a_host_without_a_transmit_queue_is_one_that_is_asked_for_packets() {
    let own = "[host]\nnic = \"pull\"\n";
    let plan = planned("\"dctcp\", \"nos2\", \"top\"", own, &[]).unwrap();
    assert_eq!(merged(&plan, "dctcp/nic"), "pull");
    assert_eq!(merged(&plan, "dctcp/host/kind"), "round_robin", "a FIFO order is that of a queue");
    assert_eq!(merged(&plan, "nos2/host/kind"), "mlfq");
    let stated = "[host]\nnic = \"pull\"\n[scheme.dctcp]\nhost.kind = \"srpt\"\n";
    assert_eq!(merged(&planned("\"dctcp\"", stated, &[]).unwrap(), "dctcp/host/kind"), "srpt");
    assert_eq!(merged(&plan, "nos2/nic"), "pull");
    assert_eq!(merged(&plan, "top/nic"), "tokens", "a queue that limits tokens stays");
}

#[test]
fn a_run_is_that_of_the_same_keys_stated_in_each_scheme() {
    let stated = "[scheme.dctcp]\nport.buffer.shared = \"123pkt\"\n[scheme.newreno]\nport.buffer.shared = \"123pkt\"\n";
    let ids = |tables: &str| -> Vec<String> {
        planned("\"dctcp\", \"newreno\"", tables, &[]).unwrap().runs.into_iter().map(|run| run.id).collect()
    };
    assert_eq!(ids("[switch]\nbuffer = { shared = \"123pkt\" }\n"), ids(stated));
}

#[test]
fn mistakes_are_told_with_their_lines() {
    let message = |tables: &str, schemes: &str| planned(schemes, tables, &[]).unwrap_err().to_string();
    let none = message(
        "[switch]\necn = { per = \"port\", at = { \"10Gbps\" = \"30pkt\", \"40Gbps\" = \"90pkt\" } }\n",
        "\"newreno\"",
    );
    assert!(none.contains("switch.ecn: the key applies to none of the schemes"), "{none}");
    let none = message("[switch]\necn = \"auto\"\n", "\"newreno\"");
    assert!(none.contains("switch.ecn: the key applies to none of the schemes"), "{none}");
    for wrong in ["\"automatic\"", "true", "3"] {
        let text = message(&format!("[switch]\necn = {wrong}\n"), "\"dctcp\"");
        assert!(text.contains("switch.ecn") && text.contains("Use \"auto\""), "{text}");
    }
    let all =
        message("[switch]\nbufer = 1\n[host]\nmin_rto = \"0s\"\nnic = { limit = \"1x\" }\n", "\"dctcp\"");
    for part in ["switch.bufer", "host.min_rto", "host.nic.limit"] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert!(all.lines().count() >= 3, "{all}");
}
