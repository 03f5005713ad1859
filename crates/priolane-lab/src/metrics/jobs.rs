//! Metrics of jobs (see `results::jobs`). A class of flows stands for the jobs of its groups; bounds of sizes do not count.

use std::collections::BTreeMap;

use priolane_results::jobs::{JobRecord, Jobs};
use priolane_results::record::RunRecord;

use super::SizeClass;
use super::metric::{Context, Metric, Missing, Need, SHARE, Scope, Unit, gbps, parts};

const OF_JOBS: Metric = Metric { scope: Scope::Classes, ..Metric::OF_FLOWS };

const SECONDS: Metric = Metric { unit: Unit::Seconds, ..OF_JOBS };

/// Times of jobs.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "job_time",
        meaning: "From the first start of a flow or step of the job to the end of the last",
        eval: |c| of(c, |job| job.time_s),
        ..SECONDS
    },
    Metric {
        name: "job_exposed",
        meaning: "Exposed communication: job time minus the job time if messages took no time",
        eval: |c| of(c, |job| job.exposed_s),
        ..SECONDS
    },
    Metric {
        name: "job_slowdown",
        meaning: "Job time over the job time if each message were alone in the network",
        eval: |c| of(c, |job| job.slowdown),
        ..OF_JOBS
    },
    Metric {
        name: "job_straggle",
        meaning: "End of the last rank minus the median end of the ranks",
        eval: |c| of(c, |job| job.straggle_s),
        ..SECONDS
    },
    Metric {
        name: "job_computing",
        meaning: "Mean part of the job time in which a rank computes",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |job| job.computing),
        ..OF_JOBS
    },
    Metric {
        name: "job_bubble",
        meaning: "Mean part of the job time in which a rank does not compute: the bubble of a pipeline",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |job| job.computing.map(|computing| 1.0 - computing)),
        ..OF_JOBS
    },
    Metric {
        name: "bus_bandwidth",
        meaning: "Mean over the job's coflows of bytes over senders and time",
        unit: Unit::Gbps,
        eval: |c| of(c, |job| gbps(job.bus_bandwidth_bps)),
        ..OF_JOBS
    },
    Metric {
        name: "iteration_time",
        meaning: "Mean time of the job's iterations, which are its coflows: from the end of the one before to its own end",
        eval: |c| of(c, |job| job.iterations.map(|all| all.mean_s)),
        ..SECONDS
    },
    Metric {
        name: "iteration_p99",
        meaning: "99th percentile of the times of iterations",
        eval: |c| of(c, |job| job.iterations.map(|all| all.p99_s)),
        ..SECONDS
    },
    Metric {
        name: "iteration_cv",
        meaning: "Standard deviation of the times of iterations over their mean",
        eval: |c| of(c, |job| job.iterations.map(|all| all.cv)),
        ..OF_JOBS
    },
    Metric {
        name: "job_over_alone",
        meaning: "Job time over that of the same run in which only the groups of the class send",
        quotient: Some(|c| over_alone(c, |job| job.time_s)),
        ..BESIDE_ALONE
    },
    Metric {
        name: "iteration_over_alone",
        meaning: "Mean time of iterations over that of the same run in which only the groups of the class send",
        quotient: Some(|c| over_alone(c, |job| job.iterations.map(|all| all.mean_s))),
        ..BESIDE_ALONE
    },
];

/// Whether a metric is one of jobs.
pub(crate) fn is_of_jobs(metric: &Metric) -> bool {
    METRICS.iter().any(|own| own.name == metric.name)
}

/// Ratios of two runs.
const BESIDE_ALONE: Metric = Metric { needs: &[Need::Alone], ..OF_JOBS };

const NONE: Missing = Missing::Seed("no job that has ended");

/// Returns the value of the class in this run and in that of its groups alone.
fn over_alone(context: &Context, value: fn(&JobRecord) -> Option<f64>) -> Result<(f64, f64), Missing> {
    let of = |run: &RunRecord| run.jobs.get(context.class).and_then(value);
    parts(of(context.record), of(context.stored.alone(context.class)?), NONE)
}

fn of(context: &Context, value: fn(&JobRecord) -> Option<f64>) -> Result<f64, Missing> {
    context.record.jobs.get(context.class).and_then(value).ok_or(NONE)
}

/// Returns the records of `all` jobs and of those of each class that states groups.
pub(crate) fn summarize(
    jobs: Option<&Jobs<'_>>,
    groups: &[String],
    classes: &[SizeClass],
) -> BTreeMap<String, JobRecord> {
    let Some(jobs) = jobs else { return BTreeMap::new() };
    let all = SizeClass::all();
    let named = classes.iter().filter(|class| !class.group.is_empty());
    let record = |class: &SizeClass| {
        let is_own = |group: u16| {
            let name = groups.get(usize::from(group));
            class.group.is_empty() || name.is_some_and(|name| class.group.contains(name))
        };
        Some((class.name.clone(), jobs.of(is_own)?))
    };
    std::iter::once(&all).chain(named).filter_map(record).collect()
}
