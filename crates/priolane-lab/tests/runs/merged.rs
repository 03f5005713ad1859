//! The merged experiment is an experiment file again, and run ids are made of all that determines a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use priolane_lab::experiment;
use priolane_lab::plan::{self, Options, Plan, Size};
use priolane_source::{Sources, from_json};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All experiment files of the project: those in experiments/ and the figures of the study.
pub(crate) fn experiments() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("experiments"), root().join("study")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with("paper.toml") || path.ends_with("about.toml") => {}
                path if path.extension().is_some_and(|end| end == "toml") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    assert!(found.len() >= 4, "{found:?}");
    found
}

fn sized(path: &Path, size: Size) -> Plan {
    plan::plan(path, &Options { size, ..Options::default() }).unwrap()
}

#[test]
fn a_panel_is_written_as_it_was_read() {
    let text = crate::bad_input::GOOD.to_owned()
        + r#"[[panel]]
title = "a"
kind = "heat_map"
x = "time"
metric = "fct.all"
reference = "1/4"
at = { "group.all.load.value" = 0.5 }
[sweep]
"group.all.load.value" = [0.5, 0.6]
"#;
    let plan = plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let expected = serde_json::json!([{
        "title": "a", "kind": "heat_map", "x": "time", "metrics": ["fct.all"], "reference": 0.25,
        "at": { "group.all.load.value": 0.5 },
    }]);
    assert_eq!(plan.experiment.to_json()["panel"], expected);
}

#[test]
fn every_shipped_experiment_plans_in_every_size() {
    for path in experiments() {
        let sizes = [Size::Quick, Size::Default, Size::Full];
        for size in sizes.into_iter().take(priolane_rounds::rounds(1, 3) as usize) {
            let plan = sized(&path, size);
            assert!(!plan.runs.is_empty(), "{}", path.display());
            // Points of a sweep that state nothing different for a scheme share its runs; nothing else does.
            let ids: BTreeSet<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
            let texts: BTreeSet<(String, u64)> =
                plan.runs.iter().map(|run| (run.merged.to_string(), run.seed)).collect();
            assert_eq!(ids.len(), texts.len(), "{}", path.display());
        }
    }
}

#[test]
fn schemes_are_chosen_without_touching_what_names_the_others() {
    let path = root().join("study/papers/nos2/fig6/figure.toml");
    let all = sized(&path, Size::Quick);
    let chosen = |names: &[&str]| {
        let schemes = Some(names.iter().map(|&name| name.to_owned()).collect());
        plan::plan(&path, &Options { size: Size::Quick, schemes, ..Options::default() })
    };
    let some = chosen(&["nos2", "newreno"]).unwrap();
    assert_eq!((all.runs.len(), some.runs.len()), (72, 24));
    assert_eq!((some.runs[0].scheme.as_str(), some.runs[1].scheme.as_str()), ("nos2", "newreno"));
    // A run is the same run whichever others are run beside it.
    let ids: BTreeSet<&str> = all.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(some.runs.iter().filter(|run| ids.contains(run.id.as_str())).count(), 12);
    for bad in [&[][..], &["nos3"], &["nos2", "nos2"]] {
        assert_eq!(chosen(bad).unwrap_err().file, "--schemes");
    }
}

/// The experiment of a merged text whose files are named relative to `base`.
fn read_back(merged: &Value, base: &Path) -> experiment::Experiment {
    let tree = from_json("merged", merged).unwrap();
    experiment::read("merged", &tree, Sources::new("merged", base)).unwrap().experiment
}

/// The merged text of each run, or of every fourth, is an experiment with the same merged text.
pub(crate) fn assert_runs_read_back(plan: &Plan, base: &Path) {
    for run in plan.runs.iter().step_by(priolane_rounds::stride(4)) {
        assert_eq!(read_back(&run.merged, base).merged(&run.scheme), *run.merged, "{}", run.scheme);
    }
}

