//! Rows of schemes in JSON as the keys of their parts.

use priolane_core::keys::Value;
use serde_json::{Map, Value as Json};

/// Returns the keys of a row except `kind`, or a text that says which value is not valid.
pub(crate) fn keys(row: &Map<String, Json>) -> Result<Vec<(&str, Value<'_>)>, String> {
    let named = row.iter().filter(|(key, _)| *key != "kind");
    named
        .map(|(key, json)| {
            let value = value(json).ok_or_else(|| format!("{key}: {json} is not a valid value"))?;
            Ok((key.as_str(), value))
        })
        .collect()
}

/// Returns the value of a key, or `None` for null and for numbers that are out of range.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_value_keeps_its_type_and_the_kind_is_no_key() {
        let Json::Object(row) = json!({
            "kind": "x", "a": 1, "b": 1.5, "c": true, "d": "5us", "e": [1, "y"], "f": { "g": -2 },
        }) else {
            panic!("an object")
        };
        let found = keys(&row).unwrap();
        let expected = [
            ("a", Value::Integer(1)),
            ("b", Value::Float(1.5)),
            ("c", Value::Bool(true)),
            ("d", Value::Text("5us")),
            ("e", Value::List(vec![Value::Integer(1), Value::Text("y")])),
            ("f", Value::Table(vec![("g", Value::Integer(-2))])),
        ];
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        let Json::Object(null) = json!({ "a": null }) else { panic!("an object") };
        assert_eq!(keys(&null).unwrap_err(), "a: null is not a valid value");
    }
}
