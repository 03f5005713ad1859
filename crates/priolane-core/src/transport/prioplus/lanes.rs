//! The channels of delay, one for each class, and how flows of the class start.

use std::sync::Arc;

use crate::ids::{CLASSES, Class};
use crate::units::Span;

/// One class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lane {
    /// D_target, above the delay of the empty path; above zero.
    pub target: Span,
    /// D_limit, above the delay of the empty path; `None` for a class that never yields.
    pub limit: Option<Span>,
    /// How its flows start.
    pub start: Start,
    /// W_LS: the part of the bandwidth-delay product that linear start adds per round trip, in (0, 1].
    pub linear_start: f64,
}

/// How a flow starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// With a probe.
    Probe,
    /// With the window of linear start.
    Linear,
    /// With a window that fills the path.
    LineRate,
}

/// The channels of all classes, class 0, the best, first: the highest delay.
#[derive(Clone, PartialEq, Debug)]
pub struct Lanes(Arc<[Lane]>);

/// Why lanes are no channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneError {
    /// None, or more than classes.
    Count(usize),
    /// The limit of this class is not above its target, or the target is zero.
    Inverted(usize),
    /// The limit of this class reaches the target of the class before, or lies above it.
    Overlap(usize),
    /// The linear start of this class is not above zero and at most 1.
    LinearStart(usize),
}

impl std::fmt::Display for LaneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n} channels, where there can be 1 to {CLASSES}"),
            Self::Inverted(at) => {
                write!(f, "the limit of channel {at} is not above its target, or that is zero")
            }
            Self::Overlap(at) => {
                write!(
                    f,
                    "channels {} and {at} overlap: the limit of {at} reaches the other's target",
                    at - 1
                )
            }
            Self::LinearStart(at) => write!(f, "the linear start of channel {at} is not in (0, 1]"),
        }
    }
}

impl std::error::Error for LaneError {}

impl Lanes {
    /// The channels `lanes`, of class 0 and on; classes beyond have the last one's.
    ///
    /// # Errors
    /// A [`LaneError`] where they overlap or are empty.
    pub fn new(lanes: &[Lane]) -> Result<Self, LaneError> {
        if lanes.is_empty() || lanes.len() > CLASSES {
            return Err(LaneError::Count(lanes.len()));
        }
        for (at, lane) in lanes.iter().enumerate() {
            if lane.target == Span::ZERO || lane.limit.is_some_and(|limit| limit <= lane.target) {
                return Err(LaneError::Inverted(at));
            }
            if !(lane.linear_start > 0.0 && lane.linear_start <= 1.0) {
                return Err(LaneError::LinearStart(at));
            }
            let top = lane.limit.unwrap_or(lane.target);
            if at > 0 && top >= lanes[at - 1].target {
                return Err(LaneError::Overlap(at));
            }
        }
        Ok(Self(lanes.into()))
    }

    /// The channel of `class`.
    pub fn of(&self, class: Class) -> Lane {
        self.0[usize::from(class).min(self.0.len() - 1)]
    }

    /// All channels, the best class first.
    pub fn all(&self) -> &[Lane] {
        &self.0
    }
}
