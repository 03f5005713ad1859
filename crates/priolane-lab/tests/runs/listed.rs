//! Flow lists that state paths or differ by seed, and groups that only receive.

use priolane_core::ids::HostId;
use priolane_lab::plan::{self, Options, Plan};
use priolane_sim::scenario::Scenario;
use priolane_source::InputError;

const EXPERIMENT: &str = r#"title = "Two racks"
schemes = ["dctcp"]
seeds = 2
time = { flows = 100 }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 3
hosts_per_leaf = 2
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "10Gbps", delay = "1us" }
paths = "pinned"
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = "f.csv"
"#;

/// `EXPERIMENT` with `changes`, beside these files.
fn planned(files: &[(&str, &str)], changes: &[(&str, &str)]) -> Result<Plan, InputError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut text = EXPERIMENT.to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    plan::from_text("x.toml", &text, folder.path(), &Options::default())
}

fn built(plan: &Plan, seed: u64) -> Scenario {
    let run = plan.runs.iter().find(|run| run.seed == seed).unwrap();
    plan::build(run).unwrap().scenario
}

/// The spine of each flow from one rack to the other.
fn spines(scenario: &Scenario) -> Vec<String> {
    let topology = &scenario.topology;
    let by = |flow: priolane_core::endpoint::FlowSpec| {
        let path = topology.path(flow.src, flow.dst, flow.entropy);
        topology.names[topology.links[path[1].index()].to.index()].clone()
    };
    scenario.flows.iter().map(by).collect()
}

#[test]
fn a_list_states_the_path_of_each_flow_and_leaves_others_as_they_were() {
    let plain = "start_ns,src,dst,bytes\n0,0,2,1460\n0,1,3,1460\n0,2,0,1460\n0,3,1,1460\n";
    let stated = "start_ns,src,dst,bytes,path\n0,0,2,1460,2\n0,1,3,1460,\n0,2,0,1460,0\n0,3,1,1460,1\n";
    let (plain, stated) =
        [plain, stated].map(|list| built(&planned(&[("f.csv", list)], &[]).unwrap(), 1)).into();
    let (before, after) = (spines(&plain), spines(&stated));
    assert_eq!((&*after[0], &*after[2], &*after[3]), ("spine2", "spine0", "spine1"));
    assert_eq!((&after[1], plain.flows.at(1).entropy), (&before[1], stated.flows.at(1).entropy));
}

#[test]
fn a_list_in_place_and_pairs_state_paths_too() {
    let list = "list = [{ src = 0, dst = 2, size = \"1kB\", path = 1 }]";
    let plan = planned(&[], &[("list = \"f.csv\"", list)]).unwrap();
    assert_eq!(spines(&built(&plan, 1)), ["spine1"]);
    assert_eq!(plan.runs[0].merged["group"][0]["list"][0]["path"], 1);
    let pairs = "pairs = [{ src = 0, dst = 2, path = 2 }]\nsize = \"1kB\"";
    let plan = planned(&[], &[("\"flows\"", "\"long_lived\""), ("list = \"f.csv\"", pairs)]).unwrap();
    assert_eq!(spines(&built(&plan, 1)), ["spine2"]);
}

#[test]
fn paths_that_would_not_be_taken_are_refused() {
    let list = |path: &str| format!("start_ns,src,dst,bytes,path\n0,0,2,1460,\n0,0,2,1460,{path}\n");
    let good = list("2");
    let error = |list: &str, changes: &[(&str, &str)]| {
        let error = planned(&[("f.csv", list)], changes).unwrap_err();
        assert!(!error.fix.is_empty() && error.line.is_some(), "{error}");
        error
    };
    for paths in ["hashed", "spray", "round_robin", "drill", "racks", "splitmix64"] {
        let sprayed = error(&good, &[("pinned", paths)]);
        assert_eq!(sprayed.key, "group.all.list", "{sprayed}");
        assert!(sprayed.what.contains("row 1 of f.csv") && sprayed.what.contains(paths), "{sprayed}");
    }
    let beyond = error(&list("3"), &[]);
    assert!(beyond.what.contains("has path 3, but host 0 has only 3 paths to host 2"), "{beyond}");
    let within_a_rack = error("start_ns,src,dst,bytes,path\n0,0,1,1460,1\n", &[]);
    assert!(within_a_rack.what.contains("host 0 has only 1 paths to host 1"), "{within_a_rack}");
    for bad in ["-1", "x", "70000"] {
        let error = error(&list(bad), &[]);
        assert_eq!((error.file.as_str(), error.line, &*error.key), ("f.csv", Some(3), "path"), "{error}");
    }
    let tokens = planned(&[("f.csv", &good)], &[("[\"dctcp\"]", "[\"expresspass\"]")]).unwrap_err();
    assert!(tokens.what.contains("chooses the paths itself"), "{tokens}");
    let pairs = "pairs = [{ src = 0, dst = 2, path = 3 }]\nsize = \"1kB\"";
    let pair = error("", &[("\"flows\"", "\"long_lived\""), ("list = \"f.csv\"", pairs)]);
    assert!(pair.key == "group.all.pairs" && pair.what.contains("pair 0 has path 3"), "{pair}");
}

