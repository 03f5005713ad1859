//! Readers and writers for values of each type.

use super::{Bounds, KeyError, Schema, Value, WrittenValue};
use crate::ids::HostId;
use crate::quantity::{self, show_bytes, show_limit, show_rate, show_span};
use crate::units::{Limit, Rate, Span};

/// A type of values in files.
pub trait KeyValue: Sized {
    /// The unit, for the documentation; empty for a plain number or word.
    const UNIT: &'static str;

    /// Reads a value; numbers must be within `bounds`.
    ///
    /// # Errors
    /// Returns the mistake in the value.
    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError>;

    /// Returns the value as it is written.
    fn write(&self) -> WrittenValue;

    /// Returns the schema of its values.
    fn schema() -> Schema;
}

/// A format of values of the type `T` in files.
pub trait Form<T> {
    /// The unit, for the documentation.
    const UNIT: &'static str;

    /// Reads a value; numbers must be within `bounds`.
    ///
    /// # Errors
    /// Returns the mistake in the value.
    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError>;

    /// Returns the value as it is written.
    fn write(value: &T) -> WrittenValue;

    /// Returns the schema of its values.
    fn schema() -> Schema;
}

/// The default form of a type.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl<T: KeyValue> Form<T> for Plain {
    const UNIT: &'static str = T::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError> {
        T::read(value, bounds)
    }

    fn write(value: &T) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        T::schema()
    }
}

/// Integers written as numbers of bytes: `"1.5MB"`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes;

impl<T: Copy + TryFrom<u64> + Into<u64>> Form<T> for Bytes {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError> {
        let bytes = quantity::bytes(value.quantity("1.5MB")?)?;
        let fits = T::try_from(bytes).ok().filter(|_| bounds.has(bytes as f64));
        fits.ok_or_else(|| bounds.outside(show_bytes(bytes), "a number of bytes"))
    }

    fn write(value: &T) -> WrittenValue {
        WrittenValue::Text(show_bytes((*value).into()))
    }

    fn schema() -> Schema {
        Schema::Quantity("1.5MB")
    }
}

/// Lists of numbers of bytes: `["2kB", "15kB"]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteList;

impl Form<Vec<u64>> for ByteList {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<u64>, KeyError> {
        let Value::List(items) = value else { return Err(value.unfit("a list in brackets")) };
        let read = |(i, item)| Bytes::read(item, bounds).map_err(|error| KeyError::Item(i, Box::new(error)));
        items.iter().enumerate().map(read).collect()
    }

    fn write(value: &Vec<u64>) -> WrittenValue {
        WrittenValue::List(value.iter().map(Bytes::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(<Bytes as Form<u64>>::schema()))
    }
}

/// Lists with at least one item.
#[derive(Clone, Copy, Debug)]
pub struct NonEmpty;

impl<T: KeyValue> Form<Vec<T>> for NonEmpty {
    const UNIT: &'static str = T::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<T>, KeyError> {
        let items = Vec::<T>::read(value, bounds)?;
        if items.is_empty() {
            Err(KeyError::new("the list is empty", "at least one item"))
        } else {
            Ok(items)
        }
    }

    fn write(value: &Vec<T>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<T>::schema()
    }
}

/// Fixed-point numbers, stored as whole multiples of 1 / `N`: 1.5 is 1,500 thousandths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedPoint<const N: u32>;

/// Numbers stored in thousandths.
pub(crate) type Thousandths = FixedPoint<1_000>;

/// Numbers stored in millionths.
pub(crate) type Millionths = FixedPoint<1_000_000>;

impl<const N: u32> Form<u32> for FixedPoint<N> {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<u32, KeyError> {
        let number = f64::read(value, bounds)?;
        match (number * f64::from(N)).round() {
            parts if parts > f64::from(u32::MAX) || (parts < 1.0 && number > 0.0) => Err(KeyError::new(
                format!("{number} is out of range"),
                format!("at least {}", 1.0 / f64::from(N)),
            )),
            parts => Ok(parts as u32),
        }
    }

    fn write(value: &u32) -> WrittenValue {
        WrittenValue::Float(f64::from(*value) / f64::from(N))
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// Reads an optional value: the word `word`, if given, or the literal `none` stand for `None`.
///
/// # Errors
/// An error of the form.
pub fn read_option<F: Form<T>, T>(
    value: &Value<'_>,
    word: Option<&str>,
    none: &WrittenValue,
    bounds: &Bounds,
) -> Result<Option<T>, KeyError> {
    if matches!(value, Value::Text(text) if Some(*text) == word) || *value == none.as_value() {
        return Ok(None);
    }
    // "0us" equals "0ps".
    if F::read(value, &Bounds::ANY).is_ok_and(|found| F::write(&found) == *none) {
        return Ok(None);
    }
    F::read(value, bounds).map(Some)
}

impl KeyValue for String {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text(text) => Ok((*text).to_owned()),
            other => Err(other.unfit("a string in quotes")),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(self.clone())
    }

    fn schema() -> Schema {
        Schema::Text
    }
}

impl KeyValue for HostId {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        u16::read(value, &Bounds::whole(0, 65_535, "[0, 65535]")).map(Self)
    }

