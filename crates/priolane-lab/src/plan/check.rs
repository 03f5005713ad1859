//! Checks a sweep point: solves for thresholds and checks the schemes against the network.

use std::collections::BTreeMap;

use priolane_core::finding::Severity;
use priolane_source::{InputError, Mistakes, Table};

use super::fit::FittedTraffic;
use super::global::TrafficEstimates;
use super::offers::GroupOffer;
use super::resolve::Unsolved;
use super::steady::SteadyNeeds;
use super::{coexistence, connections, first_classes, fit, ports, resolve};
use crate::experiment::{Experiment, LoadedExperiment, NamedScheme, overlay};
use crate::interrupt::Interrupt;
use crate::scheme::{self, Fabric, Fault, Scheme};

/// A sweep point that has been checked against its network.
pub(super) struct CheckedPoint {
    /// The experiment with solved thresholds.
    pub(super) experiment: Experiment,
    pub(super) warnings: Vec<String>,
    /// By scheme, what is said of settings that may not be meant; contained in `warnings`.
    pub(super) findings: BTreeMap<String, Vec<String>>,
    /// Approximate number of flows per run.
    pub(super) flows: u64,
    /// The needs of the steady state of each open-loop group.
    pub(super) steady: Vec<SteadyNeeds>,
    /// The load that each group with a stated load offers.
    pub(super) offers: Vec<GroupOffer>,
}

/// Solves for the thresholds of an experiment and checks its schemes against the network.
pub(super) fn check(
    read: LoadedExperiment,
    root: &Table,
    interrupt: &Interrupt,
) -> Result<CheckedPoint, InputError> {
    let LoadedExperiment { mut experiment, schemes } = read;
    let file = experiment.sources.experiment().to_owned();
    let topology = ports::network(&experiment, root)?;
    let FittedTraffic { mut warnings, flows, steady, offers } = fit::traffic(&experiment, &topology, root)?;
    fit::failures(&experiment, &topology, root)?;
    let fabric = ports::fabric(&experiment, &topology);
    let estimates = TrafficEstimates::new(&experiment, &topology);
    let mut found = Mistakes::new(&file);
    let mut findings = BTreeMap::new();
    let checked = found.each(schemes, |named| {
        interrupt.check(&file)?;
        let mut scheme = named.scheme.clone();
        let mut notes = resolve::thresholds(&mut scheme, &experiment.frame, &estimates)
            .map_err(|why| unsolved(&named, why, &experiment, root))?;
        notes.extend(scheme::complete(&mut scheme, &fabric));
        all_of(&named, first_classes::faults(&experiment, &scheme, &fabric))?;
        notes.extend(scheme::check(&scheme, &fabric).map_err(|fault| blame(&named, &fault))?);
        connections::check(&experiment, &scheme).map_err(|fault| blame(&named, &fault))?;
        notes.extend(coexistence::check(&experiment, (&named, &scheme), &fabric, root)?);
        warnings.extend(notes.into_iter().map(|warning| format!("{}: {warning}", named.name)));
        let settled = settings(&named, &scheme, &fabric)?;
        warnings.extend(settled.iter().map(|warning| format!("{}: {warning}", named.name)));
        findings.insert(named.name.clone(), settled);
        Ok((named.name, scheme))
    });
    found.finish()?;
    experiment.scheme.extend(checked);
    Ok(CheckedPoint { experiment, warnings, findings, flows, steady, offers })
}

/// Returns what is to be said of settings of `scheme` that may not be meant on `fabric`.
///
/// # Errors
/// Returns all settings that cannot work together.
fn settings(named: &NamedScheme, scheme: &Scheme, fabric: &Fabric) -> Result<Vec<String>, InputError> {
    let (wrong, doubtful): (Vec<_>, Vec<_>) =
        scheme::findings(scheme, fabric).into_iter().partition(|finding| finding.severity == Severity::Error);
    all_of(named, wrong.into_iter().map(|finding| finding.fault).collect())?;
    Ok(doubtful.iter().map(ToString::to_string).collect())
}

/// Returns all faults of a scheme as an error.
fn all_of(named: &NamedScheme, faults: Vec<Fault>) -> Result<(), InputError> {
    let mut found = Mistakes::new(&named.origin.file);
    faults.iter().for_each(|fault| found.add(blame(named, fault)));
    found.finish()
}

/// Converts unsolved thresholds to an error at the scheme's key or, if the load is at fault, at the largest load that a
/// group states.
fn unsolved(named: &NamedScheme, why: Unsolved, experiment: &Experiment, root: &Table) -> InputError {
    let fault = match why {
        Unsolved::Scheme(fault) => return blame(named, &fault),
        Unsolved::Load(fault) => fault,
    };
    let stated = experiment.groups.iter().filter_map(|group| {
        let load = group.app.part().open_loop()?.load.value;
        Some((load, format!("group.{}.load.value", group.name)))
    });
    let Some((_, key)) = stated.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { return blame(named, &fault) };
    let Some(origin) = overlay::locate(root, &key) else { return blame(named, &fault) };
    let what = format!("scheme {}: {}", named.name, fault.what);
    origin.error(&key, what, format!("{} in scheme.{}.{}", fault.fix, named.name, fault.key))
}

/// Converts a scheme's fault to an error at its position in the scheme.
fn blame(named: &NamedScheme, fault: &Fault) -> InputError {
    let origin = overlay::locate(&named.tree, &fault.key).unwrap_or_else(|| named.origin.clone());
    origin.error(&format!("scheme.{}.{}", named.name, fault.key), fault.what.clone(), fault.fix.clone())
}
