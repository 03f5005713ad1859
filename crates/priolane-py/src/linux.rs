//! Runs of a plan on a testbed of network namespaces, or on several machines.

use std::io::{self, BufReader};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use priolane_linux::agent::{self, Agent};
use priolane_linux::command::GoOn;
use priolane_linux::guard::{self, Guard};
use priolane_linux::host;
use priolane_linux::journal::{DIRECTORY, Journal, JournalState};
use priolane_linux::leftovers::{self, Leftover};
use priolane_linux::machines::{self, MachinesJob};
use priolane_linux::plan::{Name, PlanError, TestbedPlan};
use priolane_linux::probe::Machine;
use priolane_linux::run::{self, OnProgress, Progress, RunError, RunJob, TestbedReport};
use priolane_linux::steps::steps;
use priolane_linux::switch;
use priolane_linux::testbed::{self, Testbed, TestbedError};
use priolane_testbed::{Choices, SwitchKind};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::errors::{CannotHere, InputError, RunFailed, Stopped};
use crate::request::{request, response};

/// The way in which a run is to be measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobRequest {
    /// The name of the testbed.
    pub(crate) name: String,
    /// The scale; `None` for the usual one.
    pub(crate) scale: Option<NonZeroU64>,
    /// The kind of the switches; `None` for switches of the kernel where they can be.
    pub(crate) switch: Option<SwitchKind>,
}

impl JobRequest {
    /// Returns scale and kind of switches.
    pub(crate) fn choices(&self) -> Choices {
        Choices { scale: self.scale.map(NonZeroU64::get), switch: self.switch }
    }

    /// Returns the name, checked.
    pub(crate) fn name(&self) -> PyResult<Name> {
        name(&self.name)
    }
}

/// The way in which a run is to be measured on several machines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachinesRequest {
    /// The scale; `None` for the usual one.
    pub(crate) scale: Option<NonZeroU64>,
    /// The file that lists the machines.
    pub(crate) machines: PathBuf,
}

fn name(text: &str) -> PyResult<Name> {
    Name::try_from(text.to_owned()).map_err(|error: PlanError| InputError::new_err(error.to_string()))
}

fn failed(error: impl ToString) -> PyErr {
    RunFailed::new_err(error.to_string())
}

/// Returns what this machine can of what a testbed takes, as JSON.
#[pyfunction]
pub(crate) fn linux_machine(py: Python<'_>) -> PyResult<String> {
    response(&interruptible(py, |go_on| Ok(Machine::examine_while(go_on)))?)
}

/// Returns the commands that make the testbed of a job, a line each.
#[pyfunction]
pub(crate) fn linux_steps(py: Python<'_>, job: &str, program: Vec<String>) -> PyResult<Vec<String>> {
    let job: RunJob = request(job)?;
    // `linux_up` says what this machine lacks; the commands are for any machine.
    let fitted = interruptible(py, |go_on| Ok(Machine::examine_while(go_on).fit(job.plan.clone())))?;
    let plan = fitted.unwrap_or(job.plan);
    let directory = Journal::path(Path::new(DIRECTORY), &plan.name);
    Ok(steps(&plan, &directory, &program).iter().map(ToString::to_string).collect())
}

/// Returns `plan` with the marks that this machine has.
fn fit_plan(plan: TestbedPlan, go_on: &mut GoOn<'_>) -> PyResult<TestbedPlan> {
    Machine::examine_while(go_on).fit(plan).map_err(|lacking| CannotHere::new_err(lacking.to_string()))
}

/// Makes the testbed of a job; it stays. `program` starts this module's `linux_switch` and `linux_guard`. A signal whose handler raises
/// ends this, and what was made is removed.
#[pyfunction]
pub(crate) fn linux_up(py: Python<'_>, job: &str, program: Vec<String>) -> PyResult<()> {
    let job: RunJob = request(job)?;
    interruptible(py, |go_on| {
        let plan = fit_plan(job.plan, go_on)?;
        let name = plan.name.clone();
        let root = Path::new(DIRECTORY);
        // A guard removes what has its name.
        if Journal::look(root, &name) != JournalState::Nothing {
            return Err(failed(TestbedError::AlreadyUp(name)));
        }
        let guard = Guard::start(&program, &name).map_err(failed)?;
        let made = Testbed::up(plan, root, &program, go_on);
        // What failed has been removed, and what another process makes by this name is not ours.
        guard.release();
        made.map(drop).map_err(|error| match error {
            TestbedError::Stopped => Stopped::new_err("the testbed was not made"),
            error => failed(error),
        })
    })
}

