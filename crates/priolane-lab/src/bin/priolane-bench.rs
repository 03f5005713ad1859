//! The benchmark without Python: a process of its own per scenario, or one scenario for a profiler.

use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};

use priolane_lab::bench::{self, ALL, Bench, Engine, Named, Raw, Request};

const USAGE: &str =
    "priolane-bench [--scenario NAME]... [--engine window|wheel] [--repeat N] [--json | --raw]
  --scenario  measure this one; without it the usual ones
  --engine    window (default) or wheel
  --repeat    runs of each, of which the median counts (default 3)
  --json      as JSON, not as a table
  --raw       one scenario in this process, without the yardstick: for profilers";

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Json,
    Raw,
}

/// Why nothing is printed.
enum Trouble {
    Usage(String),
    Other(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = read(&arguments).and_then(|(request, form)| carry_out(&request, form));
    let (code, message) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Trouble::Usage(message)) => (2, format!("{message}\n{}", usage())),
        Err(Trouble::Other(message)) => (1, message),
    };
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(code)
}

fn usage() -> String {
    let rows = ALL.iter().map(|named| format!("\n  {:<22}{}", named.name, named.about));
    format!("{USAGE}\nscenarios{}", rows.collect::<String>())
}

fn read(arguments: &[String]) -> Result<(Request, Form), Trouble> {
    let mut request = Request::default();
    let mut form = Form::Table;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| Trouble::Usage(format!("{argument} wants a value")));
        match argument.as_str() {
            "--scenario" => request.scenarios.push(value()?.clone()),
            "--engine" => request.engine = engine(value()?)?,
            "--repeat" => request.repeat = repeat(value()?)?,
            "--json" => form = Form::Json,
            "--raw" => form = Form::Raw,
            other => return Err(Trouble::Usage(format!("there is no option {other}"))),
        }
    }
    Ok((request, form))
}

fn engine(name: &str) -> Result<Engine, Trouble> {
    match name {
        "window" => Ok(Engine::Window),
        "wheel" => Ok(Engine::Wheel),
        _ => Err(Trouble::Usage(format!("there is no engine {name}"))),
    }
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Window => "window",
        Engine::Wheel => "wheel",
    }
}

fn repeat(count: &str) -> Result<u32, Trouble> {
    let count = count.parse().ok().filter(|&count: &u32| count > 0);
    count.ok_or_else(|| Trouble::Usage("--repeat wants a number above 0".to_owned()))
}

fn carry_out(request: &Request, form: Form) -> Result<(), Trouble> {
    let wanted = request.wanted().map_err(|error| Trouble::Usage(error.to_string()))?;
    if form == Form::Raw {
        let [named] = wanted[..] else { return Err(Trouble::Usage("--raw wants one --scenario".to_owned())) };
        let raw = bench::raw(named, request).map_err(other)?;
        return print(&serde_json::to_string(&raw).map_err(other)?);
    }
    let raws = wanted.iter().map(|&named| Ok((named, alone(named, request)?)));
    let bench = bench::compare(&raws.collect::<Result<Vec<_>, _>>()?);
    if form == Form::Json {
        print(&serde_json::to_string(&bench).map_err(other)?)
    } else {
        print(&table(&bench))
    }
}

/// Measures a scenario in a new process, so that its peak memory is its own.
fn alone(named: &Named, request: &Request) -> Result<Raw, Trouble> {
    let this = std::env::current_exe().map_err(other)?;
    let engine = engine_name(request.engine);
    let output = Command::new(this)
        .args(["--raw", "--scenario", named.name, "--engine", engine, "--repeat"])
        .arg(request.repeat.to_string())
        .stderr(Stdio::inherit())
        .output()
        .map_err(other)?;
    if !output.status.success() {
        return Err(Trouble::Other(format!("{}: {}", named.name, output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(other)
}

fn other(error: impl std::fmt::Display) -> Trouble {
    Trouble::Other(error.to_string())
}

fn table(bench: &Bench) -> String {
    let mut lines = vec![format!(
        "{:<22}{:>12}{:>12}{:>8}{:>8}{:>9}{:>9}{:>10}",
        "scenario", "hops", "events", "cpu s", "ns/hop", "Mhops/s", "/ limit", "peak MB"
    )];
    for row in &bench.scenarios {
        let peak = row.peak_bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        lines.push(format!(
            "{:<22}{:>12}{:>12}{:>8.3}{:>8.1}{:>9.2}{:>9.2}{:>10}",
            row.name,
            row.packet_hops,
            row.events,
            row.cpu_s,
            row.ns_per_hop,
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

fn print(text: &str) -> Result<(), Trouble> {
    writeln!(io::stdout().lock(), "{text}").map_err(other)
}
