//! `delay_noise = { trace = "host", scale = 1 }`: measurement error that hosts add to delays.

use priolane_core::keys::Keys;
use priolane_core::noise::{DelayNoise, NoiseError};
use priolane_source::csv::{Columns, Header, Lines, shown};
use priolane_source::{Field, InputError, Sources};

/// Maximum size of a trace, in bytes.
const MAX_TRACE: u64 = 1024 * 1024;

/// The shipped trace: name and text.
const SHIPPED: (&str, &str) = ("host", include_str!("../../data/delay_noise_host.csv"));

const COLUMNS: Columns = Columns { names: &["ns", "cdf"], required: 2 };

/// A distribution of errors and its source.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct Noise {
    /// The shipped trace `host`, or the path of a CSV file with the columns ns and cdf.
    #[key(required = "trace = \"host\", or the path of a CSV file with ns,cdf")]
    pub trace: String,
    /// Factor on the delays of the trace.
    #[key(default = 1.0, range = "[0, 1000000]")]
    pub scale: f64,
    /// The distribution; no noise until [`Self::open`] has read the trace.
    #[keys(skip = none())]
    pub law: DelayNoise,
}

/// Returns a distribution without noise.
fn none() -> DelayNoise {
    DelayNoise::new(&[(0.0, 1.0)], 1.0).expect("invariant: one point is a distribution")
}

impl Noise {
    /// Reads the trace; `field` is the location of the noise.
    ///
    /// # Errors
    /// The file cannot be read, or is not a distribution.
    pub(super) fn open(&mut self, field: &Field<'_>, sources: &mut Sources) -> Result<(), InputError> {
        let text = if self.trace == SHIPPED.0 {
            sources.note("delay_noise:host", SHIPPED.1);
            SHIPPED.1.into()
        } else {
            let named = field.inner("trace");
            sources.read(named.as_ref().unwrap_or(field), &self.trace, MAX_TRACE)?
        };
        self.law = parse(&self.trace, &text, self.scale)?;
        Ok(())
    }
}

/// Returns the distribution of the shipped trace `host`, or of the file at that path.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a distribution.
pub fn load(name_or_path: &str, scale: f64) -> Result<DelayNoise, InputError> {
    if name_or_path == SHIPPED.0 {
        return parse(name_or_path, SHIPPED.1, scale);
    }
    let text = priolane_source::read_text(name_or_path.as_ref(), name_or_path, MAX_TRACE)?;
    parse(name_or_path, &text, scale)
}

fn parse(file: &str, text: &str, scale: f64) -> Result<DelayNoise, InputError> {
    let mut lines = Lines::new(text.as_bytes(), file);
    let header = Header::read(&mut lines, COLUMNS, &|_| None)?;
    let (mut points, mut numbers, mut line) = (Vec::new(), Vec::new(), String::new());
    while lines.next(&mut line)? {
        let row = header.row(&lines, &line)?;
        let number = |column: usize| {
            row[column].parse::<f64>().map_err(|_| {
                let what = format!("{} is not a number", shown(row[column]));
                lines.error(COLUMNS.names[column], what, "a plain number such as 194 or 0.5")
            })
        };
        points.push((number(0)? * 1e-9, number(1)?));
        numbers.push(lines.number());
    }
    DelayNoise::new(&points, scale).map_err(|error| {
        let line = match error {
            NoiseError::Falls(at) => numbers.get(at).copied(),
            _ => None,
        };
        InputError::new(
            file,
            line,
            "",
            error.to_string(),
            "rows with increasing ns and cdf, the last with cdf 1",
        )
    })
}
