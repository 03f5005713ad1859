//! The benchmark without Python, for profilers: `priolane-bench [--wheel] [--repeat N] [SCENARIO ...]`.

use std::io::Write;
use std::process::ExitCode;

use priolane_lab::bench::{Request, bench, names};

fn main() -> ExitCode {
    let mut request = Request::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--wheel" => request.wheel = true,
            "--repeat" => request.repeat = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(0),
            name if names().contains(&name) => request.scenarios.push(name.to_owned()),
            other => {
                let _ = writeln!(
                    std::io::stderr(),
                    "{other}: no such scenario; there are {}",
                    names().join(", ")
                );
                return ExitCode::from(2);
            }
        }
    }
    let written = serde_json::to_writer_pretty(std::io::stdout().lock(), &bench(&request));
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
