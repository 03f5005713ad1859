//! Checks a sweep point: solves for thresholds and checks the schemes against the network.

use priolane_source::{InputError, Mistakes, Table};

use super::global::TrafficEstimates;
use super::{fit, ports, resolve};
use crate::experiment::{Experiment, LoadedExperiment, NamedScheme, overlay};
use crate::interrupt::Interrupt;
use crate::scheme;

/// A sweep point that has been checked against its network.
pub(super) struct CheckedPoint {
    /// The experiment with solved thresholds.
    pub(super) experiment: Experiment,
    pub(super) warnings: Vec<String>,
    /// Approximate number of flows per run.
    pub(super) flows: u64,
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
    let (mut warnings, flows) = fit::traffic(&experiment, &topology, root)?;
    fit::failures(&experiment, &topology, root)?;
    let fabric = ports::fabric(&experiment, &topology);
    let estimates = TrafficEstimates::new(&experiment, &topology);
    let mut found = Mistakes::new(&file);
    let checked = found.each(schemes, |named| {
        interrupt.check(&file)?;
        let mut scheme = named.scheme.clone();
        warnings.extend(named.warnings.iter().cloned());
        let mut notes = resolve::thresholds(&mut scheme, &experiment.frame, &estimates)
            .map_err(|fault| blame(&named, &fault))?;
        notes.extend(scheme::complete(&mut scheme, &fabric));
        notes.extend(scheme::check(&scheme, &fabric).map_err(|fault| blame(&named, &fault))?);
        warnings.extend(notes.into_iter().map(|warning| format!("{}: {warning}", named.name)));
        Ok((named.name, scheme))
    });
    found.finish()?;
    experiment.scheme.extend(checked);
    Ok(CheckedPoint { experiment, warnings, flows })
}

/// Converts a scheme's fault to an error at its position in the scheme.
fn blame(named: &NamedScheme, fault: &scheme::Fault) -> InputError {
    let origin = overlay::locate(&named.tree, &fault.key).unwrap_or_else(|| named.origin.clone());
    origin.error(&format!("scheme.{}.{}", named.name, fault.key), fault.what.clone(), fault.fix.clone())
}
