use std::path::Path;

use serde_json::Value;

use super::*;
use crate::thresholds::{Request, answer};

fn ask(text: &str) -> Result<Answer, priolane_source::InputError> {
    answer(&serde_json::from_str::<Request>(text).unwrap())
}

fn web(levels: u8, load: f64, solver: &str) -> Result<Answer, priolane_source::InputError> {
    ask(&format!(
        r#"{{"sizes": "web_search_pkt1460", "levels": {levels}, "load": {load}, "solver": "{solver}"}}"#
    ))
}

fn of<'a>(answer: &'a Answer, solver: &str) -> &'a Outcome {
    answer.solvers.iter().find(|s| s.solver == solver).unwrap()
}

fn list(name: &str, rows: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), format!("start_ns,src,dst,bytes\n{rows}")).unwrap();
    folder
}

fn recorded(folder: &Path, more: &str) -> Result<Answer, priolane_source::InputError> {
    let path = folder.join("flows.csv");
    ask(&format!(r#"{{"flows": {path:?}, "levels": 2, "load": 0.8{more}}}"#))
}

#[test]
fn every_solver_gives_thresholds_or_a_reason() {
    let two = web(2, 0.8, "all").unwrap();
    let names: Vec<&str> = two.solvers.iter().map(|s| s.solver).collect();
    assert_eq!(names, ["es", "opt", "opt2", "nos2", "closed_form", "basin_hopping", "published"]);
    for outcome in &two.solvers {
        assert_eq!(outcome.ladders.is_empty(), outcome.reason.is_some(), "{outcome:?}");
    }
    assert!(of(&two, "published").reason.as_ref().unwrap().contains("8 levels, not 2"));
    let eight = web(8, 0.8, "all").unwrap();
    assert_eq!(of(&eight, "published").ladders[0].thresholds[0], 909 * 1460);
    for solver in ["opt2", "closed_form"] {
        assert!(of(&eight, solver).reason.as_ref().unwrap().contains("2 levels, not 8"));
    }
    let other = web(8, 0.55, "all").unwrap();
    assert!(of(&other, "published").reason.as_ref().unwrap().contains("no thresholds are published"));
}

#[test]
fn nos2_is_opt2_in_switches_and_es8_in_hosts() {
    let answer = web(4, 0.8, "nos2").unwrap();
    let [switch, host] = &of(&answer, "nos2").ladders[..] else { panic!("{answer:?}") };
    assert_eq!((switch.place, &switch.thresholds[..]), (Some("switch"), &[1333 * 1460][..]));
    assert_eq!((host.place, host.levels, host.thresholds[6]), (Some("host"), 8, 2833 * 1460));
}

#[test]
fn costs_are_relative_to_the_least() {
    let answer = web(8, 0.8, "all").unwrap();
    let ladders: Vec<&Ladder> = answer.solvers.iter().flat_map(|s| &s.ladders).collect();
    assert!(ladders.iter().all(|l| l.relative.byte_share.unwrap() >= 1.0));
    assert_eq!(of(&answer, "opt").ladders[0].relative.byte_share, Some(1.0));
    // 3.8055 of the published table divided by 2.1613 of the optimum.
    let published = of(&answer, "published").ladders[0].relative;
    assert!((published.byte_share.unwrap() - 1.7607).abs() < 1e-3, "{published:?}");
    assert_eq!(published.pias_printed, None);
    assert!(ladders.iter().all(|l| l.relative.pias.unwrap() >= 1.0));
}

#[test]
fn the_closed_form_shows_its_fit() {
    let answer = web(2, 0.8, "closed_form").unwrap();
    let outcome = of(&answer, "closed_form");
    let fit = outcome.fit.unwrap();
    assert!((fit.p1 - 0.9141).abs() < 1e-4 && fit.mu1 > fit.mu2 && fit.distance < 0.5, "{fit:?}");
    assert!(fit.sojourn > 0.2 && fit.sojourn < 1.0, "{fit:?}");
    let threshold = outcome.ladders[0].thresholds[0] as f64;
    assert!((threshold / 3.42e6 - 1.0).abs() < 0.01, "{threshold}");
}

#[test]
fn recorded_flows_are_read_from_their_list() {
    // Three of 1000 B and one of 100 kB: bytes beyond 1000 B wait.
    let folder = list("flows.csv", "0,0,1,1000\n0,9,1,1000\n5,1,0,1000\n9,0,70,100000\n");
    let answer = recorded(folder.path(), "").unwrap();
    assert_eq!((answer.traffic.flows, answer.traffic.rows), (Some(4), 2));
    assert_eq!(answer.traffic.mean_bytes, 25_750.0);
    assert_eq!(of(&answer, "opt").ladders[0].thresholds, [1000]);
    assert_eq!(of(&answer, "opt2").ladders[0].thresholds, [1000]);
    assert_eq!(serde_json::to_value(&answer).unwrap()["traffic"]["interpolation"], Value::from("step"));
}

#[test]
fn wrong_requests_are_one_message() {
    let folder = list("flows.csv", "0,0,1,1000\n0,0,1,endless\n");
    let error = recorded(folder.path(), "").unwrap_err();
    assert_eq!((error.line, error.key.as_str()), (Some(3), "bytes"), "{error}");
    let folder = list("flows.csv", "0,0,1,1000\n0,0,1,-4\n");
    assert_eq!(recorded(folder.path(), "").unwrap_err().line, Some(3));
    let folder = list("flows.csv", "");
    assert!(recorded(folder.path(), "").unwrap_err().what.contains("no flows"));
    let folder = list("flows.csv", "0,0,1,1000\n");
    let error = recorded(folder.path(), r#", "interpolation": "linear""#).unwrap_err();
    assert_eq!(error.key, "interpolation");
    assert!(recorded(folder.path(), r#", "sizes": "imc10""#).unwrap_err().fix.contains("flows or sizes"));
    assert!(recorded(Path::new("/nowhere"), "").unwrap_err().what.contains("cannot be read"));
    let same = recorded(folder.path(), r#", "solver": "closed_form""#).unwrap_err();
    assert!(same.what.contains("no mix of two exponentials"), "{same}");
    assert_eq!(web(1, 0.5, "all").unwrap_err().key, "levels");
    assert_eq!(web(17, 0.5, "all").unwrap_err().key, "levels");
    for load in [0.0, 1.0, -0.5, 80.0] {
        assert_eq!(web(2, load, "all").unwrap_err().key, "load");
    }
    let error = web(4, 0.5, "closed_form").unwrap_err();
    assert!(error.what.contains("2 levels, not 4"), "{error}");
}