/// Removes the testbed of this name, and what killed processes left; returns what of the latter was removed, in words.
#[pyfunction]
pub(crate) fn linux_down(py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
    let name = self::name(name)?;
    let root = Path::new(DIRECTORY);
    let (left, removed) = py.detach(|| (leftovers::remove(), testbed::down(&name, root)));
    let own = Leftover::Directory(Journal::path(root, &name));
    match removed {
        Err(TestbedError::Missing(_)) if left.contains(&own) => {}
        Err(missing @ TestbedError::Missing(_)) => return Err(InputError::new_err(missing.to_string())),
        Err(error) => return Err(failed(error)),
        Ok(()) => {}
    }
    Ok(left.iter().map(ToString::to_string).collect())
}

/// Returns what killed processes left on this machine, in words; `linux_down` removes it.
#[pyfunction]
pub(crate) fn linux_leftovers(py: Python<'_>) -> Vec<String> {
    py.detach(leftovers::find).iter().map(ToString::to_string).collect()
}

/// Returns what is there of each testbed, as JSON.
#[pyfunction]
pub(crate) fn linux_status() -> PyResult<String> {
    let of = |status: testbed::Status| {
        let testbed::Status { name, in_use, there, planned, warnings } = status;
        json!({
            "name": name.to_string(), "in_use": in_use, "there": there, "planned": planned, "warnings": warnings,
        })
    };
    let all: Vec<_> = testbed::status(Path::new(DIRECTORY)).into_iter().map(of).collect();
    response(&all)
}

/// Makes the testbed of a job, runs it and takes it down; returns what was measured, as JSON.
///
/// `program` starts this module's `linux_host`, `linux_guard` and `linux_switch`. `progress(elapsed_s, hosts_done)` is called ten times a second
/// and stops the run by returning `False`.
#[pyfunction]
pub(crate) fn linux_run(
    py: Python<'_>,
    job: &str,
    program: Vec<String>,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let job: RunJob = request(job)?;
    measure(py, &progress, |report| {
        let mut go_on = || report(Progress { elapsed: Duration::ZERO, done: 0 });
        let plan = fit_plan(job.plan.clone(), &mut go_on)?;
        let job = RunJob { plan, ..job };
        run::run(&job, (&program, Path::new(DIRECTORY)), report).map_err(run_failed)
    })
}

/// Runs a job on several machines, whose agents are of this version; returns what was measured, as JSON. `progress` as in `linux_run`.
#[pyfunction]
pub(crate) fn linux_run_on_machines(py: Python<'_>, job: &str, progress: Py<PyAny>) -> PyResult<String> {
    let job: MachinesJob = request(job)?;
    measure(py, &progress, |report| {
        machines::run(&job, priolane_results::VERSION, report).map_err(run_failed)
    })
}

fn run_failed(error: RunError) -> PyErr {
    match error {
        RunError::Stopped => Stopped::new_err("the run was stopped"),
        error => failed(error),
    }
}

