//! How fast the engines are on this machine, beside a yardstick that is measured on it too.
//!
//! [`bench`] answers a [`Request`] with a [`Bench`], which is what `priolane bench --json` prints. Clocks are read
//! here and nowhere near results; docs/bench.md says how to read the numbers.

mod case;
mod cell;
mod compare;
mod dctcp;
mod error;
pub mod growth;
mod limit;
mod measure;
mod named;
pub mod peer;
mod rivals;
mod scenarios;
pub mod several;
pub mod solvers;

use priolane_sim::scenario;
use serde::Deserialize;

pub use compare::{Bench, Measured, compare};
pub use dctcp::Broken;
pub(crate) use error::BenchError;
pub use limit::Limit;
use measure::build;
pub use measure::{Busy, Raw};
pub use named::Named;
pub(crate) use named::Usual;
use scenarios::find;
pub use scenarios::{ALL, FINISHED, MEMORY, TABLE};

/// What to measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Scenarios by name; empty for the usual ones.
    pub scenarios: Vec<String>,
    /// Runs of each, of which the median counts, at least 1. Default 3.
    pub repeat: u32,
    /// The engine. Default `window`.
    pub engine: Engine,
    /// Only the first so many flows of each scenario, at least 1; `None`, the default, for all.
    pub flows: Option<u32>,
}

/// The engine that is measured.
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
    /// The scenarios it asks for, in its order.
    ///
    /// # Errors
    /// [`BenchError::Unknown`].
    pub fn wanted(&self) -> Result<Vec<&'static Named>, BenchError> {
        if self.scenarios.is_empty() {
            return Ok(ALL.iter().filter(|named| named.usual == Usual::Yes).collect());
        }
        let by_name = |name: &String| find(name).ok_or_else(|| BenchError::Unknown { name: name.clone() });
        self.scenarios.iter().map(by_name).collect()
    }
}

/// Measures what `request` asks for, in this process and thread.
///
/// # Errors
/// An unknown name, or a scenario that does not run to its end, always with the same work.
pub fn bench(request: &Request) -> Result<Bench, BenchError> {
    let wanted = request.wanted()?;
    let raws =
        wanted.iter().map(|named| Ok((*named, raw(named, request)?))).collect::<Result<Vec<_>, _>>()?;
    Ok(compare(&raws))
}

/// Measures one scenario in this process and thread, without the yardstick: for profilers, and for processes of
/// their own.
///
/// # Errors
/// If it does not run to its end, always with the same work.
pub fn raw(named: &'static Named, request: &Request) -> Result<Raw, BenchError> {
    let memory = measure::Memory::start();
    let scenario = build(named, request.flows)?;
    let raw = measure::measure(named.name, &scenario, request.engine.into(), request.repeat)?;
    Ok(Raw { peak_bytes: memory.peak(), ..raw })
}

/// A short run, and what it took.
#[derive(Debug)]
pub(crate) struct Calibration {
    /// What was run.
    pub scenario: scenario::Scenario,
    /// CPU time in seconds: the median of three.
    pub cpu_s: f64,
}

/// Measures this machine as it is now by [`calibration`].
///
/// # Errors
/// A run that does not end.
pub(crate) fn calibrate() -> Result<Calibration, BenchError> {
    let Request { repeat, engine, .. } = Request::default();
    let scenario = calibration()?;
    let raw = measure::measure(peer::scenario()?.name, &scenario, engine.into(), repeat)?;
    Ok(Calibration { scenario, cpu_s: raw.cpu_s })
}

/// The first 40 flows of the leaf-spine, half a million packet-hops.
///
/// # Errors
/// If it cannot be built.
pub(crate) fn calibration() -> Result<scenario::Scenario, BenchError> {
    build(peer::scenario()?, Some(40))
}

/// Names of the scenarios that are measured without being asked for.
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
        let wanted: Vec<&str> = Request::default().wanted().unwrap().iter().map(|named| named.name).collect();
        assert_eq!(wanted, usual());
        assert_eq!(wanted, ["dctcp_leafspine144", "dctcp_permutation128", "dctcp_fattree1024"]);
    }
}
