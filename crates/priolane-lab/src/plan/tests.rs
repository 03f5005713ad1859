//! Plans: what a run is called by, what overlays and sweeps do.

use super::*;

const FILE: &str = r#"
title = "Two hosts"
schemes = ["dctcp", "nos2"]
seeds = 2
time = { measure = "1ms" }
[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.8 }
[sweep]
"group.all.load.value" = [0.5, 0.6]
[quick]
seeds = 1
"#;

fn planned(text: &str, options: &Options) -> Plan {
    from_text("test.toml", text, Path::new("."), options).unwrap()
}

fn ids(text: &str) -> Vec<String> {
    planned(text, &Options::default()).runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn runs_are_points_by_seeds_by_schemes() {
    let plan = planned(FILE, &Options::default());
    let order: Vec<(f64, u64, &str)> =
        plan.runs.iter().map(|r| (r.point[0].1.as_f64().unwrap(), r.seed, r.scheme.as_str())).collect();
    assert_eq!(
        order[..5],
        [(0.5, 1, "dctcp"), (0.5, 1, "nos2"), (0.5, 2, "dctcp"), (0.5, 2, "nos2"), (0.6, 1, "dctcp")]
    );
    assert_eq!(order.len(), 8);
    assert_eq!(plan.experiment.sweep[0].0, "group.all.load.value");
}

#[test]
fn ids_do_not_hang_on_comments_or_order_of_keys_but_on_values_and_seeds() {
    let base = ids(FILE);
    assert_eq!(base, ids(&FILE.replace("hosts = 4\n", "# four of them\n  hosts = 4\n")));
    let moved = FILE.replace("hosts = \"*\"\napp = \"poisson\"", "app = \"poisson\"\nhosts = \"*\"");
    assert_eq!(base, ids(&moved));
    let other = ids(&FILE.replace("\"1us\"", "\"2us\""));
    assert!(base.iter().zip(&other).all(|(a, b)| a != b));
    let distinct: std::collections::BTreeSet<&String> = base.iter().collect();
    assert_eq!(distinct.len(), base.len());
    // What only the drawing uses does not make a new run.
    assert_eq!(base, ids(&FILE.replace("seeds = 2", "seeds = 2\nmetrics = { baseline = \"dctcp\" }")));
}

#[test]
fn overlays_and_sets_change_the_plan() {
    let quick = planned(FILE, &Options { size: Size::Quick, ..Options::default() });
    assert_eq!(quick.runs.len(), 4);
    let set = Options { sets: vec![("group.all.load.value".into(), "0.7".into())], ..Options::default() };
    let fixed = planned(FILE, &set);
    assert_eq!((fixed.runs.len(), fixed.experiment.sweep.len()), (4, 0));
    let one = Options { schemes: Some(vec!["dctcp".into()]), seeds: Some(3), ..Options::default() };
    assert_eq!(planned(FILE, &one).runs.len(), 6);
}

#[test]
fn a_grid_beyond_the_limit_is_refused_before_it_is_made() {
    let error =
        from_text("f", &FILE.replace("seeds = 2", "seeds = 900000"), Path::new("."), &Options::default());
    assert!(error.unwrap_err().to_string().contains("3600000 runs"));
}

#[test]
fn thresholds_are_found_when_planned() {
    let plan = planned(FILE, &Options::default());
    let nos2 = &plan.runs[1].experiment.scheme["nos2"];
    // The byte-share optimum sits on the kink of the web search table at F = .8: 2 MB.
    assert_eq!(nos2.assign_thresholds().unwrap().bytes().unwrap(), [2_000_000]);
    assert_eq!(nos2.host_thresholds().unwrap().bytes().unwrap().len(), 7);
}

#[test]
fn the_flow_list_of_a_point_and_seed_is_the_same_for_all_schemes() {
    let plan = planned(FILE, &Options::default());
    let flows = |i: usize| build(&plan.runs[i]).unwrap().scenario.flows;
    assert_eq!(flows(0), flows(1));
    assert_ne!(flows(0), flows(2));
}
