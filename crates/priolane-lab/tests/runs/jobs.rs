//! Jobs: from a list of flows and steps to the metrics of a run.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options};
use priolane_results::record::RunRecord;

/// One packet of 1460 B over two links of 10 Gbps and 1 us, in seconds.
const PACKET: f64 = 4.460_8e-6;

fn run(folder: &Path, groups: &[(&str, &str)], more: &str) -> RunRecord {
    let mut text = r#"title = "Jobs"
schemes = ["plain"]
scheme = { plain = { base = "newreno", transport = { handshake = "none" } } }
host = { send_jitter = "0ns" }
time = { flows = COUNT }
topology = { kind = "single_switch", hosts = 6, host_link = { rate = "10Gbps", delay = "1us" } }
"#
    .to_owned();
    text += more;
    let mut count = 0;
    for (name, rows) in groups {
        let list = format!("start_ns,src,dst,bytes,coflow,after,delay_ns\n{rows}");
        count += rows.lines().filter(|row| row.split(',').nth(3) != Some("0")).count();
        std::fs::write(folder.join(format!("{name}.csv")), list).unwrap();
        text +=
            &format!("[[group]]\nname = \"{name}\"\nhosts = \"*\"\napp = \"flows\"\nlist = \"{name}.csv\"\n");
    }
    let time = if groups.len() == 1 { format!("flows = {count}") } else { "measure = \"50ms\"".to_owned() };
    let text = text.replace("flows = COUNT", &time);
    let plan = plan::from_text("x.toml", &text, folder, &Options::default()).unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    let done = execute(&plan.runs[0], &folder.join("out"), &settings, &mut |_| ControlFlow::Continue(()));
    done.unwrap().record().clone()
}

fn is(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?}, not {expected}");
}

#[test]
fn a_job_takes_its_computations_and_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    // Host 0 sends to host 1, which computes for 250 us and answers; host 0 then computes for 100 us, and host 2 for 30 us.
    let rows = "0,0,1,1460,7,,\n0,1,1,0,,0,250000\n0,1,0,1460,7,1,\n0,0,0,0,,2,100000\n0,2,2,0,,,30000\n";
    let job = run(folder.path(), &[("a", rows)], "").jobs["all"].clone();
    let time = 2.0 * PACKET + 350e-6;
    assert_eq!(job.ranks, 3);
    is(job.time_s, time);
    is(job.exposed_s, 2.0 * PACKET);
    is(job.slowdown, 1.0);
    // Host 2 ends after 30 us, host 1 when it answers, and host 0 last.
    is(job.straggle_s, PACKET + 100e-6);
    is(job.computing, (250e-6 + 100e-6 + 30e-6) / 3.0 / time);
    // Two senders, 2920 bytes, from the first start to the delivery of the answer.
    let coflow = 2.0 * PACKET + 250e-6;
    assert!((job.bus_bandwidth_bps.unwrap() - 2_920.0 * 8.0 / (2.0 * coflow)).abs() < 1e-3);
}

#[test]
fn two_jobs_on_one_network_have_a_record_each() {
    let folder = tempfile::tempdir().unwrap();
    let classes = "metrics.classes = { first = { group = \"a\" }, second = { group = \"b\" }, small = { to = \"10kB\" } }\n";
    // Both send a packet to host 1 at once; the second job waits for the first one's packet.
    let a = "0,0,1,1460,,,\n0,1,1,0,,0,20000\n";
    let b = "0,2,1,1460,,,\n0,1,1,0,,0,20000\n";
    let record = run(folder.path(), &[("a", a), ("b", b)], classes);
    let time = |name: &str| record.jobs[name].time_s.unwrap();
    let alone = PACKET + 20e-6;
    let mut both = [time("first"), time("second")];
    both.sort_unstable_by(f64::total_cmp);
    is(Some(both[0]), alone);
    is(Some(both[1]), alone + 1.230_4e-6);
    is(Some(time("all")), both[1]);
    assert!(!record.jobs.contains_key("small"), "bounds of sizes name no job");
    let slowdowns = ["first", "second"].map(|name| record.jobs[name].slowdown.unwrap());
    is(Some(slowdowns[0].max(slowdowns[1])), (alone + 1.230_4e-6) / alone);
}

#[test]
fn groups_without_dependencies_and_closed_loops_are_no_jobs() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &[("a", "0,0,1,1460,,,\n")], "").jobs.is_empty());
}
