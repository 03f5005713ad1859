//! Buffer and marking thresholds of a port, as scheme files state them.

use super::{Alpha, Buffer, ByRate, DerivedLimit, Scope, SharedBuffer};
use crate::keys::{Bytes, KeyConflict, Keys};
use crate::units::{Limit, Rate};

/// The buffer of a port.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(one_of)]
pub enum BufferSpec {
    /// No limit.
    #[word("unbounded")]
    Unbounded,
    /// One limit for all queues together, with tail drop.
    Shared {
        /// Capacity of all queues together, at link rates not listed in `at`.
        #[key(name = "shared", required = "shared = \"240pkt\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// A separate limit of the same size for each queue.
    PerQueue {
        /// Capacity of each queue, at link rates not listed in `at`.
        #[key(name = "per_queue", required = "per_queue = \"64KiB\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// One limit for all queues together; packets of better queues push out packets of worse ones.
    PushOut {
        /// Capacity of all queues together, at link rates not listed in `at`.
        #[key(name = "push_out", required = "push_out = \"240pkt\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// A buffer shared by all queues of the switch, each limited to a multiple of the free bytes.
    Dynamic {
        /// Size of the switch's buffer in bytes.
        #[key(name = "dynamic", required = "dynamic = \"12MB\"", form = Bytes)]
        size: u64,
        /// Capacity of the switch, the sum of the rates of its links, that the size is for; a larger switch has more,
        /// in proportion. Without it, all switches have the size.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#memory-capacity")]
        capacity: Option<Rate>,
        /// Alpha: the limit of a queue as a multiple of the free bytes.
        #[key(required = "alpha = 1")]
        alpha: Alpha,
    },
    /// As much as the data requested by tokens can occupy at each port.
    ZeroLoss {
        /// Additional bytes for signals.
        #[key(name = "zero_loss", required = "zero_loss = \"10kB\"", form = Bytes)]
        signals: u64,
    },
}

impl BufferSpec {
    /// Returns a buffer with `limit` for all queues together.
    pub fn of(limit: Limit) -> Self {
        match limit {
            Limit::Unlimited => Self::Unbounded,
            limit => Self::Shared { limit, at: ByRate::default(), rate: None },
        }
    }

    /// Replaces an unlimited limit by `Unbounded`.
    pub(super) fn normalize(&mut self) {
        if let Self::Shared { limit: Limit::Unlimited, at, .. }
        | Self::PerQueue { limit: Limit::Unlimited, at, .. }
        | Self::PushOut { limit: Limit::Unlimited, at, .. } = self
            && at.is_empty()
        {
            *self = Self::Unbounded;
        }
    }

    /// Returns the limit at links of `rate`.
    pub fn limit_at(&self, rate: Rate) -> Limit {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => {
                at.get(rate).unwrap_or(self.limit())
            }
            _ => self.limit(),
        }
    }

    /// Returns the limit at link rates that the file does not list.
    pub fn limit(&self) -> Limit {
        match *self {
            Self::Unbounded => Limit::Unlimited,
            Self::Shared { limit, .. } | Self::PerQueue { limit, .. } | Self::PushOut { limit, .. } => limit,
            Self::Dynamic { size: bytes, .. } | Self::ZeroLoss { signals: bytes } => Limit::Bytes(bytes),
        }
    }

    /// Returns the limits at specific link rates; empty if it is the same at all.
    pub fn at(&self) -> &[(Rate, Limit)] {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => at.entries(),
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => &[],
        }
    }

    /// Returns the buffer that all ports of a switch share, if any.
    pub fn memory(&self) -> Option<SharedBuffer> {
        match *self {
            Self::Dynamic { size, alpha, .. } => Some(SharedBuffer { size, alpha }),
            _ => None,
        }
    }

    /// Sets the size of a shared buffer for switches of up to `capacity`, rounded up to bytes, if the buffer states the
    /// capacity that its size is for. Returns the new size and the old one if they differ.
    pub fn fit(&mut self, capacity: Rate) -> Option<(u64, u64)> {
        let Self::Dynamic { size, capacity: stated, .. } = self else { return None };
        let stated = stated.take().filter(|&stated| stated < capacity)?;
        let old = *size;
        let scaled = (u128::from(old) * u128::from(capacity.bps())).div_ceil(u128::from(stated.bps()));
        *size = u64::try_from(scaled).unwrap_or(u64::MAX);
        Some((*size, old))
    }

    /// Returns whether its capacity depends on the rate of the link.
    pub fn depends_on_rate(&self) -> bool {
        match self {
            Self::Shared { at, rate, .. }
            | Self::PerQueue { at, rate, .. }
            | Self::PushOut { at, rate, .. } => !at.is_empty() || rate.is_some(),
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => false,
        }
    }

    /// Adds capacities for those of `rates` that are above the rate that the capacity is for and that have none of their
    /// own, if the buffer states that rate; returns what it adds.
    pub fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedLimit> {
        match self {
            Self::Shared { limit, at, rate }
            | Self::PerQueue { limit, at, rate }
            | Self::PushOut { limit, at, rate } => {
                let Some(rate) = rate.take() else { return Vec::new() };
                at.complete_above((rate, *limit), rates)
            }
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => Vec::new(),
        }
    }

    /// Returns the buffer of one port on a link of `rate`, without the shared buffer of the switch.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let limit = if self.memory().is_some() { Limit::Unlimited } else { self.limit_at(rate) };
        let limit_scope = if matches!(self, Self::PerQueue { .. }) { Scope::Queue } else { Scope::Port };
        Buffer { limit, limit_scope, ..Buffer::UNLIMITED }
    }
}

/// ECN marking thresholds by link rate.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "ecn", check = Self::check)]
pub struct Ecn {
    /// Backlog that the threshold applies to.
    #[key(default = Scope::Port, source = "docs/assumptions.md#marking")]
    pub per: Scope,
    /// Marking threshold for each link rate.
    #[key(required = "at = { \"10Gbps\" = \"65pkt\" }", source = "RFC 8257 §3.1")]
    pub at: ByRate,
}

impl Ecn {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if !self.at.is_empty() {
            return Ok(());
        }
        Err(KeyConflict::of("at", "no threshold is set", "at = { \"10Gbps\" = \"65pkt\" }"))
    }

    /// Returns the threshold at links of `rate`.
    pub fn threshold(&self, rate: Rate) -> Option<Limit> {
        self.at.get(rate)
    }

    /// Adds thresholds for those of `rates` that have none, in proportion to that of the next slower rate that has one, or
    /// else of the slowest, rounded up; returns what it adds.
    pub fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedLimit> {
        self.at.complete(rates)
    }

    /// Returns `buffer` with the marking threshold at a link of `rate`.
    pub fn marking(&self, rate: Rate, buffer: Buffer) -> Buffer {
        let mark_above = self.threshold(rate).unwrap_or(Limit::Unlimited);
        Buffer { mark_above, mark_scope: self.per, ..buffer }
    }
}
