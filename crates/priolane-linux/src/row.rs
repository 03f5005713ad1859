//! Rows of schemes in JSON as the keys of their parts.

use priolane_core::keys::Value;
use serde_json::{Map, Value as Json};

/// The keys of a row but for its `kind`; what is wrong, in words, if a value is none.
pub(crate) fn keys(row: &Map<String, Json>) -> Result<Vec<(&str, Value<'_>)>, String> {
    let named = row.iter().filter(|(key, _)| *key != "kind");
    named
        .map(|(key, json)| {
            let value = value(json).ok_or_else(|| format!("{key}: {json} is no value"))?;
            Ok((key.as_str(), value))
        })
        .collect()
}

/// A value of JSON as keys have them; `None` for null and for numbers that are out of range.
fn value(json: &Json) -> Option<Value<'_>> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Float(number.as_f64()?),
        },
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.iter().map(value).collect::<Option<_>>()?),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, json)| Some((key.as_str(), value(json)?)));
            Value::Table(entries.collect::<Option<_>>()?)
        }
    })
}
