//! Numbers of hosts on a side of a coflow: one number, or a distribution of integers.

use priolane_core::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};
use priolane_core::rng::Stream;
use priolane_core::sizes::SizeDistribution;
use priolane_source::{Field, InputError, SIZE_LIMIT, Sources};

use super::size_csv;
use super::sizes::one;

/// Maximum number of hosts on one side of a coflow.
const MAX_COUNT: u64 = 65_535;

/// A distribution of integers from 1 to 65,535: one number, or a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The table's shipped name or path; `None` for one number.
    csv: Option<String>,
    /// The distribution; that of 1 until [`Self::open`] has read the table.
    law: SizeDistribution,
}

impl Count {
    const FIX: &'static str = "a number of at least 1, or a table with the header count,cdf: the name of a \
                               shipped table or the path of a file";

    /// Creates a count with a given distribution.
    pub fn of(law: SizeDistribution) -> Self {
        Self { csv: None, law }
    }

    pub(crate) fn open(&mut self, field: &Field<'_>, files: &mut Sources) -> Result<(), InputError> {
        let Some(name) = self.csv.as_deref() else { return Ok(()) };
        self.law = match size_csv::shipped_counts(name) {
            Some(text) => {
                files.note(name, text);
                size_csv::parse_counts(name, text.as_bytes())?
            }
            None if !name.contains(['/', '.']) => {
                let names: Vec<&str> = size_csv::count_names().collect();
                return Err(field.no_such(name, &names));
            }
            None => size_csv::parse_counts(name, files.read(field, name, SIZE_LIMIT)?.as_bytes())?,
        };
        let whole = |value: f64| value.fract() == 0.0 && (1.0..=MAX_COUNT as f64).contains(&value);
        match self.law.points().iter().find(|point| !whole(point.bytes)) {
            Some(point) => Err(field.error(format!("{} is not a number of hosts", point.bytes), Self::FIX)),
            None => Ok(()),
        }
    }

    /// Returns the values and their probabilities.
    pub(crate) fn masses(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let mut below = 0.0;
        self.law
            .points()
            .iter()
            .map(move |point| (point.bytes as usize, point.cdf - std::mem::replace(&mut below, point.cdf)))
    }

    /// Draws a number.
    pub(crate) fn sample(&self, stream: &mut Stream) -> usize {
        self.law.sample(stream) as usize
    }
}

impl KeyValue for Count {
    const UNIT: &'static str = "hosts";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        if let Value::Text(name) = value {
            return Ok(Self { csv: Some((*name).to_owned()), law: one(1.0) });
        }
        match u64::read(value, &Bounds::whole(1, MAX_COUNT, "[1, 65535]")) {
            Ok(number) => Ok(Self { csv: None, law: one(number as f64) }),
            Err(KeyError::Wrong { what, .. }) => Err(KeyError::new(what, Self::FIX)),
            Err(error) => Err(error),
        }
    }

    fn write(&self) -> WrittenValue {
        match &self.csv {
            Some(name) => WrittenValue::Text(name.clone()),
            None => WrittenValue::Integer(self.law.max() as u64),
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::Integer, Schema::Text])
    }
}
