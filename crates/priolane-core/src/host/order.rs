//! The interface of a host order to a scheme, besides the kind of its scheduler.

use std::fmt::Debug;

use crate::assign::Demotion;

/// The order in which a host sends, as written in files.
pub trait HostOrder: Debug {
    /// Returns its levels by bytes sent. Default: none.
    fn demotion(&self) -> Option<&Demotion> {
        None
    }

    /// Returns its levels, to set their thresholds. Default: none.
    fn demotion_mut(&mut self) -> Option<&mut Demotion> {
        None
    }

    /// Returns a warning for all users of this order. Default: none.
    fn warning(&self) -> Option<&'static str> {
        None
    }
}
