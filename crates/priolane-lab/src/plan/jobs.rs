//! Checks that the metrics of jobs in claims and panels are those of classes with a job.

use std::collections::BTreeSet;

use priolane_source::{InputError, Table};
use serde_json::Value as Json;

use super::overrides::is_at;
use super::{fit, ports, traffic};
use crate::experiment::Experiment;
use crate::metrics::ALL;
use crate::metrics::jobs::is_of_jobs;
use crate::metrics::path::{Measure, MetricPath};

/// A metric of jobs, and the key that asks for it: that of a table in the list `list` of the file.
struct JobMetric {
    list: &'static str,
    index: usize,
    key: &'static str,
    measure: Measure,
}

/// Checks that each metric of jobs that is asked for at `point` is that of a class with a job.
///
/// # Errors
/// Returns an [`InputError`] at the first one that is not.
pub(super) fn check(
    experiment: &Experiment,
    point: &[(String, Json)],
    root: &Table,
) -> Result<(), InputError> {
    let asked = asked(experiment, point);
    if asked.is_empty() {
        return Ok(());
    }
    let topology = ports::network(experiment, root)?;
    let mut jobs = BTreeSet::new();
    for group in &experiment.groups {
        if traffic::is_job(experiment, &topology, group)? {
            jobs.insert(group.name.as_str());
        }
    }
    asked.iter().try_for_each(|asked| has_job(experiment, &jobs, asked, root))
}

/// Returns the metrics of jobs that claims and panels have at a point.
fn asked(experiment: &Experiment, point: &[(String, Json)]) -> Vec<JobMetric> {
    let mut all = Vec::new();
    for (index, claim) in experiment.claims.iter().enumerate() {
        for of in claim.test.metrics() {
            let mut at = claim.at.clone();
            at.extend(of.at.clone());
            if let Ok(MetricPath { measure, .. }) = MetricPath::parse(&of.metric)
                && is_at(point, &at)
            {
                all.push(JobMetric { list: "claim", index, key: claim.test.name(), measure });
            }
        }
    }
    for (index, panel) in experiment.panels.iter().enumerate().filter(|(_, panel)| is_at(point, &panel.at)) {
        let measures = panel.metrics.iter().filter_map(|metric| Measure::parse(metric).ok());
        all.extend(measures.map(|measure| JobMetric { list: "panel", index, key: "metrics", measure }));
    }
    all.retain(|asked| is_of_jobs(asked.measure.metric));
    all
}

fn has_job(
    experiment: &Experiment,
    jobs: &BTreeSet<&str>,
    asked: &JobMetric,
    root: &Table,
) -> Result<(), InputError> {
    let JobMetric { list, index, key, measure: Measure { metric, class } } = asked;
    let own = experiment.metrics.classes.iter().find(|own| own.name == *class);
    let groups = own.map_or(&[][..], |own| &own.group);
    let found =
        if class == ALL { !jobs.is_empty() } else { groups.iter().any(|name| jobs.contains(&**name)) };
    if found {
        return Ok(());
    }
    let (what, fix) = match groups {
        [] if class != ALL => (
            format!("{} needs a class of groups, and {class:?} states none", metric.name),
            format!("group = \"NAME\" in metrics.classes.{class}"),
        ),
        _ => (
            format!(
                "{} has no value: {class:?} has no job, a group whose flows wait for others or for computations",
                metric.name
            ),
            "`compute` or several `iterations` of a collective, app = \"pipeline\", or a list with `after`"
                .to_owned(),
        ),
    };
    let origin = fit::item_field(root, list, *index, key);
    Err(origin.error(&format!("{list}[{index}].{key}"), what, fix))
}
