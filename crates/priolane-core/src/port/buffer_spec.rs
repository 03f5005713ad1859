//! Buffer and marking thresholds of a port, as scheme files state them.

use super::{Alpha, Buffer, Scope, SharedBuffer};
use crate::keys::{Bounds, Bytes, KeyConflict, KeyError, KeyValue, Keys, Schema, Value, WrittenValue};
use crate::quantity::{self, show_limit, show_rate};
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
    },
    /// A separate limit of the same size for each queue.
    PerQueue {
        /// Capacity of each queue, at link rates not listed in `at`.
        #[key(name = "per_queue", required = "per_queue = \"64KiB\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
    },
    /// One limit for all queues together; packets of better queues push out packets of worse ones.
    PushOut {
        /// Capacity of all queues together, at link rates not listed in `at`.
        #[key(name = "push_out", required = "push_out = \"240pkt\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
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
            limit => Self::Shared { limit, at: ByRate::default() },
        }
    }

    /// Replaces an unlimited limit by `Unbounded`.
    pub(super) fn normalize(&mut self) {
        if let Self::Shared { limit: Limit::Unlimited, at }
        | Self::PerQueue { limit: Limit::Unlimited, at }
        | Self::PushOut { limit: Limit::Unlimited, at } = self
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
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => &at.0,
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

    /// Returns the buffer of one port on a link of `rate`, without the shared buffer of the switch.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let limit = if self.memory().is_some() { Limit::Unlimited } else { self.limit_at(rate) };
        let limit_scope = if matches!(self, Self::PerQueue { .. }) { Scope::Queue } else { Scope::Port };
        Buffer { limit, limit_scope, ..Buffer::UNLIMITED }
    }
}

/// A marking threshold in proportion to that of another rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedThreshold {
    /// The rate of the links.
    pub rate: Rate,
    /// Their threshold.
    pub limit: Limit,
    /// The rate whose threshold it is in proportion to.
    pub from: Rate,
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
    pub fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedThreshold> {
        let derived: Vec<_> = rates.iter().filter_map(|&rate| self.derived(rate)).collect();
        self.at.0.extend(derived.iter().map(|new| (new.rate, new.limit)));
        self.at.0.sort_by_key(|&(rate, _)| rate);
        derived
    }

    fn derived(&self, rate: Rate) -> Option<DerivedThreshold> {
        if self.at.get(rate).is_some() {
            return None;
        }
        let slower = self.at.0.iter().rev().find(|&&(of, _)| of < rate);
        let &(from, limit) = slower.or(self.at.0.first())?;
        let scaled = |n: u64| (u128::from(n) * u128::from(rate.bps())).div_ceil(u128::from(from.bps()));
        let limit = match limit {
            Limit::Packets(n) => Limit::Packets(u32::try_from(scaled(n.into())).unwrap_or(u32::MAX)),
            Limit::Bytes(n) => Limit::Bytes(u64::try_from(scaled(n)).unwrap_or(u64::MAX)),
            Limit::Unlimited => Limit::Unlimited,
        };
        Some(DerivedThreshold { rate, limit, from })
    }

    /// Returns `buffer` with the marking threshold at a link of `rate`.
    pub fn marking(&self, rate: Rate, buffer: Buffer) -> Buffer {
        let mark_above = self.threshold(rate).unwrap_or(Limit::Unlimited);
        Buffer { mark_above, mark_scope: self.per, ..buffer }
    }
}

/// Limits by link rate, in ascending order of rates: `{ "10Gbps" = "65pkt" }`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ByRate(Vec<(Rate, Limit)>);

impl ByRate {
    /// Returns the limit at links of `rate`, if there is one.
    pub fn get(&self, rate: Rate) -> Option<Limit> {
        self.0.iter().find(|&&(stated, _)| stated == rate).map(|&(_, limit)| limit)
    }

    /// Returns true if there is no limit.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl KeyValue for ByRate {
    const UNIT: &'static str = "pkt or B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { \"10Gbps\" = \"65pkt\" }"));
        };
        let mut at: Vec<(Rate, Limit)> = Vec::new();
        for (key, value) in entries {
            let mut read = || {
                let rate = quantity::rate(key)?;
                if at.iter().any(|&(stated, _)| stated == rate) {
                    return Err(KeyError::new("the rate appears twice", "one limit per rate"));
                }
                at.push((rate, Limit::read(value, bounds)?));
                Ok(())
            };
            read().map_err(|error| KeyError::Key((*key).to_owned(), Box::new(error)))?;
        }
        at.sort_by_key(|&(rate, _)| rate);
        Ok(Self(at))
    }

    fn write(&self) -> WrittenValue {
        let entry = |&(rate, limit): &(Rate, Limit)| (show_rate(rate), WrittenValue::Text(show_limit(limit)));
        WrittenValue::Table(self.0.iter().map(entry).collect())
    }

    fn schema() -> Schema {
        Schema::Map("10Gbps", Box::new(Limit::schema()))
    }
}