#[test]
fn the_merged_experiment_reads_back_to_itself() {
    for path in experiments() {
        let base = path.parent().unwrap();
        let plan = sized(&path, Size::Quick);
        assert_runs_read_back(&plan, base);
        let mut whole = plan.experiment.clone();
        whole.sweep.clear();
        assert_eq!(read_back(&whole.to_json(), base).to_json(), whole.to_json(), "{}", path.display());
    }
}

const FILE: &str = r#"
title = "Ids"
schemes = ["own.toml"]
time = { measure = "1ms" }
[topology]
kind = "file"
path = "net.csv"
[[group]]
name = "a"
hosts = "*"
app = "poisson"
sizes = { csv = "s.csv", interpolation = "linear" }
load = { of = "host", counts = "payload", value = 0.5 }
[[group]]
name = "b"
hosts = "*"
app = "flows"
list = "f.csv"
"#;
const SCHEME: &str =
    "transport = { kind = \"newreno\" }\nport = { kind = \"fifo\", buffer = \"unbounded\" }\n";
const NET: &str = "node,a,host\nnode,b,host\nnode,s,switch\nlink,a,s,10Gbps,1us\nlink,b,s,10Gbps,1us\n";
const SIZES: &str = "bytes,cdf\n10,0.5\n20,1\n";
const LIST: &str = "start_ns,src,dst,bytes\n0,0,1,5\n";

