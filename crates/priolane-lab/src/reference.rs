//! Generates the reference page, and a JSON Schema for editors, from the keys that parts declare.

use std::fmt::Write as _;

use priolane_core::keys::{Bound, Bounds, KeyInfo, NoValue, Schema};
use priolane_core::part::{Entry, Notation, Row};
use priolane_core::scheme::ENTRIES;
use serde_json::{Map, Value, json};

use crate::parts::{self, SharedGroups};
use crate::scheme::Pay;
use crate::{assumptions, experiment};

/// Returns the page: all parts of schemes, topologies and apps with their keys, in Markdown.
pub fn page() -> String {
    let mut page = String::from(
        "# Parts\n\nEach row of a scheme file is one of these parts with its keys; so are `[topology]` of an experiment and the `app` of a\n\
         group. The last tables are of experiments; [experiments.md](experiments.md) has their other keys.\n\
         This page is generated from the declarations in the code: `PRIOLANE_REFERENCE=write cargo test -p \
         priolane-lab --test runs reference`\n\
         writes it. [scheme.schema.json](scheme.schema.json) is the same for schemes as a JSON Schema, for \
         editors.\n",
    );
    let entries = parts::entries();
    for row in parts::rows() {
        let parts: Vec<&Entry> = entries.iter().filter(|entry| entry.row == row).collect();
        let _ = write!(page, "\n## `{}`\n", row.key());
        let shared = SharedGroups::of(&parts);
        for part in &parts {
            section(part, &shared, &mut page);
        }
        for (group, keys) in &shared.0 {
            let _ = write!(page, "\n### Keys of `{group}`\n\n");
            table(keys.iter().copied(), &mut page);
        }
    }
    for (name, keys) in experiment::tables() {
        let _ = write!(page, "\n## `{name}`\n\n");
        table(keys.iter(), &mut page);
    }
    page
}

fn section(part: &Entry, shared: &SharedGroups<'_>, page: &mut String) {
    let _ = write!(page, "\n### `{}`\n\n{}. Source: {}.\n", part.name, part.summary, part.source);
    if !part.requires.is_empty() {
        let needs: Vec<&str> = part.requires.iter().map(|capability| capability.clause()).collect();
        let _ = writeln!(page, "Requires {}.", needs.join(" and "));
    }
    if !part.provides.is_empty() {
        let gives: Vec<String> = part.provides.iter().map(parts::provision).collect();
        let _ = writeln!(page, "Provides {}.", gives.join(" and "));
    }
    let mut groups: Vec<&str> =
        part.parameters.iter().filter(|key| shared.has(key)).map(|key| key.group).collect();
    groups.dedup();
    let own: Vec<&KeyInfo> = part.parameters.iter().filter(|key| !shared.has(key)).collect();
    if !own.is_empty() {
        page.push('\n');
        table(own.into_iter(), page);
    }
    for group in groups {
        let _ = write!(page, "\nIt also has the [keys of `{group}`](#keys-of-{group}).\n");
    }
}

fn table<'k>(keys: impl Iterator<Item = &'k KeyInfo>, page: &mut String) {
    page.push_str("| key | meaning | value | default | source |\n|---|---|---|---|---|\n");
    keys.for_each(|key| lines(key, "", page));
}

/// Writes the line of a key, and those of the keys of its table.
fn lines(key: &KeyInfo, above: &str, page: &mut String) {
    let name = format!("{above}{}", key.name);
    let default = match (key.required, key.default.as_str()) {
        (true, _) => "required".to_owned(),
        (false, "") => "–".to_owned(),
        (false, default) => format!("`{}`", cell(default)),
    };
    let none = |none: &NoValue| match none.word {
        Some(word) => format!(", or `{word}`"),
        None => format!(", or `{}`", none.literal),
    };
    let word = key.none.as_ref().map(none).unwrap_or_default();
    let value = format!("{}{word}", value_of(key));
    let _ = writeln!(
        page,
        "| `{name}` | {} | {} | {default} | {} |",
        cell(key.meaning),
        cell(&value),
        cell(key.source)
    );
    match &key.schema {
        Schema::Table(keys) | Schema::OneOf(_, keys) => {
            keys.iter().for_each(|inner| lines(inner, &format!("{name}."), page));
        }
        Schema::Map(_, value) => {
            if let Schema::Table(keys) = &**value {
                keys.iter().for_each(|inner| lines(inner, &format!("{name}.NAME."), page));
            }
        }
        _ => {}
    }
}

/// Describes the value of a key.
fn value_of(key: &KeyInfo) -> String {
    let range = if key.bounds.text.is_empty() { String::new() } else { format!(" in {}", key.bounds.text) };
    let unit = if key.unit.is_empty() { String::new() } else { format!(", in {}", key.unit) };
    format!("{}{range}{unit}", kind_of(&key.schema))
}

fn kind_of(schema: &Schema) -> String {
    let words = |words: &[(&str, &str)]| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        words.join(", ")
    };
    match schema {
        Schema::Bool => "true or false".to_owned(),
        Schema::Integer => "a whole number".to_owned(),
        Schema::Number => "a number".to_owned(),
        Schema::Quantity(example) => format!("such as `\"{example}\"`"),
        Schema::Words(of) => words(of),
        Schema::Text => "text".to_owned(),
        Schema::Any => "any value".to_owned(),
        Schema::OneOrMore(item) => format!("{0}, or a list: {0}", kind_of(item)),
        Schema::List(item) => format!("a list: {}", kind_of(item)),
        Schema::Table(_) => "a table".to_owned(),
        Schema::Map(example, value) => {
            format!("a table with keys such as `\"{example}\"`: {}", kind_of(value))
        }
        Schema::OneOf([], _) => "a table".to_owned(),
        Schema::OneOf(of, _) => format!("{}, or a table", words(of)),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns the JSON Schema of scheme files.
pub fn schema() -> Value {
    let assumptions: Vec<&str> = assumptions::all().iter().map(|assumption| assumption.anchor).collect();
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
        Schema::Text => json!({ "type": "string" }),
        Schema::Any => json!({}),
        Schema::OneOrMore(item) => {
            let item = value(item, &Bounds::ANY);
            json!({ "anyOf": [item, { "type": "array", "items": item }] })
        }
        Schema::List(item) => json!({ "type": "array", "items": value(item, &Bounds::ANY) }),
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
