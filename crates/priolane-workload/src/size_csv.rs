//! Size tables: `bytes,cdf` in rows of ascending size; shipped tables by name, a user's own by path.
//!
//! ```text
//! # source: the source of the numbers
//! bytes,cdf
//! 0,0
//! 10000,0.15
//! 30000000,1
//! ```

use std::io::Read;
use std::path::Path;

use priolane_core::sizes::{Interpolation, Point, SizeDistribution, SizeError};
use priolane_source::{InputError, open};

use priolane_source::csv::{Columns, Header, Lines, shown};

use crate::size_cells;

/// Maximum size of a table, in bytes.
pub const MAX_TABLE: usize = 1024 * 1024;

/// The shipped size tables: name and text.
const SHIPPED: [(&str, &str); 6] = [
    ("web_search", include_str!("../data/web_search.csv")),
    ("web_search_pkt1460", include_str!("../data/web_search_pkt1460.csv")),
    ("data_mining", include_str!("../data/data_mining.csv")),
    ("data_mining_vl2", include_str!("../data/data_mining_vl2.csv")),
    ("imc10", include_str!("../data/imc10.csv")),
    ("facebook_hadoop", include_str!("../data/facebook_hadoop.csv")),
];

/// The shipped tables of counts: name and text.
const COUNTS: [(&str, &str); 2] = [
    ("coflow_mappers", include_str!("../data/coflow_mappers.csv")),
    ("coflow_reducers", include_str!("../data/coflow_reducers.csv")),
];

const COLUMNS: Columns = Columns { names: &["bytes", "cdf"], required: 2 };
const OF_COUNTS: Columns = Columns { names: &["count", "cdf"], required: 2 };

/// Returns the names of the shipped size tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|&(name, _)| name)
}

/// Returns the text of the shipped table `name`, if there is one.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

/// Returns the names of the shipped tables of counts.
pub fn count_names() -> impl Iterator<Item = &'static str> {
    COUNTS.iter().map(|&(name, _)| name)
}

/// Returns the text of the shipped table of counts `name`, if there is one.
pub fn shipped_counts(name: &str) -> Option<&'static str> {
    COUNTS.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

/// Parses the distribution of a table of counts, `count,cdf`: only the values of its rows occur.
///
/// # Errors
/// Returns the errors of [`parse`].
pub fn parse_counts(file: &str, text: &[u8]) -> Result<SizeDistribution, InputError> {
    table(file, text, (OF_COUNTS, Interpolation::Step))
}

/// Reads the distribution of the shipped table `name_or_path`, or of the file at that path.
///
/// # Errors
/// Fails if the table does not exist, or is invalid (see [`parse`]).
pub fn read(name_or_path: &str, interpolation: Interpolation) -> Result<SizeDistribution, InputError> {
    if let Some(text) = shipped(name_or_path) {
        return parse(name_or_path, text.as_bytes(), interpolation);
    }
    let text = load(name_or_path).map_err(|error| {
        let fix = format!("the path of a CSV file or one of {}", names().collect::<Vec<_>>().join(", "));
        InputError { fix, ..error }
    })?;
    parse(name_or_path, &text, interpolation)
}

/// Parses the distribution of a table in `text`; `file` is its name in messages.
///
/// # Errors
/// Fails if the text is larger than [`MAX_TABLE`], is not text, has no header, has a row that is not two numbers,
/// or if its rows are not a size distribution.
pub fn parse(file: &str, text: &[u8], interpolation: Interpolation) -> Result<SizeDistribution, InputError> {
    table(file, text, (COLUMNS, interpolation))
}

fn table(
    file: &str,
    text: &[u8],
    (columns, interpolation): (Columns, Interpolation),
) -> Result<SizeDistribution, InputError> {
    let mut lines = Lines::new(text, file);
    if text.len() > MAX_TABLE {
        return Err(lines.whole("the table is larger than 1 MiB", "fewer rows"));
    }
    let header = Header::read(&mut lines, columns, &|_| None).map_err(|error| foreign(file, text, error))?;
    let mut rows = PlacedRows::new(file, columns.names[0]);
    let mut line = String::new();
    while lines.next(&mut line)? {
        let row = header.row(&lines, &line)?;
        let number = |column: usize| {
            row[column].parse::<f64>().map_err(|_| {
                let what = format!("{} is not a number", shown(row[column]));
                lines.error(columns.names[column], what, "a plain number such as 10000 or 0.15")
            })
        };
        rows.push(Point { bytes: number(0)?, cdf: number(1)? }, lines.number());
    }
    rows.distribution(interpolation)
}

