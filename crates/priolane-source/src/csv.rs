//! Comma-separated tables of users: lines of bounded length, a header, columns by name.
//!
//! Blank lines and lines that start with `#` are skipped. A byte order mark, `\r\n` and quotes around a cell are
//! accepted. Cells contain no commas. Lines are numbered as in the file.

use std::io::{BufRead, Read};

use crate::InputError;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// Maximum number of columns of a table.
pub const MAX_COLUMNS: usize = 11;

/// The lines of a table, read one at a time.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    file: String,
    number: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Creates the lines of `reader`; `file` is its name in messages.
    pub fn new(reader: R, file: &str) -> Self {
        Self { reader, file: file.to_owned(), number: 0, buffer: Vec::new() }
    }

    /// Returns the number of the last line read, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the file's name in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Creates an error in the last line read.
    pub fn error(&self, key: &str, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&self.file, Some(self.number), key, what, fix)
    }

    /// Creates an error of the file as a whole.
    pub fn whole(&self, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&self.file, None, "", what, fix)
    }

    /// Reads the next line with content into `line`; returns false at the end.
    ///
    /// # Errors
    /// If reading fails, or the line is too long or not text.
    pub fn next(&mut self, line: &mut String) -> Result<bool, InputError> {
        while self.next_raw(line)? {
            let text = line.trim_start();
            if !text.is_empty() && !text.starts_with('#') {
                line.drain(..line.len() - text.len());
                line.truncate(line.trim_end().len());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next line into `line`, without its line break; returns false at the end of the text.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub fn next_raw(&mut self, line: &mut String) -> Result<bool, InputError> {
        self.buffer.clear();
        let limit = MAX_LINE as u64 + 2;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| self.whole(format!("reading failed: {e}"), "Check the file"))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        let text = self.text()?;
        line.clear();
        line.push_str(text);
        Ok(true)
    }

    /// Returns the buffered line as text without its line break.
    fn text(&self) -> Result<&str, InputError> {
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        if bytes.len() > MAX_LINE {
            return Err(self.error("", "the line is longer than 64 KiB", "a text table in CSV format"));
        }
        if bytes.contains(&0) {
            return Err(self.error("", "the line contains a NUL byte", "a text table in CSV format"));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| self.error("", "the line is not UTF-8 text", "Save the table as UTF-8"))?;
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        Ok(text.strip_suffix('\r').unwrap_or(text))
    }
}

/// The indices of the columns of a table.
#[derive(Debug)]
pub struct Header {
    places: [Option<usize>; MAX_COLUMNS],
    width: usize,
}

/// The columns that a table may have, of which the first `required` are required.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Names of all columns.
    pub names: &'static [&'static str],
    /// Number of required columns, from the first.
    pub required: usize,
}

impl Header {
    /// Reads the header line. `refused` explains names that are known but not valid.
    ///
    /// # Errors
    /// If a name is unknown, refused or repeated, or a required column is missing.
    pub fn read<R: BufRead>(
        lines: &mut Lines<R>,
        columns: Columns,
        refused: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, InputError> {
        let mut line = String::new();
        let want = || format!("Begin with the header {}", columns.names[..columns.required].join(","));
        if !lines.next(&mut line)? {
            return Err(lines.whole("the table is empty", want()));
        }
        let mut header = Self { places: [None; MAX_COLUMNS], width: 0 };
        for name in cells(&line) {
            if let Some(why) = refused(name) {
                return Err(lines.error(name, why, "Remove the column"));
            }
            if name.is_empty() {
                let what = "a column has no name, such as the index that pandas writes";
                return Err(lines.error("", what, "df.to_csv(path, index=False), or remove the column"));
            }
            if let Some(separator) = [';', '\t'].into_iter().find(|&separator| name.contains(separator)) {
                let what = format!("cells are separated by {separator:?} and not by commas");
                return Err(lines.error("", what, "commas, such as df.to_csv(path, sep=\",\", index=False)"));
            }
            let Some(column) = columns.names.iter().position(|&known| known == name) else {
                let legal = format!("one of {}", columns.names.join(", "));
                return Err(lines.error("", format!("unknown column {}", shown(name)), legal));
            };
            if header.places[column].replace(header.width).is_some() {
                return Err(lines.error(name, "the column appears twice", "Remove one of the two"));
            }
            header.width += 1;
        }
        let missing = (0..columns.required).find(|&column| header.places[column].is_none());
        match missing {
            Some(column) => Err(lines.error(columns.names[column], "the column is missing", want())),
            None => Ok(header),
        }
    }

    /// Returns whether the table has this column of `Columns::names`.
    pub fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// Returns the cells of a row, in the order of `Columns::names`; empty for missing columns.
    ///
    /// # Errors
    /// If the row has more or fewer cells than the header.
    pub fn row<'l, R: BufRead>(
        &self,
        lines: &Lines<R>,
        line: &'l str,
    ) -> Result<[&'l str; MAX_COLUMNS], InputError> {
        let mut given = [""; MAX_COLUMNS];
        let mut width = 0;
        for cell in cells(line) {
            if let Some(place) = given.get_mut(width) {
                *place = cell;
            }
            width += 1;
        }
        if width != self.width {
            let what = format!("the row has {width} cells, but the header has {}", self.width);
            return Err(lines.error("", what, "one cell for each column of the header"));
        }
        Ok(self.places.map(|place| place.map_or("", |place| given[place])))
    }
}

/// Iterates over the cells of a line, without space and quotes around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| {
        let cell = cell.trim();
        cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
    })
}

/// Formats a cell for messages: escaped, and truncated if it is long.
pub fn shown(cell: &str) -> String {
    const LONGEST: usize = 40;
    match cell.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &cell[..end]),
        None => format!("{cell:?}"),
    }
}
