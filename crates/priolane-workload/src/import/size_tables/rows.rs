//! The rows of a table of another program, before its form is known.

use priolane_core::sizes::{Interpolation, Point, SizeDistribution};
use priolane_source::InputError;
use priolane_source::csv::{Lines, shown};
use serde::{Deserialize, Serialize};

use crate::size_cells::{CDF_NAMES, cells, number};
use crate::size_csv::{MAX_TABLE, PlacedRows};

/// The relative distance from 1, or from 100, at which a last probability is taken as that.
const END_SLACK: f64 = 1e-3;

const ROW: &str =
    "a size and a cumulative probability, such as 10000 0.15, with or without a column between them";

/// The unit of the sizes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeUnit {
    /// Bytes of payload.
    Bytes,
    /// Full packets.
    Packets,
}

/// The unit of the probabilities of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probabilities {
    /// Parts of one.
    Parts,
    /// Hundredths.
    PerCent,
}

impl Probabilities {
    /// Returns the last probability of a table.
    pub(super) fn whole(self) -> f64 {
        match self {
            Self::Parts => 1.0,
            Self::PerCent => 100.0,
        }
    }
}

/// The units of the cells of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellUnits {
    /// Bytes of a size of 1.
    pub(super) bytes: f64,
    /// The unit of probabilities.
    pub(super) probabilities: Probabilities,
}

/// A row: cells as they are written, and the line.
#[derive(Clone, Debug)]
pub(super) struct TableRow {
    pub(super) size: f64,
    pub(super) cdf: f64,
    /// The cell of the probability, from which per cent are converted without rounding twice.
    cell: String,
    line: usize,
}

/// The rows of a table, and the mean and the unit that lines before them state.
#[derive(Clone, Debug)]
pub(super) struct Table {
    file: String,
    pub(super) rows: Vec<TableRow>,
    pub(super) columns: usize,
    pub(super) stated_mean: Option<f64>,
    /// The unit that the header names.
    pub(super) named_unit: Option<SizeUnit>,
}

/// Names of columns of sizes, in lower case, with the unit that they state.
const SIZE_NAMES: [(&str, Option<SizeUnit>); 10] = [
    ("bytes", Some(SizeUnit::Bytes)),
    ("size_bytes", Some(SizeUnit::Bytes)),
    ("flow_size_bytes", Some(SizeUnit::Bytes)),
    ("packets", Some(SizeUnit::Packets)),
    ("pkts", Some(SizeUnit::Packets)),
    ("size_packets", Some(SizeUnit::Packets)),
    ("size", None),
    ("flow_size", None),
    ("flowsize", None),
    ("value", None),
];

/// The places of sizes and probabilities in rows.
#[derive(Clone, Copy)]
struct Places {
    size: usize,
    cdf: usize,
    columns: usize,
    unit: Option<SizeUnit>,
}

/// Returns the places that a header names, if the line is one.
fn named(cells: &[&str]) -> Option<Places> {
    let lower: Vec<String> = cells.iter().map(|cell| cell.to_ascii_lowercase()).collect();
    let size = lower.iter().position(|cell| SIZE_NAMES.iter().any(|(name, _)| name == cell))?;
    let cdf = lower.iter().position(|cell| CDF_NAMES.contains(&cell.as_str()))?;
    let unit = SIZE_NAMES.iter().find(|(name, _)| *name == lower[size]).and_then(|&(_, unit)| unit);
    (2..=3).contains(&cells.len()).then_some(Places { size, cdf, columns: cells.len(), unit })
}

impl Table {
    /// Reads the rows of `text`.
    pub(super) fn read(file: &str, text: &[u8]) -> Result<Self, InputError> {
        let mut lines = Lines::new(text, file);
        if text.len() > MAX_TABLE {
            return Err(lines.whole("the table is larger than 1 MiB", "fewer rows"));
        }
        let mut table =
            Self { file: file.to_owned(), rows: Vec::new(), columns: 0, stated_mean: None, named_unit: None };
        let (mut line, mut places) = (String::new(), None);
        while lines.next(&mut line)? {
            let cells: Vec<&str> = cells(&line).collect();
            if places.is_none() {
                if table.stated_mean.is_none() && cells.len() == 1 {
                    table.stated_mean = Some(stated_mean(&lines, cells[0])?);
                    continue;
                }
                let found = Places::of(&lines, &cells)?;
                (table.columns, table.named_unit) = (found.columns, found.unit);
                places = Some(found);
                if number(cells[0]).is_none() {
                    continue;
                }
            }
            if let Some(places) = places {
                table.rows.push(row(&lines, &cells, places)?);
            }
        }
        if table.rows.is_empty() {
            return Err(lines.whole("the table has no rows", ROW));
        }
        Ok(table)
    }

