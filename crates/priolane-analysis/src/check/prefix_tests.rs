//! Predictions from the first part of a list whose flows depend on each other.

use std::fmt::Write;
use std::path::Path;

use priolane_core::rng::{Purpose, Stream};
use priolane_lab::plan::Options;
use priolane_sim::dependencies::Work;

use super::*;

/// An experiment whose list has as many flows as it runs. Each flow waits for up to three earlier ones, and half of all
/// flows start before those that they wait for.
fn experiment(random: &mut Stream, flows: u64) -> (String, String) {
    let mut list = "start_ns,src,dst,bytes,after,delay_ns\n".to_owned();
    for row in 0..flows {
        let (start, src) = (random.below(1_000_000), random.below(4));
        let mut after: Vec<u64> = (0..random.below(4)).map(|_| random.below(row.max(1))).collect();
        after.sort_unstable();
        after.dedup();
        after.retain(|&other| other < row);
        let names: Vec<String> = after.iter().map(u64::to_string).collect();
        let delay = if after.is_empty() { "" } else { "1000" };
        let dst = (src + 1 + random.below(3)) % 4;
        let bytes = 1 + random.below(20_000);
        writeln!(list, "{start},{src},{dst},{bytes},{},{delay}", names.join("+")).unwrap();
    }
    let text = format!(
        r#"title = "A prefix"
schemes = ["dctcp", "newreno"]
seeds = 1
time = {{ flows = {flows}, limit = "1s" }}
topology = {{ kind = "single_switch", hosts = 4, host_link = {{ rate = "10Gbps", delay = "1us" }} }}
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = "list.csv"
"#
    );
    (text, list)
}

fn points(dir: &Path, (text, list): &(String, String)) -> Points {
    std::fs::write(dir.join("list.csv"), list).unwrap();
    plan::points_of("x.toml", text, dir, &Options::default()).unwrap()
}

#[test]
fn any_first_part_of_a_list_with_dependencies_is_predicted() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Stream::new(1, Purpose::Endpoint, 0);
    for _ in 0..priolane_rounds::rounds(20, 1_000) {
        let flows = 2 + random.below(40);
        let points = points(dir.path(), &experiment(&mut random, flows));
        for sample in [1, 1 + random.below(flows), flows - 1, flows + 1] {
            let part = RunPrefix::of(&points.points[0].experiment, flows, sample);
            let built = plan::build_at(&part.experiment, "dctcp", 1).unwrap();
            let count = built.scenario.flows.len();
            assert!(
                count as u64 <= flows && (count as u64).abs_diff(sample.min(flows)) <= 1,
                "{count} of {flows}"
            );
            for wait in &built.scenario.waits {
                let flows = wait.after.iter().map(|first| match first.work {
                    Work::Flow(flow) => flow,
                    Work::Step(_) => panic!("the list has no steps"),
                });
                assert!(flows.chain([wait.flow]).all(|flow| flow.index() < count), "{wait:?}");
            }
            let check = of_points(&points, (PACE, sample), &Interrupt::default()).unwrap();
            assert!(check.flows > 0 && check.packet_hops > 0);
        }
    }
}

#[test]
fn runs_of_a_list_that_is_longer_than_a_glance_have_costs() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Stream::new(2, Purpose::Endpoint, 0);
    let (text, list) = experiment(&mut random, GLANCE + 1);
    // The control names a flow that is not among the first.
    let control = format!("[[control]]\nat = \"1ms\"\nflow = {GLANCE}\nabort = true\n");
    let points = points(dir.path(), &(text + &control, list));
    let plan = points.plan(&Interrupt::default()).unwrap();
    assert!(costs(&plan, &Interrupt::default()).unwrap().iter().all(|&cost| cost > 0.0));
}