/// Adds the command that converts a table to the error of a header, if the table is one of another program.
fn foreign(file: &str, text: &[u8], error: InputError) -> InputError {
    if !size_cells::is_foreign(text) {
        return error;
    }
    let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let what = "the table has no header `bytes,cdf`, as tables of other programs";
    let fix =
        format!("Run `priolane import sizes {file} -o {name}.sizes.csv` and name the file that it writes");
    InputError::new(file, error.line, "", what, fix)
}

/// Rows of a table, each with its line in the file.
pub(crate) struct PlacedRows<'a> {
    file: &'a str,
    /// The name of sizes in messages.
    size: &'static str,
    points: Vec<Point>,
    numbers: Vec<usize>,
}

impl<'a> PlacedRows<'a> {
    pub(crate) fn new(file: &'a str, size: &'static str) -> Self {
        Self { file, size, points: Vec::new(), numbers: Vec::new() }
    }

    pub(crate) fn push(&mut self, point: Point, line: usize) {
        self.points.push(point);
        self.numbers.push(line);
    }

    /// Returns the distribution of the rows.
    ///
    /// # Errors
    /// Returns what is wrong with the rows, at its line.
    pub(crate) fn distribution(self, interpolation: Interpolation) -> Result<SizeDistribution, InputError> {
        let Self { file, size, points, numbers } = self;
        SizeDistribution::new(points, interpolation).map_err(|error| {
            let Blame { row, key, fix } = blame(error);
            let line = row.map_or(numbers.last(), |row| numbers.get(row)).copied();
            let key = if key == COLUMNS.names[0] { size } else { key };
            InputError::new(file, line, key, what(error), fix)
        })
    }
}

/// Reads a file up to just above the size limit.
fn load(path: &str) -> Result<Vec<u8>, InputError> {
    let mut text = Vec::new();
    let file = open(path.as_ref(), path)?;
    file.take(MAX_TABLE as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| InputError::new(path, None, "", format!("the file cannot be read: {error}"), ""))?;
    Ok(text)
}

struct Blame {
    row: Option<usize>,
    key: &'static str,
    fix: &'static str,
}

/// Describes the defect without the row number, which the line number replaces.
fn what(error: SizeError) -> String {
    match error {
        SizeError::NotFinite { .. } => "the row contains a value that is not a finite number".into(),
        SizeError::Negative { .. } => "the size is negative".into(),
        SizeError::TooLarge { .. } => "the size is above 2^47 bytes".into(),
        SizeError::DecreasingBytes { .. } => "the size is smaller than in the row before".into(),
        SizeError::DecreasingCdf { .. } => "the probability is smaller than in the row before".into(),
        SizeError::CdfOutside { .. } => "the cumulative probability is outside [0, 1]".into(),
        other => other.to_string(),
    }
}

fn blame(error: SizeError) -> Blame {
    let blame = |row, key, fix| Blame { row, key, fix };
    match error {
        SizeError::Empty => blame(None, "", "at least one row, the last with cdf 1"),
        SizeError::NotFinite { row } => blame(Some(row), "", "finite numbers"),
        SizeError::Negative { row } => blame(Some(row), "bytes", "sizes of at least 0"),
        SizeError::TooLarge { row } => blame(Some(row), "bytes", "sizes in bytes of at most 140 TB"),
        SizeError::DecreasingBytes { row } => blame(Some(row), "bytes", "rows sorted by size"),
        SizeError::DecreasingCdf { row } => {
            blame(Some(row), "cdf", "cumulative probabilities, not those of single rows")
        }
        SizeError::CdfOutside { row } => {
            blame(Some(row), "cdf", "a number from 0 to 1, such as 0.8 for 80 %")
        }
        SizeError::NotEndingAtOne { .. } => blame(None, "cdf", "cdf 1 in the last row"),
        SizeError::NoBytes => blame(None, "bytes", "sizes in bytes"),
        SizeError::Factor { .. } | SizeError::Cap { .. } | SizeError::Mean { .. } => {
            blame(None, "", "a positive size")
        }
    }
}

#[cfg(test)]
mod tests;
