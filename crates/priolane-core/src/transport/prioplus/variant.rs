//! The variants of PrioPlus: the paper's text or the released code.

use crate::keys::Words;

/// The variant of PrioPlus: the paper's or that of the code released with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Variant {
    /// The paper's Algorithm 1.
    #[default]
    Paper,
    /// The released code.
    Released,
}
