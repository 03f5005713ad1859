//! A point of a sweep, its thresholds found and its schemes checked against the network.

use priolane_source::{InputError, Mistakes, Table};

use super::{fit, ports, resolve};
use crate::experiment::{Experiment, Named, Read, overlay};
use crate::interrupt::Interrupt;
use crate::scheme;

/// What is known of a point once it is checked against its network.
pub(super) struct CheckedPoint {
    /// The experiment, its thresholds found.
    pub(super) experiment: Experiment,
    pub(super) warnings: Vec<String>,
    /// About how many flows a run has.
    pub(super) flows: u64,
}

/// The experiment with its thresholds found and its schemes checked against the network.
pub(super) fn check(read: Read, root: &Table, interrupt: &Interrupt) -> Result<CheckedPoint, InputError> {
    let Read { mut experiment, schemes } = read;
    let file = experiment.sources.experiment().to_owned();
    let topology = ports::network(&experiment, root)?;
    let (mut warnings, flows) = fit::traffic(&experiment, &topology, root)?;
    fit::failures(&experiment, &topology, root)?;
    let fabric = ports::fabric(&experiment, &topology);
    let mut found = Mistakes::new(&file);
    found.each(schemes, |named| {
        interrupt.check(&file)?;
        let mut scheme = named.scheme.clone();
        resolve::thresholds(&mut scheme, &experiment, &topology).map_err(|fault| blame(&named, &fault))?;
        let found = scheme::check(&scheme, &fabric).map_err(|fault| blame(&named, &fault))?;
        warnings.extend(found.into_iter().map(|warning| format!("{}: {warning}", named.name)));
        experiment.scheme.insert(named.name.clone(), scheme);
        Ok(())
    });
    found.finish()?;
    Ok(CheckedPoint { experiment, warnings, flows })
}

/// The error of a scheme's fault, where the scheme states what is at fault.
fn blame(named: &Named, fault: &scheme::Fault) -> InputError {
    let origin = overlay::locate(&named.tree, &fault.key).unwrap_or_else(|| named.origin.clone());
    origin.error(&format!("scheme.{}.{}", named.name, fault.key), fault.what.clone(), fault.fix.clone())
}