/// Calls `run` with what asks Python whether to go on, and gives what was measured as JSON.
fn measure(
    py: Python<'_>,
    progress: &Py<PyAny>,
    run: impl FnOnce(&mut OnProgress<'_>) -> PyResult<TestbedReport> + Send,
) -> PyResult<String> {
    let measured = interruptions(py, |asked| {
        run(&mut |Progress { elapsed, done }| {
            asked.go_on(|py| {
                let answer = progress.bind(py).call1((elapsed.as_secs_f64(), done))?;
                Ok(answer.extract::<bool>().unwrap_or(true))
            })
        })
    });
    response(&measured?)
}

/// Calls `run` with what asks Python whether to go on.
fn interruptible<T: Send>(
    py: Python<'_>,
    run: impl FnOnce(&mut GoOn<'_>) -> PyResult<T> + Send,
) -> PyResult<T> {
    interruptions(py, |asked| run(&mut || asked.go_on(|_| Ok(true))))
}

/// Interval between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// The exception that Python raised while it was asked whether to go on.
struct Interruptions {
    looked: Option<Instant>,
    raised: Option<PyErr>,
    /// Handlers of signals that were in place before the first interrupt.
    handlers: Vec<(i32, Py<PyAny>)>,
}

impl Interruptions {
    /// Asks handlers of signals, and `whether`. After the first interrupt what was begun is removed in an orderly way. A second signal
    /// ends the process at once: guards and agents, which outlive it, remove what is left.
    #[expect(clippy::disallowed_methods, reason = "when signals are looked for reaches no result")]
    fn go_on(&mut self, whether: impl FnOnce(Python<'_>) -> PyResult<bool>) -> bool {
        if self.raised.is_some() {
            return false;
        }
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now.duration_since(looked) < LOOK) {
            return true;
        }
        self.looked = Some(now);
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                self.raised = Some(error);
                // From another thread than the main one, handlers cannot be changed, and none has raised.
                self.handlers = end_by_signals(py).unwrap_or_default();
                return false;
            }
            whether(py).unwrap_or_else(|error| {
                self.raised = Some(error);
                false
            })
        })
    }
}

/// Lets SIGINT and SIGTERM end the process; returns their handlers.
fn end_by_signals(py: Python<'_>) -> PyResult<Vec<(i32, Py<PyAny>)>> {
    let signal = py.import("signal")?;
    let default = signal.getattr("SIG_DFL")?;
    let mut handlers = Vec::new();
    for name in ["SIGINT", "SIGTERM"] {
        let number: i32 = signal.getattr(name)?.extract()?;
        handlers.push((number, signal.call_method1("signal", (number, &default))?.unbind()));
    }
    Ok(handlers)
}

/// Calls `run` without the lock of Python; an exception that was raised meanwhile is the error.
fn interruptions<T: Send>(
    py: Python<'_>,
    run: impl FnOnce(&mut Interruptions) -> PyResult<T> + Send,
) -> PyResult<T> {
    let mut asked = Interruptions { looked: None, raised: None, handlers: Vec::new() };
    let done = py.detach(|| run(&mut asked));
    if !asked.handlers.is_empty() {
        let signal = py.import("signal")?;
        for (number, handler) in &asked.handlers {
            signal.call_method1("signal", (*number, handler))?;
        }
    }
    match asked.raised {
        Some(raised) => Err(raised),
        None => done,
    }
}

/// Runs hosts of this machine for a controller on another one: on standard input and output until that ends, or on a Unix socket at
/// `socket`, for one controller after another. `program` starts this module's `linux_host`. Its clock is wrong by
/// `clock_shift_ns` for controllers, for tests.
#[pyfunction]
pub(crate) fn linux_agent(
    py: Python<'_>,
    program: Vec<String>,
    socket: Option<PathBuf>,
    clock_shift_ns: i64,
) -> PyResult<()> {
    let agent = Agent { program, release: priolane_results::VERSION.to_owned(), clock_shift_ns };
    py.detach(|| match socket {
        Some(path) => agent::listen(&agent, &path, &mut |error| eprintln!("priolane: {error}")),
        None => agent::serve(&agent, BufReader::new(io::stdin()), io::stdout()),
    })
    .map_err(failed)
}

/// Is a host of a run, on standard input and output.
#[pyfunction]
pub(crate) fn linux_host(py: Python<'_>) -> PyResult<()> {
    py.detach(|| host::serve(BufReader::new(io::stdin()), io::stdout())).map_err(failed)
}

/// Is a switch in user space of the testbed in `directory`, until that is gone.
#[pyfunction]
pub(crate) fn linux_switch(py: Python<'_>, directory: PathBuf, number: u16) -> PyResult<()> {
    py.detach(|| switch::serve(&directory, number)).map_err(failed)
}

/// Takes a testbed down at the end of standard input.
#[pyfunction]
pub(crate) fn linux_guard(py: Python<'_>, name: &str) -> PyResult<()> {
    let name = self::name(name)?;
    py.detach(|| guard::watch(&name, Path::new(DIRECTORY), io::stdin())).map_err(failed)
}
