//! Logs as JSON lines: an object on each line, whose members have the names of columns.

use serde_json::{Map, Value};

use super::columns::Names;

/// Returns true if the line is meant as an object.
pub(super) fn is_object(line: &str) -> bool {
    line.starts_with('{')
}

/// Parses the object on a line, or returns why the row is not listed.
pub(super) fn object(line: &str) -> Result<Map<String, Value>, &'static str> {
    serde_json::from_str(line).map_err(|_| "the row is not a JSON object")
}

/// Returns a member as a cell of text: `-` if it is absent, null, or no single value.
pub(super) fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => "-".to_owned(),
    }
}

/// Returns the members of an object that columns name, in the order of the columns. `_` in names is as `-`.
pub(super) fn cells<const N: usize>(object: &Map<String, Value>, columns: &[Names; N]) -> [String; N] {
    let dashed = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let mut found = [const { None }; N];
    for (name, value) in object {
        let name = dashed(name);
        if let Some(column) = columns.iter().position(|names| names.iter().any(|known| dashed(known) == name))
        {
            found[column].get_or_insert(value);
        }
    }
    found.map(cell)
}
