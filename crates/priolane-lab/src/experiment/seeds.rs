//! `seeds`: how often each point is run, or with which random streams.

use serde::ser::{Serialize, Serializer};

use priolane_source::{Field, InputError};

/// Most seeds of an experiment.
pub(crate) const MAX_SEEDS: u64 = 10_000;

/// The seeds of each point and scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// The seeds 1 to this number; 1 to [`MAX_SEEDS`].
    Count(u32),
    /// These, in this order: at least one, each at least 1 and listed once.
    Listed(Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Seeds {
    /// The seeds, in the order in which they are run.
    pub fn list(&self) -> Vec<u64> {
        match self {
            Self::Count(count) => (1..=u64::from(*count)).collect(),
            Self::Listed(seeds) => seeds.clone(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Count(count) => *count as usize,
            Self::Listed(seeds) => seeds.len(),
        }
    }

    /// Whether there is none, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As TOML text: `5`, or `[7, 8, 9]`.
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

/// A number or a list, as in experiment files.
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

/// A number of seeds. The message for one that is too large names the list of seeds.
fn count(field: &Field<'_>) -> Result<u32, InputError> {
    let number = field.integer(1, i64::MAX as u64)?;
    if number > MAX_SEEDS {
        let what = format!("{number} seeds are asked for: this is how many, at most {MAX_SEEDS}");
        let fix = format!("seeds = [{number}] (--seed-list {number}) for this one seed");
        return Err(field.error(what, fix));
    }
    Ok(number as u32)
}
