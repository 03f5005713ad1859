//! The channels of delay, one for each class, and how flows of the class start.

use std::sync::Arc;

use crate::ids::{CLASSES, Class};
use crate::units::Span;

/// One class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Channel {
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
pub struct ChannelTable(Arc<[Channel]>);

/// Why lanes are no channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelError {
    /// None, or more than classes.
    Count(usize),
    /// The limit of this class is not above its target, or the target is zero.
    Inverted(usize),
    /// The limit of this class reaches the target of the class before, or lies above it.
    Overlap(usize),
    /// The linear start of this class is not above zero and at most 1.
    LinearStart(usize),
}

impl std::fmt::Display for ChannelError {
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

impl std::error::Error for ChannelError {}

impl ChannelTable {
    /// The channels `lanes`, of class 0 and on; classes beyond have the last one's.
    ///
    /// # Errors
    /// A [`ChannelError`] where they overlap or are empty.
    pub fn new(lanes: &[Channel]) -> Result<Self, ChannelError> {
        if lanes.is_empty() || lanes.len() > CLASSES {
            return Err(ChannelError::Count(lanes.len()));
        }
        for (at, lane) in lanes.iter().enumerate() {
            if lane.target == Span::ZERO || lane.limit.is_some_and(|limit| limit <= lane.target) {
                return Err(ChannelError::Inverted(at));
            }
            if !(lane.linear_start > 0.0 && lane.linear_start <= 1.0) {
                return Err(ChannelError::LinearStart(at));
            }
            let top = lane.limit.unwrap_or(lane.target);
            if at > 0 && top >= lanes[at - 1].target {
                return Err(ChannelError::Overlap(at));
            }
        }
        Ok(Self(lanes.into()))
    }

    /// The channel of `class`.
    pub fn of(&self, class: Class) -> Channel {
        self.0[usize::from(class).min(self.0.len() - 1)]
    }

    /// All channels, the best class first.
    pub fn all(&self) -> &[Channel] {
        &self.0
    }
}
