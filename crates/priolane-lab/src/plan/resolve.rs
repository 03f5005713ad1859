//! Solves for the thresholds that a scheme leaves open, from the sizes and load of the groups it names.

use priolane_core::assign::by_flow::ByFlow;
use priolane_core::assign::{Assign, BytesSent, Demotion, SizeScope, SolverError, SolverInput, Thresholds};
use priolane_core::packet::Frame;
use priolane_core::transport::Spec;
use priolane_core::transport::homa::{self, Levels};
use priolane_core::transport::tokens::RankBy;

use super::global::{EstimatedTraffic, TrafficEstimates};
use crate::scheme::{Fault, Scheme};

/// The reason why the thresholds of a scheme cannot be found. The key of the fault is that of the thresholds.
#[derive(Debug)]
pub(super) enum Unsolved {
    /// A setting of the scheme.
    Scheme(Fault),
    /// The load of the groups is 1 or more.
    Load(Fault),
}

impl From<Fault> for Unsolved {
    fn from(fault: Fault) -> Self {
        Self::Scheme(fault)
    }
}

/// Solves for all open thresholds of `scheme`; returns a warning where another solver than the scheme's computes them.
pub(super) fn thresholds(
    scheme: &mut Scheme,
    frame: &Frame,
    estimates: &TrafficEstimates<'_>,
) -> Result<Vec<String>, Unsolved> {
    let mut warnings = Vec::new();
    let site = ThresholdSearch { estimates, followed: scheme.assign.controller().is_some() };
    if let Assign::BytesSent(BytesSent { demotion, controller, .. }) = &mut scheme.assign {
        if let Some(controller) = controller {
            check_adaptive("assign.thresholds", &demotion.thresholds)?;
            let host = scheme.host.part().demotion().map(|demotion| &demotion.thresholds);
            if let Some(host @ Thresholds::Solved(_)) = host {
                check_adaptive("host.thresholds", host)?;
            }
            if controller.load.is_none() {
                controller.load = Some(load_for(&demotion.thresholds, &site)?);
            }
        }
        warnings.extend(solve("assign.thresholds", demotion, &site)?);
    }
    if let Some(mean) = ranks(scheme).and_then(RankBy::missing_mean_mut) {
        let fix = format!("a number: the bytes of the mean flow divided by {}, minus one", frame.mss());
        let found = estimate_traffic("transport.mean", &SizeScope::Global, &site);
        let law = found.map_err(|fault| Fault { fix, ..fault })?.law;
        *mean = Some((law.mean() / f64::from(frame.mss()) - 1.0).max(0.1));
    }
    if let Some(p) = ranks(scheme).and_then(RankBy::missing_p_mut) {
        let fix = format!("a number: the bytes of the largest flow divided by {}, rounded up", frame.mss());
        let found = estimate_traffic("transport.p", &SizeScope::Global, &site);
        let law = found.map_err(|fault| Fault { fix, ..fault })?.law;
        // A flow of one packet is in the first class, whatever the largest.
        let packets = law.max() / f64::from(frame.mss());
        *p = Some(libm::ceil(packets).max(2.0));
    }
    if let Spec::Homa(keys) = &mut scheme.transport
        && keys.cutoffs.is_none()
    {
        cutoffs(keys, &site)?;
    }
    if let Assign::ByFlow(rule) = &mut scheme.assign {
        cuts(rule, &site)?;
    }
    if let Some(demotion) = scheme.host.part_mut().demotion_mut() {
        warnings.extend(solve("host.thresholds", demotion, &site)?);
    }
    warnings.dedup();
    Ok(warnings)
}

/// Returns the ranking rule of the scheme's receivers, if any.
fn ranks(scheme: &mut Scheme) -> Option<&mut RankBy> {
    match &mut scheme.transport {
        Spec::Top(keys) => Some(&mut keys.priority),
        _ => None,
    }
}

/// Computes the size thresholds of a rule.
fn cuts(rule: &mut ByFlow, site: &ThresholdSearch<'_>) -> Result<(), Fault> {
    if let Some(from) = rule.part().unsolved() {
        let law = estimate_traffic("assign", from, site)?.law;
        rule.part_mut().solve(&law);
    }
    Ok(())
}

/// Computes Homa's cut-offs. There are fewer if sizes are so similar that classes would be empty.
fn cutoffs(keys: &mut homa::Config, site: &ThresholdSearch<'_>) -> Result<(), Fault> {
    let law = estimate_traffic("transport.from", &keys.from, site)?.law;
    let rtt_bytes = keys.rtt_bytes.expect("invariant: cut-offs are only left open with rtt_bytes");
    keys.set_cutoffs(Levels::cutoffs(&law, rtt_bytes, keys.unscheduled_classes));
    Ok(())
}

