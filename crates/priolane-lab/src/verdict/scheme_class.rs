//! The flows of a class under a scheme, as flags name them.

/// The flows that a flag is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemeClass<'a> {
    /// The scheme.
    pub(super) scheme: &'a str,
    /// The class of flows.
    pub(super) class: &'a str,
}

impl std::fmt::Display for SchemeClass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "class `{}` of `{}`", self.class, self.scheme)
    }
}
