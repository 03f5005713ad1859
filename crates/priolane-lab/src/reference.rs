//! Generates JSON Schemas of scheme files and experiment files, for editors, from the keys that parts and tables
//! declare.

mod experiment;

use priolane_core::keys::{Bound, Bounds, KeyInfo, NoValue, Schema};
use priolane_core::part::{Entry, Notation, Row};
use priolane_core::scheme::ENTRIES;
use serde_json::{Map, Value, json};

use crate::assumptions;
use crate::scheme::Pay;

pub use experiment::experiment_schema;

/// Returns the JSON Schema of scheme files.
pub fn schema() -> Value {
    let assumptions: Vec<&str> = assumptions::all().map(|assumption| assumption.anchor).collect();
    let mut properties = Map::new();
    properties.insert(
        "paper".into(),
        json!({ "type": "string", "description": "The paper that the scheme implements." }),
    );
    properties.insert(
        "assumptions".into(),
        json!({
            "type": "array",
            "items": { "enum": assumptions },
            "description": "Assumptions where the paper is silent: anchors of docs/assumptions.md."
        }),
    );
    for row in Row::OF_SCHEME {
        let parts = ENTRIES.iter().filter(|entry| entry.row == row).map(part);
        properties.insert(row.key().to_owned(), json!({ "oneOf": parts.collect::<Vec<_>>() }));
    }
    let queues = json!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 15 } });
    properties.insert(
        "map".into(),
        json!({
            "type": "object",
            "properties": { "class": { "oneOf": [{ "const": "queue" }, queues] } },
            "required": ["class"],
            "additionalProperties": false,
            "description": "The queue of a port for each class."
        }),
    );
    properties.insert(
        "pay".into(),
        json!({
            "enum": Pay::WORDS.map(|(word, _)| word),
            "description": "Whether the scheme uses the weights and minimum rates that flows pay for; \
                            \"honoured\" by default."
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scheme of priolane",
        "type": "object",
        "properties": properties,
        "required": ["transport", "host", "nic", "port"],
        "additionalProperties": false
    })
}

/// Returns the schema of a part.
fn part(entry: &Entry) -> Value {
    if entry.notation == Notation::Name {
        return json!({ "const": entry.name, "description": entry.summary });
    }
    let mut object = object(&entry.parameters);
    if entry.notation == Notation::Tag {
        object["properties"][entry.tag] = json!({ "const": entry.name });
        object["required"] = json!([entry.tag]);
    }
    object["title"] = json!(entry.name);
    object["description"] = json!(format!("{} ({})", entry.summary, entry.source));
    object
}

/// Returns the schema of a table of keys. Required keys may depend on others, so `priolane check` reports them instead.
fn object(keys: &[KeyInfo]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Returns the schema of a key.
fn property(key: &KeyInfo) -> Value {
    let mut forms = vec![value(&key.schema, &key.bounds)];
    if let Some(NoValue { word, literal }) = &key.none {
        let word = word.map(|word| json!(word));
        forms.push(json!({ "enum": word.into_iter().chain([json!(literal)]).collect::<Vec<_>>() }));
    }
    let mut property = match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    };
    let source = if key.source.is_empty() { String::new() } else { format!(" ({})", key.source) };
    property["description"] = json!(format!("{}{source}", key.meaning));
    property
}

fn value(schema: &Schema, bounds: &Bounds) -> Value {
    match schema {
        Schema::Bool => json!({ "type": "boolean" }),
        Schema::Integer => within(json!({ "type": "integer" }), bounds),
        Schema::Number => {
            json!({ "anyOf": [within(json!({ "type": "number" }), bounds), { "type": "string" }] })
        }
        Schema::Quantity(example) => json!({ "type": "string", "examples": [example] }),
        Schema::Words(words) => json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() }),
        Schema::Text | Schema::Name(_) => json!({ "type": "string" }),
        Schema::AnyOf(all) => {
            json!({ "anyOf": all.iter().map(|one| value(one, bounds)).collect::<Vec<_>>() })
        }
        Schema::Any => json!({}),
        Schema::OneOrMore(item) => {
            let item = value(item, bounds);
            json!({ "anyOf": [item, { "type": "array", "items": item }] })
        }
        Schema::List(item) => json!({ "type": "array", "items": value(item, bounds) }),
        Schema::Table(keys) => object(keys),
        Schema::Map(example, inner) => json!({
            "type": "object",
            "additionalProperties": value(inner, &Bounds::ANY),
            "examples": [{ (*example): "" }]
        }),
        Schema::OneOf(words, keys) => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            json!({ "anyOf": [{ "enum": words }, object(keys)] })
        }
    }
}

/// Adds bounds to the schema of a number.
fn within(mut number: Value, bounds: &Bounds) -> Value {
    let mut end = |(inside, outside), bound| match bound {
        Bound::None => {}
        Bound::Included(x) => number[inside] = json!(x),
        Bound::Excluded(x) => number[outside] = json!(x),
    };
    end(("minimum", "exclusiveMinimum"), bounds.low);
    end(("maximum", "exclusiveMaximum"), bounds.high);
    number
}
