//! The delay channels, one per class, and how flows of the class start.

use std::sync::Arc;

use crate::ids::{CLASSES, Class};
use crate::units::Span;

/// The channel of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Channel {
    /// D_target, relative to the delay of the empty path; above zero.
    pub target: Span,
    /// D_limit, relative to the delay of the empty path; `None` for a class that never yields.
    pub limit: Option<Span>,
    /// The way in which flows of the channel start.
    pub start: Start,
    /// W_LS: the fraction of the bandwidth-delay product that linear start adds per round trip, in (0, 1].
    pub linear_start: f64,
}

/// The way in which a flow starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// With a probe.
    Probe,
    /// With the window of linear start.
    Linear,
    /// With a window of one bandwidth-delay product.
    LineRate,
}

/// The channels of all classes, in order of class: class 0, the best, has the highest delay.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelTable(Arc<[Channel]>);

/// The reason why a list of channels is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelError {
    /// No channels, or more than there are classes.
    Count(usize),
    /// The limit of this class is not above its target, or the target is zero.
    Inverted(usize),
    /// The limit of this class is not below the target of the class before.
    Overlap(usize),
    /// The linear start of this class is not in (0, 1].
    LinearStart(usize),
}

impl std::fmt::Display for ChannelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(n) => write!(f, "there are {n} channels, but only 1 to {CLASSES} are possible"),
            Self::Inverted(at) => {
                write!(f, "the limit of channel {at} is not above its target, or the target is zero")
            }
            Self::Overlap(at) => {
                write!(
                    f,
                    "channels {} and {at} overlap: the limit of {at} reaches the target of the other",
                    at - 1
                )
            }
            Self::LinearStart(at) => write!(f, "the linear start of channel {at} is not in (0, 1]"),
        }
    }
}

impl std::error::Error for ChannelError {}

impl ChannelTable {
    /// Creates the table from `channels`, starting with class 0; further classes share the last channel.
    ///
    /// # Errors
    /// Returns a [`ChannelError`] if channels overlap or a value is out of range.
    pub fn new(channels: &[Channel]) -> Result<Self, ChannelError> {
        if channels.is_empty() || channels.len() > CLASSES {
            return Err(ChannelError::Count(channels.len()));
        }
        for (at, lane) in channels.iter().enumerate() {
            if lane.target == Span::ZERO || lane.limit.is_some_and(|limit| limit <= lane.target) {
                return Err(ChannelError::Inverted(at));
            }
            if !(lane.linear_start > 0.0 && lane.linear_start <= 1.0) {
                return Err(ChannelError::LinearStart(at));
            }
            let top = lane.limit.unwrap_or(lane.target);
            if at > 0 && top >= channels[at - 1].target {
                return Err(ChannelError::Overlap(at));
            }
        }
        Ok(Self(channels.into()))
    }

    /// Returns the channel of `class`.
    pub fn of(&self, class: Class) -> Channel {
        self.0[usize::from(class).min(self.0.len() - 1)]
    }

    /// Returns all channels, the best class first.
    pub fn all(&self) -> &[Channel] {
        &self.0
    }
}