#[test]
fn flows_of_a_connection_take_the_path_of_its_first() {
    let free = ("paths = \"pinned\"\n", "");
    let rows = |names: [&str; 8]| {
        let row = |(at, name): (usize, &str)| format!("{at},{},2,1460,{name}\n", at % 2);
        let rows: String = names.into_iter().enumerate().map(row).collect();
        format!("start_ns,src,dst,bytes,connection\n{rows}")
    };
    let of = |list: &str| spines(&built(&planned(&[("f.csv", list)], &[free]).unwrap(), 1));
    let own = of(&rows([""; 8]));
    // Hosts 0 and 1 take turns; the last two flows have connections of their own.
    let shared = of(&rows(["a", "a", "a", "a", "a", "a", "", "b"]));
    assert_eq!([&shared[0], &shared[1]], [&own[0], &own[1]]);
    assert!((2..6).all(|flow| shared[flow] == own[flow % 2]), "{shared:?}");
    assert_eq!(shared[6..], own[6..]);
    assert!((2..6).any(|flow| own[flow] != own[flow % 2]), "paths of their own differ: {own:?}");
    // One for each pair of hosts does the same without a column.
    let pairs =
        planned(&[("f.csv", &rows([""; 8]))], &[free, ("list = ", "connections = \"per_pair\"\nlist = ")]);
    let pairs = spines(&built(&pairs.unwrap(), 1));
    assert!((2..8).all(|flow| pairs[flow] == own[flow % 2]), "{pairs:?}");
}

#[test]
fn each_seed_may_have_a_list_of_its_own() {
    let lists = [
        ("f_1.csv", "start_ns,src,dst,bytes\n0,0,2,1000\n"),
        ("f_2.csv", "start_ns,src,dst,bytes,class\n0,1,3,2000,0\n5,0,1,10,0\n"),
    ];
    let by_seed = [("\"f.csv\"", "\"f_{seed}.csv\"")];
    let plan = planned(&lists, &by_seed).unwrap();
    let sizes = |seed| built(&plan, seed).flows.iter().map(|f| f.size.unwrap()).collect::<Vec<_>>();
    assert_eq!((sizes(1), sizes(2)), (vec![1000], vec![2000, 10]));
    // A run depends on its own list and on no other.
    let longer = [lists[0], ("f_2.csv", "start_ns,src,dst,bytes\n0,1,3,2001\n")];
    let ids = |plan: &Plan| plan.runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
    let (before, after) = (ids(&plan), ids(&planned(&longer, &by_seed).unwrap()));
    assert!(before[0] == after[0] && before[1] != after[1], "{before:?} {after:?}");
    let one = planned(&lists, &[by_seed[0], ("seeds = 2", "seeds = 1")]).unwrap();
    assert_eq!(ids(&one), before[..1]);
}

