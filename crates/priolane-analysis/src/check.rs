//! Checks an experiment and predicts its runs and their cost, without running it.

mod loads;
mod predict;
#[cfg(test)]
mod prefix_tests;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use priolane_core::units::Span;
use priolane_lab::experiment::{Arrivals, Experiment, Timing};
use priolane_lab::interrupt::Interrupt;
use priolane_lab::plan::{self, Definition, Devices, Options, Plan, Points, Run, Warnings};
use priolane_source::InputError;
use priolane_workload::InitialState;
use serde::Serialize;
use serde_json::Value as Json;

pub use loads::{PointLoads, TierLoad};
use predict::{Forecast, Prediction};
use priolane_bench::{BenchError, Calibration};

/// Assumed instructions per second if they cannot be measured: a round figure for one core.
const PACE: f64 = 5e9;

/// Approximate number of flows generated to predict a run; for a longer run, its first part.
const SAMPLE: u64 = 300_000;

/// The same if only the relative cost of runs is needed.
const GLANCE: u64 = 2_000;

/// The output of `priolane check`.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The merged experiment, including its sweep.
    pub merged: Json,
    /// Number of sweep points.
    pub points: usize,
    /// Number of schemes.
    pub schemes: usize,
    /// Number of seeds per point.
    pub seeds: usize,
    /// Total number of runs of the grid.
    pub runs: u64,
    /// Number of runs beside them in which only some groups send, for metrics that compare with these.
    pub alone: u64,
    /// Flows of all runs, extrapolated from the flow lists of the first seed.
    pub flows: u64,
    /// Packets transmitted on links in all runs, including ACKs, excluding retransmissions.
    pub packet_hops: u64,
    /// Predicted mean time per packet-hop on this machine at present, in nanoseconds.
    pub ns_per_hop: f64,
    /// Predicted seconds on one core: the product of the two above. Based on a short calibration run of another
    /// experiment and on the predicted instructions of both.
    pub seconds: f64,
    /// Predicted memory of the largest run, in bytes.
    pub bytes: u64,
    /// Offered load of the first seed's flows on each tier, by sweep point.
    pub loads: Vec<PointLoads>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl Check {
    /// Adds runs of one prediction at `pace` instructions per second.
    fn add(&mut self, predicted: &Prediction, runs: u64, pace: f64) {
        self.packet_hops += predicted.packet_hops * runs;
        self.seconds += predicted.instructions * runs as f64 / pace;
        self.bytes = self.bytes.max(predicted.bytes);
    }
}

/// Checks the experiment file at `path`.
///
/// # Errors
/// Returns an [`InputError`] if the file is invalid or `options` interrupts.
pub fn check(experiment: &Definition, options: &Options) -> Result<Check, InputError> {
    let (pace, untimed) = match pace() {
        Ok(pace) => (pace, None),
        Err(error) => {
            (PACE, Some(format!("seconds are estimated at {PACE:.0e} instructions per second: {error}")))
        }
    };
    let mut check = of_points(&experiment.points(options)?, (pace, SAMPLE), &options.interrupt)?;
    check.warnings.extend(untimed);
    Ok(check)
}

/// Returns the predicted instructions of each run of `plan`, in plan order and then of those of groups alone, for
/// comparing the cost of runs. Generates a sample of the flows of each point.
///
/// # Errors
/// As for [`check`].
pub fn costs(plan: &Plan, interrupt: &Interrupt) -> Result<Vec<f64>, InputError> {
    let mut costs = Vec::with_capacity(plan.runs.len());
    let is_of_one = |a: &Run, b: &Run| Arc::ptr_eq(&a.experiment, &b.experiment);
    for runs in [&plan.runs, &plan.alone.runs].into_iter().flat_map(|runs| runs.chunk_by(is_of_one)) {
        let (first, experiment) = (&runs[0], &runs[0].experiment);
        interrupt.check(experiment.sources.experiment())?;
        let part = RunPrefix::of(experiment, first.flows, GLANCE);
        let built = plan::build_at(&part.experiment, &first.scheme, first.seed)?;
        let forecast = Forecast::of(&built.scenario, part.times);
        let mut by_scheme: HashMap<&str, f64> = HashMap::new();
        for scheme in &experiment.schemes {
            if let Some(devices) = plan::devices(experiment, scheme, &built.scenario.topology) {
                by_scheme.insert(scheme, forecast.under(&devices).instructions);
            }
        }
        costs.extend(runs.iter().map(|run| by_scheme.get(run.scheme.as_str()).copied().unwrap_or_default()));
    }
    Ok(costs)
}

