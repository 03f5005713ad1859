//! Runs in which only some groups send: which are planned, what they hold, and the metrics that compare with them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, Plan};
use priolane_lab::unit::{self, RunUnit};
use priolane_lab::verdict::verdicts;
use priolane_source::InputError;

/// One packet of 1460 B over two links of 10 Gbps and 1 us, and its time on one of them, in seconds.
const PACKET: f64 = 4.460_8e-6;
const LINE: f64 = 1.230_4e-6;

const HEAD: &str = r#"title = "Jobs"
schemes = ["plain"]
scheme = { plain = { base = "newreno", transport = { handshake = "none" } } }
host = { send_jitter = "0ns" }
time = { measure = "50ms" }
topology = { kind = "single_switch", hosts = 6, host_link = { rate = "10Gbps", delay = "1us" } }
"#;

/// Two jobs that send a packet to host 1 at once, and then compute for 20 us there.
const TWO: &str = r#"metrics.classes = { first = { group = "a" }, second = { group = "b" }, both = { group = ["a", "b"] } }
[[group]]
name = "a"
hosts = "*"
app = "flows"
list = "a.csv"
[[group]]
name = "b"
hosts = "*"
app = "flows"
list = "b.csv"
"#;

fn claim(metric: &str) -> String {
    format!("[[claim]]\nsays = \"{metric}\"\nbound = {{ of = \"{metric}.plain\", above = 0.5 }}\n")
}

fn planned(folder: &Path, text: &str) -> Result<Plan, InputError> {
    for (name, src) in [("a", 0), ("b", 2)] {
        let rows =
            format!("start_ns,src,dst,bytes,coflow,after,delay_ns\n0,{src},1,1460,4,,\n0,1,1,0,,0,20000\n");
        std::fs::write(folder.join(format!("{name}.csv")), rows).unwrap();
    }
    plan::from_text("x.toml", text, folder, &Options::default())
}

/// The values of the metrics of all claims at the only point, by metric, after all runs.
fn measured(plan: &Plan, out: &Path) -> BTreeMap<String, f64> {
    let settings = Settings { verify: true, ..Settings::default() };
    for run in plan.all_runs() {
        execute(run, out, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
    }
    let report = verdicts(plan, out);
    let values = report.claims.iter().flat_map(|claim| &claim.points).flat_map(|point| &point.measured);
    values.map(|value| (value.metric.clone(), value.value.mean.unwrap())).collect()
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn jobs_that_share_a_line_take_longer_than_alone_and_together_as_long_as_together() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = ["first", "second", "both"].map(|class| format!("job_over_alone.{class}"));
    let claims: String =
        metrics.iter().chain([&"iteration_over_alone.first".to_owned()]).map(|of| claim(of)).collect();
    let plan = planned(folder.path(), &format!("{HEAD}{TWO}{claims}")).unwrap();
    // `both` are all groups: their run alone is that of the grid.
    assert_eq!((plan.runs.len(), plan.alone.runs.len()), (1, 2));
    assert_eq!(plan.alone.id(&plan.runs[0].id, "both"), Some(plan.runs[0].id.as_str()));
    let out = folder.path().join("out");
    let found = measured(&plan, &out);
    // Alone, each takes a packet and the computation; of both, one packet waits for the other.
    let alone = PACKET + 20e-6;
    let mut each = ["first", "second"].map(|class| found[&format!("job_over_alone.{class}.plain")]);
    each.sort_unstable_by(f64::total_cmp);
    near(each[0], 1.0);
    near(each[1], (alone + LINE) / alone);
    near(found["job_over_alone.both.plain"], 1.0);
    // The iteration is the coflow: the packet alone.
    let first = found["job_over_alone.first.plain"];
    near(found["iteration_over_alone.first.plain"], 1.0 + (first - 1.0) * alone / PACKET);
    for run in &plan.alone.runs {
        let record = verdicts(&plan, &out);
        assert!(record.missing.is_empty() && !record.runs.iter().any(|line| line.id == run.id));
    }
}

#[test]
fn runs_alone_are_planned_where_a_panel_or_claim_asks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let count = |more: &str| planned(folder.path(), &format!("{HEAD}{TWO}{more}")).unwrap().alone.runs.len();
    assert_eq!(count(&claim("job_time.first")), 0);
    assert_eq!(count("[[panel]]\ntitle = \"x\"\nkind = \"bar\"\nmetrics = [\"job_slowdown.first\"]\n"), 0);
    assert_eq!(count("[[panel]]\ntitle = \"x\"\nkind = \"bar\"\nmetrics = [\"job_over_alone.first\"]\n"), 1);
    let twice = claim("job_over_alone.first") + &claim("iteration_over_alone.first");
    assert_eq!(count(&twice), 1, "one run for both metrics");
    let seeds = HEAD.replace("schemes = [\"plain\"]", "schemes = [\"plain\", \"dctcp\"]\nseeds = 3");
    let of_plain = format!("{seeds}{TWO}{}", claim("job_over_alone.second"));
    let plan = planned(folder.path(), &of_plain).unwrap();
    assert_eq!((plan.runs.len(), plan.alone.runs.len()), (6, 3), "of the scheme that the claim names");
    assert!(plan.alone.runs.iter().map(|run| run.seed).eq(1..=3));
    assert_eq!(plan.all_runs().count(), 9);
}