    fn write(&self) -> WrittenValue {
        self.0.write()
    }

    fn schema() -> Schema {
        Schema::Integer
    }
}

impl KeyValue for bool {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Bool(truth) => Ok(*truth),
            other => Err(other.unfit("true or false")),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Bool(*self)
    }

    fn schema() -> Schema {
        Schema::Bool
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl KeyValue for $type {
            const UNIT: &'static str = "";

            fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
                let Value::Integer(n) = value else {
                    return Err(match bounds.outside("", "a whole number") {
                        KeyError::Wrong { fix, .. } => value.unfit(fix),
                        other => other,
                    });
                };
                let fits = <$type>::try_from(*n).ok().filter(|_| bounds.has(*n as f64));
                fits.ok_or_else(|| bounds.outside(n, "a whole number"))
            }

            fn write(&self) -> WrittenValue {
                WrittenValue::Integer(u64::from(*self))
            }

            fn schema() -> Schema {
                Schema::Integer
            }
        }
    )*};
}

whole_numbers!(u8, u16, u32, u64);

impl KeyValue for f64 {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let number = match value {
            Value::Integer(n) => *n as Self,
            Value::Float(x) => *x,
            Value::Text(text) => quantity::fraction(text)?,
            other => return Err(other.unfit("a number")),
        };
        if bounds.has(number) && number.is_finite() {
            Ok(number)
        } else {
            Err(bounds.outside(number, "a number"))
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Float(*self)
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

impl KeyValue for Span {
    const UNIT: &'static str = "time";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let span = quantity::span(value.quantity("5us")?)?;
        match bounds.has(span.0 as f64) {
            true => Ok(span),
            false => Err(KeyError::new("the value is zero", "a time above zero, such as \"5us\"")),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(show_span(*self))
    }

    fn schema() -> Schema {
        Schema::Quantity("5us")
    }
}

/// Time between samples or reports, at least [`Period::SHORTEST`]: runs with much shorter ones would not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Period(pub Span);

impl Period {
    /// The time of a small packet at 10 Gbit/s.
    pub const SHORTEST: Span = Span::from_ns(100);
}

impl KeyValue for Period {
    const UNIT: &'static str = "time";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match Span::read(value, bounds)? {
            span if span < Self::SHORTEST => {
                Err(KeyError::new("the value is shorter than 100 ns", "a longer time, such as \"10us\""))
            }
            span => Ok(Self(span)),
        }
    }

    fn write(&self) -> WrittenValue {
        self.0.write()
    }

    fn schema() -> Schema {
        Span::schema()
    }
}

impl KeyValue for Rate {
    const UNIT: &'static str = "rate";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        Ok(quantity::rate(value.quantity("10Gbps")?)?)
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(show_rate(*self))
    }

    fn schema() -> Schema {
        Schema::Quantity("10Gbps")
    }
}

impl KeyValue for Limit {
    const UNIT: &'static str = "pkt or B";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        Ok(quantity::limit(value.quantity("20pkt")?)?)
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(show_limit(*self))
    }

    fn schema() -> Schema {
        Schema::Quantity("20pkt")
    }
}

impl<T: KeyValue> KeyValue for Vec<T> {
    const UNIT: &'static str = T::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let Value::List(items) = value else { return Err(value.unfit("a list in brackets")) };
        let read = |(i, item)| T::read(item, bounds).map_err(|error| KeyError::Item(i, Box::new(error)));
        items.iter().enumerate().map(read).collect()
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::List(self.iter().map(KeyValue::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(T::schema()))
    }
}

/// Implements `KeyValue` for an enum of two variants that files write as false or true.
macro_rules! truth_value {
    ($type:ident: $no:ident, $yes:ident) => {
        impl $crate::keys::KeyValue for $type {
            const UNIT: &'static str = "";

            fn read(
                value: &$crate::keys::Value<'_>,
                bounds: &$crate::keys::Bounds,
            ) -> Result<Self, $crate::keys::KeyError> {
                bool::read(value, bounds).map(|truth| if truth { Self::$yes } else { Self::$no })
            }

            fn write(&self) -> $crate::keys::WrittenValue {
                $crate::keys::WrittenValue::Bool(matches!(self, Self::$yes))
            }

            fn schema() -> $crate::keys::Schema {
                $crate::keys::Schema::Bool
            }
        }
    };
}

pub(crate) use truth_value;
