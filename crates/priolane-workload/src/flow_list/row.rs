//! A row of a flow list, and the numbers in its cells.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};

/// A row of a flow list: a flow, or a step of a host that takes time and no network.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The flow; its `id` is the row's number, from 0. A step has no bytes, and its host as source and destination.
    pub flow: FlowSpec,
    /// The rows that it depends on, ascending; empty for none.
    pub after: Vec<After>,
    /// Delay of a flow after each of these, in addition to their own; duration of a step. `None` if the list does not
    /// state it.
    pub delay: Option<Span>,
    /// The number of its equal-cost path; `None` if the list does not state it.
    pub path: Option<u16>,
}

/// A row that another row depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Its number, from 0.
    pub row: FlowId,
    /// Delay after its end; `None` if the list does not state it.
    pub delay: Option<Span>,
}

impl After {
    /// Returns the row without a stated delay.
    pub fn row(row: FlowId) -> Self {
        Self { row, delay: None }
    }
}

impl Row {
    /// Returns whether the row is a step of a host, and not a flow.
    pub fn is_step(&self) -> bool {
        self.flow.size == Some(0)
    }

    /// Returns the delay that the list states between the end of `before`, which `first` names, and this row; `None` if that
    /// is the app's delay of notifications.
    pub fn stated_delay(&self, first: &After, before: &Self) -> Option<Span> {
        let within = before.flow.dst == self.flow.src && (before.is_step() || self.is_step());
        let own = if self.is_step() { None } else { self.delay };
        match (first.delay, own) {
            (None, None) => within.then_some(Span::ZERO),
            (of_first, own) => Some(of_first.unwrap_or(Span::ZERO) + own.unwrap_or(Span::ZERO)),
        }
    }
}

/// Parses nanoseconds with at most three decimals, exactly.
pub(super) fn picoseconds(text: &str) -> Option<Time> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.len() > 3 {
        return None;
    }
    let scale = [1000, 100, 10, 1][part.len()];
    let part = digits(part)? * scale;
    Some(Time(digits(whole)?.checked_mul(1000)?.checked_add(part)?))
}

/// A time in the format of flow lists.
pub(super) struct Nanoseconds(pub(super) Time);

impl std::fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0.0 / 1000, self.0.0 % 1000);
        if part == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{part:03}") }
    }
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
