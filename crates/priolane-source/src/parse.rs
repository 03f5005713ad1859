//! Parses TOML and JSON into a tree.

use std::sync::Arc;

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::InputError;
use super::tree::{Node, Origin, Table, Value};

/// Parses the TOML `text` of `file` into a tree.
pub fn parse(file: &str, text: &str) -> Result<Table, InputError> {
    let places = Places::new(file, text);
    if let Some(at) = text.find('\0') {
        return Err(places.at(at).error("", "the file contains a NUL byte", "a text file in TOML"));
    }
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        let what = format!("the file is not valid TOML: {}", error.message().replace('\n', " "));
        places.at(at).error("", what, "See https://toml.io for the format")
    })?;
    places.table(root.get_ref(), "")
}

/// Parses the TOML value `text`, as in `--set key=text`; a text that is not a TOML value is a string.
pub fn parse_value(file: &str, text: &str) -> Node {
    let origin = Origin { file: file.into(), line: None };
    let line = format!("value = {text}");
    let parsed = if text.contains(['\n', '\r']) { None } else { parse(file, &line).ok() };
    let value = parsed.and_then(|mut table| table.remove("value").filter(|_| table.is_empty()));
    let value = value.map_or_else(|| Value::Text(text.to_owned()), |node| node.value);
    let mut node = Node { origin: origin.clone(), value };
    node.place_all(&origin);
    node
}

/// Converts a JSON object, such as the merged experiment of a run, into a tree.
pub fn from_json(file: &str, json: &Json) -> Result<Table, InputError> {
    let origin = Origin { file: file.into(), line: None };
    let bad = |what: &str| origin.error("", what, "a JSON object as `priolane check` prints it");
    match json_value(json, &origin)
        .ok_or_else(|| bad("the object contains a null or a number out of range"))?
    {
        Value::Table(table) => Ok(table),
        _ => Err(bad("the value is not a JSON object")),
    }
}

fn json_value(json: &Json, origin: &Origin) -> Option<Value> {
    let node = |j: &Json| Some(Node { origin: origin.clone(), value: json_value(j, origin)? });
    Some(match json {
        Json::Null => return None,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match n.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(n.as_f64()?),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(node).collect::<Option<_>>()?),
        Json::Object(map) => {
            let entries = map.iter().filter(|(_, v)| !v.is_null());
            Value::Table(entries.map(|(k, v)| Some((k.clone(), node(v)?))).collect::<Option<_>>()?)
        }
    })
}

/// Converts byte offsets of a text into lines.
struct Places {
    file: Arc<str>,
    line_starts: Vec<usize>,
}

impl Places {
    fn new(file: &str, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at + 1);
        Self { file: file.into(), line_starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn at(&self, offset: usize) -> Origin {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        Origin { file: self.file.clone(), line: Some(line) }
    }

    fn table(&self, table: &DeTable<'_>, path: &str) -> Result<Table, InputError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let node = Node { origin: self.at(key.span().start), value: self.value(value, &full)? };
            entries.push((key.span().start, name, node));
        }
        entries.sort_by_key(|(start, ..)| *start);
        Ok(entries.into_iter().map(|(_, name, node)| (name, node)).collect())
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, path: &str) -> Result<Value, InputError> {
        let origin = || self.at(value.span().start);
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(n) => {
                let parsed = i64::from_str_radix(n.as_str(), n.radix());
                Value::Integer(parsed.map_err(|_| {
                    origin().error(path, format!("{} is too large", n.as_str()), "a 64-bit whole number")
                })?)
            }
            DeValue::Float(x) => match x.as_str().parse::<f64>() {
                Ok(parsed) if parsed.is_finite() => Value::Float(parsed),
                _ => return Err(origin().error(path, "the number is not finite", "a finite number")),
            },
            DeValue::Datetime(_) => {
                return Err(origin().error(
                    path,
                    "the value is a date",
                    "a string, a number, a list or a table",
                ));
            }
            DeValue::Array(items) => {
                let node = |item: &Spanned<DeValue<'_>>| {
                    Ok(Node { origin: self.at(item.span().start), value: self.value(item, path)? })
                };
                Value::List(items.iter().map(node).collect::<Result<_, InputError>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table, path)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_line() {
        let table = parse("f.toml", "a = 1\n[b]\nc = [\n  2,\n  3,\n]\n").unwrap();
        let Value::Table(b) = &table.get("b").unwrap().value else { panic!() };
        let c = b.get("c").unwrap();
        let Value::List(items) = &c.value else { panic!() };
        assert_eq!((c.origin.line, items[1].origin.line), (Some(3), Some(5)));
    }

    #[test]
    fn an_error_is_one_line_with_file_line_key_what_and_fix() {
        let error = Origin { file: "f.toml".into(), line: Some(4) }.error(
            "a.b",
            "the value is zero",
            "a time above zero",
        );
        assert_eq!(error.to_string(), "f.toml:4: a.b: the value is zero. Use a time above zero.");
        let broken = parse("f.toml", "a = 1\nb = [1,\n").unwrap_err();
        assert!(broken.line.is_some() && !broken.to_string().contains('\n'), "{broken}");
        assert_eq!(parse("f", "x = 1\n\0").unwrap_err().line, Some(2));
    }

    #[test]
    fn deep_nesting_and_huge_numbers_are_errors() {
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse("f", &deep).is_err());
        let dotted = format!("{}a = 1", "a.".repeat(100_000));
        assert!(parse("f", &dotted).is_err());
        assert!(parse("f", "a = 99999999999999999999").is_err());
        assert!(parse("f", "a = nan").is_err());
    }

    #[test]
    fn a_set_value_is_toml_or_else_a_string() {
        assert_eq!(parse_value("--set", "0.5").value, Value::Float(0.5));
        assert_eq!(parse_value("--set", "\"2s\"").value, Value::Text("2s".into()));
        assert_eq!(parse_value("--set", "2s").value, Value::Text("2s".into()));
        assert_eq!(parse_value("--set", "1\nb = 2").value, Value::Text("1\nb = 2".into()));
    }
}
