//! Writes made-up runs, series and all, through the library, as a process that tests can kill: `write-runs DIR COUNT FLOWS`.
//!
//! Prints `ready` once it begins, and `ran ID` or `there ID` per run; exits 1 with one message if a run cannot be written.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use priolane_lab::execute::{Done, Job, Settings};
use priolane_lab::plan::{Built, Load, Run};
use priolane_lab::results::store::{RunId, Store};

#[path = "../fixture/mod.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with tests of the library")]
mod fixture;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, count, flows] = arguments.as_slice() else { return ExitCode::from(2) };
    let (Ok(count), Ok(flows)) = (count.parse(), flows.parse()) else { return ExitCode::from(2) };
    let run = fixture::plan().runs.remove(0);
    if writeln!(io::stdout(), "ready").is_err() {
        return ExitCode::FAILURE;
    }
    for number in 0..count {
        let run = Run { id: format!("{number:016x}"), seed: number, ..run.clone() };
        if let Err(message) = write(Path::new(directory), &run, Flows(flows)) {
            let _ = writeln!(io::stderr(), "{message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
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
    let fixture =
        fixture::Fixture::with_flows(flows.0 + u32::try_from(run.seed).unwrap_or(0)).with_series(flows.0 / 8);
    let outcome = fixture.outcome.clone();
    let fixture::Fixture { scenario, groups, measured, bare_fct, .. } = fixture;
    let built = Built {
        scenario,
        groups,
        measured,
        bare_fct,
        with_handshake: None,
        window: priolane_lab::plan::Measured::All,
        load: Load::default(),
        warnings: Vec::new(),
        pricing: None,
        zero_loss: None,
        judged: None,
        deadlines: Vec::new(),
    };
    let job = Job { run, built: &built, store: &store, id: &id };
    let settings = Settings::default();
    let mut go_on = |_| ControlFlow::Continue(());
    let done = job.perform(&settings, None, &mut |_, _, _| Ok(outcome.clone()), &mut go_on);
    let word = match done.map_err(|e| e.to_string())? {
        Done::Ran(_) => "ran",
        Done::AlreadyThere(_) => "there",
    };
    writeln!(out, "{word} {}", id.as_str()).and_then(|()| out.flush()).map_err(|e| e.to_string())
}
