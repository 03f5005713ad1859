//! The digest of a run: BLAKE3 over the rows of its tables in canonical order.
//!
//! Each table contributes its name and its columns' names, then row by row a tag and the value of each cell: numbers
//! as eight little-endian bytes, names with their length. File bytes, compression and everything that depends on the
//! engine are excluded.

use std::fmt::Write as _;

use arrow_array::RecordBatch;

use crate::cell::{Cell, View};
use crate::rows::{Rows, Table};

/// Returns the digest of a run's tables, as 64 hexadecimal digits.
pub fn of_rows(rows: &Rows) -> String {
    let mut digest = Digest::default();
    for table in rows.tables() {
        digest.begin(table);
        for batch in rows.batches(table) {
            digest.add(&batch);
        }
    }
    digest.finish()
}

/// A digest under construction. Tables are added in the order of `Table::ALL`.
#[derive(Debug, Default)]
pub struct Digest {
    hash: blake3::Hasher,
    /// Bytes not hashed yet: hashing each cell separately would cost more than the hash itself.
    pending: Vec<u8>,
}

/// Number of bytes hashed at once.
const CHUNK: usize = 1 << 16;

impl Digest {
    /// Starts a table.
    pub fn begin(&mut self, table: Table) {
        self.text(table.name());
        for column in table.columns() {
            self.text(column.name);
        }
    }

    /// Adds the rows of a batch of the current table. A batch with an unsupported column type only adds a marker for
    /// that fact.
    pub fn add(&mut self, batch: &RecordBatch) {
        let Some(columns) = View::all(batch) else {
            self.pending.push(u8::MAX);
            return;
        };
        for row in 0..batch.num_rows() {
            for column in &columns {
                self.cell(column.cell(row));
            }
            if self.pending.len() >= CHUNK {
                self.hash.update(&self.pending);
                self.pending.clear();
            }
        }
    }

    /// Returns the digest as 64 hexadecimal digits.
    pub fn finish(mut self) -> String {
        self.hash.update(&self.pending);
        self.hash.finalize().to_hex().to_string()
    }

    fn cell(&mut self, cell: Cell) {
        match cell {
            Cell::Null => self.pending.push(0),
            Cell::Bool(b) => self.pending.extend([1, u8::from(b)]),
            Cell::Int(n) => self.number(2, n),
            Cell::Real(x) => self.number(3, x.to_bits()),
            Cell::Text(t) => self.text(t),
        }
    }

    fn number(&mut self, tag: u8, bits: u64) {
        self.pending.push(tag);
        self.pending.extend(bits.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(4, text.len() as u64);
        self.pending.extend(text.as_bytes());
    }
}

/// Returns bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("invariant: writing to a String does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, UInt64Array};

    use super::*;

    #[test]
    fn each_cell_of_a_table_of_any_length_is_hashed_once_and_in_order() {
        // A cell is nine bytes: 7282 of them are more than a chunk.
        for rows in [0, 1, 7_281, 7_282, 7_283, 20_000] {
            let numbers: Vec<u64> = (0..rows).map(|row| row * row).collect();
            let column: ArrayRef = Arc::new(UInt64Array::from(numbers.clone()));
            let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
            let mut digest = Digest::default();
            digest.add(&batch);
            let bytes: Vec<u8> =
                numbers.iter().flat_map(|number| [2].into_iter().chain(number.to_le_bytes())).collect();
            assert_eq!(digest.finish(), blake3::hash(&bytes).to_hex().to_string(), "{rows} rows");
        }
    }
}
