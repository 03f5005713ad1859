//! Values that a scheme states for some links and switches, and that are derived for others.

use priolane_core::transport::Spec;

use super::{Fabric, Scheme, marking, memory};

/// Derives for the links, switches and paths of `fabric` what `scheme` states for others or leaves open: marking
/// thresholds, memory and common round trips; returns a warning for each threshold and memory.
pub(crate) fn complete(scheme: &mut Scheme, fabric: &Fabric) -> Vec<String> {
    let mut warnings = marking::complete(scheme, fabric);
    warnings.extend(memory::complete(scheme, fabric));
    share_longest_round_trip(&mut scheme.transport, fabric);
    warnings
}

/// Gives the longest empty round trip to a controller where paths differ.
fn share_longest_round_trip(transport: &mut Spec, fabric: &Fabric) {
    let Spec::Window { controller, .. } = transport else { return };
    let round_trips = || fabric.paths.iter().map(|path| path.path.longest_round_trip());
    if let (Some(shortest), Some(longest)) = (round_trips().min(), round_trips().max())
        && shortest < longest
    {
        controller.part_mut().share_longest_round_trip(longest);
    }
}
