//! Command-line benchmark without Python: each scenario in its own process, or one scenario for a profiler.

use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};

use priolane_bench::growth::{self, Growth, Memory, Row};
use priolane_bench::parts::{Predicted, predict};
use priolane_bench::profile::{Profile, profile};
use priolane_bench::solvers::{SolverTime, solver_times};
use priolane_bench::{ALL, Bench, Engine, NamedScenario, Raw, Request};
use priolane_sim::Phase;

const USAGE: &str =
    "priolane-bench [--scenario NAME]... [--engine window|wheel] [--repeat N] [--flows N] [--growth | --solvers | --predict | --profile]
               [--json | --raw]
  --scenario  measure this one (default: the usual ones)
  --engine    window (default) or wheel
  --repeat    runs of each, of which the median is reported (default 3)
  --flows     run only the first N flows of each
  --growth    print the table of docs/performance.md: hosts, flows and memory; takes minutes and some GB
  --solvers   measure the solvers on a million recorded flows
  --predict   predict the speed-up of 2 to 16 threads from the work of each part of the network in each window
  --profile   print where the time of a run goes, in nanoseconds per packet-hop
  --json      print JSON, not a table
  --raw       run one scenario in this process, without the reference limit: for profilers";

/// Output format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Json,
    Raw,
}

/// The quantity to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Scenarios,
    Growth,
    Solvers,
    Predict,
    Profile,
}

/// The parsed arguments.
#[derive(Clone, Copy)]
struct Arguments {
    what: What,
    form: Form,
}

/// The reason why the program fails.
enum CliError {
    Usage(String),
    Other(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = read(&arguments).and_then(|(request, wanted)| carry_out(&request, wanted));
    let (code, message) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(CliError::Usage(message)) => (2, format!("{message}\n{}", usage())),
        Err(CliError::Other(message)) => (1, message),
    };
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(code)
}

fn usage() -> String {
    let rows = ALL.iter().map(|named| format!("\n  {:<30}{}", named.name, named.about));
    format!("{USAGE}\nscenarios{}", rows.collect::<String>())
}

fn read(arguments: &[String]) -> Result<(Request, Arguments), CliError> {
    let mut request = Request::default();
    let mut wanted = Arguments { what: What::Scenarios, form: Form::Table };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| CliError::Usage(format!("{argument} needs a value")));
        match argument.as_str() {
            "--scenario" => request.scenarios.push(value()?.clone()),
            "--engine" => request.engine = engine(value()?)?,
            "--repeat" => request.repeat = above_0("--repeat", value()?)?,
            "--flows" => request.flows = Some(above_0("--flows", value()?)?),
            "--growth" => wanted.what = What::Growth,
            "--solvers" => wanted.what = What::Solvers,
            "--predict" => wanted.what = What::Predict,
            "--profile" => wanted.what = What::Profile,
            "--json" => wanted.form = Form::Json,
            "--raw" => wanted.form = Form::Raw,
            other => return Err(CliError::Usage(format!("unknown option {other}"))),
        }
    }
    Ok((request, wanted))
}

fn engine(name: &str) -> Result<Engine, CliError> {
    match name {
        "window" => Ok(Engine::Window),
        "wheel" => Ok(Engine::Wheel),
        _ => Err(CliError::Usage(format!("unknown engine {name}"))),
    }
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Window => "window",
        Engine::Wheel => "wheel",
    }
}

fn above_0(option: &str, count: &str) -> Result<u32, CliError> {
    let count = count.parse().ok().filter(|&count: &u32| count > 0);
    count.ok_or_else(|| CliError::Usage(format!("{option} needs a number above 0")))
}

fn carry_out(request: &Request, Arguments { what, form }: Arguments) -> Result<(), CliError> {
    match what {
        What::Scenarios => print_scenarios(request, form),
        What::Growth => print_growth(request, form),
        What::Solvers => print_solvers(request, form),
        What::Predict => print_predicted(request, form),
        What::Profile => print_profile(request, form),
    }
}

