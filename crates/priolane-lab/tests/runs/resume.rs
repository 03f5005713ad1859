//! Sweeps that are killed, raced or out of room: what is in the directory is whole, and nothing is done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use priolane_lab::execute::{FinishedRun, Settings, execute, reuse_from};
use priolane_lab::plan::{self, Options, Plan};
use priolane_results::compare::{RunComparison, compare};
use priolane_results::store::Store;

use crate::write_runs;

/// A small experiment, whose words are `words`.
fn figure(words: &str) -> Plan {
    let text = format!(
        r#"{words}
schemes = ["newreno"]
time = {{ flows = 20, limit = "1s" }}
topology = {{ kind = "single_switch", hosts = 3, host_link = {{ rate = "1Gbps", delay = "1us" }} }}
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "imc10"
load = {{ of = "host", counts = "payload", value = 0.3 }}
"#
    );
    plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap()
}

#[test]
fn a_run_that_another_figure_has_is_taken_over_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["fig1", "fig2"].map(|name| folder.path().join(name));
    let one = figure("title = \"One\"\nfigure = \"Fig. 1\"");
    let two = figure("title = \"Two\"");
    let go_on = &mut |_| ControlFlow::Continue(());
    let settings = Settings { verify: true, ..Settings::default() };
    let ran = execute(&one.runs[0], &first, &settings, go_on).unwrap();
    assert!(matches!(ran, FinishedRun::Simulated(_)));
    let run = &two.runs[0];
    let none = Store::at(&folder.path().join("none"));
    assert!(!reuse_from(run, &Store::open(&second).unwrap(), &[]).unwrap(), "nobody is asked");
    assert!(
        !reuse_from(run, &Store::open(&second).unwrap(), std::slice::from_ref(&none)).unwrap(),
        "nobody has it"
    );
    assert!(reuse_from(run, &Store::open(&second).unwrap(), &[none, Store::at(&first)]).unwrap());
    // Verified by the first figure, so it is not run again.
    let FinishedRun::AlreadyThere(own) = execute(run, &second, &settings, go_on).unwrap() else { panic!() };
    assert_eq!((own.title.as_str(), &own.digest), ("Two", &ran.record().digest));
    assert_eq!(ran.record().title, "One");
    // What a damaged copy holds is taken from nobody.
    let third = folder.path().join("fig3");
    let flows = first.join(&run.id).join("flows.parquet");
    fs::remove_file(&flows).unwrap();
    fs::write(&flows, "no table").unwrap();
    assert!(!reuse_from(run, &Store::open(&third).unwrap(), &[Store::at(&first)]).unwrap());
    assert!(
        reuse_from(run, &Store::open(&third).unwrap(), &[Store::at(&second)]).unwrap(),
        "its own is another file by now"
    );
}

/// Runs of a sweep that is killed.
const RUNS: usize = 30;
const FLOWS: u32 = 4_000;

fn writer(directory: &Path, runs: usize) -> Command {
    let mut command = write_runs::command(directory, runs, FLOWS);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the output of a writer that must succeed.
fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The ids of the runs that a writer says it ran.
fn ran(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("ran ")).map(str::to_owned).collect()
}

/// Every directory with a run's name, and its digest: all of them must be whole.
fn digests(directory: &Path) -> BTreeMap<String, String> {
    let store = Store::at(directory);
    let names = store.names().unwrap_or_default();
    let whole = |id| store.accept(id).unwrap_or_else(|| panic!("{id:?} is visible but not whole"));
    names.iter().map(|id| (id.as_str().to_owned(), whole(id).digest)).collect()
}

/// Names in the directory that are neither runs nor the lock.
fn litter(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|n| n != ".lock" && n.len() != 16).collect()
}

/// Delays up to `longest`, different from kill to kill and the same in every run of the test (xorshift).
fn delays(longest: Duration) -> impl Iterator<Item = Duration> {
    let mut x = 0x9E37_79B9_u32;
    std::iter::repeat_with(move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        longest * (x % 1000) / 1000
    })
}

