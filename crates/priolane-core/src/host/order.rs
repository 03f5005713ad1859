//! What the host row of a scheme says besides the kind of its scheduler.

use std::fmt::Debug;

use crate::assign::Demotion;

/// The order in which a host sends, as files state it.
pub trait HostOrder: Debug {
    /// Its levels by bytes sent. Default: it has none.
    fn demotion(&self) -> Option<&Demotion> {
        None
    }

    /// Its levels, to set their thresholds. Default: it has none.
    fn demotion_mut(&mut self) -> Option<&mut Demotion> {
        None
    }

    /// A warning for everyone who uses it. Default: none.
    fn warning(&self) -> Option<&'static str> {
        None
    }
}
