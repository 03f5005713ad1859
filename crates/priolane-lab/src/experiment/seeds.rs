//! `seeds`: the number of seeds of each point, or a list of them.

use serde::ser::{Serialize, Serializer};

use priolane_source::{Field, InputError};

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
        match self {
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::Listed(seeds) => seeds.serialize(serializer),
        }
    }
}

/// Reads `seeds`: a number of seeds, or a list of them.
pub(super) fn read(field: &Field<'_>) -> Result<Seeds, InputError> {
    let Ok(items) = field.list() else {
        return count(field).map(Seeds::Count);
    };
    if items.is_empty() || items.len() as u64 > MAX_SEEDS {
        let what = format!("the list has {} seeds", items.len());
        return Err(field.error(what, format!("1 to {MAX_SEEDS} seeds")));
    }
    let mut seeds = Vec::new();
    for item in items {
        let seed = item.integer(1, i64::MAX as u64)?;
        if seeds.contains(&seed) {
            return Err(item.error(format!("the seed {seed} is listed twice"), "each seed once"));
        }
        seeds.push(seed);
    }
    Ok(Seeds::Listed(seeds))
}

/// Reads a number of seeds. The message for a number that is too large suggests a list.
fn count(field: &Field<'_>) -> Result<u32, InputError> {
    let number = field.integer(1, i64::MAX as u64)?;
    if number > MAX_SEEDS {
        let what = format!("the number of seeds is {number}, above {MAX_SEEDS}");
        let fix = format!("seeds = [{number}] (--seed-list {number}) for the single seed {number}");
        return Err(field.error(what, fix));
    }
    Ok(number as u32)
}