#[test]
fn points_that_differ_in_other_groups_share_the_run_alone() {
    let folder = tempfile::tempdir().unwrap();
    let poisson = r#"[[group]]
name = "reads"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.1 }
deadline = "1ms"
"#;
    let swept = HEAD.replace("[[group]]", "")
        + "sweep = { \"group.reads.load.value\" = [0.1, 0.2], \"host_delay\" = [\"0us\", \"1us\"] }\n";
    let event = "[[event]]\nat = \"1ms\"\nset = { \"group.reads.load.value\" = 0.3 }\n";
    let plan = |claim: &str| planned(folder.path(), &format!("{swept}{TWO}{poisson}{event}{claim}")).unwrap();
    let all = plan(&claim("job_over_alone.first"));
    assert_eq!((all.runs.len(), all.alone.runs.len()), (4, 2), "one for each delay");
    let ids = |run: usize| all.alone.id(&all.runs[run].id, "first").unwrap();
    assert!(ids(0) == ids(2) && ids(1) == ids(3) && ids(0) != ids(1));
    let at = claim("job_over_alone.first")
        + "at = { \"host_delay\" = \"1us\", \"group.reads.load.value\" = 0.1 }\n";
    let some = plan(&at);
    assert_eq!(some.alone.runs.len(), 1, "at the point of the claim only");
    assert_eq!(some.alone.id(&some.runs[1].id, "first"), Some(ids(1)));
    assert_eq!(some.alone.id(&some.runs[0].id, "first"), None);
    assert_eq!(
        some.runs.iter().map(|run| &run.id).collect::<Vec<_>>(),
        all.runs.iter().map(|run| &run.id).collect::<Vec<_>>()
    );
}

#[test]
fn a_run_alone_is_planned_again_from_its_unit_with_the_files_of_its_groups() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path(), &format!("{HEAD}{TWO}{}", claim("job_over_alone.second"))).unwrap();
    let run = &plan.alone.runs[0];
    let texts = unit::files(run).map(|(_, digest, text)| (digest, text.clone())).collect();
    let unit = RunUnit::of(run);
    assert_eq!(unit.files.keys().collect::<Vec<_>>(), ["b.csv"]);
    let again = unit.plan(&texts).unwrap();
    assert_eq!((&again.id, &again.merged), (&run.id, &run.merged));
}

