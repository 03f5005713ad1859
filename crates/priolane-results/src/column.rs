//! Columns of tables, and typed rows.
//!
//! [`row!`] declares the columns of a table once: name, type, unit and meaning. It defines the row's struct, the Arrow
//! schema, the writer and the reader, which finds columns by name. `docs/results.md` describes the tables in prose.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Metadata, Schema};

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: DataType,
    /// Its unit: `ps`, `B`, `1` for plain numbers, empty for names.
    pub unit: &'static str,
    /// Its meaning, and when it is null.
    pub meaning: &'static str,
    /// Whether values can be null.
    pub nulls: Nulls,
}

/// Whether values of a column can be unknown or not applicable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Every row has a value.
    Never,
    /// A row may have no value.
    Possible,
}

impl Column {
    /// Returns the Arrow field, with `unit` and `meaning` in its metadata.
    pub fn field(&self) -> Field {
        let metadata = Metadata::from([("unit", self.unit), ("meaning", self.meaning)]);
        Field::new(self.name, self.kind.clone(), self.nulls == Nulls::Possible).with_metadata(metadata)
    }
}

/// A row of a table, declared with [`row!`].
pub trait Row<'a>: Sized {
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Returns the columns of `rows`, in order.
    fn arrays(rows: &[Self]) -> Vec<ArrayRef>;

    /// Reads the rows of a stored batch. Columns are found by name; others are ignored.
    ///
    /// # Errors
    /// `InvalidData` if a column is missing, has another type, or lacks a required value.
    fn read(batch: &'a RecordBatch) -> io::Result<Vec<Self>>;
}

/// Returns the batch of `rows`, with `metadata` about their table.
pub fn batch<'a, R: Row<'a>>(rows: &[R], metadata: BTreeMap<String, String>) -> RecordBatch {
    let fields: Vec<Field> = R::COLUMNS.iter().map(Column::field).collect();
    let schema = Schema::new_with_metadata(fields, metadata);
    RecordBatch::try_new(Arc::new(schema), R::arrays(rows))
        .expect("invariant: `row!` declares schema and arrays")
}

/// A type of column values: a plain type, or an `Option` of one if values can be null.
pub trait Value<'a>: Sized {
    /// The column's Arrow type.
    const KIND: DataType;
    /// Whether values can be null.
    const NULLS: Nulls;
    /// The Arrow array of the column.
    type Array: Array + 'static;

    /// Returns the array of `values`.
    fn array(values: impl Iterator<Item = Self>) -> ArrayRef;

    /// Returns the value in `row`; `None` if it is null but must not be.
    fn get(array: &'a Self::Array, row: usize) -> Option<Self>;
}

macro_rules! values {
    ($($kind:ident $array:ident $plain:ty;)*) => {$(
        impl<'a> Value<'a> for $plain {
            const KIND: DataType = DataType::$kind;
            const NULLS: Nulls = Nulls::Never;
            type Array = $array;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new(values.map(Some).collect::<$array>())
            }

            fn get(array: &'a $array, row: usize) -> Option<Self> {
                array.is_valid(row).then(|| array.value(row))
            }
        }

        impl<'a> Value<'a> for Option<$plain> {
            const KIND: DataType = DataType::$kind;
            const NULLS: Nulls = Nulls::Possible;
            type Array = $array;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new(values.collect::<$array>())
            }

            fn get(array: &'a $array, row: usize) -> Option<Self> {
                Some(array.is_valid(row).then(|| array.value(row)))
            }
        }
    )*};
}

values! {
    Boolean BooleanArray bool;
    UInt8 UInt8Array u8;
    UInt32 UInt32Array u32;
    UInt64 UInt64Array u64;
    Float64 Float64Array f64;
    Utf8 StringArray &'a str;
}

/// Returns the array of the column `name`.
///
/// # Errors
/// `InvalidData` if it is missing or has another type.
pub fn array<'a, V: Value<'a>>(batch: &'a RecordBatch, name: &str) -> io::Result<&'a V::Array> {
    let column = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref());
    column.ok_or_else(|| invalid(name))
}

/// Returns the error that the column `name` of a stored table is invalid.
pub fn invalid(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("column `{name}` is missing or has another type"))
}

/// Declares a table's row: for each column its name, type, unit and meaning. The meanings are the documentation of the
/// struct's fields.
#[macro_export]
macro_rules! row {
    (
        $(#[$doc:meta])*
        $vis:vis struct $row:ident<$a:lifetime> {
            $($name:ident: $type:ty, $unit:literal, $meaning:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $row<$a> {
            $(#[doc = $meaning] pub $name: $type,)*
        }

        impl<$a> $crate::column::Row<$a> for $row<$a> {
            const COLUMNS: &'static [$crate::column::Column] = &[$($crate::column::Column {
                name: stringify!($name),
                kind: <$type as $crate::column::Value>::KIND,
                unit: $unit,
                meaning: $meaning,
                nulls: <$type as $crate::column::Value>::NULLS,
            },)*];

            fn arrays(rows: &[Self]) -> Vec<$crate::arrow_array::ArrayRef> {
                use $crate::column::Value;
                vec![$(<$type as Value>::array(rows.iter().map(|row| row.$name)),)*]
            }

            fn read(batch: &$a $crate::arrow_array::RecordBatch) -> std::io::Result<Vec<Self>> {
                use $crate::column::{Value, array, invalid};
                $(let $name = array::<$type>(batch, stringify!($name))?;)*
                let row = |row: usize| {
                    Ok(Self {
                        $($name: <$type as Value>::get($name, row).ok_or_else(|| invalid(stringify!($name)))?,)*
                    })
                };
                (0..batch.num_rows()).map(row).collect()
            }
        }
    };
}