fn print_scenarios(request: &Request, form: Form) -> Result<(), CliError> {
    let wanted = request.selected_scenarios().map_err(|error| CliError::Usage(error.to_string()))?;
    if form == Form::Raw {
        let [named] = wanted[..] else {
            return Err(CliError::Usage("--raw needs exactly one --scenario".to_owned()));
        };
        let raw = priolane_bench::raw(named, request).map_err(other)?;
        return print(&serde_json::to_string(&raw).map_err(other)?);
    }
    let raws = wanted.iter().map(|&named| Ok((named, alone(named, request)?)));
    let bench = priolane_bench::compare(&raws.collect::<Result<Vec<_>, _>>()?);
    if form == Form::Json {
        print(&serde_json::to_string(&bench).map_err(other)?)
    } else {
        print(&table(&bench))
    }
}

fn print_solvers(request: &Request, form: Form) -> Result<(), CliError> {
    let found = solver_times(request.repeat).map_err(other)?;
    if form != Form::Table {
        return print(&serde_json::to_string(&found).map_err(other)?);
    }
    let head = format!("{:<14}{:>10}  {:<15}{:>7}{:>10}", "sizes", "different", "solver", "levels", "cpu ms");
    let row = |SolverTime { sizes, different, solver, levels, cpu_ms, .. }: &SolverTime| {
        format!("{sizes:<14}{different:>10}  {solver:<15}{levels:>7}{cpu_ms:>10.3}")
    };
    print(&std::iter::once(head).chain(found.iter().map(row)).collect::<Vec<_>>().join("\n"))
}

fn print_predicted(request: &Request, form: Form) -> Result<(), CliError> {
    let found = predict(request).map_err(other)?;
    if form != Form::Table {
        return print(&serde_json::to_string(&found).map_err(other)?);
    }
    let head = format!(
        "{:<24}{:>6}{:>10}{:>9}{:>11}{:>12}{:>12}{:>9}",
        "scenario", "parts", "windows", "work s", "longest s", "exchange s", "barrier us", "speedup"
    );
    let row = |row: &Predicted| {
        format!(
            "{:<24}{:>6}{:>10}{:>9.3}{:>11.3}{:>12.3}{:>12.2}{:>9.2}",
            row.name,
            row.parts,
            row.windows,
            row.work_s,
            row.longest_s,
            row.exchange_s,
            row.barrier_us,
            row.speedup
        )
    };
    print(&std::iter::once(head).chain(found.iter().map(row)).collect::<Vec<_>>().join("\n"))
}

fn print_profile(request: &Request, form: Form) -> Result<(), CliError> {
    let found = profile(request).map_err(other)?;
    if form != Form::Table {
        return print(&serde_json::to_string(&found).map_err(other)?);
    }
    let phases = Phase::ALL.map(|phase| format!("{:>11}", phase.name())).concat();
    let head = format!("{:<24}{:>12}{:>9}{phases}", "ns/hop", "hops", "all");
    let row = |Profile { name, packet_hops, ns_per_hop, shares }: &Profile| {
        let of = |phase: Phase| {
            shares.iter().find(|each| each.phase == phase.name()).map_or(0.0, |each| each.share)
        };
        let parts = Phase::ALL.map(|phase| format!("{:>11.1}", of(phase) * ns_per_hop)).concat();
        format!("{name:<24}{packet_hops:>12}{ns_per_hop:>9.1}{parts}")
    };
    print(&std::iter::once(head).chain(found.iter().map(row)).collect::<Vec<_>>().join("\n"))
}

