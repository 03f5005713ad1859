//! Admission from files: what schemes and groups say, what runs leave, and what is refused.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_core::admit::Policy;
use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};
use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, Plan, ResolvedRun};
use priolane_results::record::RunRecord;
use priolane_sim::scenario::Nic;
use priolane_source::InputError;
use priolane_testkit::one_switch;

const FILE: &str = one_switch!(
    r#"title = "Three classes"
schemes = ["firapam"]
time = { warmup = "1ms", measure = "4ms" }
"#,
    5,
    r#"[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "facebook_hadoop", interpolation = "linear", scale_to_mean = "10kB" }
load = { of = "host", counts = "payload", value = 0.4 }
deadline = [{ share = 0.5, within = "40us" }, { share = 0.25, within = "20ms" }, { share = 0.25 }]
[metrics]
classes = { high = { asked = 0 }, given_high = { given = 0 } }
[scheme.firapam]
assign = { kind = "random_fraction", fractions = [0.5, 0.25, 0.25] }
"#
);

fn planned(text: &str) -> Result<Plan, InputError> {
    plan::from_text("x.toml", text, Path::new("."), &Options::default())
}

fn built(text: &str) -> ResolvedRun {
    plan::build(&planned(text).unwrap().runs[0]).unwrap()
}

fn refused(old: &str, new: &str, key: &str) -> InputError {
    assert!(FILE.contains(old), "{old}");
    let error = planned(&FILE.replacen(old, new, 1)).unwrap_err();
    assert_eq!(error.key, key, "{error}");
    assert!(error.line.is_some() && !error.fix.is_empty(), "{error}");
    error
}

