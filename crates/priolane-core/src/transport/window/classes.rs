//! The classes of sent data.

use crate::ids::Class;

/// The classes of sent data, for reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes {
    pub(super) first: Option<Class>,
    pub(super) last: Class,
}

impl Classes {
    /// Returns the classes of a flow that asks for `class` and has sent nothing.
    pub(super) fn asked(class: Class) -> Self {
        Self { first: None, last: class }
    }
}
