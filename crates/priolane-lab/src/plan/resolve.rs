//! Thresholds that a scheme leaves to a solver, found from the sizes and load of the groups it names.

use priolane_core::assign::SizesOf;
use priolane_core::assign::by_flow::ByFlow;
use priolane_core::sizes::{SizeDistribution, SizeError};
use priolane_core::transport::Spec;
use priolane_core::transport::homa::{self, Levels};
use priolane_core::transport::tokens::RankBy;
use priolane_sim::topology::Topology;

use super::global::{self, Belief};
use crate::experiment::Experiment;
use crate::scheme::{Assign, Fault, Host, Scheme, Solver, Tail, Thresholds};
use crate::thresholds::{Question, solve as ladder};

/// Finds all thresholds of `scheme` that a solver has to find.
pub(super) fn thresholds(
    scheme: &mut Scheme,
    experiment: &Experiment,
    topology: &Topology,
) -> Result<(), Fault> {
    let site = Site { experiment, topology, followed: follows_workload(scheme) };
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
            controller.load = Some(load_for(thresholds, &site)?);
        }
    }
    if let Assign::BytesSent { levels, thresholds, .. } = &mut scheme.assign {
        solve("assign.thresholds", *levels, thresholds, &site)?;
    }
    if let Some(mean) = ranks(scheme).and_then(RankBy::lacks_mean) {
        let fix = "mean = 133, the packets of the mean flow less one".to_owned();
        let found = belief("transport.mean", &SizesOf::Global, &site);
        let law = found.map_err(|fault| Fault { fix, ..fault })?.law;
        *mean = Some((law.mean() / f64::from(experiment.frame.mss()) - 1.0).max(0.1));
    }
    if let Some(p) = ranks(scheme).and_then(RankBy::lacks_p) {
        let fix = "p = 2107, the packets of the largest flow".to_owned();
        let found = belief("transport.p", &SizesOf::Global, &site);
        let law = found.map_err(|fault| Fault { fix, ..fault })?.law;
        // A flow of one packet is in the first class, whatever the largest.
        let packets = law.max() / f64::from(experiment.frame.mss());
        *p = Some(libm::ceil(packets).max(2.0));
    }
    if let Spec::Homa(keys) = &mut scheme.transport
        && keys.cutoffs.is_none()
    {
        cutoffs(keys, &site)?;
    }
    if let Assign::Known(known) = &mut scheme.assign {
        cuts(known, &site)?;
    }
    if let Host::Mlfq { levels, thresholds } = &mut scheme.host {
        solve("host.thresholds", *levels, thresholds, &site)?;
    }
    Ok(())
}

/// What receivers of the scheme rank flows by, if they do.
fn ranks(scheme: &mut Scheme) -> Option<&mut RankBy> {
    match &mut scheme.transport {
        Spec::Top(keys) => Some(&mut keys.priority),
        _ => None,
    }
}

/// Finds the sizes at which a rule cuts.
fn cuts(rule: &mut ByFlow, site: &Site<'_>) -> Result<(), Fault> {
    if let Some(from) = rule.part().unsolved() {
        let law = belief("assign", from, site)?.law;
        rule.part_mut().solve(&law);
    }
    Ok(())
}

/// Finds Homa's cut-offs; where sizes are so much alike that classes would be empty, there are fewer.
fn cutoffs(keys: &mut homa::Config, site: &Site<'_>) -> Result<(), Fault> {
    let law = belief("transport.from", &keys.from, site)?.law;
    let rtt_bytes = keys.rtt_bytes.expect("invariant: cut-offs are only left open with rtt_bytes");
    keys.set_cutoffs(Levels::cutoffs(&law, rtt_bytes, keys.unscheduled));
    Ok(())
}

/// Where thresholds are to be found.
#[derive(Clone, Copy, Debug)]
struct Site<'a> {
    experiment: &'a Experiment,
    topology: &'a Topology,
    /// Whether hosts find their own in the course of the run, so that those of the start are a guess anyway.
    followed: bool,
}

fn follows_workload(scheme: &Scheme) -> bool {
    matches!(scheme.assign, Assign::BytesSent { controller: Some(_), .. })
}

/// Whether `thresholds` can be found anew while a run goes on.
fn follows(key: &'static str, thresholds: &Thresholds) -> Result<(), Fault> {
    let fix = "thresholds = { solver = \"equal_split\", from = \"global\" }, or no controller".to_owned();
    match thresholds {
        Thresholds::Solved { solver: Solver::PiasPublished, .. } => {
            let what =
                "published thresholds do not follow a workload, and a controller is to make them".into();
            Err(Fault {
                key: key.into(),
                what,
                fix: "solver = \"opt\" or \"basin_hopping\", or no controller".to_owned(),
            })
        }
        Thresholds::Solved { tail: Some(_), .. } => {
            let what = "a controller finds thresholds from what hosts report, not from a tail".into();
            Err(Fault { key: key.into(), what, fix: "no tail, or no controller".to_owned() })
        }
        Thresholds::Solved { .. } => Ok(()),
        Thresholds::Given(_) => Err(Fault {
            key: key.into(),
            what: "stated thresholds leave a controller nothing to find".into(),
            fix,
        }),
    }
}

/// The load that solvers are told while a run goes on.
fn load_for(thresholds: &Thresholds, site: &Site<'_>) -> Result<f64, Fault> {
    let from = match thresholds {
        Thresholds::Solved { from, .. } => from,
        Thresholds::Given(_) => &SizesOf::Global,
    };
    let fix = "assign.controller.load = 0.6, the load that solvers are told";
    let found = belief("assign.controller.load", from, site);
    found.map(|belief| belief.load).map_err(|fault| Fault { fix: fix.to_owned(), ..fault })
}

fn solve(key: &'static str, levels: u8, thresholds: &mut Thresholds, site: &Site<'_>) -> Result<(), Fault> {
    let Thresholds::Solved { solver, from, tail, bytes: bytes @ None } = thresholds else { return Ok(()) };
    let Belief { law, name, published, load } = belief(key, from, site)?;
    let seen = tail.map(|tail| misjudged(&law, tail)).transpose().map_err(|error| Fault {
        key: key.into(),
        what: format!("sizes {name:?} with this tail: {error}"),
        fix: "tail = { max = \"1MB\" }, or { from = 0.9, times = 3 }".to_owned(),
    })?;
    let question = Question {
        sizes: seen.as_ref().unwrap_or(&law),
        name: &name,
        published: published.filter(|_| seen.is_none()),
        load,
        levels,
    };
    let found = ladder(*solver, &question);
    *bytes =
        Some(found.map_err(|refusal| Fault { key: key.into(), what: refusal.what, fix: refusal.fix })?);
    Ok(())
}

fn misjudged(law: &SizeDistribution, tail: Tail) -> Result<SizeDistribution, SizeError> {
    match tail {
        Tail::Cut { max } => law.capped(max as f64),
        Tail::Stretched { from, times } => law.stretched(from, times),
    }
}

/// The sizes and load that `from` stands for.
fn belief<'a>(key: &'static str, from: &SizesOf, site: &Site<'a>) -> Result<Belief<'a>, Fault> {
    let Site { experiment, topology, followed } = *site;
    match from {
        SizesOf::Group(name) => global::of_group(key, name, experiment),
        SizesOf::Global => global::of_all(key, experiment, topology),
        SizesOf::Local if followed => global::of_all(key, experiment, topology),
        SizesOf::Local => global::of_each(key, experiment),
    }
}
