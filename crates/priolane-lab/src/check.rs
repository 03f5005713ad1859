//! Whether an experiment is right, and what it would run and cost, without running it.

mod predict;

use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value as Json;

use crate::bench::{self, BenchError, Calibration};
use crate::plan::{self, Options, Plan};
use crate::source::InputError;
use predict::Forecast;

/// Instructions per second where they could not be measured: a round figure for one core.
const PACE: f64 = 5e9;

/// What `priolane check` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The merged experiment, its sweep included.
    pub merged: Json,
    /// Points of the sweep.
    pub points: usize,
    /// Schemes compared.
    pub schemes: usize,
    /// Seeds of each point.
    pub seeds: usize,
    /// Runs altogether.
    pub runs: usize,
    /// Flows of all runs, from the flow lists of the first seed.
    pub flows: u64,
    /// Packets put on links by all runs, ACKs included, retransmissions not.
    pub packet_hops: u64,
    /// Nanoseconds of a packet-hop of these runs on this machine now: a mean.
    pub ns_per_hop: f64,
    /// Seconds on one core: the product of the two, from a short run of another experiment and what these runs do more
    /// or less of than that one.
    pub seconds: f64,
    /// Bytes of memory of the largest run.
    pub bytes: u64,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
}

/// Checks the experiment file at `path`.
///
/// # Errors
/// An [`InputError`] with the first thing that is wrong.
pub fn check(path: &Path, options: &Options) -> Result<Check, InputError> {
    let (pace, untimed) = match pace() {
        Ok(pace) => (pace, None),
        Err(error) => (PACE, Some(format!("seconds are for {PACE:.0e} instructions per second: {error}"))),
    };
    let mut check = of_plan(&plan::plan(path, options)?, pace)?;
    check.warnings.extend(untimed);
    Ok(check)
}

/// Predicted instructions per second on this machine now. Measured once, as it takes no less time than many a check.
fn pace() -> Result<f64, BenchError> {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    if let Some(&pace) = MEASURED.get() {
        return Ok(pace);
    }
    let Calibration { scenario, cpu_s } = bench::calibrate()?;
    let instructions = Forecast::of(&scenario).under(&scenario.transport).instructions;
    Ok(*MEASURED.get_or_init(|| instructions / cpu_s))
}

/// What the runs of `plan` would cost at so many instructions per second: flow lists are made for the first seed and
/// scheme of each point. No clock is read.
///
/// # Errors
/// An [`InputError`] where traffic does not fit the network.
fn of_plan(plan: &Plan, pace: f64) -> Result<Check, InputError> {
    let per_point = plan.experiment.schemes.len() * plan.experiment.seeds.len();
    let mut check = Check {
        merged: plan.experiment.to_json(),
        points: plan.runs.len() / per_point.max(1),
        schemes: plan.experiment.schemes.len(),
        seeds: plan.experiment.seeds.len(),
        runs: plan.runs.len(),
        flows: 0,
        packet_hops: 0,
        ns_per_hop: 0.0,
        seconds: 0.0,
        bytes: 0,
        warnings: plan.warnings.clone(),
    };
    for runs in plan.runs.chunks(per_point.max(1)) {
        let built = plan::build(&runs[0])?;
        check.flows += built.scenario.flows.len() as u64 * per_point as u64;
        let forecast = Forecast::of(&built.scenario);
        let of_one_seed = runs.iter().filter(|run| run.seed == runs[0].seed);
        for transport in of_one_seed.filter_map(plan::transport) {
            let predicted = forecast.under(&transport);
            let seeds = plan.experiment.seeds.len() as u64;
            check.packet_hops += predicted.packet_hops * seeds;
            check.seconds += predicted.instructions * seeds as f64 / pace;
            check.bytes = check.bytes.max(predicted.bytes);
        }
        for warning in built.warnings {
            if !check.warnings.contains(&warning) {
                check.warnings.push(warning);
            }
        }
    }
    check.ns_per_hop = check.seconds * 1e9 / check.packet_hops.max(1) as f64;
    Ok(check)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::PathBuf;

    use priolane_sim::scenario::Scenario;
    use priolane_sim::{Drive, run};

    use super::predict::Prediction;
    use super::*;
    use crate::experiment::Seeds;

    fn plan_of(file: &str, sets: &[(&str, &str)]) -> Plan {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(file);
        let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        plan::plan(&path, &Options { sets, seeds: Some(Seeds::Count(1)), ..Options::default() }).unwrap()
    }

    fn predicted(scenario: &Scenario) -> Prediction {
        Forecast::of(scenario).under(&scenario.transport)
    }

    /// Predicted packet-hops of the first run of an experiment, over those it has.
    fn predicted_over_real(file: &str, sets: &[(&str, &str)]) -> f64 {
        let scenario = plan::build(&plan_of(file, sets).runs[0]).unwrap().scenario;
        let real =
            run(&scenario, Drive::default(), &mut |_| ControlFlow::Continue(())).unwrap().work.packet_hops;
        predicted(&scenario).packet_hops as f64 / real as f64
    }

    #[test]
    fn hops_of_open_load_that_drains_are_predicted() {
        let ratio = predicted_over_real("recipes/first.toml", &[("time.measure", "\"4ms\"")]);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_lone_flows_are_predicted() {
        let ratio = predicted_over_real("validation/ns3_unit.toml", &[]);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_a_run_that_is_cut_short_are_predicted() {
        let short = [("time.warmup", "\"0ms\""), ("time.measure", "\"20ms\""), ("time.drain", "false")];
        let ratio = predicted_over_real("papers/nos2/queues.toml", &short);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn short_links_cost_windows_and_visits() {
        let plan = plan_of("papers/firapam/fig2b.toml", &[("time.measure", r#""20ms""#)]);
        let short = predicted(&plan::build(&plan.runs[0]).unwrap().scenario);
        let long = predicted(&bench::calibration().unwrap());
        let [short, long] = [short, long].map(|p| p.instructions / p.packet_hops as f64);
        // Counted under callgrind: 1,121 over 16 ms, of which much is the end, and 653.
        assert!((1.2..2.2).contains(&(short / long)), "{short} {long}");
    }

    #[test]
    fn each_scheme_is_predicted_by_its_own_transport() {
        let plan = plan_of("papers/top/fig4.toml", &[("time.flows", "200")]);
        let built = plan::build(&plan.runs[0]).unwrap();
        let forecast = Forecast::of(&built.scenario);
        let of = |scheme: &str| {
            let run = plan.runs.iter().find(|run| run.scheme == scheme).unwrap();
            forecast.under(&plan::transport(run).unwrap())
        };
        // An ACK and a pull for each packet, where there is a token; and tokens cost ports more than ACKs do.
        let [token, pulled] = [of("top"), of("ndp")];
        let hops = pulled.packet_hops as f64 / token.packet_hops as f64;
        assert!((1.4..1.6).contains(&hops), "{hops}");
        assert!(
            token.instructions / token.packet_hops as f64
                > 1.5 * pulled.instructions / pulled.packet_hops as f64
        );
    }
}
