//! A row of a flow list, and the whole numbers in its cells.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::FlowId;
use priolane_core::units::Span;

/// A row of a flow list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The flow; its `id` is the row's number, from 0.
    pub flow: FlowSpec,
    /// The rows of the flows that it waits for, in rising order; empty if for none.
    pub after: Vec<FlowId>,
    /// How long after the last of them it starts, above zero; `None` where the list does not say.
    pub delay: Option<Span>,
    /// The number of the equal-cost path that it takes; `None` where the list does not say.
    pub path: Option<u16>,
}

/// A number of digits only; `None` if it is not one or above `u64::MAX`.
pub(super) fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