    /// Returns the unit of probabilities by the last one, which is nearly 1 or 100.
    pub(super) fn probabilities(&self) -> Result<Probabilities, InputError> {
        let last = &self.rows[self.rows.len() - 1];
        let near = |end: f64| (last.cdf / end - 1.0).abs() <= END_SLACK;
        match (near(1.0), near(100.0)) {
            (true, _) => Ok(Probabilities::Parts),
            (_, true) => Ok(Probabilities::PerCent),
            _ => {
                let what =
                    format!("the last probability is {}, which is neither 1 nor 100 (per cent)", last.cdf);
                let fix = "cumulative probabilities to the largest size; rows may be missing";
                Err(InputError::new(&self.file, Some(last.line), "", what, fix))
            }
        }
    }

    /// Takes last probabilities that are nearly 1 or 100 as that; returns a note if there are any.
    pub(super) fn mend_end(&mut self, probabilities: Probabilities) -> Option<String> {
        let end = probabilities.whole();
        let last = self.rows.last_mut()?;
        let found = last.cdf;
        for row in self.rows.iter_mut().rev() {
            if row.cdf <= end && row.cdf != found {
                break;
            }
            (row.cdf, row.cell) = (end, end.to_string());
        }
        (found != end).then(|| format!("the last probability is {found} in the file and was taken as {end}"))
    }

    /// Returns the distribution of the rows in bytes.
    pub(super) fn distribution(
        &self,
        units: CellUnits,
        interpolation: Interpolation,
    ) -> Result<SizeDistribution, InputError> {
        let mut placed = PlacedRows::new(&self.file, "size");
        for row in &self.rows {
            let cdf = match units.probabilities {
                Probabilities::PerCent => hundredth(row),
                Probabilities::Parts => row.cdf,
            };
            placed.push(Point { bytes: row.size * units.bytes, cdf }, row.line);
        }
        placed.distribution(interpolation)
    }

    /// Creates an error of the table as a whole.
    pub(super) fn error(&self, what: String, fix: &str) -> InputError {
        InputError::new(&self.file, None, "", what, fix)
    }
}

/// Returns the probability of a row in per cent as a part of one, rounded once.
fn hundredth(row: &TableRow) -> f64 {
    let plain = row.cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let exact = if plain { format!("{}e-2", row.cell).parse().ok() } else { None };
    exact.unwrap_or(row.cdf / 100.0)
}

fn stated_mean(lines: &Lines<&[u8]>, cell: &str) -> Result<f64, InputError> {
    number(cell).filter(|&mean| mean > 0.0).ok_or_else(|| {
        let what = format!("{} is neither a mean size nor a row", shown(cell));
        lines.error("", what, ROW)
    })
}

impl Places {
    /// Returns the places in the first row or in the header `cells`.
    fn of(lines: &Lines<&[u8]>, cells: &[&str]) -> Result<Self, InputError> {
        if let Some(named) = named(cells) {
            return Ok(named);
        }
        match cells.len() {
            columns @ 2..=3 => Ok(Self { size: 0, cdf: columns - 1, columns, unit: None }),
            columns => Err(lines.error("", format!("the row has {columns} columns"), ROW)),
        }
    }
}

fn row(lines: &Lines<&[u8]>, cells: &[&str], places: Places) -> Result<TableRow, InputError> {
    if cells.len() != places.columns {
        let what = format!("the row has {} columns, but the first row has {}", cells.len(), places.columns);
        return Err(lines.error("", what, ROW));
    }
    let read = |place: usize| {
        let cell = cells[place];
        number(cell).ok_or_else(|| lines.error("", format!("{} is not a number", shown(cell)), ROW))
    };
    let (size, cdf) = (read(places.size)?, read(places.cdf)?);
    Ok(TableRow { size, cdf, cell: cells[places.cdf].to_owned(), line: lines.number() })
}
