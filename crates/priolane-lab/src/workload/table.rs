//! Comma-separated tables from outside: lines of bounded length, a header, columns by name.
//!
//! Blank lines and lines that start with `#` are skipped, a byte order mark, `\r\n` and quotes around a cell
//! are tolerated. Cells hold no commas. Lines are numbered as the file has them.

use std::io::{BufRead, Read};

use priolane_source::InputError;

/// The longest legal line, in bytes.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// The most columns a table of ours has.
const MAX_COLUMNS: usize = 10;

/// The lines of a table, one at a time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    file: String,
    number: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, file: &str) -> Self {
        Self { reader, file: file.to_owned(), number: 0, buffer: Vec::new() }
    }

    /// The number of the line read last, from 1.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The file's name in messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// An error in the line read last.
    pub(crate) fn error(&self, key: &str, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&self.file, Some(self.number), key, what, fix)
    }

    /// An error of the file as a whole.
    pub(crate) fn whole(&self, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        InputError::new(&self.file, None, "", what, fix)
    }

    /// Puts the next line with content in `line`; false at the end.
    pub(crate) fn next(&mut self, line: &mut String) -> Result<bool, InputError> {
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

    /// Puts the next line in `line`, whatever is in it, but for its end; false at the end of the text.
    pub(crate) fn next_raw(&mut self, line: &mut String) -> Result<bool, InputError> {
        self.buffer.clear();
        let limit = MAX_LINE as u64 + 2;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| self.whole(format!("reading failed: {e}"), "check the file"))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        let text = self.text()?;
        line.clear();
        line.push_str(text);
        Ok(true)
    }

    /// The buffered line as text without its end.
    fn text(&self) -> Result<&str, InputError> {
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        if bytes.len() > MAX_LINE {
            return Err(self.error("", "the line is longer than 64 KiB", "is this a text table?"));
        }
        if bytes.contains(&0) {
            return Err(self.error("", "the line holds a NUL byte", "give a text table"));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| self.error("", "the line is not UTF-8 text", "save the table as UTF-8"))?;
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        Ok(text.strip_suffix('\r').unwrap_or(text))
    }
}

/// Where the columns of a table are.
#[derive(Debug)]
pub(crate) struct Header {
    places: [Option<usize>; MAX_COLUMNS],
    width: usize,
}

/// The columns a table may have: the first `required` of them it must.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) names: &'static [&'static str],
    pub(crate) required: usize,
}

impl Header {
    /// Reads the header line. `refused` explains names that are known but not legal.
    pub(crate) fn read<R: BufRead>(
        lines: &mut Lines<R>,
        columns: Columns,
        refused: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, InputError> {
        let mut line = String::new();
        let want = || format!("begin with the header {}", columns.names[..columns.required].join(","));
        if !lines.next(&mut line)? {
            return Err(lines.whole("the table is empty", want()));
        }
        let mut header = Self { places: [None; MAX_COLUMNS], width: 0 };
        for name in cells(&line) {
            if let Some(why) = refused(name) {
                return Err(lines.error(name, why, "leave the column out"));
            }
            let Some(column) = columns.names.iter().position(|&known| known == name) else {
                let legal = format!("columns are {}", columns.names.join(", "));
                return Err(lines.error("", format!("no column is called {}", shown(name)), legal));
            };
            if header.places[column].replace(header.width).is_some() {
                return Err(lines.error(name, "the column is there twice", "leave one out"));
            }
            header.width += 1;
        }
        let missing = (0..columns.required).find(|&column| header.places[column].is_none());
        match missing {
            Some(column) => Err(lines.error(columns.names[column], "the column is missing", want())),
            None => Ok(header),
        }
    }

    /// Whether the table has this column of `Columns::names`.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// The cells of a row, in the order of `Columns::names`; empty where the table has no such column.
    pub(crate) fn row<'l, R: BufRead>(
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
            let what = format!("the row has {width} of {} columns", self.width);
            return Err(lines.error("", what, "give a cell for each column of the header"));
        }
        Ok(self.places.map(|place| place.map_or("", |place| given[place])))
    }
}

/// The cells of a line, without space and quotes around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| {
        let cell = cell.trim();
        cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
    })
}

/// A cell as messages show it: escaped, and cut where it is long.
pub(crate) fn shown(cell: &str) -> String {
    const LONGEST: usize = 40;
    match cell.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &cell[..end]),
        None => format!("{cell:?}"),
    }
}