fn run(text: &str) -> RunRecord {
    let plan = planned(text).unwrap();
    // Tests that ask for the same run do not share it.
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let settings = Settings { verify: true, ..Settings::default() };
    execute(&plan.runs[0], dir, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
    let file = std::fs::read_to_string(dir.join(&plan.runs[0].id).join("run.json")).unwrap();
    serde_json::from_str(&file).unwrap()
}

fn with_assign(assign: &str) -> ResolvedRun {
    built(&FILE.replacen("{ kind = \"random_fraction\", fractions = [0.5, 0.25, 0.25] }", assign, 1))
}

fn share(flows: &FlowList, is: impl Fn(&FlowSpec) -> bool) -> f64 {
    flows.iter().filter(|flow| is(flow)).count() as f64 / flows.len() as f64
}

#[test]
fn groups_draw_deadlines_by_flow_and_the_same_for_all_schemes() {
    let flows = built(FILE).scenario.into_spec().flows;
    let within = |us| share(&flows, |f| f.deadline == Some(f.start + Span::from_us(us)));
    // Some 1,000 flows: 4 sigma are 0.06.
    assert!(flows.len() > 800, "{}", flows.len());
    assert!((within(40) - 0.5).abs() < 0.07 && (within(20_000) - 0.25).abs() < 0.06);
    assert!((share(&flows, |f| f.deadline.is_none()) - 0.25).abs() < 0.06);
    let other = built(&FILE.replace("firapam", "aequitas")).scenario;
    assert_eq!(flows, other.flows, "the same flows, classes and deadlines");
    assert!(matches!(other.admission, Policy::Aequitas(_)));
}

#[test]
fn exponential_deadlines_have_their_mean_and_leave_every_flow_time() {
    let listed = "deadline = [{ share = 0.5, within = \"40us\" }, { share = 0.25, within = \"20ms\" }, { share = 0.25 }]";
    let of = |rule: &str| built(&FILE.replace(listed, &format!("deadline = {rule}")));
    let within = |built: &ResolvedRun| -> Vec<Span> {
        built.scenario.flows.iter().map(|f| f.deadline.unwrap().since(f.start)).collect()
    };
    // Without a floor: mean 1 ms within 4 sigma of some 1,000 flows, 0.13; a part e^-1 is longer.
    let free = within(&of("{ mean = \"1ms\", at_least_alone = 0 }"));
    let mean = free.iter().map(|span| span.as_secs_f64()).sum::<f64>() / free.len() as f64;
    assert!((mean / 1e-3 - 1.0).abs() < 0.13, "{mean}");
    let longer = free.iter().filter(|&&span| span > Span::from_ms(1)).count() as f64 / free.len() as f64;
    assert!((longer - 0.368).abs() < 0.062, "{longer}");
    // With one: the longer of the same times and 1.25 times what each flow takes alone, rounded up.
    let floored = of("{ mean = \"1ms\" }");
    let least = |alone: &Span| Span((alone.0 as f64 * 1.25).ceil() as u64);
    let expected: Vec<Span> =
        free.iter().zip(&floored.bare_fct).map(|(&free, alone)| free.max(least(alone))).collect();
    assert_eq!(within(&floored), expected);
    assert!(expected != free, "some flows take long");
    // A rule in the group's place, not the first draw of its own.
    let other = within(&of("{ mean = \"2ms\", at_least_alone = 0 }"));
    assert!(free.iter().zip(&other).all(|(a, b)| b.0.abs_diff(2 * a.0) <= 2));
}

#[test]
fn deadlines_move_with_a_group_that_is_active_later() {
    let later = FILE.replace("name = \"all\"\n", "name = \"all\"\nactive = { from = \"2ms\" }\n");
    let flows = built(&later.replace("deadline = [", "deadline = \"3ms\" # [")).scenario.into_spec().flows;
    assert!(flows.iter().all(|f| f.start >= Time(2_000_000_000)), "and none before");
    assert!(flows.iter().all(|f| f.deadline == Some(f.start + Span::from_ms(3))));
}

#[test]
fn rules_give_the_classes_asked_for() {
    let of = |assign: &str, class| share(&with_assign(assign).scenario.flows, |f| f.class == class);
    assert!((of("{ kind = \"flow_fraction\", fractions = [0.3, 0.7] }", 0) - 0.3).abs() < 0.06);
    let rank = "{ kind = \"deadline_rank\", fractions = [0.5, 0.1, 0.4] }";
    assert!((of(rank, 0) - 0.5).abs() < 0.002 && (of(rank, 1) - 0.1).abs() < 0.002);
    let deadline = "{ kind = \"deadline\", thresholds = [\"1ms\", \"50ms\"] }";
    assert!((of(deadline, 0) - 0.5).abs() < 0.07 && (of(deadline, 2) - 0.25).abs() < 0.06);
    let first =
        with_assign("{ kind = \"deadlines_first\", thresholds = [\"5kB\"] }").scenario.into_spec().flows;
    let karuna = |f: &FlowSpec| match (f.deadline, f.size.unwrap_or(0)) {
        (Some(_), _) => 0,
        (None, 0..=5_000) => 1,
        (None, _) => 2,
    };
    assert!(first.iter().all(|f| f.class == karuna(&f)) && share(&first, |f| f.class == 1) > 0.02);
    let demand = with_assign("{ kind = \"demand_rate\", thresholds = [\"1Gbps\", \"10Mbps\"] }")
        .scenario
        .into_spec()
        .flows;
    let high = |f: &FlowSpec| {
        let allowed = f.deadline.map(|d| d.since(f.start).as_secs_f64());
        allowed.is_some_and(|s| f.size.unwrap_or(0) as f64 * 8.0 / s >= 1e9)
    };
    assert!(demand.iter().all(|f| (f.class == 0) == high(&f)) && share(&demand, high) > 0.01);
    let bytes = with_assign("{ kind = \"equal_bytes\", levels = 3 }").scenario.into_spec().flows;
    assert!(share(&bytes, |f| f.class == 0) > share(&bytes, |f| f.class == 2));
    let law =
        "{ kind = \"power_law\", levels = 3, of = \"size\", scale = \"1kB\", exponent = -0.5, base = 1 }";
    let law = with_assign(law).scenario.into_spec().flows;
    // p = (S / 1 kB)^-0.5 + 1: 3 up to 250 B, 2 up to 1 kB.
    assert!(law.iter().all(|f| f.class
        == match f.size.unwrap_or(0) {
            0..=250 => 0,
            251..=1000 => 1,
            _ => 2,
        }));
}

#[test]
fn a_run_says_who_was_moved_and_how_deadlines_fared() {
    let record = run(FILE);
    let admission = record.admission.unwrap();
    let flows: u64 = admission.transitions.iter().map(|t| t.flows).sum();
    assert_eq!(flows, record.summary["all"].flows);
    assert!(admission.transitions.iter().all(|t| t.asked.abs_diff(t.given) <= 1), "adjacent classes");
    let of_high = admission.transitions.iter().filter(|t| t.asked == 0);
    assert_eq!(of_high.map(|t| t.flows).sum::<u64>(), record.summary["high"].flows);
    let given = admission.transitions.iter().filter(|t| t.given == 0);
    assert_eq!(given.map(|t| t.flows).sum::<u64>(), record.summary["given_high"].flows);
    let all = &record.summary["all"];
    assert!(all.downgraded.unwrap() > 0.02 && all.upgraded.unwrap() >= 0.0, "{all:?}");
    assert!(all.deadline_infeasible_rate.unwrap() <= all.deadline_miss_rate.unwrap());
    assert_eq!(
        admission.terms.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["loss", "rate", "slack"]
    );
    assert!(admission.keys.count > 20 && admission.keys.p_min >= 0.1 && admission.keys.p_max <= 1.9);
    assert!(record.warnings.iter().any(|w| w.contains("fewer than 200 updates")), "{:?}", record.warnings);
    // Five sources: at least a fifth, at most 1.
    let jain = record.summary["high"].deadline_jain.unwrap();
    assert!(jain > 0.2 && jain <= 1.0, "{jain}");
}

#[test]
fn applications_answer_notices_as_their_group_says() {
    let notices = |line: &str| {
        let text = FILE.replace("name = \"all\"\n", &format!("name = \"all\"\n{line}\n"));
        let text = text.replace("Three classes", "Notices");
        let all = run(&text).admission.unwrap().notices;
        assert!(all.len() == 1 && all[0].group == "all" && all[0].downgraded > 20, "{all:?}");
        all[0].clone()
    };
    let ignored = notices("");
    assert_eq!((ignored.deferrals, ignored.held_s, ignored.reclassified), (0, 0.0, 0));
    assert_eq!(notices("on_downgrade = \"ignore\""), ignored);
    let deferred = notices("on_downgrade = { kind = \"defer\", by = \"20us\", times = 2 }");
    assert!(deferred.deferrals > 10 && deferred.reclassified == 0);
    assert!((deferred.held_s - 20e-6 * deferred.deferrals as f64).abs() < 1e-9);
    let reclassified = notices("on_downgrade = \"reclassify\"");
    assert!(reclassified.reclassified > 10 && reclassified.deferrals == 0, "{reclassified:?}");
}

#[test]
fn probabilities_settle_and_the_run_says_when() {
    let settling = run(&FILE.replace("Three classes", "Settling")).admission.unwrap().settling.unwrap();
    assert!(settling.keys > 20 && settling.settled <= settling.keys, "{settling:?}");
    assert!(settling.p50_updates <= settling.p90_updates && settling.p50_rtts <= settling.p90_rtts);
    // A packet of one byte: 84 B on the wire take 67.2 ns, twice, and 1 us a link: 2.1344 us a way.
    assert!((settling.rtt_s - 4.2688e-6).abs() < 1e-12, "{}", settling.rtt_s);
}

#[test]
fn timely_flows_bring_what_they_have_through_the_declared_bottleneck() {
    let metrics = "[metrics]\n";
    let declared = format!("{metrics}effective = {{ to = \"all\", every = \"100us\" }}\n");
    let effective = run(&FILE.replacen(metrics, &declared, 1)).effective.unwrap();
    // Five lines of 10 Gbps, of which 0.4 is asked for and three quarters have a deadline; large flows miss it often.
    assert!((effective.capacity_bps - 5e10).abs() < 1.0 && effective.classes["all"].bins.len() == 40);
    let share = effective.classes["all"].end.unwrap() / effective.capacity_bps;
    assert!(share > 0.02 && share < 0.4, "{share}");
    let high = effective.classes["high"].end.unwrap();
    assert!(high > 0.0 && high < effective.classes["all"].end.unwrap());
    let unknown = format!("{metrics}effective = {{ to = \"sink\", every = \"100us\" }}\n");
    refused(metrics, &unknown, "metrics.effective.to");
    let never = format!("{metrics}effective = {{ to = \"all\", every = \"0s\" }}\n");
    refused(metrics, &never, "metrics.effective.every");
}

#[test]
fn the_declared_bottleneck_is_the_links_of_the_named_group() {
    let few = "[[group]]\nname = \"few\"\nhosts = \"0-1\"\napp = \"poisson\"\nsizes = { csv = \"web_search\", interpolation = \"linear\", scale_to_mean = \"10kB\" }\n\
               load = { of = \"host\", counts = \"payload\", value = 0.1 }\n[[group]]\n";
    // Two or five lines of 10 Gbps.
    for (to, capacity_bps) in [("few", 2e10), ("all", 5e10)] {
        let declared = format!("[metrics]\neffective = {{ to = \"{to}\", every = \"100us\" }}\n");
        let text = FILE.replacen("[[group]]\n", few, 1).replacen("[metrics]\n", &declared, 1);
        let effective = run(&text).effective.unwrap();
        assert!((effective.capacity_bps - capacity_bps).abs() < 1.0, "{to}: {}", effective.capacity_bps);
    }
}

#[test]
fn reactions_and_clocks_that_do_not_exist_are_refused() {
    let group =
        |line: &str, key: &str| refused("app = \"poisson\"", &format!("app = \"poisson\"\n{line}"), key);
    group("on_downgrade = \"complain\"", "group.all.on_downgrade");
    group("on_downgrade = { kind = \"defer\", times = 0 }", "group.all.on_downgrade.times");
    group("on_downgrade = { kind = \"defer\", by = \"0s\" }", "group.all.on_downgrade.by");
    group("on_downgrade = { kind = \"ignore\", by = \"1us\" }", "group.all.on_downgrade.by");
    let assign = "[scheme.firapam]\n";
    refused(assign, &format!("{assign}port.clock = \"sundial\"\n"), "scheme.firapam.port.clock");
}

#[test]
fn intervals_reach_the_transport_and_move_flows_under_way() {
    let per_mi =
        format!("{FILE}admit = {{ mi = \"20us\", remap = \"per_mi\", a = 1 }}\n").replace("10kB", "60kB");
    let record = run(&per_mi);
    assert!(record.admission.unwrap().moves > 0);
    // A round trip by default (Firapam §V-A): there and back over two links of 1 us, above 4 us, and less than 5.
    let monitor = |keys: &str| {
        let scenario = built(&format!("{FILE}{keys}")).scenario;
        assert_eq!(scenario.rates_every, None, "reports for admission are not those of the tables");
        let priolane_core::transport::Transport::Window { window, .. } = scenario.transport else {
            unreachable!("the window machine")
        };
        window.monitor
    };
    for keys in ["", "admit = { mi = \"rtt\" }\n", "admit = { kind = \"pase\", levels = 3 }\n"] {
        let monitor = monitor(keys).unwrap();
        assert!(monitor > Span::from_us(4) && monitor < Span::from_us(5), "{keys}: {monitor:?}");
    }
    assert_eq!(monitor("admit = { mi = \"rpc\" }\n"), None);
}

#[test]
fn without_a_step_a_run_is_that_without_admission() {
    let without_step = format!("{FILE}admit = {{ a = 0 }}\n");
    // DCTCP behind one queue differs in nothing but the admit row once its port and NIC are the same.
    let plain = format!(
        "{}nic = {{ queue = \"ports\", limit = \"512KiB\", ecn = {{ per = \"port\", at = {{ \"10Gbps\" = \"65pkt\" }} }} }}\n\
         port = {{ kind = \"wfq\", queues = 3, weights = [8, 4, 1], buffer = {{ shared = \"512KiB\" }} }}\n",
        FILE.replace("firapam", "dctcp")
    );
    let (with, without) = (run(&without_step), run(&plain));
    assert_eq!(with.digest, without.digest);
    assert!(with.admission.is_some() && without.admission.is_none());
}

#[test]
fn the_units_of_a_file_change_no_probability() {
    let canonical = run(&FILE.replace("Three classes", "Units"));
    let text = FILE
        .replace("Three classes", "Units")
        .replace("\"40us\"", "\"0.04ms\"")
        .replace("\"20ms\"", "\"20000us\"");
    let text = text
        .replace("\"10Gbps\"", "\"10000Mbps\"")
        .replace("\"10kB\"", "\"0.01MB\"")
        .replace("\"1us\"", "\"1000ns\"");
    let other = run(&text);
    assert_eq!(canonical.digest, other.digest);
    let (canonical, other) = (canonical.admission.unwrap(), other.admission.unwrap());
    assert_eq!((canonical.keys, canonical.terms), (other.keys, other.terms));
    assert!(canonical.keys.p_min < 1.0, "nothing would have moved: {:?}", canonical.keys);
}

#[test]
fn hosts_serve_classes_as_ports_do_in_all_of_firapams_figures_but_where_they_say_otherwise() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../study/papers/firapam");
    let mut pulling = Vec::new();
    let mut seen = 0;
    let names = [
        "bounds", "fig2", "fig2b", "fig6", "fig6b", "fig7", "fig8", "fig9", "fig10", "lanes", "table3",
        "table4",
    ];
    for name in names {
        let options = Options { size: plan::Size::Quick, ..Options::default() };
        let plan = plan::plan(&folder.join(name).join("figure.toml"), &options).unwrap();
        for scheme in plan.experiment.scheme.keys() {
            // Other transports, whose hosts are their own.
            if scheme.starts_with("top_") || scheme.starts_with("prioplus_") {
                continue;
            }
            let run = plan.runs.iter().find(|run| run.scheme == *scheme).unwrap();
            let scenario = plan::build(run).unwrap().scenario;
            // The switch's port towards the first host has the host's rate.
            let port = &scenario.ports[scenario.topology.downlink(HostId(0)).index()];
            match &scenario.nic {
                Nic::Pull => pulling.push(format!("{name} {scheme}")),
                Nic::Queue { port: own, .. } => assert_eq!(own, port, "{name} {scheme}"),
            }
            seen += 1;
        }
    }
    pulling.sort();
    assert_eq!(pulling, ["fig2 by_size_pull", "fig2 deadlines_first_pull"]);
    // The schemes of all figures of the list, at their first point.
    assert_eq!(seen, 65);
}