/// Measures a scenario in a new process, so that its peak memory is its own.
fn alone(named: &NamedScenario, request: &Request) -> Result<Raw, CliError> {
    let this = std::env::current_exe().map_err(other)?;
    let engine = engine_name(request.engine);
    let output = Command::new(this)
        .args(["--raw", "--scenario", named.name, "--engine", engine, "--repeat"])
        .arg(request.repeat.to_string())
        .args(request.flows.iter().flat_map(|flows| ["--flows".to_owned(), flows.to_string()]))
        .stderr(Stdio::inherit())
        .output()
        .map_err(other)?;
    if !output.status.success() {
        return Err(CliError::Other(format!("{}: {}", named.name, output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(other)
}

/// Prints the growth table, with each case in a process of its own; the memory cases run once.
fn print_growth(request: &Request, form: Form) -> Result<(), CliError> {
    if form == Form::Raw || !request.scenarios.is_empty() || request.flows.is_some() {
        return Err(CliError::Usage(
            "--growth has its own scenarios and flows and excludes --raw".to_owned(),
        ));
    }
    let once = Request { repeat: 1, ..request.clone() };
    let rows = priolane_bench::TABLE.iter().map(|named| {
        let raw = alone(named, request)?;
        // The table takes minutes, so each case is reported when it completes.
        let ns = raw.cpu_s * 1e9 / raw.packet_hops.max(1) as f64;
        writeln!(io::stderr(), "{}: {} packet-hops, {ns:.1} ns each", named.name, raw.packet_hops)
            .map_err(other)?;
        Ok((named, raw))
    });
    let rows: Vec<(&'static NamedScenario, Raw)> = rows.collect::<Result<_, CliError>>()?;
    let ([short, long, few, many], [less, more]) = (priolane_bench::MEMORY, priolane_bench::FINISHED) else {
        return Err(CliError::Other("the cases of memory are not four and two".to_owned()));
    };
    let peaks = growth::Peaks {
        cases: [alone(short, &once)?, alone(long, &once)?, alone(few, &once)?, alone(many, &once)?],
        finished: [alone(less, &once)?, alone(more, &once)?],
    };
    let found = growth::growth(&rows, &peaks);
    if form == Form::Json {
        return print(&serde_json::to_string(&found).map_err(other)?);
    }
    print(&growth_table(&found))
}

fn growth_table(growth: &Growth) -> String {
    let mut lines = vec![format!(
        "{:>7}{:>9}{:>12}{:>10}{:>10}{:>10}{:>8}{:>8}{:>9}{:>10}",
        "hosts", "flows", "hops", "on links", "queued", "open", "ns/hop", "Y", "/ Y", "peak MB"
    )];
    for Row { hosts, flows, measured, extent } in &growth.rows {
        let peak = measured.peak_bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        lines.push(format!(
            "{hosts:>7}{flows:>9}{:>12}{:>10.0}{:>10.0}{:>10.0}{:>8.1}{:>8.1}{:>9.2}{peak:>10}",
            measured.packet_hops,
            extent.on_links,
            extent.queued,
            extent.open_flows,
            measured.ns_per_hop,
            measured.ns_per_hop / measured.ratio_to_limit,
            measured.ratio_to_limit,
        ));
    }
    let bytes = |found: Option<f64>| found.map_or("-".to_owned(), |bytes| format!("{bytes:.0}"));
    let Memory { per_packet_in_flight, per_active_flow, per_finished_flow } = growth.memory;
    lines.push(format!("bytes per packet in flight  {:>6}", bytes(per_packet_in_flight)));
    lines.push(format!("bytes per active flow       {:>6}", bytes(per_active_flow)));
    lines.push(format!("bytes per finished flow     {:>6}", bytes(per_finished_flow)));
    lines.join("\n")
}

fn other(error: impl std::fmt::Display) -> CliError {
    CliError::Other(error.to_string())
}

fn table(bench: &Bench) -> String {
    let mut lines = vec![format!(
        "{:<24}{:>12}{:>12}{:>8}{:>8}{:>9}{:>9}{:>9}{:>10}",
        "scenario", "hops", "events", "cpu s", "ns/hop", "ns/data", "Mhops/s", "/ limit", "peak MB"
    )];
    for row in &bench.scenarios {
        let peak = row.peak_bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        lines.push(format!(
            "{:<24}{:>12}{:>12}{:>8.3}{:>8.1}{:>9.1}{:>9.2}{:>9.2}{:>10}",
            row.name,
            row.packet_hops,
            row.events,
            row.cpu_s,
            row.ns_per_hop,
            row.ns_per_delivered,
            1e3 / row.ns_per_hop,
            row.ratio_to_limit,
            peak
        ));
    }
    let limit = &bench.limit;
    lines.push(format!(
        "limit, ns: hold {:.1} (1e3 pending), {:.1} (1e4); touch {:.1} (1.5 MiB), {:.1} (64 MiB)",
        limit.hold_1e3, limit.hold_1e4, limit.touch_1_5mib, limit.touch_64mib
    ));
    lines.extend(limit.yardsticks.iter().map(|(name, y)| format!("limit of {name}: {y:.1} ns/hop")));
    lines.join("\n")
}

fn print(text: &str) -> Result<(), CliError> {
    writeln!(io::stdout().lock(), "{text}").map_err(other)
}