/// The context in which thresholds are computed.
#[derive(Clone, Copy, Debug)]
struct ThresholdSearch<'a> {
    estimates: &'a TrafficEstimates<'a>,
    /// Whether hosts adapt their thresholds during the run, so that the initial ones are only a guess.
    followed: bool,
}

/// Checks that `thresholds` can be recomputed during a run.
fn check_adaptive(key: &'static str, thresholds: &Thresholds) -> Result<(), Fault> {
    let Some(solved) = thresholds.solved() else {
        let what = "a controller cannot change thresholds in bytes".to_owned();
        let fix = "thresholds = { solver = \"equal_split\", from = \"global\" }, or remove the controller"
            .to_owned();
        return Err(Fault { key: key.into(), what, fix });
    };
    if !solved.solver.part().uses_sizes() {
        let what =
            "a controller computes thresholds from the workload, but published thresholds do not depend on \
             it"
            .to_owned();
        let fix = "solver = \"opt\" or \"basin_hopping\", or remove the controller".to_owned();
        return Err(Fault { key: key.into(), what, fix });
    }
    if solved.tail.is_some() {
        let what = "a controller computes thresholds from reports of hosts, not from a tail".to_owned();
        return Err(Fault {
            key: key.into(),
            what,
            fix: "Remove either the tail or the controller".to_owned(),
        });
    }
    Ok(())
}

/// Returns the load that solvers assume during a run.
fn load_for(thresholds: &Thresholds, site: &ThresholdSearch<'_>) -> Result<f64, Fault> {
    let from = thresholds.solved().map_or(&SizeScope::Global, |solved| &solved.from);
    let fix = "the load that solvers shall assume, above 0 and below 1";
    let found = estimate_traffic("assign.controller.load", from, site);
    found.map(|traffic| traffic.load).map_err(|fault| Fault { fix: fix.to_owned(), ..fault })
}

/// Solves for the thresholds of `demotion`; returns a warning if it is not its first solver that computes them.
fn solve(
    key: &'static str,
    demotion: &mut Demotion,
    site: &ThresholdSearch<'_>,
) -> Result<Option<String>, Unsolved> {
    let Thresholds::Solved(solved) = &mut demotion.thresholds else { return Ok(None) };
    if solved.bytes.is_some() {
        solved.otherwise = None;
        return Ok(None);
    }
    let EstimatedTraffic { law, name, published, load } = estimate_traffic(key, &solved.from, site)?;
    let seen = solved.tail.map(|tail| tail.applied(&law)).transpose().map_err(|error| Fault {
        key: key.into(),
        what: format!("sizes {name:?} cannot have this tail: {error}"),
        fix: "tail = { max = \"1MB\" }, or { from = 0.9, times = 3 }".to_owned(),
    })?;
    let question = SolverInput {
        sizes: seen.as_ref().unwrap_or(&law),
        name: &name,
        published: published.filter(|_| seen.is_none()),
        load,
        levels: demotion.levels,
    };
    let found = solved.solve(&question);
    let (bytes, refused) = found.map_err(|SolverError { what, fix, overloaded }| {
        let fault = Fault { key: key.into(), what, fix };
        if overloaded { Unsolved::Load(fault) } else { Unsolved::Scheme(fault) }
    })?;
    let (solver, used) = (solved.solver.name(), used_levels(&bytes, law.max()));
    solved.bytes = Some(bytes);
    let notice = |refusal: SolverError| {
        format!("{}: {solver} computes them, and uses {used} of {} levels", refusal.what, demotion.levels)
    };
    Ok(refused.map(notice))
}

/// Returns how many levels some flow reaches, of which the largest has `largest` bytes.
fn used_levels(thresholds: &[u64], largest: f64) -> usize {
    let mut reached: Vec<u64> = thresholds.iter().copied().filter(|&w| (w as f64) < largest).collect();
    reached.dedup();
    reached.len() + 1
}

/// Returns the sizes and load that `from` denotes.
fn estimate_traffic<'a>(
    key: &'static str,
    from: &SizeScope,
    site: &ThresholdSearch<'a>,
) -> Result<EstimatedTraffic<'a>, Fault> {
    let ThresholdSearch { estimates, followed } = *site;
    match from {
        SizeScope::Group(name) => estimates.of_group(key, name),
        SizeScope::Global => estimates.of_all(key),
        SizeScope::Local if followed => estimates.of_all(key),
        SizeScope::Local => estimates.of_each(key),
    }
}
