//! How values of each type are read and written.

use super::{Bounds, KeyError, Schema, Value, Written};
use crate::port::Limit;
use crate::quantity::{self, show_bytes, show_limit, show_rate, show_span};
use crate::units::{Rate, Span};

/// A type whose values stand in files.
pub trait KeyValue: Sized {
    /// The unit, for the documentation; empty for a plain number or word.
    const UNIT: &'static str;

    /// Reads a value, a number within `bounds`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError>;

    /// The value as it is written.
    fn write(&self) -> Written;

    /// What its values are.
    fn schema() -> Schema;
}

/// A way to read and write values of the type `T`.
pub trait Form<T> {
    /// The unit, for the documentation.
    const UNIT: &'static str;

    /// Reads a value, a number within `bounds`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError>;

    /// The value as it is written.
    fn write(value: &T) -> Written;

    /// What its values are.
    fn schema() -> Schema;
}

/// The form that a type has by itself.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl<T: KeyValue> Form<T> for Plain {
    const UNIT: &'static str = T::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError> {
        T::read(value, bounds)
    }

    fn write(value: &T) -> Written {
        value.write()
    }

    fn schema() -> Schema {
        T::schema()
    }
}

/// Whole numbers as numbers of bytes: `"1.5MB"`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes;

impl<T: Copy + TryFrom<u64> + Into<u64>> Form<T> for Bytes {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<T, KeyError> {
        let bytes = quantity::bytes(value.quantity("1.5MB")?)?;
        let fits = T::try_from(bytes).ok().filter(|_| bounds.has(bytes as f64));
        fits.ok_or_else(|| bounds.outside(show_bytes(bytes), "a number of bytes"))
    }

    fn write(value: &T) -> Written {
        Written::Text(show_bytes((*value).into()))
    }

    fn schema() -> Schema {
        Schema::Quantity("1.5MB")
    }
}

/// Reads an option: `word`, or what `none` is written as, for nothing.
///
/// # Errors
/// Those of `read`.
pub fn read_word<T: PartialEq + KeyValue>(
    value: &Value<'_>,
    word: &str,
    none: &Written,
    read: impl Fn(&Value<'_>) -> Result<T, KeyError>,
) -> Result<Option<T>, KeyError> {
    if matches!(value, Value::Text(text) if *text == word) || *value == none.as_value() {
        return Ok(None);
    }
    // "0us" is "0ps".
    let absent = T::read(&none.as_value(), &Bounds::ANY).ok();
    match T::read(value, &Bounds::ANY) {
        Ok(found) if absent.as_ref() == Some(&found) => Ok(None),
        _ => read(value).map(Some),
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

    fn write(&self) -> Written {
        Written::Bool(*self)
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

            fn write(&self) -> Written {
                Written::Integer(u64::from(*self))
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
        if bounds.has(number) { Ok(number) } else { Err(bounds.outside(number, "a number")) }
    }

    fn write(&self) -> Written {
        Written::Float(*self)
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
            false => Err(KeyError::new("this is zero", "a time above zero, such as \"5us\"")),
        }
    }

    fn write(&self) -> Written {
        Written::Text(show_span(*self))
    }

    fn schema() -> Schema {
        Schema::Quantity("5us")
    }
}

impl KeyValue for Rate {
    const UNIT: &'static str = "rate";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        Ok(quantity::rate(value.quantity("10Gbps")?)?)
    }

    fn write(&self) -> Written {
        Written::Text(show_rate(*self))
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

    fn write(&self) -> Written {
        Written::Text(show_limit(*self))
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

    fn write(&self) -> Written {
        Written::List(self.iter().map(KeyValue::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(T::schema()))
    }
}