fn id(name: &str, files: [&str; 5]) -> String {
    let folder = std::env::temp_dir().join(format!("priolane-ids-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in ["x.toml", "own.toml", "net.csv", "s.csv", "f.csv"].iter().zip(files) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let plan = plan::plan(&folder.join("x.toml"), &Options::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    plan.runs[0].id.clone()
}

#[test]
fn a_dragonfly_is_read_written_and_built() {
    let link = |name: &str| format!("{name} = {{ rate = \"10Gbps\", delay = \"1us\" }}\n");
    let planned = |keys: &str| {
        let network = format!(
            "kind = \"dragonfly\"\na = 2\np = 1\nh = 1\n{keys}{}{}{}",
            link("host_link"),
            link("local_link"),
            link("global_link")
        );
        let text = format!(
            "title = \"t\"\nschemes = [\"newreno\"]\ntime = {{ flows = 6 }}\n[topology]\n{network}\
             [[group]]\nname = \"all\"\nhosts = \"*\"\napp = \"permutation\"\nsize = \"1kB\"\n"
        );
        plan::from_text("x.toml", &text, Path::new("."), &Options::default())
    };
    let plan = planned("").unwrap();
    let run = &plan.runs[0];
    let network = serde_json::to_value(&run.experiment.topology).unwrap();
    assert_eq!((network["g"].as_u64(), network["global_link"]["delay"].as_str()), (Some(3), Some("1us")));
    let built = plan::build(run).unwrap();
    assert_eq!((built.scenario.topology.hosts, built.scenario.flows.len()), (6, 6));
    // Two routers with a global link each: three groups at most.
    let error = planned("g = 4\n").unwrap_err();
    assert_eq!((error.key.as_str(), error.line), ("topology.g", Some(9)));
    assert!(error.what.contains("4 groups"), "{error}");
}

#[test]
fn ids_change_with_the_content_of_every_file_that_is_named() {
    let base = id("base", [FILE, SCHEME, NET, SIZES, LIST]);
    assert_eq!(base, id("same", [FILE, SCHEME, NET, SIZES, LIST]));
    let own = SCHEME.replace("\"newreno\"", "\"newreno\", min_rto = \"9ms\"");
    let (net, sizes, list) = (NET.replace("1us", "2us"), SIZES.replace("20", "21"), LIST.replace(",5", ",6"));
    let file = FILE.replace("0.5", "0.6");
    for (name, files) in [
        ("file", [&*file, SCHEME, NET, SIZES, LIST]),
        ("scheme", [FILE, &own, NET, SIZES, LIST]),
        ("net", [FILE, SCHEME, &net, SIZES, LIST]),
        ("sizes", [FILE, SCHEME, NET, &sizes, LIST]),
        ("list", [FILE, SCHEME, NET, SIZES, &list]),
    ] {
        assert_ne!(base, id(name, files), "{name}");
    }
    // Comments and a default written out change nothing.
    let commented =
        format!("# the same\n{}", FILE.replace("\"1ms\" }", "\"1ms\", drain = true } # all of it"));
    let stated = SCHEME.replace("\"newreno\"", "\"newreno\", dup_threshold = 3");
    assert_eq!(base, id("comment", [&commented, &stated, NET, SIZES, LIST]));
}

#[test]
fn assumptions_are_words_and_change_no_id() {
    let base = id("silent", [FILE, SCHEME, NET, SIZES, LIST]);
    let file = format!("assumptions = [\"load-counts\"]\n{FILE}");
    let own = format!("assumptions = [\"min-rto\", \"buffers\"]\n{SCHEME}");
    assert_eq!(base, id("assuming", [&*file, &own, NET, SIZES, LIST]));
}

#[test]
fn what_an_experiment_is_called_and_where_it_is_from_change_no_id() {
    let base = id("plain", [FILE, SCHEME, NET, SIZES, LIST]);
    let words = "title = \"Others\"\npaper = \"TOP\"\nfigure = \"Fig. 4\"\nquote = \"so\"";
    let file = FILE.replace("title = \"Ids\"", words);
    assert_eq!(base, id("words", [&*file, SCHEME, NET, SIZES, LIST]));
}

#[test]
fn every_value_of_an_experiment_changes_its_ids() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture/plain.toml");
    let base = sized(&path, Size::Default).runs[0].id.clone();
    let mut seen = BTreeSet::from([base]);
    for (key, value) in [
        ("time.start", "\"empty\""),
        ("time.arrivals", "\"stop\""),
        ("time.warmup", "\"3ms\""),
        ("time.measure", "\"21ms\""),
        ("time.drain", "false"),
        ("time.limit", "\"7s\""),
        ("frame.mtu", "\"1400B\""),
        ("frame.gap", "\"12B\""),
        ("topology.leaves", "3"),
        ("topology.spines", "3"),
        ("topology.hosts_per_leaf", "9"),
        ("topology.host_link.rate", "\"1Gbps\""),
        ("topology.host_link.delay", "\"2us\""),
        ("topology.host_link.loss", "0.001"),
        ("topology.fabric_link.rate", "\"30Gbps\""),
        ("topology.paths", "\"pinned\""),
        ("host_delay", "\"1us\""),
        ("sample_every", "\"1us\""),
        ("host.send_jitter", "\"0.5pkt\""),
        ("group.all.hosts", "\"0-7\""),
        ("group.all.to", "\"all\""),
        ("group.all.class", "0"),
        ("group.all.reach", "\"other_racks\""),
        ("group.all.sizes", "\"data_mining\""),
        ("group.all.load.value", "0.61"),
        ("group.all.load.counts", "\"wire\""),
        ("scheme.dctcp.transport.g", "\"1/8\""),
        ("scheme.dctcp.transport.handshake", "\"none\""),
        ("scheme.dctcp.nic.limit", "\"100pkt\""),
        ("scheme.dctcp.port.buffer.shared", "\"241pkt\""),
        ("scheme.dctcp.port.ecn.per", "\"queue\""),
        ("scheme.dctcp.port.ecn.at.\"10Gbps\"", "\"66pkt\""),
        ("metrics.classes.small.below", "\"99kB\""),
    ] {
        let options = Options { sets: vec![(key.into(), value.into())], ..Options::default() };
        let plan = plan::plan(&path, &options).unwrap_or_else(|error| panic!("{error}"));
        let new = seen.insert(plan.runs[0].id.clone());
        // Class 0 is what a group asks for anyhow.
        assert_eq!(new, key != "group.all.class", "{key}");
    }
    // A load of the core that it can carry.
    let sets = [("group.all.load.of", "\"core\""), ("group.all.load.value", "0.4")];
    let sets = sets.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let plan = plan::plan(&path, &Options { sets, ..Options::default() });
    assert!(seen.insert(plan.unwrap_or_else(|error| panic!("{error}")).runs[0].id.clone()));
}
