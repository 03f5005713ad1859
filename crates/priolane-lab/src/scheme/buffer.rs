//! Room and marking of a port: their keys.

use priolane_core::port::{Alpha, Limit};
use priolane_core::units::Rate;
use priolane_source::quantity::{show_limit, show_rate};
use priolane_source::{Field, Form, InputError, Merge, Replace};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::alpha;

const SCOPES: [(&str, Scope); 2] = [("port", Scope::Port), ("queue", Scope::Queue)];

/// Whether a limit counts one queue or the whole port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All queues of the port together.
    Port,
    /// Each queue by itself.
    Queue,
}

/// The room of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// How much, at rates that `at` does not name.
    pub limit: Limit,
    /// How much at links of some rates, in order of rate.
    pub at: Vec<(Rate, Limit)>,
    /// How queues share it.
    pub sharing: Sharing,
}

/// How the queues of a port share its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All together, with tail drop.
    Shared,
    /// Each queue has as much of its own.
    PerQueue,
    /// All together; better queues push out packets of worse ones.
    PushOut,
    /// With all queues of the switch, each up to this part of what is free.
    Dynamic(Alpha),
    /// As much as data that tokens call for can take at each port; the limit is what signals may take at once.
    ZeroLoss,
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let key = match (self.limit, self.sharing) {
            (Limit::Unlimited, _) => return s.serialize_str("unbounded"),
            (_, Sharing::Shared) => "shared",
            (_, Sharing::PerQueue) => "per_queue",
            (_, Sharing::PushOut) => "push_out",
            (_, Sharing::Dynamic(_)) => "dynamic",
            (_, Sharing::ZeroLoss) => "zero_loss",
        };
        let mut map = s.serialize_map(None)?;
        map.serialize_entry(key, &show_limit(self.limit))?;
        if let Sharing::Dynamic(alpha) = self.sharing {
            let (numerator, denominator) = alpha.parts();
            map.serialize_entry("alpha", &format!("{numerator}/{denominator}"))?;
        }
        if !self.at.is_empty() {
            let at = self.at.iter().map(|&(rate, limit)| (show_rate(rate), show_limit(limit)));
            map.serialize_entry("at", &at.collect::<std::collections::BTreeMap<_, _>>())?;
        }
        map.end()
    }
}

impl Buffer {
    /// How much at links of `rate`.
    pub(crate) fn limit_at(&self, rate: Rate) -> Limit {
        self.at.iter().find(|&&(r, _)| r == rate).map_or(self.limit, |&(_, limit)| limit)
    }
}

/// Marking thresholds by link rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ecn {
    /// What the threshold counts.
    pub per: Scope,
    /// The threshold of each link rate, in order of rates.
    #[serde(serialize_with = "by_rate")]
    pub at: Vec<(Rate, Limit)>,
}

impl Ecn {
    /// The threshold at links of `rate`.
    pub fn threshold(&self, rate: Rate) -> Option<Limit> {
        self.at.iter().find(|(r, _)| *r == rate).map(|(_, limit)| *limit)
    }
}

fn by_rate<S: Serializer>(at: &[(Rate, Limit)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(at.iter().map(|(rate, limit)| (show_rate(*rate), show_limit(*limit))))
}

pub(super) const MERGE: Merge = Merge::of(&[Replace::OneOf(&[
    Form { by: &["shared"], with: &["at"] },
    Form { by: &["per_queue"], with: &["at"] },
    Form { by: &["push_out"], with: &["at"] },
    Form { by: &["dynamic"], with: &["alpha"] },
    Form { by: &["zero_loss"], with: &[] },
])]);

pub(super) fn read(field: &Field<'_>) -> Result<Buffer, InputError> {
    let Ok(mut keys) = field.table() else {
        return match field.text() {
            Ok("unbounded") => {
                Ok(Buffer { limit: Limit::Unlimited, at: Vec::new(), sharing: Sharing::Shared })
            }
            _ => {
                let fix = "{ shared = \"240pkt\" }, { per_queue = \"64KiB\" }, { push_out = \"240pkt\" }, \
                           { dynamic = \"12MB\", alpha = 1 }, { zero_loss = \"10kB\" } or \"unbounded\"";
                Err(field.error("this is no buffer", fix))
            }
        };
    };
    let kinds =
        [("shared", Sharing::Shared), ("per_queue", Sharing::PerQueue), ("push_out", Sharing::PushOut)];
    if let Some(size) = keys.take("dynamic") {
        let alpha = alpha::read(&keys.need("alpha", "alpha = 1")?)?;
        keys.finish()?;
        let sharing = Sharing::Dynamic(alpha);
        return Ok(Buffer { limit: Limit::Bytes(size.bytes()?), at: Vec::new(), sharing });
    }
    if let Some(signals) = keys.take("zero_loss") {
        keys.finish()?;
        let limit = Limit::Bytes(signals.bytes()?);
        return Ok(Buffer { limit, at: Vec::new(), sharing: Sharing::ZeroLoss });
    }
    let mut stated: Vec<_> = kinds
        .iter()
        .filter_map(|&(key, sharing)| keys.take(key).map(|limit| (limit, sharing, key)))
        .collect();
    let (limit, sharing, first) = match stated.pop() {
        Some(one) => one,
        None => (keys.need("shared", "shared = \"240pkt\"")?, Sharing::Shared, "shared"),
    };
    if let Some((.., second)) = stated.pop() {
        return Err(field.error(format!("both {second} and {first} are stated"), "one of them"));
    }
    let at = keys.take("at").map_or(Ok(Vec::new()), |field| limits_by_rate(&field))?;
    keys.finish()?;
    Ok(Buffer { limit: limit.limit()?, at, sharing })
}

pub(super) fn ecn(field: &Field<'_>) -> Result<Ecn, InputError> {
    let mut keys = field.table()?;
    let per = keys.word_or("per", &SCOPES, Scope::Port)?;
    let at_field = keys.need("at", "at = { \"10Gbps\" = \"65pkt\" }")?;
    let at = limits_by_rate(&at_field)?;
    if at.is_empty() {
        return Err(at_field.error("no threshold is stated", "at = { \"10Gbps\" = \"65pkt\" }"));
    }
    keys.finish()?;
    Ok(Ecn { per, at })
}

/// `{ RATE = LIMIT }`, in order of rate.
fn limits_by_rate(field: &Field<'_>) -> Result<Vec<(Rate, Limit)>, InputError> {
    let mut at: Vec<(Rate, Limit)> = Vec::new();
    for (key, value) in field.entries()? {
        let rate = priolane_source::quantity::rate(key).map_err(|e| value.error(e.what, e.fix))?;
        if at.iter().any(|(r, _)| *r == rate) {
            return Err(value.error("this rate is stated twice", "one limit per rate"));
        }
        at.push((rate, value.limit()?));
    }
    at.sort_by_key(|(rate, _)| *rate);
    Ok(at)
}
