use std::fs;

use priolane_core::units::Span;
use priolane_lab::plan::{self, Definition, Options};
use priolane_workload::flow_list;

use super::drawn;

const EXPERIMENT: &str = r#"
title = "Two tenants and a ring"
schemes = ["dctcp"]
time = { warmup = "1ms", measure = "4ms", drain = true }
[topology]
kind = "single_switch"
hosts = 6
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "web"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.4 }
[[group]]
name = "first"
hosts = "0-2"
app = "ring"
reduced = "300kB"
compute = "1ms"
[[group]]
name = "second"
hosts = "3-5"
app = "ring"
reduced = "300kB"
compute = "1ms"
"#;

/// The list without its column `group`, and that column.
fn split_groups(text: &str) -> (String, Vec<String>) {
    let place = text.lines().next().unwrap().split(',').position(|name| name == "group").unwrap();
    let (mut list, mut groups) = (String::new(), Vec::new());
    for line in text.lines() {
        let mut cells: Vec<&str> = line.split(',').collect();
        groups.push(cells.remove(place).to_owned());
        list += &(cells.join(",") + "\n");
    }
    (list, groups.split_off(1))
}

#[test]
fn the_drawn_list_has_the_flows_that_the_run_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    fs::write(&path, EXPERIMENT).unwrap();
    let text = drawn(&Definition::from_path(&path).unwrap(), &Options::default()).unwrap();
    let (text, groups) = split_groups(&text);
    let rows = flow_list::read_rows(text.as_bytes(), "drawn.csv", 6).unwrap();
    let plan = plan::plan(&path, &Options::default()).unwrap();
    let built = plan::build(&plan.runs[0]).unwrap();
    assert_eq!(rows.len(), built.scenario.flows.len());
    assert!(rows.len() > 30, "{}", rows.len());
    for (row, flow) in rows.iter().zip(built.scenario.flows.iter()) {
        let parts = |of: &priolane_core::endpoint::FlowSpec| (of.id, of.src, of.dst, of.size, of.start);
        assert_eq!(parts(&row.flow), parts(&flow));
    }
    let of_groups = built.scenario.flows.iter().map(|flow| flow.group.to_string());
    assert_eq!(groups, of_groups.collect::<Vec<_>>());
    assert!(["0", "1", "2"].iter().all(|group| groups.iter().any(|found| found == group)));
    let waiting: Vec<_> = rows.iter().filter(|row| !row.after.is_empty()).collect();
    assert_eq!(waiting.len(), built.scenario.waits.len());
    // A host computes for 1 ms between two iterations. Within one it waits for what itself received, which takes no time.
    let delays: Vec<_> = waiting.iter().map(|row| row.delay.unwrap_or(Span::ZERO)).collect();
    assert_eq!(delays, built.scenario.waits.iter().map(|wait| wait.after[0].delay).collect::<Vec<_>>());
    assert!(delays.contains(&Span::ZERO) && delays.contains(&Span(1_000_000_000)), "{delays:?}");
    // Both rings number their coflows from 0; those of the list are apart.
    let of = |hosts: std::ops::Range<u16>| -> Vec<u32> {
        let own = rows.iter().filter(|row| hosts.contains(&row.flow.src.0));
        own.filter_map(|row| row.flow.coflow.map(|coflow| coflow.number())).collect()
    };
    let (first, second) = (of(0..3), of(3..6));
    assert!(!first.is_empty() && !second.is_empty());
    assert!(first.iter().all(|coflow| !second.contains(coflow)));
}

#[test]
fn a_mistake_in_the_file_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    fs::write(&path, EXPERIMENT.replace("web_search", "nobody")).unwrap();
    let error = drawn(&Definition::from_path(&path).unwrap(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("nobody"), "{error}");
}

#[test]
fn a_drawn_list_has_the_columns_that_some_flow_needs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    let header = |web: &str, rings: bool| {
        let (head, groups) = EXPERIMENT.split_once("[[group]]\nname = \"first\"").unwrap();
        let head = head.replace("hosts = \"*\"\n", &format!("hosts = \"*\"\n{web}"));
        let groups = if rings { format!("[[group]]\nname = \"first\"{groups}") } else { String::new() };
        fs::write(&path, head + &groups).unwrap();
        drawn(&Definition::from_path(&path).unwrap(), &Options::default())
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    let all = "deadline = \"1ms\"\n";
    let some = "deadline = [{ share = 0.5, within = \"1ms\" }, { share = 0.5 }]\n";
    assert_eq!(header("", false), "start_ns,src,dst,bytes,group");
    assert_eq!(header("", true), "start_ns,src,dst,bytes,group,coflow,after,delay_ns");
    for deadlines in [all, some] {
        assert_eq!(header(deadlines, false), "start_ns,src,dst,bytes,group,deadline_ns");
        assert_eq!(header(deadlines, true), "start_ns,src,dst,bytes,group,deadline_ns,coflow,after,delay_ns");
    }
}
