//! Runs in which only the groups of a class send, for metrics that compare with them (`Need::Alone`).
//!
//! ```text
//! same        network, scheme with the thresholds solved for all groups, seed, hosts and traffic of the groups, and time
//! differs     other groups have `app = "none"`; settings of their traffic are left out
//! ```
//!
//! Such a run is one of a merged experiment like any other, with an id of its own. Points that differ in the traffic of
//! other groups only share it; so does the grid, if no other group sends.

use std::collections::HashSet;

use priolane_source::{InputError, Sources};
use priolane_workload::{App, Nothing};
use serde_json::Value as Json;

use super::merged;
use super::overrides::is_at;
use super::points::Point;
use super::run::{AloneRuns, Run};
use crate::experiment::{ControlTarget, ControlText, Event, EventKind, Experiment, FlowKeys, Group, Metrics};
use crate::interrupt::Interrupt;
use crate::metrics::metric::Need;
use crate::metrics::path::{Measure, MetricPath};
use crate::metrics::{ALL, SizeClass};

/// Adds the runs alone of a point to `all`; `grid` has the runs of the plan at it, and `known` the ids of all runs so far.
pub(super) fn add(
    all: &mut AloneRuns,
    point: &Point,
    (grid, known): (&[Run], &mut HashSet<String>),
    interrupt: &Interrupt,
) -> Result<(), InputError> {
    for (scheme, class) in asked(&point.experiment, &point.values) {
        let alone = runs(&point.experiment, (scheme, class), interrupt)?;
        let own = grid.iter().filter(|run| run.scheme == *scheme);
        for (own, alone) in own.zip(alone) {
            all.ids.insert((own.id.clone(), class.to_owned()), alone.id.clone());
            if known.insert(alone.id.clone()) {
                all.runs.push(Run { point: point.values.clone(), ..alone });
            }
        }
    }
    Ok(())
}

/// Returns the schemes and classes whose runs alone the panels and claims of `experiment` need at a point, each once.
pub(super) fn asked<'e>(experiment: &'e Experiment, point: &[(String, Json)]) -> Vec<(&'e String, &'e str)> {
    let mut asked: Vec<(&String, &str)> = Vec::new();
    let mut ask = |measure: &Measure, scheme: &str| {
        let is_needed = measure.metric.needs.contains(&Need::Alone);
        let class = experiment.metrics.classes.iter().find(|class| class.name == measure.class);
        let scheme = experiment.schemes.iter().find(|own| *own == scheme);
        let found = scheme.zip(class).filter(|_| is_needed);
        asked.extend(found.map(|(scheme, class)| (scheme, class.name.as_str())));
    };
    for panel in &experiment.panels {
        // The points of an axis may be others than those of the panel.
        let elsewhere = !panel.x_at.is_empty() || !panel.y_at.is_empty();
        if !elsewhere && !is_at(point, &panel.at) {
            continue;
        }
        let schemes = panel.schemes.as_ref().unwrap_or(&experiment.schemes);
        for measure in panel.metrics.iter().filter_map(|metric| Measure::parse(metric).ok()) {
            schemes.iter().for_each(|scheme| ask(&measure, scheme));
        }
    }
    for claim in &experiment.claims {
        for of in claim.test.metrics() {
            let mut at = claim.at.clone();
            at.extend(of.at.clone());
            if let Ok(path) = MetricPath::parse(&of.metric)
                && is_at(point, &at)
            {
                ask(&path.measure, &path.scheme);
            }
        }
    }
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// Returns the runs of a scheme in which only the groups of `class` send, one for each seed in order.
///
/// # Errors
/// Returns an [`InputError`] if the experiment cannot be run without the other groups, or if `interrupt` stops it.
fn runs(
    experiment: &Experiment,
    (scheme, class): (&str, &str),
    interrupt: &Interrupt,
) -> Result<Vec<Run>, InputError> {
    let file = experiment.sources.experiment();
    interrupt.check(file)?;
    let own = experiment.metrics.classes.iter().find(|own| own.name == class);
    let groups = own.map_or(&[][..], |own| &own.group);
    if experiment.controls.iter().any(|control| matches!(control.whom, ControlTarget::Flow(_))) {
        let what = format!("the groups of class {class} cannot run alone: flows have other numbers then");
        return Err(InputError::new(file, None, "control", what, "group = \"NAME\" in place of flow = N"));
    }
    let alone = only(experiment, groups);
    let texts = experiment.sources.all_read().map(|(path, text)| (path.to_owned(), text.clone()));
    let sources = Sources::from_texts(file, texts);
    merged::runs(sources, &alone.merged(scheme), &experiment.seeds.list(), interrupt)
}

/// Returns the experiment in which only the groups of these names send.
fn only(experiment: &Experiment, groups: &[String]) -> Experiment {
    let sends = |name: &String| groups.contains(name);
    let silent = |group: &Group| Group {
        app: App::Nothing(Nothing),
        flows: FlowKeys::default(),
        name: group.name.clone(),
        hosts: group.hosts.clone(),
    };
    let group = |group: &Group| if sends(&group.name) { group.clone() } else { silent(group) };
    let event = |event: &Event| {
        let mut event = event.clone();
        if let EventKind::Set(settings) = &mut event.what {
            settings.retain(|setting| sends(&setting.group));
            if settings.is_empty() {
                return None;
            }
        }
        Some(event)
    };
    let stays = |control: &&ControlText| match &control.whom {
        ControlTarget::Group(name) => sends(name),
        ControlTarget::Flow(_) => true,
    };
    Experiment {
        metrics: Metrics {
            classes: of_groups(&experiment.metrics.classes, sends),
            ..experiment.metrics.clone()
        },
        groups: experiment.groups.iter().map(group).collect(),
        events: experiment.events.iter().filter_map(event).collect(),
        controls: experiment.controls.iter().filter(stays).cloned().collect(),
        ..experiment.clone()
    }
}

/// Returns the classes that have flows of groups that send, without the groups that do not.
fn of_groups(classes: &[SizeClass], sends: impl Fn(&String) -> bool) -> Vec<SizeClass> {
    let left = |class: &SizeClass| {
        let group: Vec<String> = class.group.iter().filter(|name| sends(name)).cloned().collect();
        (class.group.is_empty() || !group.is_empty()).then(|| SizeClass { group, ..class.clone() })
    };
    let mut classes: Vec<SizeClass> = classes.iter().filter_map(left).collect();
    let names: Vec<String> = classes.iter().map(|class| class.name.clone()).collect();
    for class in &mut classes {
        class.over = class.over.take().filter(|over| names.contains(over) || over == ALL);
    }
    classes
}
