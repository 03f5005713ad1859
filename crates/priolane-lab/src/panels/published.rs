//! Reads published curves, the values that a paper printed. A panel with `published = "published/fig6.csv"` draws them
//! behind the values of the runs.
//!
//! ```text
//! # How the points were read, in words.
//! paper,figure,series,x,y,error,read
//! PrioPlus (EuroSys 2025),Fig. 11a,prioplus_swift,8,2.3e-4,1e-5,drawing
//! ```
//!
//! `x` and `y` are in the units of the panel. `x` is a number, the name of a swept value or metric, or empty for a mean
//! over all x of a line. `error` is the maximum reading error of y.

use indexmap::IndexMap;
use priolane_source::InputError;
use priolane_source::csv::{Columns, Header, Lines, shown};
use serde::Serialize;
use serde_json::Value;

/// Maximum size of a table, in bytes.
pub(crate) const MAX_TABLE: u64 = 1024 * 1024;

const COLUMNS: Columns =
    Columns { names: &["paper", "figure", "series", "x", "y", "error", "read"], required: 7 };

/// Whether published curves can be drawn in a panel of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// They can, at any x.
    Drawn,
    /// They can, but only at marks of the panel.
    AtMarks,
    /// They cannot.
    Absent,
}

/// Index of the column x.
const X: usize = 3;

/// The points that a paper printed for one series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Name of the paper.
    pub paper: String,
    /// The figure, the table or the section.
    pub figure: String,
    /// The scheme or class whose style it has.
    pub series: String,
    /// The place in the paper where the points were read.
    pub read: ReadFrom,
    /// The points, in the order of the file.
    pub points: Vec<Point>,
}

/// The place in a paper where a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadFrom {
    /// A number in the text.
    Text,
    /// A number in a table.
    Table,
    /// A position in a drawing.
    Drawing,
}

/// A point that a paper printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Position along x: a number or a name; null for a mean over all x.
    pub x: Value,
    /// The value, in the unit of the panel's y axis.
    pub y: f64,
    /// Maximum reading error, in the unit of `y`; 0 for a number as printed.
    pub error: f64,
}

/// Reads a table of points; `file` is its name in messages. `fits` checks that a series and an x are in the panel.
///
/// # Errors
/// Returns the first line that is not a valid point or does not fit the panel; or that the table has no points.
pub(crate) fn parse(
    file: &str,
    text: &str,
    fits: &dyn Fn(&str, &str) -> Result<(), PointConflict>,
) -> Result<Vec<Curve>, InputError> {
    let mut lines = Lines::new(text.as_bytes(), file);
    let header = Header::read(&mut lines, COLUMNS, &|_| None)?;
    let mut curves: IndexMap<[String; 4], Curve> = IndexMap::new();
    let mut line = String::new();
    while lines.next(&mut line)? {
        let row = header.row(&lines, &line)?;
        let [paper, figure, series, x, _, _, how, ..] = row;
        let empty = (0..COLUMNS.required).find(|&column| column != X && row[column].is_empty());
        if let Some(column) = empty {
            return Err(lines.error(
                COLUMNS.names[column],
                "the cell is empty",
                "a value in each column but x",
            ));
        }
        let number = |column: usize, least: f64| {
            let value = row[column].parse::<f64>().ok().filter(|value| value.is_finite() && *value >= least);
            value.ok_or_else(|| {
                let what = format!("{} is not a valid number here", shown(row[column]));
                let fix = "a plain number such as 0.15, which is at least 0 for an error";
                lines.error(COLUMNS.names[column], what, fix)
            })
        };
        let read = match how {
            "text" => ReadFrom::Text,
            "table" => ReadFrom::Table,
            "drawing" => ReadFrom::Drawing,
            other => {
                let what = format!("unknown origin {}", shown(other));
                return Err(lines.error("read", what, "one of text, table, drawing"));
            }
        };
        fits(series, x).map_err(|conflict| lines.error(conflict.column, conflict.what, conflict.fix))?;
        let point = Point {
            x: match x.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::from(number),
                _ if x.is_empty() => Value::Null,
                _ => Value::from(x),
            },
            y: number(4, f64::NEG_INFINITY)?,
            error: number(5, 0.0)?,
        };
        let key = [paper, figure, series, how].map(str::to_owned);
        let [paper, figure, series, _] = key.clone();
        let curve = || Curve { paper, figure, series, read, points: Vec::new() };
        curves.entry(key).or_insert_with(curve).points.push(point);
    }
    if curves.is_empty() {
        return Err(lines.whole("the table has no points", "a row for each point"));
    }
    Ok(curves.into_values().collect())
}

/// The reason why a published point does not fit its panel.
#[derive(Debug)]
pub(crate) struct PointConflict {
    /// The column with the wrong value.
    pub(crate) column: &'static str,
    /// The mistake, as a clause without a final period.
    pub(crate) what: String,
    /// The text to write instead: the object of "Use".
    pub(crate) fix: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "# by eye\npaper,figure,series,x,y,error,read\n";

    fn parsed(rows: &str) -> Result<Vec<Curve>, InputError> {
        let fits = |series: &str, _: &str| match series {
            "other" => Err(PointConflict { column: "series", what: "no".to_owned(), fix: "yes".to_owned() }),
            _ => Ok(()),
        };
        parse("p.csv", &format!("{HEADER}{rows}"), &fits)
    }

    #[test]
    fn points_of_a_series_are_a_curve_and_names_along_x_stay_names() {
        let read = parsed(
            "P,Fig. 1,a,8,2.5e-4,1e-5,drawing\nP,Fig. 1,b,gain.mice,2,0,text\nP,Fig. 1,a,4,1,0,drawing\n",
        );
        let read = read.unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(
            (read[0].series.as_str(), read[0].read, read[0].points.len()),
            ("a", ReadFrom::Drawing, 2)
        );
        assert_eq!(read[0].points[0], Point { x: Value::from(8.0), y: 2.5e-4, error: 1e-5 });
        assert_eq!(read[1].points[0].x, Value::from("gain.mice"));
    }

    #[test]
    fn a_line_that_is_no_point_is_refused_with_its_number_and_column() {
        for (row, key) in [
            ("P,Fig. 1,a,8,high,0,text", "y"),
            ("P,Fig. 1,a,8,inf,0,text", "y"),
            ("P,Fig. 1,a,8,1,-1,text", "error"),
            ("P,Fig. 1,a,8,1,0,guess", "read"),
            ("P,,a,8,1,0,text", "figure"),
            ("P,Fig. 1,other,8,1,0,text", "series"),
        ] {
            let error = parsed(&format!("P,Fig. 1,a,8,1,0,text\n{row}\n")).unwrap_err();
            assert_eq!((error.line, error.key.as_str()), (Some(4), key), "{error}");
        }
        assert_eq!(parsed("").unwrap_err().what, "the table has no points");
    }
}
