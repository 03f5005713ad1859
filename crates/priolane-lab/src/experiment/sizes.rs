//! `sizes`: a shipped size table by name, or a table of the user's, perhaps scaled and capped.

use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, SIZE_LIMIT};
use priolane_workload::size_csv;
use serde::Serialize;

use super::Sources;

/// A law of flow sizes, as the file states it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// A shipped table's name, or the path of a table.
    pub csv: String,
    /// How mass between rows is spread.
    pub interpolation: Interpolation,
    /// The mean it is scaled to.
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub scale_to_mean: Option<u64>,
    /// The cap.
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// What the table's bytes are multiplied by, but for the cap.
    #[serde(skip)]
    pub factor: f64,
    /// The law itself.
    #[serde(skip)]
    pub law: SizeDistribution,
}

impl Sizes {
    /// The shipped table this is, unscaled and uncapped; `None` for anything else.
    pub fn published(&self) -> Option<&str> {
        let plain =
            self.interpolation == Interpolation::Linear && self.scale_to_mean.is_none() && self.max.is_none();
        if plain && size_csv::shipped(&self.csv).is_some() { Some(&self.csv) } else { None }
    }
}

/// Reads `sizes = "web_search"` or `sizes = { csv = "...", ... }`.
pub(super) fn read(field: &Field<'_>, sources: &mut Sources) -> Result<Sizes, InputError> {
    if let Ok(name) = field.text() {
        let law = table(field, name, Interpolation::Linear, sources)?;
        let csv = name.to_owned();
        let interpolation = Interpolation::Linear;
        return Ok(Sizes { csv, interpolation, scale_to_mean: None, max: None, factor: 1.0, law });
    }
    let mut keys = field.table()?;
    let csv = keys.need("csv", "csv = \"sizes.csv\", or the name of a shipped table")?;
    let between = [("linear", Interpolation::Linear), ("step", Interpolation::Step)];
    let interpolation = keys.need("interpolation", "interpolation = \"linear\"")?.word(&between)?;
    let scale = keys.take("scale_to_mean");
    let scale_to_mean = scale.as_ref().map(|f| f.bytes()).transpose()?;
    let max = keys.take("max").map(|f| f.bytes()).transpose()?;
    keys.finish()?;
    let stated = table(&csv, csv.text()?, interpolation, sources)?;
    let bad = |error: priolane_core::sizes::SizeError| {
        let fix = "a mean above zero that is reachable below max, sizes from 1 B to 140 TB";
        scale.as_ref().unwrap_or(field).error(error.to_string(), fix)
    };
    let law = match (scale_to_mean, max) {
        (None, None) => stated.clone(),
        (None, Some(max)) => stated.capped(max as f64).map_err(bad)?,
        (Some(mean), max) => stated.scaled_to_mean(mean as f64, max.map(|m| m as f64)).map_err(bad)?,
    };
    let factor = if scale_to_mean.is_some() { factor(&stated, &law) } else { 1.0 };
    Ok(Sizes { csv: csv.text()?.to_owned(), interpolation, scale_to_mean, max, factor, law })
}

/// What the smallest size above nothing was multiplied by: a cap leaves it.
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

/// Payload bytes of a flow, at least 1.
pub(super) fn payload(field: &Field<'_>) -> Result<u64, InputError> {
    match field.bytes()? {
        0 => Err(field.error("the flow has no bytes", "at least \"1B\"")),
        bytes => Ok(bytes),
    }
}
