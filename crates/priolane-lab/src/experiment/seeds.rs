//! `seeds`: the number of seeds of each point, or a list of them.

use priolane_core::keys::{Bound, Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};
use serde::ser::{Serialize, Serializer};

/// Maximum number of seeds of an experiment.
pub(crate) const MAX_SEEDS: u64 = 10_000;

/// The seeds of each point and scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// The seeds 1 to this number; 1 to [`MAX_SEEDS`].
    Count(u32),
    /// These seeds, in this order: at least one, each at least 1 and listed once.
    Listed(Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Seeds {
    /// Returns the seeds in the order in which they are run.
    pub fn list(&self) -> Vec<u64> {
        match self {
            Self::Count(count) => (1..=u64::from(*count)).collect(),
            Self::Listed(seeds) => seeds.clone(),
        }
    }

    /// Returns the number of seeds.
    pub fn len(&self) -> usize {
        match self {
            Self::Count(count) => *count as usize,
            Self::Listed(seeds) => seeds.len(),
        }
    }

    /// Whether there is no seed; never true for a valid experiment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the TOML text: `5`, or `[7, 8, 9]`.
    pub(crate) fn to_toml(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Listed(seeds) => {
                let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
                format!("[{}]", seeds.join(", "))
            }
        }
    }
}

/// Serializes to a number or a list, as in experiment files.
impl Serialize for Seeds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(serializer)
    }
}

/// Whole numbers from 1 on.
const FROM_ONE: Bounds = Bounds { low: Bound::Included(1.0), high: Bound::None, text: "[1, )" };

/// A number of seeds, or a list of them.
impl KeyValue for Seeds {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        let Value::List(items) = value else { return count(value).map(Self::Count) };
        if items.is_empty() || items.len() as u64 > MAX_SEEDS {
            let what = format!("the list has {} seeds", items.len());
            return Err(KeyError::new(what, format!("1 to {MAX_SEEDS} seeds")));
        }
        let mut seeds = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let of_item = |error| KeyError::Item(place, Box::new(error));
            let seed = u64::read(item, &FROM_ONE).map_err(of_item)?;
            if seeds.contains(&seed) {
                let twice = KeyError::new(format!("the seed {seed} is listed twice"), "each seed once");
                return Err(of_item(twice));
            }
            seeds.push(seed);
        }
        Ok(Self::Listed(seeds))
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Count(count) => WrittenValue::Integer(u64::from(*count)),
            Self::Listed(seeds) => seeds.write(),
        }
    }

    fn schema() -> Schema {
        Schema::OneOrMore(Box::new(Schema::Integer))
    }
}

/// Reads a number of seeds. The message for a number that is too large suggests a list.
fn count(value: &Value<'_>) -> Result<u32, KeyError> {
    let number = u64::read(value, &FROM_ONE)?;
    if number > MAX_SEEDS {
        let what = format!("the number of seeds is {number}, above {MAX_SEEDS}");
        let fix = format!("seeds = [{number}] (--seed-list {number}) for the single seed {number}");
        return Err(KeyError::new(what, fix));
    }
    Ok(number as u32)
}
