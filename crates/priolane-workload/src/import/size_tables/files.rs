//! Converts a size table file, and writes a report beside it by which a later import recognises what it may replace.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use priolane_core::sizes::Interpolation;
use priolane_source::{InputError, open};
use serde::{Deserialize, Serialize};

use super::{FormReport, Options, SizeUnit, convert};
use crate::import::Failure;
use crate::import::files::{beside, within};
use crate::import::pending::Pending;
use crate::import::replaced::{Digests, Earlier};
use crate::size_csv::MAX_TABLE;

/// The request of the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The table to convert.
    pub file: PathBuf,
    /// The table to write; `x.report.json` is written next to `x.csv`.
    pub out: PathBuf,
    /// The unit of sizes; default: what the table shows.
    #[serde(default)]
    pub unit: Option<SizeUnit>,
    /// Bytes of a packet, 1 to 65535.
    #[serde(default)]
    pub mss: Option<u32>,
    /// The sizes between rows. Default: those that the table shows.
    #[serde(default)]
    pub interpolation: Option<Interpolation>,
}

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The file, as named by the user.
    pub file: String,
    /// The form that was found.
    pub form: FormReport,
    /// The table written.
    pub table: String,
    /// This report.
    pub report: String,
    /// SHA-256 of the table, by which a later import recognises it.
    pub sha256: Digests,
}

/// Converts a table and writes it.
///
/// # Errors
/// Returns a [`Failure`]; existing files are then unchanged.
pub fn import_sizes(request: &Request) -> Result<Report, Failure> {
    let shown = request.file.display().to_string();
    let options = Options {
        unit: request.unit,
        packet: within("--mss", request.mss, (1, 65_535))?,
        interpolation: request.interpolation,
    };
    let own_report = beside(&request.out, ".report.json");
    let earlier = allowed(request, &own_report)?;
    let mut text = Vec::new();
    let file = open(&request.file, &shown)?;
    file.take(MAX_TABLE as u64 + 1).read_to_end(&mut text).map_err(|error| {
        InputError::new(&shown, None, "", format!("the file cannot be read: {error}"), "Check the file")
    })?;
    let converted = convert(&shown, &text, &options)?;
    let mut files = Pending::default();
    let digest = files.add(&request.out, |out| out.write_all(converted.text.as_bytes()))?;
    let report = Report {
        file: shown,
        form: converted.form,
        table: request.out.display().to_string(),
        report: own_report.display().to_string(),
        sha256: Digests { sizes: Some(digest), ..earlier.kept() },
    };
    files.add(&own_report, |out| {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)
    })?;
    files.keep()?;
    Ok(report)
}

/// Checks that the outputs replace only what an earlier conversion wrote.
fn allowed(request: &Request, report: &Path) -> Result<Earlier, InputError> {
    let out = &request.out;
    let bad = |what: &str| {
        InputError::new(out.display().to_string(), None, "", what, "another path for the output")
    };
    if out.file_name().is_none() || out.is_dir() {
        return Err(bad("the path does not name a file"));
    }
    let input = request.file.canonicalize().ok();
    if input.is_some() && [out.as_path(), report].into_iter().any(|path| path.canonicalize().ok() == input) {
        return Err(bad("the input would be overwritten"));
    }
    let earlier = Earlier::read(report);
    earlier.allows(out, |digests| digests.sizes.as_deref())?;
    earlier.allows_report(report)?;
    Ok(earlier)
}
