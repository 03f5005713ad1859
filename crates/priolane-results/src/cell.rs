//! Single values of a table with any columns, for the digest and the comparison of two runs.

use std::fmt;

use arrow_array::{
    Array, BooleanArray, Float64Array, RecordBatch, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Unknown or not applicable.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(u64),
    /// A real number.
    Real(f64),
    /// A name.
    Text(&'a str),
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(t) => f.write_str(t),
        }
    }
}

/// A column of a batch with its type.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Booleans.
    Bool(&'a BooleanArray),
    /// Integers of 8 bits.
    U8(&'a UInt8Array),
    /// Integers of 32 bits.
    U32(&'a UInt32Array),
    /// Integers of 64 bits.
    U64(&'a UInt64Array),
    /// Real numbers.
    F64(&'a Float64Array),
    /// Names.
    Text(&'a StringArray),
}

impl<'a> View<'a> {
    /// Returns the typed view of an array; `None` for a type that no table of priolane has.
    pub fn of(array: &'a dyn Array) -> Option<Self> {
        let any = array.as_any();
        match array.data_type() {
            DataType::Boolean => any.downcast_ref().map(Self::Bool),
            DataType::UInt8 => any.downcast_ref().map(Self::U8),
            DataType::UInt32 => any.downcast_ref().map(Self::U32),
            DataType::UInt64 => any.downcast_ref().map(Self::U64),
            DataType::Float64 => any.downcast_ref().map(Self::F64),
            DataType::Utf8 => any.downcast_ref().map(Self::Text),
            _ => None,
        }
    }

    /// Returns views of all columns of a batch; `None` if one has a type that no table of priolane has.
    pub fn all(batch: &'a RecordBatch) -> Option<Vec<Self>> {
        batch.columns().iter().map(|c| Self::of(c.as_ref())).collect()
    }

    /// Returns the value in `row`.
    pub fn cell(&self, row: usize) -> Cell<'a> {
        match *self {
            Self::Bool(a) if a.is_valid(row) => Cell::Bool(a.value(row)),
            Self::U8(a) if a.is_valid(row) => Cell::Int(u64::from(a.value(row))),
            Self::U32(a) if a.is_valid(row) => Cell::Int(u64::from(a.value(row))),
            Self::U64(a) if a.is_valid(row) => Cell::Int(a.value(row)),
            Self::F64(a) if a.is_valid(row) => Cell::Real(a.value(row)),
            Self::Text(a) if a.is_valid(row) => Cell::Text(a.value(row)),
            _ => Cell::Null,
        }
    }
}