#[test]
fn a_merged_scheme_is_a_scheme_file_again_in_every_mode() {
    for keys in ["", "admit = { mode = \"literal\" }\n", "admit = { mi = \"rtt\", remap = \"per_mi\" }\n"] {
        let plan = planned(&format!("{FILE}{keys}")).unwrap();
        let scheme = &plan.experiment.scheme["firapam"];
        let text = format!("{}[scheme.firapam]\n", FILE.split("[scheme.firapam]").next().unwrap());
        let rows = serde_json::to_value(scheme).unwrap();
        let row = |key: &str| toml_of(&rows[key]);
        let again =
            planned(&format!("{text}assign = {}\nadmit = {}\n", row("assign"), row("admit"))).unwrap();
        assert_eq!(again.experiment.scheme["firapam"], *scheme, "{keys}");
    }
}

/// A JSON value as an inline TOML value.
fn toml_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(map) => {
            let entries: Vec<String> = map.iter().map(|(k, v)| format!("{k} = {}", toml_of(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_of).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn what_cannot_be_is_refused_by_key_with_the_way_out() {
    let admit = |keys: &str, key: &str| {
        let text = format!("{FILE}admit = {{ {keys} }}\n");
        let error = planned(&text).unwrap_err();
        assert_eq!(error.key, format!("scheme.firapam.{key}"), "{error}");
        error
    };
    assert!(admit("b_low = 1.95", "admit.b_low").fix.contains("at most 1"));
    admit("b_low = 0", "admit.b_low");
    admit("b_up = 2", "admit.b_up");
    admit("t = 0", "admit.t");
    admit("t = 1.5", "admit.t");
    admit("mode = \"literal\", step = 0.1", "admit.step");
    assert!(admit("first = \"zero\"", "admit.first").fix.contains("literal"));
    assert!(admit("mi = \"rpc\", remap = \"per_mi\"", "admit.remap").fix.contains("rtt"));
    admit("levels = 2", "admit.levels");
    assert!(admit("levels = 4", "map").what.contains("4 classes"));
    admit("mi = \"sometimes\"", "admit.mi");
    admit("mi = \"99ns\"", "admit.mi");
    let assign = "assign = { kind = \"random_fraction\", fractions = [0.5, 0.25, 0.25] }";
    let first =
        |thresholds: &str| format!("assign = {{ kind = \"deadlines_first\", thresholds = {thresholds} }}");
    refused(assign, &first("[\"1MB\", \"10kB\"]"), "scheme.firapam.assign.thresholds");
    assert!(planned(&FILE.replacen(assign, &first("[]"), 1)).is_ok(), "deadlines, and all others");
    let none = refused("deadline = [", "# [", "scheme.firapam.admit");
    assert!(none.what.contains("Eq. 19"), "{none}");
    refused("share = 0.5", "share = 0.6", "group.all.deadline");
    refused("fractions = [0.5", "fractions = [0.6", "scheme.firapam.assign.fractions");
    refused("name = \"all\"\n", "name = \"all\"\nclass = 1\n", "scheme.firapam.assign");
    let both = format!(
        "{}admit = {{ mi = \"50us\" }}\n",
        FILE.replacen("time = ", "rates_every = \"1ms\"\ntime = ", 1)
    );
    let error = planned(&both).unwrap_err();
    assert_eq!(
        (error.key.as_str(), error.fix.as_str()),
        ("scheme.firapam.admit.mi", "mi = \"1ms\", or rates_every = \"50us\"")
    );
    assert!(planned(&both.replace("\"50us\"", "\"1ms\"")).is_ok());
}

#[test]
fn the_recipe_compares_three_schemes_over_one_list_of_flows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/recipes/admission.toml");
    let options = Options { size: plan::Size::Quick, ..Options::default() };
    let plan = plan::plan(&path, &options).unwrap();
    let first = plan.runs.iter().filter(|run| run.seed == plan.runs[0].seed);
    let built: Vec<ResolvedRun> = first.map(|run| plan::build(run).unwrap()).collect();
    assert_eq!((plan.runs.len(), built.len()), (9, 3));
    assert!(
        built
            .iter()
            .all(|b| b.scenario.flows == built[0].scenario.flows
                && b.scenario.ports == built[0].scenario.ports)
    );
    assert!(built.iter().all(|b| b.scenario.nic == built[0].scenario.nic));
    let levels: Vec<Option<u8>> = built.iter().map(|b| b.scenario.admission.part().levels()).collect();
    assert_eq!(levels, [None, Some(3), Some(3)]);
}