/// Returns the predicted instructions per second on this machine. Measured once per process, since it can take longer
/// than a check.
fn pace() -> Result<f64, BenchError> {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    if let Some(&pace) = MEASURED.get() {
        return Ok(pace);
    }
    let Calibration { scenario, cpu_s } = priolane_bench::calibrate()?;
    let instructions = Forecast::of(&scenario, 1.0).under(&Devices::of(&scenario)).instructions;
    Ok(*MEASURED.get_or_init(|| instructions / cpu_s))
}

/// Predicts the cost of the runs of `points` at `pace` instructions per second. Generates flows for the first seed and
/// scheme of each point; for long runs, only about `sample` flows of the first part. Reads no clock.
///
/// # Errors
/// Returns an [`InputError`] if traffic does not fit the network, or if `interrupt` stops it.
fn of_points(
    points: &Points,
    (pace, sample): (f64, u64),
    interrupt: &Interrupt,
) -> Result<Check, InputError> {
    let experiment = &points.experiment;
    let seeds = experiment.seeds.len() as u64;
    let mut check = Check {
        merged: experiment.to_json(),
        points: points.points.len(),
        schemes: experiment.schemes.len(),
        seeds: experiment.seeds.len(),
        runs: points.runs(),
        alone: 0,
        flows: 0,
        packet_hops: 0,
        ns_per_hop: 0.0,
        seconds: 0.0,
        bytes: 0,
        loads: Vec::new(),
        warnings: Vec::new(),
    };
    let mut warnings = Warnings::default();
    warnings.extend(points.warnings.iter().cloned());
    for point in &points.points {
        let schemes = &point.experiment.schemes;
        interrupt.check(point.experiment.sources.experiment())?;
        let part = RunPrefix::of(&point.experiment, point.flows, sample);
        let built = plan::build_at(&part.experiment, &schemes[0], 1)?;
        let flows = (built.scenario.flows.len() as f64 * part.times) as u64;
        check.flows += flows * schemes.len() as u64 * seeds;
        let forecast = Forecast::of(&built.scenario, part.times);
        let topology = &built.scenario.topology;
        for devices in schemes.iter().filter_map(|scheme| plan::devices(&point.experiment, scheme, topology))
        {
            check.add(&forecast.under(&devices), seeds, pace);
        }
        check.loads.extend(loads::offered(&part.experiment, point, &built));
        warnings.extend(built.warnings);
    }
    for run in points.alone(interrupt)? {
        check.alone += 1;
        add_alone(&mut check, &run, (pace, sample))?;
    }
    check.ns_per_hop = check.seconds * 1e9 / check.packet_hops.max(1) as f64;
    check.warnings = warnings.in_order;
    Ok(check)
}

/// Adds the cost of a run of groups alone.
fn add_alone(check: &mut Check, run: &Run, (pace, sample): (f64, u64)) -> Result<(), InputError> {
    let part = RunPrefix::of(&run.experiment, run.flows, sample);
    let built = plan::build_at(&part.experiment, &run.scheme, run.seed)?;
    check.flows += (built.scenario.flows.len() as f64 * part.times) as u64;
    let forecast = Forecast::of(&built.scenario, part.times);
    check.add(&forecast.under(&Devices::of(&built.scenario)), 1, pace);
    Ok(())
}

/// The first part of a long run, or all of a short one.
struct RunPrefix {
    experiment: Arc<Experiment>,
    /// Duration of the whole run divided by that of this part.
    times: f64,
}

