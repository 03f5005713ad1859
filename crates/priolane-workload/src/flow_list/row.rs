//! A row of a flow list, and the integers in its cells.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::FlowId;
use priolane_core::units::Span;

/// A row of a flow list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The flow; its `id` is the row's number, from 0.
    pub flow: FlowSpec,
    /// The rows of the flows that it depends on, ascending; empty for none.
    pub after: Vec<FlowId>,
    /// Delay after the last of them, above zero; `None` if the list does not state it.
    pub delay: Option<Span>,
    /// The number of its equal-cost path; `None` if the list does not state it.
    pub path: Option<u16>,
}

/// Parses a whole number of digits, which zeros after a point may follow, as programs write that keep numbers as floats;
/// `None` if it is not one or above `u64::MAX`.
pub(super) fn whole(text: &str) -> Option<u64> {
    match text.split_once('.') {
        Some((number, zeros)) if !number.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
            digits(number)
        }
        Some(_) => None,
        None => digits(text),
    }
}

/// Parses a number of digits only; `None` if it is not one or above `u64::MAX`.
pub(super) fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
