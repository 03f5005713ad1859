//! Size tables of other simulators and traffic generators, as tables of priolane.
//!
//! ```text
//! 0 0            0     0         6 1 0         1744.70
//! 10000 15       10000 0.15      6 1 0.15      1      0.025
//! 30000000 100   30000000 1      20000 1 1     20000  1.0
//! ```
//!
//! A row has a size and a cumulative probability, with a column between them that ns-2 ignores. Probabilities end at 1
//! or at 100 (per cent). Sizes are bytes or packets ([`form`]). Before the rows, a header may name the columns, or one
//! number state the mean. Columns are separated by spaces, tabs, commas or semicolons; `#` begins a comment.
//!
//! The table that is written means the same with either interpolation if only the sizes of rows occur: each size then has
//! two rows, an atom.

mod files;
mod form;
mod rows;

use std::fmt::Write as _;

use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_source::InputError;
use serde::Serialize;

pub use files::{Report, Request, import_sizes};
pub use form::Options;
pub use rows::SizeUnit;

use form::Form;
use rows::{Probabilities, Table};

/// A table of another program, converted.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertedSizes {
    /// The table, ready to be written: `bytes,cdf` with its rows.
    pub text: String,
    /// The sizes in bytes.
    pub law: SizeDistribution,
    /// The form that was found.
    pub form: FormReport,
}

/// The form of a table of another program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormReport {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, 2 or 3.
    pub columns: usize,
    /// Unit of sizes.
    pub unit: SizeUnit,
    /// The evidence for the unit.
    pub unit_from: String,
    /// Bytes of a packet if sizes are packets.
    pub packet_bytes: Option<u32>,
    /// Whether probabilities are per cent.
    pub percent: bool,
    /// Whether sizes between rows occur, `linear`, or only those of rows, `step`.
    pub interpolation: &'static str,
    /// The evidence for the interpolation.
    pub interpolation_from: String,
    /// The mean that the first line states, in the unit of sizes.
    pub stated_mean: Option<f64>,
    /// The mean size, in bytes.
    pub mean_bytes: f64,
    /// The largest size, in bytes.
    pub largest_bytes: f64,
    /// Other notes.
    pub notes: Vec<String>,
}

/// Converts the table in `text`; `file` is its name in messages.
///
/// # Errors
/// Returns the first defect of the table, or that the unit of its sizes must be stated.
pub fn convert(file: &str, text: &[u8], options: &Options) -> Result<ConvertedSizes, InputError> {
    let mut table = Table::read(file, text)?;
    let probabilities = table.probabilities()?;
    let mut notes: Vec<String> = table.mend_end(probabilities).into_iter().collect();
    let form = Form::of(&table, probabilities, options)?;
    let law = table.distribution(form.units(), form.interpolation)?;
    notes.extend(form.notes(&table));
    let interpolation = match form.interpolation {
        Interpolation::Linear => "linear",
        Interpolation::Step => "step",
    };
    let form = FormReport {
        rows: table.rows.len(),
        columns: table.columns,
        unit: form.unit,
        unit_from: form.unit_from,
        packet_bytes: (form.unit == SizeUnit::Packets).then_some(form.packet),
        percent: probabilities == Probabilities::PerCent,
        interpolation,
        interpolation_from: form.interpolation_from,
        stated_mean: table.stated_mean,
        mean_bytes: law.mean(),
        largest_bytes: law.max(),
        notes,
    };
    let text = written(file, &law, &form);
    Ok(ConvertedSizes { text, law, form })
}

/// Returns the text of a table with these sizes.
fn written(file: &str, law: &SizeDistribution, form: &FormReport) -> String {
    let file: String = file.chars().filter(|c| !c.is_control()).collect();
    let unit = match form.packet_bytes {
        Some(bytes) => format!("packets of {bytes} bytes"),
        None => "bytes".to_owned(),
    };
    let mut text = format!(
        "# source: {file}, sizes in {unit}, {}; mean {:.6} MB\nbytes,cdf\n",
        form.interpolation,
        law.mean() / 1e6
    );
    let mut below = 0.0;
    for point in law.points() {
        if law.interpolation() == Interpolation::Step && point.cdf > below {
            let _ = writeln!(text, "{},{below}", point.bytes);
        }
        if law.interpolation() == Interpolation::Linear || point.cdf > below {
            let _ = writeln!(text, "{},{}", point.bytes, point.cdf);
        }
        below = point.cdf;
    }
    text
}

#[cfg(test)]
mod tests;
