//! The program `priolane-linux`, which makes, shows and removes testbeds.
//!
//! ```text
//! priolane-linux up PLAN.json [--dry-run]
//! priolane-linux down NAME
//! priolane-linux status
//! priolane-linux doctor
//! priolane-linux run JOB.json         prints what was measured, as JSON
//! priolane-linux machines JOB.json    the same on several machines
//! priolane-linux agent [--socket PATH] [--clock-shift NANOSECONDS]
//!                                     runs hosts of this machine for a controller on another; the shift is for tests of clocks
//! priolane-linux host                 a host of a run, which `run` starts; see `priolane_linux::job`
//! priolane-linux switch DIR N         is switch N of the testbed in DIR, in user space; `up` and `run` start it
//! priolane-linux guard NAME           takes a testbed down at the end of its standard input
//! ```
//!
//! The exit codes are 0 for success, 1 for failure, 2 for bad input, and 3 if this machine lacks a capability.
#![expect(clippy::print_stdout, reason = "a program of the command line")]

use std::fs;
use std::io::{self, BufReader};
use std::path::Path;
use std::process::ExitCode;

use priolane_linux::agent::{self, Agent};
use priolane_linux::guard;
use priolane_linux::host;
use priolane_linux::journal::{DIRECTORY, Journal};
use priolane_linux::leftovers;
use priolane_linux::machines::{self, MachinesJob};
use priolane_linux::plan::{Name, TestbedPlan};
use priolane_linux::probe::Machine;
use priolane_linux::run::{self, RunJob};
use priolane_linux::steps::steps;
use priolane_linux::switch;
use priolane_linux::testbed::{self, Testbed};

const USAGE: &str = "usage: priolane-linux up PLAN.json [--dry-run] | down NAME | status | doctor | run JOB.json | machines JOB.json | agent";
/// The release. Agents and controllers work together if they have the same version of this program.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The exit code, and the message for standard error.
struct Failure(u8, String);

impl Failure {
    fn input(what: impl ToString) -> Self {
        Self(2, what.to_string())
    }

