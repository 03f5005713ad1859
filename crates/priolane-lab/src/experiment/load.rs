//! `load`: what apps that offer a load say of it.

use priolane_source::{Field, InputError, Merge, Replace};
use priolane_workload::{Counts, LoadOf};
use serde::Serialize;
use serde::ser::Serializer;

use super::like::LIKE;

/// Offered load as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadText {
    /// What it is a share of.
    #[serde(serialize_with = "of_text")]
    pub of: LoadOf,
    /// Which bytes it counts.
    #[serde(serialize_with = "counts_text")]
    pub counts: Counts,
    /// The share, above 0.
    pub value: f64,
}

/// A load is stated, or that of another group and perhaps a part of it.
pub(super) const MERGE: Merge = Merge::of(&[LIKE, Replace::Stated(&["of"], &["like", "part"])]);

/// Reads `load`.
pub(super) fn read(field: &Field<'_>) -> Result<LoadText, InputError> {
    if let Ok(value) = field.any_number() {
        let fix = format!("load = {{ of = \"host\", counts = \"payload\", value = {value} }}");
        return Err(field.error("a number does not say what it is a share of", fix));
    }
    let mut keys = field.table()?;
    let of = keys.need("of", "of = \"host\"")?.word(&[("host", LoadOf::Host), ("core", LoadOf::Core)])?;
    let counted = [("payload", Counts::Payload), ("wire", Counts::Wire)];
    let counts = keys.need("counts", "counts = \"payload\"")?.word(&counted)?;
    let value = value(&keys.need("value", "value = 0.6")?)?;
    keys.finish()?;
    Ok(LoadText { of, counts, value })
}

/// A share that is offered.
pub(super) fn value(field: &Field<'_>) -> Result<f64, InputError> {
    let fix = "a share above 0 and at most 20, such as 0.6 for 60 %";
    let value = field.any_number()?;
    if value <= 0.0 || value > 20.0 {
        return Err(field.error(format!("a load of {value} is out of range"), fix));
    }
    Ok(value)
}

fn of_text<S: Serializer>(of: &LoadOf, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match of {
        LoadOf::Host => "host",
        LoadOf::Core => "core",
    })
}

fn counts_text<S: Serializer>(counts: &Counts, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match counts {
        Counts::Payload => "payload",
        Counts::Wire => "wire",
    })
}
