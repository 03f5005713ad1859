//! Room and marking of a port as scheme files state them.

use super::{Alpha, Buffer, Scope, SharedBuffer};
use crate::keys::{Bounds, Bytes, KeyError, KeyValue, Keys, Misfit, Schema, Value, Written};
use crate::quantity::{self, show_limit, show_rate};
use crate::units::{Limit, Rate};

/// The room of a port.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(one_of)]
pub enum BufferSpec {
    /// No limit.
    #[word("unbounded")]
    Unbounded,
    /// All queues together, with tail drop.
    Shared {
        /// Room of all queues together, at rates that `at` does not name.
        #[key(name = "shared", required = "shared = \"240pkt\"")]
        limit: Limit,
        /// Room at links of some rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
    },
    /// Each queue has as much of its own.
    PerQueue {
        /// Room of each queue, at rates that `at` does not name.
        #[key(name = "per_queue", required = "per_queue = \"64KiB\"")]
        limit: Limit,
        /// Room at links of some rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
    },
    /// All queues together; better queues push out packets of worse ones.
    PushOut {
        /// Room of all queues together, at rates that `at` does not name.
        #[key(name = "push_out", required = "push_out = \"240pkt\"")]
        limit: Limit,
        /// Room at links of some rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
    },
    /// With all queues of the switch, each up to a factor of what is free.
    Dynamic {
        /// Bytes of the switch.
        #[key(name = "dynamic", required = "dynamic = \"12MB\"", form = Bytes)]
        size: u64,
        /// By which factor of what is free a queue is limited.
        #[key(required = "alpha = 1")]
        alpha: Alpha,
    },
    /// As much as data that tokens call for can take at each port.
    ZeroLoss {
        /// Bytes that signals may take at once.
        #[key(name = "zero_loss", required = "zero_loss = \"10kB\"", form = Bytes)]
        signals: u64,
    },
}

impl BufferSpec {
    /// So much over all queues together.
    pub fn of(limit: Limit) -> Self {
        match limit {
            Limit::Unlimited => Self::Unbounded,
            limit => Self::Shared { limit, at: ByRate::default() },
        }
    }

    /// A limit of nothing is no limit.
    pub(super) fn normalize(&mut self) {
        if let Self::Shared { limit: Limit::Unlimited, at }
        | Self::PerQueue { limit: Limit::Unlimited, at }
        | Self::PushOut { limit: Limit::Unlimited, at } = self
            && at.is_empty()
        {
            *self = Self::Unbounded;
        }
    }

    /// How much at links of `rate`.
    pub fn limit_at(&self, rate: Rate) -> Limit {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => {
                at.get(rate).unwrap_or(self.limit())
            }
            _ => self.limit(),
        }
    }

    /// How much, at rates that the file does not name.
    pub fn limit(&self) -> Limit {
        match *self {
            Self::Unbounded => Limit::Unlimited,
            Self::Shared { limit, .. } | Self::PerQueue { limit, .. } | Self::PushOut { limit, .. } => limit,
            Self::Dynamic { size: bytes, .. } | Self::ZeroLoss { signals: bytes } => Limit::Bytes(bytes),
        }
    }

    /// How much at links of some rates; empty where it is the same at all.
    pub fn at(&self) -> &[(Rate, Limit)] {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => &at.0,
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => &[],
        }
    }

    /// The buffer that all ports of a switch share, if they do.
    pub fn memory(&self) -> Option<SharedBuffer> {
        match *self {
            Self::Dynamic { size, alpha } => Some(SharedBuffer { size, alpha }),
            _ => None,
        }
    }

    /// The buffer of one port in front of a line of `rate`; what all ports of a switch share is not in it.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let limit = if self.memory().is_some() { Limit::Unlimited } else { self.limit_at(rate) };
        let limit_scope = if matches!(self, Self::PerQueue { .. }) { Scope::Queue } else { Scope::Port };
        Buffer { limit, limit_scope, ..Buffer::UNLIMITED }
    }
}

/// Marking thresholds by link rate.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "ecn", check = Self::check)]
pub struct Ecn {
    /// What the threshold counts.
    #[key(default = Scope::Port, source = "docs/assumptions.md#marking")]
    pub per: Scope,
    /// The threshold of each link rate.
    #[key(required = "at = { \"10Gbps\" = \"65pkt\" }", source = "RFC 8257 §3.1")]
    pub at: ByRate,
}

impl Ecn {
    fn check(&mut self) -> Result<(), Misfit> {
        if !self.at.is_empty() {
            return Ok(());
        }
        Err(Misfit::of("at", "no threshold is stated", "at = { \"10Gbps\" = \"65pkt\" }"))
    }

    /// The threshold at links of `rate`.
    pub fn threshold(&self, rate: Rate) -> Option<Limit> {
        self.at.get(rate)
    }

    /// `buffer` with the marks at a line of `rate`.
    pub fn marking(&self, rate: Rate, buffer: Buffer) -> Buffer {
        let mark_above = self.threshold(rate).unwrap_or(Limit::Unlimited);
        Buffer { mark_above, mark_scope: self.per, ..buffer }
    }
}

/// Limits by link rate, in order of rates: `{ "10Gbps" = "65pkt" }`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ByRate(Vec<(Rate, Limit)>);

impl ByRate {
    /// The limit at links of `rate`, if it is stated.
    pub fn get(&self, rate: Rate) -> Option<Limit> {
        self.0.iter().find(|&&(stated, _)| stated == rate).map(|&(_, limit)| limit)
    }

    /// Whether none is stated.
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
                    return Err(KeyError::new("this rate is stated twice", "one limit per rate"));
                }
                at.push((rate, Limit::read(value, bounds)?));
                Ok(())
            };
            read().map_err(|error| KeyError::Key((*key).to_owned(), Box::new(error)))?;
        }
        at.sort_by_key(|&(rate, _)| rate);
        Ok(Self(at))
    }

    fn write(&self) -> Written {
        let entry = |&(rate, limit): &(Rate, Limit)| (show_rate(rate), Written::Text(show_limit(limit)));
        Written::Table(self.0.iter().map(entry).collect())
    }

    fn schema() -> Schema {
        Schema::Map("10Gbps", Box::new(Limit::schema()))
    }
}
