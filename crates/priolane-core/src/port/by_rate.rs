//! Limits of queues by the rate of their link.

use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};
use crate::quantity::{self, show_limit, show_rate};
use crate::units::{Limit, Rate};

/// A limit in proportion to that of another rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedLimit {
    /// The rate of the links.
    pub rate: Rate,
    /// Their limit.
    pub limit: Limit,
    /// The rate whose limit it is in proportion to.
    pub from: Rate,
}

/// Returns `limit`, which is for links of rate `from`, in proportion for links of rate `to`, rounded up.
pub(crate) fn in_proportion(limit: Limit, from: Rate, to: Rate) -> Limit {
    let scaled = |n: u64| (u128::from(n) * u128::from(to.bps())).div_ceil(u128::from(from.bps()));
    match limit {
        Limit::Packets(n) => Limit::Packets(u32::try_from(scaled(n.into())).unwrap_or(u32::MAX)),
        Limit::Bytes(n) => Limit::Bytes(u64::try_from(scaled(n)).unwrap_or(u64::MAX)),
        Limit::Unlimited => Limit::Unlimited,
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

    /// Returns the limits, in ascending order of rates.
    pub(super) fn entries(&self) -> &[(Rate, Limit)] {
        &self.0
    }

    /// Adds limits for those of `rates` that have none, in proportion to that of the next slower rate that has one, or
    /// else of the slowest, rounded up; returns what it adds.
    pub(super) fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedLimit> {
        let missing: Vec<Rate> = rates.iter().copied().filter(|&rate| self.get(rate).is_none()).collect();
        let derived: Vec<_> = missing.into_iter().filter_map(|rate| self.derived(rate)).collect();
        self.0.extend(derived.iter().map(|new| (new.rate, new.limit)));
        self.0.sort_by_key(|&(rate, _)| rate);
        derived
    }

    /// As [`Self::complete`], for the rates above that of `least`, which counts as a limit of the list.
    pub(super) fn complete_above(&mut self, least: (Rate, Limit), rates: &[Rate]) -> Vec<DerivedLimit> {
        let mut all = self.clone();
        all.0.retain(|&(rate, _)| rate > least.0);
        all.0.insert(0, least);
        let above: Vec<Rate> =
            rates.iter().copied().filter(|&rate| rate > least.0 && self.get(rate).is_none()).collect();
        let derived = all.complete(&above);
        self.0.extend(derived.iter().map(|new| (new.rate, new.limit)));
        self.0.sort_by_key(|&(rate, _)| rate);
        derived
    }

    fn derived(&self, rate: Rate) -> Option<DerivedLimit> {
        let slower = self.0.iter().rev().find(|&&(of, _)| of < rate);
        let &(from, limit) = slower.or(self.0.first())?;
        Some(DerivedLimit { rate, limit: in_proportion(limit, from, rate), from })
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