#[test]
fn thresholds_of_the_run_alone_are_those_of_all_groups() {
    let folder = tempfile::tempdir().unwrap();
    let head = HEAD.replace("schemes = [\"plain\"]", "schemes = [\"pias\"]");
    let reads = |name: &str, sizes: &str| {
        let load = "load = { of = \"host\", counts = \"payload\", value = 0.2 }\n";
        format!("[[group]]\nname = \"{name}\"\nhosts = \"*\"\napp = \"poisson\"\nsizes = \"{sizes}\"\n{load}")
    };
    let job = "[[group]]\nname = \"job\"\nhosts = \"*\"\napp = \"flows\"\nlist = \"a.csv\"\n";
    let groups = reads("short", "facebook_hadoop") + &reads("long", "data_mining") + job;
    let plain = "plain = { base = \"newreno\", transport = { handshake = \"none\" } }";
    let solved = "assign = { thresholds = { solver = \"equal_split\", from = \"global\" } }";
    let head = head.replace(plain, &format!("pias = {{ base = \"pias\", {solved} }}"));
    let classes = "metrics.classes = { short = { group = [\"short\", \"job\"] } }\n";
    let claims = claim("job_over_alone.short").replace(".plain", ".pias");
    let text = format!("{head}{classes}{groups}{claims}");
    let plan = planned(folder.path(), &text).unwrap();
    let (run, alone) = (&plan.runs[0], &plan.alone.runs[0]);
    assert_eq!(run.merged["scheme"], alone.merged["scheme"]);
    assert_eq!(alone.merged["group"][1], serde_json::json!({ "name": "long", "hosts": "*", "app": "none" }));
    assert_eq!(alone.merged["group"][0], run.merged["group"][0]);
}

#[test]
fn what_cannot_run_alone_is_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let error = |text: String| planned(folder.path(), &text).unwrap_err().to_string();
    for class in ["all", "small"] {
        let classes = TWO.replace("both = {", "small = { to = \"1kB\" }, both = {");
        let found = error(format!("{HEAD}{classes}{}", claim(&format!("job_over_alone.{class}"))));
        assert!(found.contains("job_over_alone needs a class of groups, which then run alone"), "{found}");
        assert!(found.contains("a class of [metrics] that states `group`"), "{found}");
    }
    let control = "[[control]]\nat = \"1ms\"\nflow = 1\nabort = true\n";
    let found = error(format!("{HEAD}{TWO}{control}{}", claim("job_over_alone.first")));
    assert!(
        found.contains("control: the groups of class first cannot run alone: flows have other numbers"),
        "{found}"
    );
    let control = control.replace("flow = 1", "group = \"b\"");
    assert!(
        planned(folder.path(), &format!("{HEAD}{TWO}{control}{}", claim("job_over_alone.first"))).is_ok()
    );
}

/// One round of messages at once, of which nothing waits for another, is no job.
#[test]
fn a_metric_of_jobs_needs_a_class_with_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let job = |app: &str| {
        format!(
            "metrics.classes = {{ job = {{ group = \"job\" }}, small = {{ to = \"1kB\" }} }}\n[[group]]\nname = \"job\"\nhosts = \"*\"\n{app}"
        )
    };
    let plan = |app: &str, more: &str| planned(folder.path(), &format!("{HEAD}{}{more}", job(app)));
    let at_once = "app = \"collective\"\noperation = \"all_to_all\"\nsize = \"1MB\"\n";
    let list = "app = \"flows\"\nlist = [{ src = 0, dst = 1, size = \"1kB\", start = \"0ns\" }]\n";
    let burst = "app = \"incast\"\nfan_in = 3\nsize = \"2kB\"\nperiod = \"100us\"\n";
    let ring = "app = \"ring\"\nreduced = \"1MB\"\ncompute = \"1ms\"\n";
    let panel = "[[panel]]\ntitle = \"x\"\nkind = \"bar\"\nmetrics = [\"job_slowdown.job\"]\n".to_owned();
    for more in [claim("job_time.job"), claim("job_over_alone.job"), claim("bus_bandwidth.all"), panel] {
        for app in [at_once, list, burst, ring] {
            let found = plan(app, &more).unwrap_err().to_string();
            assert!(found.contains("has no job, a group whose flows wait for others"), "{found}");
            assert!(found.contains("x.toml:") && found.contains("several `iterations`"), "{found}");
        }
        for made in ["compute = \"1us\"\n", "iterations = 2\n"] {
            plan(&format!("{at_once}{made}"), &more).unwrap();
        }
        plan(&at_once.replace("all_to_all", "all_gather"), &more).unwrap();
        plan("app = \"flows\"\nlist = \"a.csv\"\n", &more).unwrap();
    }
    plan(at_once, &claim("fct.job")).unwrap();
    let found =
        plan(&format!("{at_once}compute = \"1us\"\n"), &claim("job_time.small")).unwrap_err().to_string();
    assert!(found.contains("job_time needs a class of groups, and \"small\" states none"), "{found}");
}