    fn of(what: impl ToString) -> Self {
        Self(1, what.to_string())
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["up", path] => read(path).and_then(up),
        ["up", path, "--dry-run"] | ["up", "--dry-run", path] => read(path).and_then(|plan| show(&plan)),
        ["down", name] => down(name),
        ["status"] => {
            status();
            Ok(())
        }
        ["doctor"] => {
            doctor();
            Ok(())
        }
        ["run", path] => run(path),
        ["machines", path] => machines(path),
        ["agent", ref options @ ..] => agent(options),
        ["host"] => host::serve(BufReader::new(io::stdin()), io::stdout()).map_err(Failure::of),
        ["guard", name] => guard(name),
        ["switch", directory, number] => switch(directory, number),
        _ => Err(Failure::input(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(code, what)) => {
            eprintln!("priolane-linux: {what}");
            ExitCode::from(code)
        }
    }
}

fn parse<T: serde::de::DeserializeOwned>(path: &str) -> Result<T, Failure> {
    let text = fs::read(path).map_err(|error| Failure::input(format!("{path}: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| Failure::input(format!("{path}:{}: {error}", error.line())))
}

fn read(path: &str) -> Result<TestbedPlan, Failure> {
    let plan: TestbedPlan = parse(path)?;
    plan.check().map_err(|error| Failure::input(format!("{path}: {error}")))?;
    Ok(plan)
}

fn show(plan: &TestbedPlan) -> Result<(), Failure> {
    let steps = steps(plan, &Journal::path(Path::new(DIRECTORY), &plan.name), &program()?);
    steps.iter().for_each(|step| println!("{step}"));
    Ok(())
}

/// Returns the plan with the marking that this machine supports.
fn fit_plan(plan: TestbedPlan) -> Result<TestbedPlan, Failure> {
    Machine::examine().fit(plan).map_err(|lacking| Failure(3, lacking.to_string()))
}

fn run(path: &str) -> Result<(), Failure> {
    let job: RunJob = parse(path)?;
    job.plan.check().map_err(|error| Failure::input(format!("{path}: {error}")))?;
    let job = RunJob { plan: fit_plan(job.plan)?, ..job };
    let program = program()?;
    let measured = run::run(&job, (&program, Path::new(DIRECTORY)), &mut |_| true).map_err(Failure::of)?;
    let text = serde_json::to_string(&measured).map_err(Failure::of)?;
    println!("{text}");
    Ok(())
}

fn machines(path: &str) -> Result<(), Failure> {
    let job: MachinesJob = parse(path)?;
    let measured = machines::run(&job, RELEASE, &mut |_| true).map_err(Failure::of)?;
    println!("{}", serde_json::to_string(&measured).map_err(Failure::of)?);
    Ok(())
}

fn agent(options: &[&str]) -> Result<(), Failure> {
    let (mut socket, mut shift) = (None, 0);
    for pair in options.chunks(2) {
        match *pair {
            ["--socket", path] => socket = Some(path),
            ["--clock-shift", ns] => {
                shift = ns.parse().map_err(|_| Failure::input(format!("{ns}: no number of nanoseconds")))?;
            }
            _ => return Err(Failure::input(USAGE)),
        }
    }
    let agent = Agent { program: program()?.into(), release: RELEASE.to_owned(), clock_shift_ns: shift };
    match socket {
        Some(path) => {
            agent::listen(&agent, Path::new(path), &mut |error| eprintln!("priolane-linux: {error}"))
        }
        None => agent::serve(&agent, BufReader::new(io::stdin()), io::stdout()),
    }
    .map_err(Failure::of)
}

/// Returns the command that starts processes of this program.
fn program() -> Result<[String; 1], Failure> {
    let program = std::env::current_exe().map_err(Failure::of)?;
    Ok([program.display().to_string()])
}

fn switch(directory: &str, number: &str) -> Result<(), Failure> {
    let number = number.parse().map_err(|_| Failure::input(format!("{number}: no number of a switch")))?;
    switch::serve(Path::new(directory), number).map_err(Failure::of)
}

fn guard(name: &str) -> Result<(), Failure> {
    let name = Name::try_from(name.to_owned()).map_err(Failure::input)?;
    guard::watch(&name, Path::new(DIRECTORY), io::stdin()).map_err(Failure::of)
}

fn up(plan: TestbedPlan) -> Result<(), Failure> {
    let testbed = Testbed::up(fit_plan(plan)?, Path::new(DIRECTORY), &program()?, &mut || true);
    let testbed = testbed.map_err(Failure::of)?;
    let (plan, network) = (testbed.plan(), &testbed.plan().network);
    println!("{}: {} hosts and {} switches are up", plan.name, network.hosts, network.switches);
    Ok(())
}

fn down(name: &str) -> Result<(), Failure> {
    let name = Name::try_from(name.to_owned()).map_err(Failure::input)?;
    let removed = leftovers::remove();
    removed.iter().for_each(|left| println!("removed: {left}"));
    testbed::down(&name, Path::new(DIRECTORY)).map_err(Failure::of)
}

fn status() {
    for testbed::Status { name, in_use, there, planned, warnings } in testbed::status(Path::new(DIRECTORY)) {
        let used = if in_use { ", in use" } else { "" };
        println!("{name}: {there} of {planned} namespaces are there{used}");
        warnings.iter().for_each(|warning| println!("{name}: {warning}"));
    }
    leftovers::find().iter().for_each(|left| println!("left over: {left}"));
}

fn doctor() {
    for capability in Machine::examine().capabilities {
        match capability.missing {
            None => println!("ok       {}", capability.name),
            Some(message) => {
                println!("missing  {}: {message}\n         {}", capability.name, capability.cure)
            }
        }
    }
}
