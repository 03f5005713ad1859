//! Measures the speed of the engines on this machine, relative to a yardstick measured on the same machine, and the parts of the
//! time of a run.
//!
//! [`bench`] answers a [`Request`] with a [`Bench`], which `priolane bench --json` prints. Clocks are read here and
//! never affect results of runs; docs/performance.md explains the numbers.

mod case;
mod cell;
mod compare;
mod dctcp;
mod error;
pub mod growth;
mod limit;
mod measure;
mod named;
pub mod parts;
pub mod peer;
pub mod profile;
mod rivals;
pub mod run_profile;
mod scenarios;
pub mod several;
pub mod solvers;

use priolane_sim::scenario::{self, Scenario, SendJitter};
use serde::Deserialize;

pub use compare::{Bench, Measurement, compare};
pub use dctcp::ScenarioBuildError;
pub use error::BenchError;
pub use limit::Limit;
use measure::build;
pub use measure::{Busy, Raw};
pub use named::{NamedScenario, Usual};
use scenarios::find;
pub use scenarios::{ALL, FINISHED, MEMORY, TABLE};

/// The scenarios to measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Scenarios by name; empty for the default ones.
    pub scenarios: Vec<String>,
    /// Number of runs of each scenario, whose median is reported; at least 1, default 3.
    pub repeat: u32,
    /// Engine to measure; default `window`.
    pub engine: Engine,
    /// Number of flows of each scenario to run, at least 1; `None`, the default, for all.
    pub flows: Option<u32>,
}

/// The engine to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The window engine.
    #[default]
    Window,
    /// The wheel engine.
    Wheel,
}

impl From<Engine> for scenario::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Window => Self::Window,
            Engine::Wheel => Self::Wheel,
        }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self { scenarios: Vec::new(), repeat: 3, engine: Engine::default(), flows: None }
    }
}

impl Request {
    /// Returns the requested scenarios, in the order of the request.
    ///
    /// # Errors
    /// Returns [`BenchError::Unknown`] if a name is unknown.
    pub fn selected_scenarios(&self) -> Result<Vec<&'static NamedScenario>, BenchError> {
        if self.scenarios.is_empty() {
            return Ok(ALL.iter().filter(|named| named.usual == Usual::Yes).collect());
        }
        let by_name = |name: &String| find(name).ok_or_else(|| BenchError::Unknown { name: name.clone() });
        self.scenarios.iter().map(by_name).collect()
    }
}

/// Runs the requested measurements in this process and thread.
///
/// # Errors
/// Returns an error if a name is unknown, a scenario fails or does not complete, or two of its runs do different work.
pub fn bench(request: &Request) -> Result<Bench, BenchError> {
    let wanted = request.selected_scenarios()?;
    let raws =
        wanted.iter().map(|named| Ok((*named, raw(named, request)?))).collect::<Result<Vec<_>, _>>()?;
    Ok(compare(&raws))
}

/// Measures one scenario in this process and thread, without the yardstick; for profilers and for subprocesses.
///
/// # Errors
/// Returns an error if a run fails or does not complete, or if two runs do different work.
pub fn raw(named: &'static NamedScenario, request: &Request) -> Result<Raw, BenchError> {
    let memory = measure::Memory::start();
    let scenario = build(named, request.flows, SendJitter::PACKET)?;
    let raw = measure::measure(named.name, &scenario, request.engine.into(), request.repeat)?;
    Ok(Raw { peak_bytes: memory.peak(), ..raw })
}

/// A short calibration run and its cost.
#[derive(Debug)]
pub struct Calibration {
    /// The scenario that was run.
    pub scenario: Scenario,
    /// CPU time in seconds: the median of three runs.
    pub cpu_s: f64,
}

/// Measures the current speed of this machine with the scenario of [`calibration`].
///
/// # Errors
/// Returns an error if a run fails or does not complete.
pub fn calibrate() -> Result<Calibration, BenchError> {
    let Request { repeat, engine, .. } = Request::default();
    let scenario = calibration()?;
    let raw = measure::measure(peer::scenario()?.name, &scenario, engine.into(), repeat)?;
    Ok(Calibration { scenario, cpu_s: raw.cpu_s })
}

/// Builds the first 40 flows of the leaf-spine scenario: half a million packet-hops.
///
/// # Errors
/// Returns an error if the scenario cannot be built.
pub fn calibration() -> Result<Scenario, BenchError> {
    build(peer::scenario()?, Some(40), SendJitter::PACKET)
}

/// Returns the names of the scenarios that are measured by default.
pub fn usual() -> Vec<&'static str> {
    ALL.iter().filter(|named| named.usual == Usual::Yes).map(|named| named.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_scenarios_are_refused_with_the_names_there_are() {
        let request: Request = serde_json::from_str(r#"{"scenarios": ["dctcp"]}"#).unwrap();
        let message = bench(&request).unwrap_err().to_string();
        assert!(message.contains("\"dctcp\"") && message.contains("dctcp_leafspine144"), "{message}");
        assert!(serde_json::from_str::<Request>(r#"{"scenario": []}"#).is_err());
    }

    #[test]
    fn usual_scenarios_are_those_of_the_contract() {
        let wanted: Vec<&str> =
            Request::default().selected_scenarios().unwrap().iter().map(|named| named.name).collect();
        assert_eq!(wanted, usual());
        assert_eq!(wanted, ["dctcp_leafspine144", "dctcp_permutation128", "dctcp_fattree1024"]);
    }
}
