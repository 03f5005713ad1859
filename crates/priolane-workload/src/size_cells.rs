//! Cells of size tables, which programs separate in different ways.

use priolane_source::csv::Lines;

/// Names of columns of probabilities, in lower case.
pub(crate) const CDF_NAMES: [&str; 8] =
    ["cdf", "probability", "prob", "p", "percent", "percentile", "cumulative", "cumulative_probability"];

/// Returns true if `text` begins like a table of another program: with one to three numbers, or with two or three cells
/// that no comma separates, one of which names probabilities.
pub(crate) fn is_foreign(text: &[u8]) -> bool {
    let mut lines = Lines::new(text, "");
    let mut line = String::new();
    if !matches!(lines.next(&mut line), Ok(true)) {
        return false;
    }
    let cells: Vec<&str> = cells(&line).collect();
    let numeric = (1..=3).contains(&cells.len()) && cells.iter().all(|cell| number(cell).is_some());
    let is_cdf = |cell: &&str| CDF_NAMES.contains(&cell.to_ascii_lowercase().as_str());
    numeric || (!line.contains(',') && (2..=3).contains(&cells.len()) && cells.iter().any(is_cdf))
}

/// Splits a line at commas, semicolons, or spaces and tabs: at the first of these that it contains.
pub(crate) fn cells(line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    match [',', ';'].into_iter().find(|&separator| line.contains(separator)) {
        Some(separator) => Box::new(line.split(separator).map(|cell| cell.trim().trim_matches('"').trim())),
        None => Box::new(line.split_whitespace()),
    }
}

/// Returns the finite number that the cell is.
pub(crate) fn number(cell: &str) -> Option<f64> {
    let begins = cell.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    cell.parse::<f64>().ok().filter(|number| begins && number.is_finite())
}
