//! Columns of tables whose header names them, in any order and beside others.

/// The possible names of a column, in lower case.
pub(super) type Names = &'static [&'static str];

/// The position of each column in a table, if it has the column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<const N: usize>([Option<usize>; N]);

impl<const N: usize> Places<N> {
    /// Finds columns among the cells of a header, the first of each name.
    pub(super) fn find<'a>(columns: &[Names; N], header: impl Iterator<Item = &'a str>) -> Self {
        let mut places = [None; N];
        for (place, cell) in header.enumerate() {
            let cell = cell.trim().to_ascii_lowercase();
            if let Some(column) = columns.iter().position(|names| names.contains(&cell.as_str())) {
                places[column].get_or_insert(place);
            }
        }
        Self(places)
    }

    /// Returns the positions of columns in rows that have all of them in order.
    pub(super) fn in_order() -> Self {
        Self(std::array::from_fn(Some))
    }

    /// Returns true if the table has the column.
    pub(super) fn has(&self, column: usize) -> bool {
        self.0[column].is_some()
    }

    /// Returns the cell of a row in a column; `None` if the table lacks the column or the row ends before it.
    pub(super) fn cell<'a>(&self, cells: &[&'a str], column: usize) -> Option<&'a str> {
        self.0[column].and_then(|place| cells.get(place)).copied()
    }

    /// As [`Self::cell`], without cells that are empty or `-`.
    pub(super) fn value<'a>(&self, cells: &[&'a str], column: usize) -> Option<&'a str> {
        self.cell(cells, column).filter(|cell| !matches!(*cell, "" | "-"))
    }
}
