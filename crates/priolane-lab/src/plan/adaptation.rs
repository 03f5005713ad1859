//! Converts a scheme's controller to the simulator's threshold adaptation.

use priolane_core::assign::control::AdaptiveThresholds;
use priolane_core::assign::{Demotion, SizeScope};
use priolane_core::endpoint::ThresholdSet;
use priolane_sim::scenario::Adaptation;

use crate::scheme::Scheme;

/// Returns how the thresholds of `scheme` follow the workload, if they do.
pub(super) fn adaptation(scheme: &Scheme) -> Option<Adaptation> {
    let config = *scheme.assign.controller()?;
    let mut adaptation = Adaptation { config, global: Vec::new(), local: Vec::new() };
    let ladders = [
        (ThresholdSet::Class, scheme.assign.demotion()),
        (ThresholdSet::HostLevel, scheme.host.part().demotion()),
    ];
    for (of, demotion) in ladders {
        let Some(Demotion { levels, thresholds }) = demotion else { continue };
        let Some(solved) = thresholds.solved() else { continue };
        let load = config.load.unwrap_or_default();
        let target = AdaptiveThresholds { of, solver: solved.solver, levels: *levels, load };
        match solved.from {
            SizeScope::Local => adaptation.local.push(target),
            SizeScope::Global | SizeScope::Group(_) => adaptation.global.push(target),
        }
    }
    Some(adaptation)
}
