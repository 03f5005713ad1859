//! Thresholds that a scheme leaves to a solver, found from the sizes and load of the groups it names.

use crate::experiment::{Experiment, Group, LoadText, Sizes};
use crate::scheme::{Assign, Fault, Host, Scheme, Solver, ThresholdSource, Thresholds};
use crate::thresholds::{Question, solve as ladder};

/// Finds all thresholds of `scheme` that a solver has to find.
pub(super) fn thresholds(scheme: &mut Scheme, experiment: &Experiment) -> Result<(), Fault> {
    let host = match &scheme.host {
        Host::Mlfq { thresholds, .. } => Some(thresholds),
        _ => None,
    };
    if let Assign::BytesSent { thresholds, controller: Some(controller), .. } = &mut scheme.assign {
        follows("assign.thresholds", thresholds)?;
        if let Some(host @ Thresholds::Solved { .. }) = host {
            follows("host.thresholds", host)?;
        }
        if controller.load.is_none() {
            controller.load = Some(load_for(thresholds, experiment)?);
        }
    }
    if let Assign::BytesSent { levels, thresholds, .. } = &mut scheme.assign {
        solve("assign.thresholds", *levels, thresholds, experiment)?;
    }
    if let Host::Mlfq { levels, thresholds } = &mut scheme.host {
        solve("host.thresholds", *levels, thresholds, experiment)?;
    }
    Ok(())
}

/// Whether `thresholds` can be found anew while a run goes on.
fn follows(key: &'static str, thresholds: &Thresholds) -> Result<(), Fault> {
    let fix = "thresholds = { solver = \"equal_split\", from = \"global\" }, or no controller".to_owned();
    match thresholds {
        Thresholds::Solved { solver: Solver::PiasPublished, .. } => {
            let what =
                "published thresholds do not follow a workload, and a controller is to make them".into();
            Err(Fault {
                key,
                what,
                fix: "solver = \"opt\" or \"basin_hopping\", or no controller".to_owned(),
            })
        }
        Thresholds::Solved { .. } => Ok(()),
        Thresholds::Given(_) => {
            Err(Fault { key, what: "stated thresholds leave a controller nothing to find".into(), fix })
        }
    }
}

/// The load that solvers are told while a run goes on.
fn load_for(thresholds: &Thresholds, experiment: &Experiment) -> Result<f64, Fault> {
    let from = match thresholds {
        Thresholds::Solved { from, .. } => from,
        Thresholds::Given(_) => &ThresholdSource::Global,
    };
    let fix = "assign.controller.load = 0.6, the load that solvers are told";
    let found = traffic("assign.controller.load", from, experiment);
    found.map(|traffic| traffic.load.value).map_err(|fault| Fault { fix: fix.to_owned(), ..fault })
}

/// What thresholds are found from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Traffic<'a> {
    sizes: &'a Sizes,
    load: LoadText,
}

fn solve(
    key: &'static str,
    levels: u8,
    thresholds: &mut Thresholds,
    experiment: &Experiment,
) -> Result<(), Fault> {
    let Thresholds::Solved { solver, from, bytes: bytes @ None } = thresholds else { return Ok(()) };
    let traffic = traffic(key, from, experiment)?;
    let Sizes { law, csv, .. } = traffic.sizes;
    let question = Question {
        sizes: law,
        name: csv,
        published: traffic.sizes.published(),
        load: traffic.load.value,
        levels,
    };
    let found = ladder(*solver, &question);
    *bytes = Some(found.map_err(|refusal| Fault { key, what: refusal.what, fix: refusal.fix })?);
    Ok(())
}

/// The sizes and load that `from` stands for.
fn traffic<'a>(
    key: &'static str,
    from: &ThresholdSource,
    experiment: &'a Experiment,
) -> Result<Traffic<'a>, Fault> {
    let fault = |what: String, fix: &str| Fault { key, what, fix: fix.to_owned() };
    let own = |group: &'a Group| {
        let traffic = group.app.open_loop()?;
        Some(Traffic { sizes: traffic.sizes, load: traffic.load })
    };
    if let ThresholdSource::Group(name) = from {
        let names: Vec<&str> = experiment.groups.iter().map(|g| g.name.as_str()).collect();
        let fix = format!("one of the groups {}", names.join(", "));
        let group =
            experiment.group(name).ok_or_else(|| fault(format!("there is no group {name:?}"), &fix))?;
        return own(group).ok_or_else(|| {
            fault(
                format!("group {name:?} states no sizes and load"),
                "a group whose app is poisson or on_off",
            )
        });
    }
    let mut all = experiment.groups.iter().filter_map(own);
    let Some(first) = all.next() else {
        return Err(fault(
            "no group states sizes and load".into(),
            "thresholds in bytes, such as [\"100kB\"]",
        ));
    };
    if all.any(|other| other != first) {
        let what = "the groups differ in sizes or load, so it is not clear whose thresholds to take";
        return Err(fault(what.into(), "from = \"NAME\", the name of one group"));
    }
    Ok(first)
}
