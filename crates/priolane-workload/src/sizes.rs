//! `sizes`: a shipped size table by name, or a user's table, optionally scaled and capped.

use priolane_core::keys::{Bounds, Bytes, Form, InTable, KeyError, Keys, Schema, Value, WrittenValue};
use priolane_core::sizes::{Interpolation, SizeDistribution, SizeError};
use priolane_source::{Field, InputError, SIZE_LIMIT, Sources};

use super::size_csv;

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "sizes")]
pub struct Sizes {
    /// A shipped table's name, or the path of a table.
    #[key(required = "csv = \"sizes.csv\", or the name of a shipped table")]
    pub csv: String,
    /// Distribution of probability mass between rows.
    #[key(required = "interpolation = \"linear\"")]
    pub interpolation: Interpolation,
    /// Mean size that the table is scaled to.
    #[key(optional, form = Bytes)]
    pub scale_to_mean: Option<u64>,
    /// Maximum size.
    #[key(optional, form = Bytes)]
    pub max: Option<u64>,
    /// Factor applied to the table's sizes, except the maximum.
    #[keys(skip = 1.0)]
    pub factor: f64,
    /// The distribution; that of one byte until [`Self::open`] has read the table.
    #[keys(skip = one(1.0))]
    pub law: SizeDistribution,
}

/// Returns the distribution of one size.
pub(crate) fn one(value: f64) -> SizeDistribution {
    SizeDistribution::fixed(value).expect("invariant: sizes of keys are from 1 to 2^47")
}

/// The name of a table, or a table of [`Sizes`].
#[derive(Clone, Copy, Debug)]
pub struct NamedSizes;

impl Form<Sizes> for NamedSizes {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Sizes, KeyError> {
        match value {
            Value::Text(name) => Ok(Sizes::named(name)),
            _ => InTable::read(value, bounds),
        }
    }

    fn write(value: &Sizes) -> WrittenValue {
        InTable::write(value)
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::Text, <InTable as Form<Sizes>>::schema()])
    }
}

impl Sizes {
    /// Returns the sizes of the table `name`, unchanged.
    fn named(name: &str) -> Self {
        Self {
            csv: name.to_owned(),
            interpolation: Interpolation::Linear,
            scale_to_mean: None,
            max: None,
            factor: 1.0,
            law: one(1.0),
        }
    }

    /// Returns sizes with a given distribution, called `name` in messages.
    pub fn of(name: &str, law: SizeDistribution) -> Self {
        Self { law, ..Self::named(name) }
    }

    /// Returns the name of the shipped table, if it is neither scaled nor capped; `None` otherwise.
    pub fn published(&self) -> Option<&str> {
        let plain =
            self.interpolation == Interpolation::Linear && self.scale_to_mean.is_none() && self.max.is_none();
        if plain && size_csv::shipped(&self.csv).is_some() { Some(&self.csv) } else { None }
    }

    /// Reads the table; `field` is the location of the sizes.
    ///
    /// # Errors
    /// Returns what is wrong with the table, or that it cannot be scaled as requested.
    pub fn open(&mut self, field: &Field<'_>, files: &mut Sources) -> Result<(), InputError> {
        let csv = field.inner("csv").unwrap_or_else(|| field.clone());
        let stated = table(&csv, &self.csv, self.interpolation, files)?;
        let scale = field.inner("scale_to_mean");
        let bad = |error: SizeError| {
            let fix = "a mean above zero that is possible below max, with sizes from 1 B to 140 TB";
            scale.as_ref().unwrap_or(field).error(error.to_string(), fix)
        };
        let max = self.max.map(|max| max as f64);
        self.law = match (self.scale_to_mean, max) {
            (None, None) => stated.clone(),
            (None, Some(max)) => stated.capped(max).map_err(bad)?,
            (Some(mean), max) => stated.scaled_to_mean(mean as f64, max).map_err(bad)?,
        };
        self.factor = if self.scale_to_mean.is_some() { factor(&stated, &self.law) } else { 1.0 };
        Ok(())
    }
}

/// Returns the factor that scaled the smallest size above zero, which the cap does not change.
fn factor(stated: &SizeDistribution, scaled: &SizeDistribution) -> f64 {
    let pairs = stated.points().iter().zip(scaled.points());
    pairs
        .map(|(from, to)| (from.bytes, to.bytes))
        .find(|&(from, _)| from > 0.0)
        .map_or(1.0, |(from, to)| to / from)
}

fn table(
    field: &Field<'_>,
    name: &str,
    interpolation: Interpolation,
    sources: &mut Sources,
) -> Result<SizeDistribution, InputError> {
    if let Some(text) = size_csv::shipped(name) {
        sources.note(name, text);
        return size_csv::parse(name, text.as_bytes(), interpolation);
    }
    if !name.contains(['/', '.']) {
        let names: Vec<&str> = size_csv::names().collect();
        return Err(field.no_such(name, &names));
    }
    let text = sources.read(field, name, SIZE_LIMIT)?;
    size_csv::parse(name, text.as_bytes(), interpolation)
}
