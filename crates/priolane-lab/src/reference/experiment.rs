//! Generates a JSON Schema of experiment files, for editors, from the keys that tables and parts declare.

use priolane_core::keys::KeyInfo;
use priolane_core::part::{Entry, Row};
use priolane_core::scheme::ENTRIES;
use priolane_sim::topology::TopologySpec;
use priolane_workload::App;
use serde_json::{Map, Value, json};

use super::{object, part, property, schema};
use crate::experiment::tables::{TOP, tables};

/// The keys that every experiment file has.
const REQUIRED: [&str; 5] = ["title", "schemes", "time", "topology", "group"];

/// Returns the JSON Schema of experiment files.
pub fn experiment_schema() -> Value {
    let mut properties = Map::new();
    for table in tables() {
        match table.name {
            TOP => properties.extend(table.keys.iter().map(|key| (key.name.to_owned(), property(key)))),
            "[topology]" => {
                let kinds = chosen(&TopologySpec::entries(), &table.keys, |key| key);
                properties.insert("topology".to_owned(), kinds);
            }
            "[[group]]" => {
                let mut apps = chosen(&App::entries(), &table.keys, or_like);
                for app in apps["oneOf"].as_array_mut().into_iter().flatten() {
                    app["properties"]["transport"] = json!({ "$ref": "#/$defs/transport" });
                }
                properties
                    .insert("group".to_owned(), json!({ "type": "array", "minItems": 1, "items": apps }));
            }
            name => {
                let (key, content) = described(name, &table.keys);
                properties.insert(key.to_owned(), content);
            }
        }
        let key = table.name.trim_matches(['[', ']']).split('.').next().unwrap_or_default();
        if let Some(content) = properties.get_mut(key) {
            content["description"] = json!(table.summary);
        }
    }
    properties.insert("scheme".to_owned(), schemes());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of priolane",
        "$defs": { "transport": transport_of_group() },
        "type": "object",
        "properties": properties,
        "required": REQUIRED,
        "additionalProperties": false
    })
}

/// Returns the key of the table with this header, and the schema of its value.
fn described<'n>(header: &'n str, keys: &[KeyInfo]) -> (&'n str, Value) {
    let name = header.trim_matches(['[', ']']);
    let key = name.split('.').next().unwrap_or(name);
    let content = match keys {
        // Keys that the user chooses; swept ones may be written as tables in tables.
        [any] if any.name == "NAME" && key == "sweep" => {
            let list = json!({ "type": "array", "minItems": 1 });
            json!({ "type": "object", "additionalProperties": { "anyOf": [list, { "type": "object" }] } })
        }
        [any] if any.name == "NAME" => json!({ "type": "object" }),
        _ if name.ends_with(".NAME") => json!({ "type": "object", "additionalProperties": object(keys) }),
        _ if header.starts_with("[[") => json!({ "type": "array", "items": object(keys) }),
        _ => object(keys),
    };
    (key, content)
}

/// Returns the schema of a table in which a key chooses one of `parts`; `common` are the keys that it has with any.
fn chosen(parts: &[Entry], common: &[KeyInfo], of_key: fn(Value) -> Value) -> Value {
    let choices = parts.iter().map(|entry| {
        let mut choice = part(entry);
        let own = choice["properties"].as_object_mut().expect("invariant: a part is an object");
        for (_, schema) in own.iter_mut().filter(|(name, _)| *name != entry.tag) {
            *schema = of_key(schema.take());
        }
        for key in common.iter().filter(|key| key.name != entry.tag) {
            own.insert(key.name.to_owned(), of_key(property(key)));
        }
        choice
    });
    json!({ "oneOf": choices.collect::<Vec<_>>() })
}

/// Returns the schema of a key that may be copied from another group.
fn or_like(key: Value) -> Value {
    let description = key["description"].clone();
    let like = json!({
        "type": "object",
        "properties": { "like": { "type": "string", "description": "The group whose value is copied." } },
        "required": ["like"]
    });
    let part = json!({
        "type": "object",
        "properties": { "part": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 } },
        "required": ["part"]
    });
    json!({ "anyOf": [key, like, part], "description": description })
}

/// Returns the schema of the transport of a group: a transport, or changes to that of the scheme `base`.
fn transport_of_group() -> Value {
    let mut based = changes(Row::Transport);
    let description = "A shipped scheme, or the path of a scheme file, whose transport it is.";
    based["properties"]["base"] = json!({ "type": "string", "description": description });
    based["required"] = json!(["base"]);
    json!({
        "anyOf": [schema()["properties"]["transport"], based],
        "description": "Transport of its flows, in place of that of the scheme."
    })
}

/// Returns the schema of `[scheme.NAME]`: a base, and changes to the keys of any part.
fn schemes() -> Value {
    let whole = schema();
    let mut properties = whole["properties"].as_object().cloned().unwrap_or_default();
    let base = json!({ "type": "string", "description": "A shipped scheme, or the path of a scheme file." });
    properties.insert("base".to_owned(), base);
    for row in Row::OF_SCHEME {
        properties.insert(row.key().to_owned(), changes(row));
    }
    let one = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    json!({
        "type": "object",
        "additionalProperties": one,
        "description": "schemes of the experiment, and its changes to shipped ones"
    })
}

/// Returns the schema of changes to a row of a scheme, which need not say which part they change: the keys of all parts.
fn changes(row: Row) -> Value {
    let mut keys: Map<String, Value> = Map::new();
    let mut words = Vec::new();
    for entry in ENTRIES.iter().filter(|entry| entry.row == row) {
        let schema = part(entry);
        let Some(own) = schema["properties"].as_object() else {
            words.push(schema["const"].clone());
            continue;
        };
        for (name, schema) in own {
            let forms = keys.entry(name.clone()).or_insert_with(|| json!({ "anyOf": [] }));
            let forms = forms["anyOf"].as_array_mut().expect("invariant: it was made a list");
            if !forms.contains(schema) {
                forms.push(schema.clone());
            }
        }
    }
    let table = json!({ "type": "object", "properties": keys, "additionalProperties": false });
    if words.is_empty() { table } else { json!({ "anyOf": [table, { "enum": words }] }) }
}
