//! A process of its own that writes made-up runs, series and all, through the library, so that tests can kill it: this test
//! program again, told by [`ASKED`] to be that process.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, exit};

use priolane_lab::execute::{FinishedRun, Job, Settings};
use priolane_lab::plan::{Load, MeasuredFlows, Options, ResolvedRun, Run, from_text};
use priolane_results::store::{RunId, Store};
use priolane_testkit::made_up::{EXPERIMENT, MadeUp};

/// The environment variable that asks for the process: `COUNT FLOWS DIR`.
const ASKED: &str = "PRIOLANE_WRITE_RUNS";

/// The process that writes `count` runs of at least `flows` flows to `directory`. It says `ready` once it begins, and `ran ID`
/// or `there ID` for each run; it exits with 1 and one message if a run cannot be written.
pub(crate) fn command(directory: &Path, count: usize, flows: u32) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "write_runs::process", "--ignored", "--nocapture", "--quiet"]);
    command.env(ASKED, format!("{count} {flows} {}", directory.to_str().unwrap()));
    command
}

#[test]
#[ignore = "no test, but the process that tests start and kill"]
fn process() {
    let Ok(asked) = std::env::var(ASKED) else { return };
    let [count, flows, directory] = asked.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{asked}") };
    let written = write_all(Path::new(directory), count.parse().unwrap(), Flows(flows.parse().unwrap()));
    exit(match written {
        Ok(()) => 0,
        Err(message) => {
            writeln!(io::stderr(), "{message}").unwrap();
            1
        }
    });
}

fn write_all(directory: &Path, count: u64, flows: Flows) -> Result<(), String> {
    let plan = from_text("made_up.toml", EXPERIMENT, Path::new("."), &Options::default());
    let run = plan.map_err(|e| e.to_string())?.runs.remove(0);
    writeln!(io::stdout(), "ready").map_err(|e| e.to_string())?;
    for number in 0..count {
        write(directory, &Run { id: format!("{number:016x}"), seed: number, ..run.clone() }, flows)?;
    }
    Ok(())
}

/// Number of flows of each run.
#[derive(Clone, Copy)]
struct Flows(u32);

fn write(directory: &Path, run: &Run, flows: Flows) -> Result<(), String> {
    let store = Store::open(directory).map_err(|e| e.to_string())?;
    let id = RunId::new(&run.id).ok_or("not a run id")?;
    let mut out = io::stdout();
    if store.accept(&id).is_some() {
        return writeln!(out, "there {}", id.as_str()).map_err(|e| e.to_string());
    }
    let made_up = MadeUp::with_flows(flows.0 + u32::try_from(run.seed).unwrap_or(0)).with_series(flows.0 / 8);
    let MadeUp { scenario, outcome, groups, measured, bare_fct } = made_up;
    let built = ResolvedRun {
        scenario: scenario.build().map_err(|e| e.to_string())?,
        groups,
        measured,
        bare_fct,
        with_handshake: None,
        under_way: Vec::new(),
        arrivals_continue: false,
        window: MeasuredFlows::All,
        load: Load::default(),
        warnings: Vec::new(),
        pricing: None,
        zero_loss: None,
        observed_port: None,
        deadlines: Vec::new(),
    };
    let job = Job { run, built: &built, store: &store, id: &id };
    let settings = Settings::default();
    let mut go_on = |_| ControlFlow::Continue(());
    let done = job.perform(&settings, None, &mut |_, _, _| Ok(outcome.clone()), &mut go_on);
    let word = match done.map_err(|e| e.to_string())? {
        FinishedRun::Simulated(_) => "ran",
        FinishedRun::AlreadyThere(_) => "there",
    };
    writeln!(out, "{word} {}", id.as_str()).and_then(|()| out.flush()).map_err(|e| e.to_string())
}
