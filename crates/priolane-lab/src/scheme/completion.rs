//! Values that a scheme states for some links and switches, and that are derived for others.

use super::{Fabric, Scheme, marking, memory};

/// Derives for the links and switches of `fabric` what `scheme` states for others: marking thresholds and memory; returns
/// a warning for each.
pub(crate) fn complete(scheme: &mut Scheme, fabric: &Fabric) -> Vec<String> {
    let mut warnings = marking::complete(scheme, fabric);
    warnings.extend(memory::complete(scheme, fabric));
    warnings
}