#[test]
fn listed_seeds_read_the_lists_of_their_numbers() {
    let lists = [
        ("f_2.csv", "start_ns,src,dst,bytes\n0,1,3,2000\n"),
        ("f_7.csv", "start_ns,src,dst,bytes\n0,0,2,700\n"),
    ];
    let listed = [("\"f.csv\"", "\"f_{seed}.csv\""), ("seeds = 2", "seeds = [7, 2]")];
    let plan = planned(&lists, &listed).unwrap();
    let size = |seed| built(&plan, seed).flows.at(0).size.unwrap();
    assert_eq!((size(7), size(2)), (700, 2000));
    // The same seed is the same run, however it is asked for.
    let first = ("f_1.csv", lists[0].1);
    let counted = planned(&[first, lists[0]], &listed[..1]).unwrap();
    assert_eq!(counted.runs[1].id, plan.runs[1].id);
    let missing = planned(&lists[..1], &listed).unwrap_err();
    assert!(missing.what.contains("f_7.csv") && missing.key == "group.all.list", "{missing}");
}

#[test]
fn lists_of_seeds_that_cannot_be_read_are_not_missed() {
    let by_seed = ("list = \"f.csv\"", "list = \"f_{seed}.csv\"\nafter_delay = \"1us\"");
    let error = planned(&[], &[by_seed, ("seeds = 2", "seeds = [7, 7]")]).unwrap_err();
    assert!(error.key == "seeds[1]" && error.what.contains("listed twice"), "{error}");
    assert!(error.others.mistakes().is_empty(), "{error}");
}

#[test]
fn a_list_that_a_seed_lacks_or_that_is_wrong_is_named() {
    let first = ("f_1.csv", "start_ns,src,dst,bytes\n0,0,2,1000\n");
    let by_seed = [("\"f.csv\"", "\"f_{seed}.csv\"")];
    let missing = planned(&[first], &by_seed).unwrap_err();
    assert!(missing.what.contains("f_2.csv") && missing.key == "group.all.list", "{missing}");
    let wrong = planned(&[first, ("f_2.csv", "start_ns,src,dst,bytes\n0,0,2,0\n")], &by_seed).unwrap_err();
    assert_eq!((wrong.file.as_str(), wrong.line), ("f_2.csv", Some(2)), "{wrong}");
}

#[test]
fn a_group_that_only_receives_is_a_target_and_sends_nothing() {
    let senders = "hosts = \"0-2\"\nto = \"sink\"\napp = \"permutation\"\nsize = \"10kB\"";
    let changes = [
        ("hosts = \"*\"", ""),
        ("app = \"flows\"", senders),
        ("list = \"f.csv\"", "[[group]]\nname = \"sink\"\nhosts = \"3\"\napp = \"none\""),
        ("size = \"10kB\"", "size = \"10kB\""),
        ("\"permutation\"", "\"long_lived\"\npairs = { rule = \"all_pairs\" }"),
    ];
    let plan = planned(&[], &changes).unwrap();
    let scenario = built(&plan, 1);
    assert_eq!(scenario.flows.len(), 3);
    assert!(scenario.flows.iter().all(|f| f.dst == HostId(3) && f.group == 0));
    // What `check` prints of it is the group again.
    let sink = &plan.runs[0].merged["group"][1];
    assert_eq!(sink, &serde_json::json!({ "name": "sink", "hosts": "3", "app": "none" }));
}

#[test]
fn what_a_group_that_only_receives_cannot_have_is_refused() {
    let with = |keys: &str, more: &str| {
        let group = format!("hosts = \"*\"\napp = \"none\"\n{keys}");
        let changes = [("hosts = \"*\"", &*group), ("app = \"flows\"\nlist = \"f.csv\"", more)];
        planned(&[], &changes).unwrap_err()
    };
    let alone = with("", "");
    assert!(alone.key == "group" && alone.what.contains("no group sends"), "{alone}");
    let sending = "[[group]]\nname = \"senders\"\nhosts = \"*\"\napp = \"permutation\"\nsize = \"1kB\"\n";
    for key in ["to = \"*\"", "class = 1", "deadline = \"1ms\"", "size = \"1kB\"", "w = 2"] {
        let error = with(key, sending);
        let name = key.split(' ').next().unwrap();
        assert_eq!(error.key, format!("group.all.{name}"), "{error}");
    }
    let nowhere = with("", &sending.replace("hosts = \"*\"", "hosts = \"9\""));
    assert!(nowhere.what.contains("unknown host 9"), "{nowhere}");
    let class = "[metrics.classes]\nreceived = { group = \"all\" }\n";
    let empty = with("", &format!("{sending}{class}"));
    assert!(empty.what.contains("sends no flows"), "{empty}");
}