impl RunPrefix {
    fn of(whole: &Arc<Experiment>, flows: u64, sample: u64) -> Self {
        let times = flows as f64 / sample as f64;
        if times <= 1.0 {
            return Self { experiment: whole.clone(), times: 1.0 };
        }
        let part = |span: Span| Span((span.0 as f64 / times) as u64);
        let mut experiment = Experiment::clone(whole);
        // They may name flows that this part lacks, and do not change the prediction.
        experiment.controls.clear();
        experiment.time = match experiment.time {
            // The flows of a warm start are as many in a part as in the whole.
            Timing::Window { warmup, measure, arrivals, drain, limit, .. } => {
                let (start, warmup, measure) =
                    (InitialState::Empty, part(warmup), part(measure).max(Span(1)));
                let limit =
                    if arrivals == Arrivals::Continue { part(limit).max(warmup + measure) } else { limit };
                Timing::Window { start, warmup, measure, arrivals, drain, limit }
            }
            Timing::Count { flows, limit } => {
                Timing::Count { flows: (flows as f64 / times).max(1.0) as u64, limit }
            }
        };
        Self { experiment: Arc::new(experiment), times }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use priolane_sim::scenario::Scenario;
    use priolane_sim::{Drive, Simulation};

    use super::predict::Prediction;
    use super::*;
    use priolane_lab::experiment::Seeds;

    fn plan_of(file: &str, sets: &[(&str, &str)]) -> Plan {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        plan::plan(&path, &Options { sets, seeds: Some(Seeds::Count(1)), ..Options::default() }).unwrap()
    }

    const SMALL: &str = r#"title = "Two racks"
schemes = ["newreno", "dctcp"]
time = { warmup = "1ms", measure = "20ms" }
topology = { kind = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 4, host_link = { rate = "10Gbps", delay = "1us" }, fabric_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "web_search", interpolation = "linear", max = "1MB" }
load = { of = "host", counts = "payload", value = 0.5 }
"#;

    fn points_of(text: &str) -> Points {
        plan::points_of("x.toml", text, Path::new("."), &Options::default()).unwrap()
    }

    #[test]
    fn costs_are_in_the_order_of_the_plan_and_grow_with_load() {
        let text = SMALL
            .replace("[[group]]", "seeds = 2\nsweep = { \"group.all.load.value\" = [0.2, 0.8] }\n[[group]]");
        let plan = points_of(&text).plan(&Interrupt::default()).unwrap();
        let costs = costs(&plan, &Interrupt::default()).unwrap();
        assert_eq!(costs.len(), plan.runs.len());
        assert_eq!(costs[..2], costs[2..4], "seeds cost the same");
        assert!(costs[4] > 2.5 * costs[0], "{costs:?}");
    }

    #[test]
    fn rows_of_samples_cost_instructions_and_memory() {
        let check = |every: &str| {
            let text = SMALL.replace("time =", &format!("sample_every = \"{every}\"\ntime ="));
            of_points(&points_of(&text), (PACE, SAMPLE), &Interrupt::default()).unwrap()
        };
        let [none, few, many, most] = ["10s", "1ms", "100us", "100ns"].map(check);
        let rows = |check: &Check| (check.seconds - none.seconds) * PACE / 2_000.0;
        // At 24 links, every sample has its rows where a link sends some packets between samples.
        assert!((8.0..10.1).contains(&(rows(&many) / rows(&few))), "{} {}", rows(&few), rows(&many));
        // No more than packets change.
        let limit = 2.0 * many.packet_hops as f64;
        assert!((0.95..1.01).contains(&(rows(&most) / limit)), "{} {limit}", rows(&most));
        assert!(most.bytes > many.bytes && many.bytes > few.bytes);
    }

    #[test]
    fn a_check_makes_part_of_a_long_run_only() {
        for time in ["measure = \"3600s\"", "flows = 40000000"] {
            let text = SMALL.replace("warmup = \"1ms\", measure = \"20ms\"", time);
            let points = points_of(&text);
            let point = &points.points[0];
            let part = RunPrefix::of(&point.experiment, point.flows, 10_000);
            let made = plan::build_at(&part.experiment, "newreno", 1).unwrap().scenario.flows.len();
            assert!((7_000..13_000).contains(&made), "{made}");
            assert!(part.times > 1_000.0, "{}", part.times);
        }
    }

    #[test]
    fn a_part_of_a_run_has_its_warm_up_shortened_like_the_rest() {
        let text = SMALL.replace("warmup = \"1ms\", measure = \"20ms\"", "warmup = \"3s\", measure = \"1s\"");
        let points = points_of(&text);
        let point = &points.points[0];
        let part = RunPrefix::of(&point.experiment, point.flows, 10_000);
        let made = plan::build_at(&part.experiment, "newreno", 1).unwrap().scenario.flows.len();
        assert!((7_000..13_000).contains(&made), "{made}");
        let Timing::Window { warmup, measure, .. } = part.experiment.time else { panic!("a window") };
        assert!(warmup.0.abs_diff(3 * measure.0) <= 3, "{warmup:?} {measure:?}");
    }

    #[test]
    fn a_part_of_a_run_predicts_the_whole() {
        let check = |sample| {
            let text = SMALL.replace("20ms", "400ms");
            of_points(&points_of(&text), (PACE, sample), &Interrupt::default()).unwrap()
        };
        let (whole, part) = (check(u64::MAX), check(1_500));
        let near = |part: f64, whole: f64| assert!((part / whole - 1.0).abs() < 0.15, "{part} {whole}");
        near(part.flows as f64, whole.flows as f64);
        near(part.packet_hops as f64, whole.packet_hops as f64);
        near(part.seconds, whole.seconds);
        near(part.bytes as f64, whole.bytes as f64);
    }

    #[test]
    fn every_fourth_flow_tells_what_all_would() {
        let points = points_of(&SMALL.replace("20ms", "400ms"));
        let scenario = plan::build_at(&points.points[0].experiment, "newreno", 1).unwrap().scenario;
        let all = predicted(&scenario);
        let some = Forecast::looking_at(&scenario, 1.0, scenario.flows.len().div_ceil(4));
        let some = some.under(&Devices::of(&scenario));
        let near = |some: f64, all: f64| assert!((some / all - 1.0).abs() < 0.15, "{some} {all}");
        near(some.packet_hops as f64, all.packet_hops as f64);
        near(some.instructions, all.instructions);
        near(some.bytes as f64, all.bytes as f64);
    }

    #[test]
    fn many_runs_are_counted_and_not_listed() {
        let points = points_of(&format!("seeds = 10000\n{SMALL}"));
        assert_eq!((points.points.len(), points.runs()), (1, 20_000));
        let check = of_points(&points, (PACE, SAMPLE), &Interrupt::default()).unwrap();
        let one = of_points(&points_of(SMALL), (PACE, SAMPLE), &Interrupt::default()).unwrap();
        assert_eq!((check.runs, check.flows), (20_000, one.flows * 10_000));
        assert_eq!(check.packet_hops, one.packet_hops * 10_000);
    }

    fn predicted(scenario: &Scenario) -> Prediction {
        Forecast::of(scenario, 1.0).under(&Devices::of(scenario))
    }

    /// Returns the predicted packet-hops of the first run of an experiment divided by the simulated ones.
    fn predicted_over_real(file: &str, sets: &[(&str, &str)]) -> f64 {
        let scenario = plan::build(&plan_of(file, sets).runs[0]).unwrap().scenario;
        let real = Simulation::of(&scenario).run(Drive::default()).unwrap().work.packet_hops;
        predicted(&scenario).packet_hops as f64 / real as f64
    }

    #[test]
    fn hops_of_open_load_that_drains_are_predicted() {
        let ratio = predicted_over_real("experiments/recipes/first.toml", &[("time.measure", "\"4ms\"")]);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_lone_flows_are_predicted() {
        let ratio = predicted_over_real("experiments/validation/ns3_unit.toml", &[]);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn hops_of_a_run_that_is_cut_short_are_predicted() {
        let window = r#"{ start = "empty", warmup = "0ms", measure = "20ms", drain = false }"#;
        let ratio = predicted_over_real("study/papers/nos2/queues/figure.toml", &[("time", window)]);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn short_links_cost_windows_and_visits() {
        let plan = plan_of("study/papers/firapam/fig2b/figure.toml", &[("time.measure", r#""20ms""#)]);
        let short = predicted(&plan::build(&plan.runs[0]).unwrap().scenario);
        let long = predicted(&priolane_bench::calibration().unwrap());
        let [short, long] = [short, long].map(|p| p.instructions / p.packet_hops as f64);
        // Counted under callgrind: 1,121 per hop over 16 ms, much of it at the end, and 653.
        assert!((1.2..2.2).contains(&(short / long)), "{short} {long}");
    }

    #[test]
    fn each_scheme_is_predicted_by_its_own_transport() {
        let plan = plan_of("study/papers/top/fig4/figure.toml", &[("time.flows", "200")]);
        let built = plan::build(&plan.runs[0]).unwrap();
        let forecast = Forecast::of(&built.scenario, 1.0);
        let of = |scheme: &str| {
            let run = plan.runs.iter().find(|run| run.scheme == scheme).unwrap();
            forecast.under(&plan::devices(&run.experiment, &run.scheme, &built.scenario.topology).unwrap())
        };
        // An ACK and a pull per packet, against one token; but tokens cost ports more than ACKs do.
        let [token, pulled] = [of("top"), of("ndp")];
        let hops = pulled.packet_hops as f64 / token.packet_hops as f64;
        assert!((1.4..1.6).contains(&hops), "{hops}");
        assert!(
            token.instructions / token.packet_hops as f64
                > 1.5 * pulled.instructions / pulled.packet_hops as f64
        );
    }
}
