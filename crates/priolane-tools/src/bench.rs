//! How fast the engines are on this machine, beside a yardstick that is measured on it too.
//!
//! [`bench`] answers a [`Request`] with a [`Bench`], which is what `priolane bench --json` prints. Clocks are read
//! here and nowhere near results; docs/bench.md says how to read the numbers.

mod cells;
pub mod growth;
mod limit;
mod measure;
pub mod peer;
mod rivals;
mod scenarios;
pub mod several;
pub mod solvers;

use std::collections::BTreeMap;

use priolane_sim::outcome::{RunError, Work};
use priolane_sim::scenario;
use serde::{Deserialize, Serialize};

pub use limit::{Extent, Limit};
pub use measure::{Busy, Raw};
pub use scenarios::{ALL, Broken, Named, Usual};

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

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The yardstick.
    pub limit: Limit,
    /// The scenarios.
    pub scenarios: Vec<Measured>,
}

/// One scenario on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Packets put on links.
    pub packet_hops: u64,
    /// Events the engine handled.
    pub events: u64,
    /// CPU time of one run, in seconds: the median.
    pub cpu_s: f64,
    /// CPU nanoseconds per packet-hop.
    pub ns_per_hop: f64,
    /// CPU nanoseconds per packet of payload that reached a host: what is sent besides counts for it.
    pub ns_per_delivered: f64,
    /// `ns_per_hop` over the yardstick of a scenario of this size.
    pub ratio_to_limit: f64,
    /// The most memory the runs held beyond what the process held before, in bytes, where it is known.
    pub peak_bytes: Option<u64>,
}

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No scenario has this name.
    #[error("there is no scenario {name:?}; there are {}", names())]
    Unknown {
        /// The name.
        name: String,
    },
    /// A scenario cannot be built.
    #[error("{scenario} cannot be built: {source}")]
    Broken {
        /// The scenario.
        scenario: &'static str,
        /// What is wrong with it.
        source: Box<Broken>,
    },
    /// The sizes that thresholds are made from cannot be had, or a solver has none for them.
    #[error("there are no thresholds for {name}")]
    Sizes {
        /// The table.
        name: &'static str,
    },
    /// A run failed.
    #[error("{scenario}: {source}")]
    Run {
        /// The scenario.
        scenario: &'static str,
        /// Why.
        source: RunError,
    },
    /// Flows did not complete, so that the run was not what its name says.
    #[error("{scenario}: {unfinished} flows did not complete")]
    Unfinished {
        /// The scenario.
        scenario: &'static str,
        /// How many.
        unfinished: usize,
    },
    /// Two runs of one scenario did different work.
    #[error("{scenario}: one run did {first:?}, the next {again:?}")]
    Unsteady {
        /// The scenario.
        scenario: &'static str,
        /// Work of the first run.
        first: Work,
        /// Work of a later run.
        again: Work,
    },
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
        let find =
            |name: &String| Named::find(name).ok_or_else(|| BenchError::Unknown { name: name.clone() });
        self.scenarios.iter().map(find).collect()
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

fn build(named: &Named, flows: Option<u32>) -> Result<scenario::Scenario, BenchError> {
    named.build(flows).map_err(|source| BenchError::Broken { scenario: named.name, source: source.into() })
}

/// A short run, and what it took.
#[derive(Debug)]
pub struct Calibration {
    /// What was run.
    pub scenario: scenario::Scenario,
    /// CPU time in seconds: the median of three.
    pub cpu_s: f64,
}

/// Measures this machine as it is now by [`calibration`].
///
/// # Errors
/// A run that does not end.
pub fn calibrate() -> Result<Calibration, BenchError> {
    let Request { repeat, engine, .. } = Request::default();
    let scenario = calibration()?;
    let raw = measure::measure(peer::scenario()?.name, &scenario, engine.into(), repeat)?;
    Ok(Calibration { scenario, cpu_s: raw.cpu_s })
}

/// The first 40 flows of the leaf-spine, half a million packet-hops.
///
/// # Errors
/// If it cannot be built.
pub fn calibration() -> Result<scenario::Scenario, BenchError> {
    build(peer::scenario()?, Some(40))
}

/// Measures the yardstick and puts what was measured beside it.
pub fn compare(raws: &[(&'static Named, Raw)]) -> Bench {
    let limit = Limit::measure(
        raws.iter().map(|(named, raw)| (named.name, named.extent.unwrap_or_else(|| raw.busy.extent()))),
    );
    let scenarios = raws.iter().map(|(named, raw)| measured(named, raw, &limit.yardsticks)).collect();
    Bench { limit, scenarios }
}

fn measured(named: &Named, raw: &Raw, yardsticks: &BTreeMap<&'static str, f64>) -> Measured {
    let ns_per_hop = raw.cpu_s * 1e9 / raw.packet_hops.max(1) as f64;
    let yardstick = yardsticks.get(named.name).copied().unwrap_or(f64::NAN);
    Measured {
        name: named.name,
        packet_hops: raw.packet_hops,
        events: raw.events,
        cpu_s: raw.cpu_s,
        ns_per_hop,
        ns_per_delivered: raw.cpu_s * 1e9 / raw.delivered.max(1) as f64,
        ratio_to_limit: ns_per_hop / yardstick,
        peak_bytes: raw.peak_bytes,
    }
}

/// Names of the scenarios that are measured without being asked for.
pub fn usual() -> Vec<&'static str> {
    ALL.iter().filter(|named| named.usual == Usual::Yes).map(|named| named.name).collect()
}

fn names() -> String {
    ALL.map(|named| named.name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_time_per_hop_over_the_yardstick_of_the_scenario() {
        let raw = Raw {
            packet_hops: 1_000_000,
            delivered: 100_000,
            events: 1_200_000,
            cpu_s: 0.06,
            peak_bytes: Some(7),
            busy: Busy::default(),
        };
        let yardsticks = BTreeMap::from([(ALL[0].name, 30.0), (ALL[1].name, 1.0)]);
        let row = measured(&ALL[0], &raw, &yardsticks);
        // 0.06 s / 10^6 = 60 ns, twice the 30 ns.
        assert!((row.ns_per_hop - 60.0).abs() < 1e-9 && (row.ratio_to_limit - 2.0).abs() < 1e-9, "{row:?}");
        assert!((row.ns_per_delivered - 600.0).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn answer_has_the_fields_of_the_contract() {
        let raw = Raw {
            packet_hops: 10,
            delivered: 4,
            events: 20,
            cpu_s: 1e-6,
            peak_bytes: None,
            busy: Busy::default(),
        };
        let answer = serde_json::to_value(compare(&[(&ALL[0], raw)])).unwrap();
        let limit = answer["limit"].as_object().unwrap();
        assert!(limit.values().all(|part| part.as_f64().is_some_and(|ns| ns > 0.0)), "{limit:?}");
        assert!(limit.contains_key("dctcp_leafspine144"));
        let mut keys: Vec<&String> = answer["scenarios"][0].as_object().unwrap().keys().collect();
        keys.sort();
        let contract = [
            "cpu_s",
            "events",
            "name",
            "ns_per_delivered",
            "ns_per_hop",
            "packet_hops",
            "peak_bytes",
            "ratio_to_limit",
        ];
        assert_eq!(keys, contract);
        assert!(answer["scenarios"][0]["peak_bytes"].is_null());
    }

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
