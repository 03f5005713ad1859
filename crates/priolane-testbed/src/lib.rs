//! Runs of an experiment on a testbed of network namespaces, or on several machines: what is to be measured, and the tables of what
//! was.
//!
//! ```text
//! Run ──▶ plan::build ──▶ refusals, or a RunJob at a scale ──▶ priolane_linux::run ──▶ TestbedReport ──▶ the run's tables
//!                                   or a MachinesJob       ──▶ priolane_linux::machines
//! ```

mod admission;
mod choices;
mod clocks;
mod machines;
mod outcome;
mod refusals;
mod scale;
mod switch_port;
mod testbed;
mod traffic;

use std::path::Path;

use priolane_lab::execute::Measurement;
use priolane_lab::plan::{self, Run};
use priolane_linux::job::SchemeJob;
use priolane_linux::machines::MachinesJob;
use priolane_linux::network::MOST_HOSTS;
use priolane_linux::plan::{Marking, Name};
use priolane_linux::run::{RunJob, TestbedReport};
use priolane_source::InputError;
use serde::Serialize;

use traffic::Traffic;

pub use choices::{Choices, SwitchKind};
pub use scale::usual_scale;

/// The real-time priority that hosts ask for.
const REAL_TIME: u8 = 20;

/// A run that is to be measured, on a testbed or on several machines.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedMeasurement<J = RunJob> {
    /// The job for the testbed, or for the machines.
    pub job: J,
    /// Rates are divided, and times multiplied, by this.
    pub scale: u64,
    /// The differences from the simulation, in words.
    pub notes: Vec<String>,
    /// The largest duration, in seconds.
    pub at_most_s: f64,
}

/// Plans the measurement of `run` on a testbed called `name`.
///
/// # Errors
/// An [`InputError`] with all reasons why the run cannot be measured.
pub fn job(run: &Run, name: Name, choices: Choices) -> Result<PlannedMeasurement, InputError> {
    let built = plan::build(run)?;
    let scenario = &built.scenario;
    let scale = choices.scale.unwrap_or_else(|| usual_scale(&scenario.topology));
    refusals::refuse(run, scenario, scale)?;
    let ports = switch_port::Ports::choose(run, scenario, (scale, choices.switch))?;
    let (network, mut notes) = testbed::network(run, scenario, (scale, Some(&ports)))?;
    notes.extend(scale::notes(scale, Some(ports.kind())));
    notes.extend(refusals::path_notes(scenario));
    notes.extend(refusals::notes(scenario));
    let Traffic { flows, changes, bins, ends, limit_ns } = traffic::traffic(run, scenario, scale)?;
    let admission = admission::job(run, scenario, scale)?;
    let knows_paths = scale::depends_on_paths(run) || scale::depends_on_base_delay(run, &network);
    let job = RunJob {
        // Which marks this machine has is found when the testbed is made.
        plan: priolane_linux::plan::TestbedPlan {
            name,
            network,
            mtu: scenario.frame.mtu,
            marking: Marking::Bpf,
        },
        scheme: SchemeJob { ranks: ports.need_ranks(), admission, ..scale::scheme(run, scale)? },
        knows_paths,
        flows,
        changes,
        bins,
        limit_ns,
        ends,
        real_time: Some(REAL_TIME),
    };
    job.plan
        .check()
        .map_err(|error| refusals::error(run, "topology", error.to_string(), "a smaller network"))?;
    Ok(PlannedMeasurement { job, scale, notes, at_most_s: limit_ns as f64 / 1e9 })
}

/// Plans the measurement of `run` on the machines of the file at `machines`, whose network is as it is.
///
/// # Errors
/// An [`InputError`] with all reasons why the run cannot be measured, or with all mistakes of the file.
pub fn job_on_machines(
    run: &Run,
    scale: Option<u64>,
    machines: &Path,
) -> Result<PlannedMeasurement<MachinesJob>, InputError> {
    let built = plan::build(run)?;
    let scenario = &built.scenario;
    let hosts = scenario.topology.hosts;
    let scale = scale.unwrap_or_else(|| usual_scale(&scenario.topology));
    refusals::refuse(run, scenario, scale)?;
    if hosts > MOST_HOSTS.into() {
        let what = format!("the network has {hosts} hosts; {MOST_HOSTS} at most are measured");
        return Err(refusals::error(run, "topology", what, "a smaller network"));
    }
    let machines = machines::read(machines, hosts)?;
    let (network, _) = testbed::network(run, scenario, (scale, None))?;
    let mut notes = vec![format!(
        "{}: switches are those between the machines: the ports, buffers, marks and delays of the file are not made there, and what \
         they do is not known",
        run.scheme
    )];
    notes.extend(scale::notes(scale, None));
    notes.extend(refusals::notes(scenario));
    let Traffic { flows, changes, bins, ends, limit_ns } = traffic::traffic(run, scenario, scale)?;
    let admission = admission::job(run, scenario, scale)?;
    let job = MachinesJob {
        machines,
        network,
        mtu: scenario.frame.mtu,
        scheme: SchemeJob { admission, ..scale::scheme(run, scale)? },
        knows_paths: scale::depends_on_paths(run),
        flows,
        changes,
        bins,
        limit_ns,
        ends,
        real_time: Some(REAL_TIME),
    };
    Ok(PlannedMeasurement { job, scale, notes, at_most_s: limit_ns as f64 / 1e9 })
}

/// Returns the tables of `run` for `measured`, whose hosts spoke `planned.0` at scale `planned.1`.
///
/// # Errors
/// As [`plan::build`]; a host that admitted a flow to another class than its policy does.
pub fn measurement(
    run: &Run,
    planned: (&SchemeJob, u64),
    measured: &TestbedReport,
) -> Result<Measurement, InputError> {
    let built = plan::build(run)?;
    let scenario = &built.scenario;
    let admission = admission::outcome(run, scenario, planned.0.admission.as_ref(), &measured.hosts)?;
    Ok(outcome::measurement(run, scenario, planned, (measured, admission)))
}

#[cfg(test)]
mod tests;
