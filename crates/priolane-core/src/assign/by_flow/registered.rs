//! Rules of other crates.

use super::rule::Rule;
use crate::registry::registered_parts;

registered_parts! {
    /// A rule of another crate with its parameters.
    pub trait RegisteredRule: Rule in Assign;
}
