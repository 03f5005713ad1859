//! What is implemented: the paper's text or the released code.

/// Whose PrioPlus: the paper's or that of the code released with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The paper's Algorithm 1.
    #[default]
    Paper,
    /// The released code.
    Released,
}