/// Returns the output of a whole sweep into `directory`, and the time that it takes per run.
#[allow(clippy::disallowed_methods, reason = "kills are spread over the time that a run takes here and now")]
fn timed(directory: &Path) -> (String, Duration) {
    let start = std::time::Instant::now();
    let output = finish(writer(directory, RUNS).spawn().unwrap());
    (output, start.elapsed() / RUNS as u32)
}

#[test]
#[ignore = "kills: make soak"]
fn a_sweep_killed_at_any_moment_resumes_where_it_stopped() {
    let [killed, whole] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let (output, per_run) = timed(whole.path());
    assert_eq!(ran(&output).len(), RUNS);
    let (mut kills, mut seen_half_written) = (0, 0);
    for delay in delays(per_run * 4).take(priolane_rounds::rounds(12, 200) as usize) {
        let before = digests(killed.path());
        let mut child = writer(killed.path(), RUNS).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let begun = out.by_ref().lines().any(|line| line.unwrap() == "ready");
        assert!(begun, "the writer said nothing");
        let mut output = String::new();
        sleep(delay);
        child.kill().unwrap();
        out.read_to_string(&mut output).unwrap();
        kills += u32::from(!child.wait().unwrap().success());
        seen_half_written += litter(killed.path()).len();
        let repeated: Vec<String> = ran(&output).into_iter().filter(|id| before.contains_key(id)).collect();
        assert!(repeated.is_empty(), "{repeated:?} were whole and run again");
        for (id, digest) in digests(killed.path()) {
            assert!(before.get(&id).is_none_or(|d| *d == digest), "{id} changed");
        }
    }
    assert!(kills > 0, "no writer was killed: the delays are too long");
    assert!(seen_half_written > 0, "no writer was killed while it wrote: the test shows nothing");
    let before: BTreeSet<String> = digests(killed.path()).into_keys().collect();
    let last = finish(writer(killed.path(), RUNS).spawn().unwrap());
    assert_eq!(ran(&last).len(), RUNS - before.len());
    assert_eq!(digests(killed.path()), digests(whole.path()));
    assert_eq!(litter(killed.path()), Vec::<String>::new());
    let comparison = compare(killed.path(), whole.path()).unwrap();
    assert!(
        comparison.common.len() == RUNS
            && comparison.common.iter().all(|run| run.outcome == RunComparison::Equal)
    );
}

#[test]
fn writers_at_once_share_the_work_and_corrupt_nothing() {
    let runs = priolane_rounds::rounds(12, 60) as usize;
    let [together, alone] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let children = [0; 4].map(|_| writer(together.path(), runs).spawn().unwrap());
    let published: Vec<String> = children.into_iter().flat_map(|child| ran(&finish(child))).collect();
    let distinct: BTreeSet<&String> = published.iter().collect();
    assert_eq!((published.len(), distinct.len()), (runs, runs), "a run was published twice, or not at all");
    finish(writer(alone.path(), runs).spawn().unwrap());
    assert_eq!(digests(together.path()), digests(alone.path()));
    assert_eq!(litter(together.path()), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn no_room_is_one_message_and_nothing_half_visible() {
    let directory = tempfile::tempdir().unwrap();
    // A limit of 8 blocks (4 or 8 kB) on files, and SIGXFSZ ignored so that writing fails as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let writer = write_runs::command(directory.path(), 1, 100_000);
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(writer.get_program())
        .args(writer.get_args())
        .envs(writer.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("cannot write ") && message.contains("flows.parquet"), "{message}");
    assert!(message.contains("File too large"), "{message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    assert!(digests(directory.path()).is_empty());
    assert_eq!(litter(directory.path()), Vec::<String>::new());
    let output = write_runs::command(directory.path(), 1, 1_000).output();
    assert!(output.unwrap().status.success(), "with room again, the run is made");
}
