//! What entries are made of.

use super::{Capability, Parameter, Provision};

/// A parameter; its unit, default and source last.
pub(super) const fn parameter(
    name: &'static str,
    meaning: &'static str,
    [unit, default, source]: [&'static str; 3],
) -> Parameter {
    Parameter { name, meaning, unit, default, source }
}

/// What an entry provides however it is set.
pub(super) const fn always(capability: Capability) -> Provision {
    Provision { capability, if_set: None }
}

/// Some parameters, then others; `ALL` is how many there are of both.
pub(super) const fn joined<const A: usize, const B: usize, const ALL: usize>(
    first: [Parameter; A],
    second: [Parameter; B],
) -> [Parameter; ALL] {
    assert!(ALL == A + B);
    let mut all = [first[0]; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < A { first[i] } else { second[i - A] };
        i += 1;
    }
    all
}
