//! Runs of a plan on a testbed of network namespaces, or on several machines.

use std::io::{self, BufReader};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use priolane_linux::agent::{self, Agent};
use priolane_linux::guard;
use priolane_linux::host;
use priolane_linux::journal::{DIRECTORY, Journal};
use priolane_linux::machines::{self, MachinesJob};
use priolane_linux::plan::{Name, Plan, PlanError};
use priolane_linux::probe::Machine;
use priolane_linux::run::{self, OnProgress, Progress, RunError, RunJob, TestbedReport};
use priolane_linux::steps::steps;
use priolane_linux::switch;
use priolane_linux::testbed::{self, Testbed, TestbedError};
use priolane_tools::linux::{Choices, SwitchKind};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::errors::{CannotHere, InputError, RunFailed, Stopped};
use crate::request::{request, response};

/// How a run is to be measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobRequest {
    /// The name of the testbed.
    pub(crate) name: String,
    /// The scale; `None` for the usual one.
    pub(crate) scale: Option<NonZeroU64>,
    /// What switches are; `None` for those of the kernel where they can be.
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

/// How a run is to be measured on several machines.
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
    response(&py.detach(Machine::examine))
}

/// Returns the commands that make the testbed of a job, a line each.
#[pyfunction]
pub(crate) fn linux_steps(py: Python<'_>, job: &str, program: Vec<String>) -> PyResult<Vec<String>> {
    let job: RunJob = request(job)?;
    // `linux_up` says what this machine lacks; the commands are for any machine.
    let plan = py.detach(|| Machine::examine().fit(job.plan.clone())).unwrap_or(job.plan);
    let directory = Journal::path(Path::new(DIRECTORY), &plan.name);
    Ok(steps(&plan, &directory, &program).iter().map(ToString::to_string).collect())
}

/// Returns `plan` with the marks that this machine has.
fn fit_plan(plan: Plan) -> PyResult<Plan> {
    Machine::examine().fit(plan).map_err(|lacking| CannotHere::new_err(lacking.to_string()))
}

/// Makes the testbed of a job; it stays. `program` starts this module's `linux_switch`.
#[pyfunction]
pub(crate) fn linux_up(py: Python<'_>, job: &str, program: Vec<String>) -> PyResult<()> {
    let job: RunJob = request(job)?;
    py.detach(|| {
        let plan = fit_plan(job.plan)?;
        Testbed::up(plan, Path::new(DIRECTORY), &program).map(drop).map_err(failed)
    })
}

/// Removes the testbed of this name.
#[pyfunction]
pub(crate) fn linux_down(py: Python<'_>, name: &str) -> PyResult<()> {
    let name = self::name(name)?;
    py.detach(|| testbed::down(&name, Path::new(DIRECTORY))).map_err(|error| match error {
        missing @ TestbedError::Missing(_) => InputError::new_err(missing.to_string()),
        error => failed(error),
    })
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
        let plan = fit_plan(job.plan.clone())?;
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
    let mut raised = None;
    let measured = py.detach(|| {
        run(&mut |Progress { elapsed, done }| {
            let asked = Python::attach(|py| {
                py.check_signals()?;
                let answer = progress.bind(py).call1((elapsed.as_secs_f64(), done))?;
                Ok::<bool, PyErr>(answer.extract::<bool>().unwrap_or(true))
            });
            asked.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        })
    });
    match measured {
        Ok(measured) => response(&measured),
        Err(error) => Err(raised.unwrap_or(error)),
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
