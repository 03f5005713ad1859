//! Readings of a paper. If a paper is silent or ambiguous, its experiment file lists the possible readings, of which
//! one is run.
//!
//! ```toml
//! [reading.cross_rack]            # no `set`: the unchanged file, the leading reading
//! evidence = "Fig. 9 calls the mean FCT comparable, which it is only if every flow crosses the core."
//! decides = "every reduction of mean FCT in Figs. 4, 9 and 13"
//!
//! [reading.any_rack]
//! evidence = "The text says that sources and destinations are random."
//! decides = "the same"
//! set = { "group.all.reach" = "any_host" }
//! ```

use priolane_core::keys::{Bounds, Form, KeyError, Keys, Schema, Value as KeyInput, WrittenValue};
use priolane_core::name::{Alphabet, is_name};
use priolane_source::{Field, InputError, Mistakes, Node, Origin, Table, Value};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::overlay;
use crate::panels::SweptValues;

/// Maximum length of the name of a reading, in bytes.
const LONGEST_NAME: usize = 60;

/// The word by which a command selects every reading; not allowed as a name.
const ALL: &str = "all";

/// One reading of the paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Name in the file.
    pub name: String,
    /// Evidence for this reading, one sentence.
    pub evidence: String,
    /// The claims that depend on it, one sentence.
    pub decides: String,
    /// Whether it is the file without changes.
    pub leads: bool,
}

/// The keys of `[reading.NAME]`.
#[derive(Debug, Keys)]
pub(super) struct ReadingKeys {
    /// The dotted keys that the reading sets; the leading reading, which is the file without changes, has none.
    #[key(optional, shown = "the unchanged file", form = Overlay)]
    set: Option<Map<String, Json>>,
    /// Evidence for this reading, one sentence.
    #[key(required = "evidence = \"The evidence for this reading.\"")]
    evidence: String,
    /// The claims that depend on it, one sentence.
    #[key(required = "decides = \"The claims that depend on it.\"")]
    decides: String,
}

/// A table of dotted keys that is not empty.
#[derive(Clone, Copy, Debug)]
struct Overlay;

impl Form<Map<String, Json>> for Overlay {
    const UNIT: &'static str = "";

    fn read(value: &KeyInput<'_>, bounds: &Bounds) -> Result<Map<String, Json>, KeyError> {
        match value {
            KeyInput::Table(entries) if !entries.is_empty() => SweptValues::read(value, bounds),
            _ => Err(KeyError::new(
                "the value is not a table of dotted keys",
                "set = { \"group.all.load.value\" = 0.6 }",
            )),
        }
    }

    fn write(value: &Map<String, Json>) -> WrittenValue {
        SweptValues::write(value)
    }

    fn schema() -> Schema {
        <SweptValues as Form<Map<String, Json>>>::schema()
    }
}

/// Removes `[reading]` from `root` and applies the keys of the reading `chosen`, if any.
///
/// # Errors
/// Returns all mistakes of the table, an error for an unknown reading, and those of [`overlay::set_all`].
pub(crate) fn apply(name: &str, root: &mut Table, chosen: Option<&str>) -> Result<Vec<Reading>, InputError> {
    let node = root.remove("reading");
    let fields = match &node {
        Some(node) => Field::new("reading".into(), node).entries()?,
        None => Vec::new(),
    };
    let mut found = Mistakes::new(name);
    let mut all = Vec::new();
    let mut set = None;
    for (name, field) in &fields {
        if *name == ALL {
            found.add(field.error("the name `all` stands for all readings", "another name"));
        }
        if !is_name(name, Alphabet::Hyphen, LONGEST_NAME) {
            let what = format!("{name:?} is not a valid name of a reading");
            found.add(field.error(what, Alphabet::Hyphen.rule(LONGEST_NAME)));
        }
        let Some((reading, keys)) = found.keep(read(name, field)) else { continue };
        if reading.leads && all.iter().any(|other: &Reading| other.leads) {
            found.add(field.error(
                "another reading has no `set` either",
                "set = { \"KEY\" = VALUE }, because only one reading can leave the file unchanged",
            ));
        }
        if chosen == Some(*name) {
            set = keys;
        }
        all.push(reading);
    }
    let is_known = |chosen: &str| fields.iter().any(|(name, _)| *name == chosen);
    if let Some(chosen) = chosen.filter(|chosen| !is_known(chosen)) {
        found.add(unknown(name, chosen, &all));
    }
    found.keep(check_causes(name, root, &all));
    found.finish()?;
    if let Some(set) = set {
        overlay::set_all(root, set.entries())?;
    }
    Ok(all)
}

/// Checks that each reading that is the cause of a claim is one of `all` that changes the file.
fn check_causes(name: &str, root: &Table, all: &[Reading]) -> Result<(), InputError> {
    let Some(node) = root.get("claim") else { return Ok(()) };
    let claims = Field::new("claim".into(), node).list().unwrap_or_default();
    let others: Vec<&str> = all.iter().filter(|own| !own.leads).map(|own| own.name.as_str()).collect();
    let mut found = Mistakes::new(name);
    for claim in &claims {
        let Some(field) = claim.inner("cause").and_then(|cause| cause.inner("reading")) else { continue };
        let Ok(reading) = field.text() else { continue };
        if !others.contains(&reading) {
            let what = format!("the file has no reading {reading:?} with `set`");
            let fix = if others.is_empty() { "[reading.NAME]".to_owned() } else { others.join(", ") };
            found.add(field.error(what, format!("one of {fix}")));
        }
    }
    found.finish()
}

/// Reads a reading, and the dotted keys that it sets.
fn read<'n>(name: &str, field: &Field<'n>) -> Result<(Reading, Option<&'n Table>), InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let keys = found.keep(field.keys());
    let examples = [
        ("evidence", "evidence = \"The evidence for this reading.\""),
        ("decides", "decides = \"The claims that depend on it.\""),
    ];
    for (key, example) in examples {
        let text = field.inner(key);
        let empty = text.filter(|text| text.text().is_ok_and(|text| text.trim().is_empty()));
        found.keep(empty.map_or(Ok(()), |text| Err(text.error("the text is empty", example))));
    }
    let ReadingKeys { evidence, decides, set } = found.done(keys)?;
    let [evidence, decides] = [evidence, decides].map(|text| text.trim().to_owned());
    let leads = set.is_none();
    let set = match field.inner("set").map(|set| set.node()) {
        Some(Node { value: Value::Table(table), .. }) => Some(table),
        _ => None,
    };
    Ok((Reading { name: name.to_owned(), evidence, decides, leads }, set))
}

fn unknown(file: &str, chosen: &str, all: &[Reading]) -> InputError {
    let origin = Origin { file: "--reading".into(), line: None };
    let names: Vec<&str> = all.iter().map(|reading| reading.name.as_str()).collect();
    let fix =
        if names.is_empty() { "Remove --reading".to_owned() } else { format!("one of {}", names.join(", ")) };
    origin.error(chosen, format!("{file} has no reading of that name"), fix)
}

#[cfg(test)]
mod tests {
    use priolane_source::parse;

    use super::*;

    const FILE: &str = r#"
        time = { flows = 10 }
        [reading.stated]
        evidence = "the text"
        decides = "Fig. 1"
        [reading.long]
        evidence = "the plot"
        decides = "Fig. 1"
        set = { "time.flows" = 20 }
    "#;

    fn applied(text: &str, chosen: Option<&str>) -> Result<(Table, Vec<Reading>), String> {
        let mut root = parse("a.toml", text).unwrap();
        match apply("a.toml", &mut root, chosen) {
            Ok(readings) => Ok((root, readings)),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn the_keys_of_the_chosen_reading_are_laid_over_the_file() {
        for (chosen, flows) in [(None, "10"), (Some("stated"), "10"), (Some("long"), "20")] {
            let (root, readings) = applied(FILE, chosen).unwrap();
            let Value::Table(time) = &root.get("time").unwrap().value else { panic!("no table") };
            assert_eq!(time.get("flows").unwrap().value.to_json().to_string(), flows);
            assert!(root.get("reading").is_none());
            let leads: Vec<(&str, bool)> = readings.iter().map(|r| (r.name.as_str(), r.leads)).collect();
            assert_eq!(leads, [("stated", true), ("long", false)]);
        }
    }

    #[test]
    fn every_mistake_of_a_reading_is_named() {
        let error = applied(FILE, Some("short")).unwrap_err();
        assert!(error.contains("--reading") && error.contains("one of stated, long"), "{error}");
        let error = applied("time = 1", Some("short")).unwrap_err();
        assert!(error.contains("a.toml has no reading of that name"), "{error}");
        let text = "[reading.a]\nevidence = \" \"\nset = {}\nother = 1\n[reading.b]\ndecides = \"x\"\n";
        let error = applied(text, None).unwrap_err();
        for part in [
            "reading.a.evidence: the text is empty",
            "reading.a.decides",
            "reading.a.set: the value is not a table of dotted keys",
            "reading.a.other",
            "reading.b.evidence",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        let twice = FILE.replace("set = ", "# ");
        assert!(applied(&twice, None).unwrap_err().contains("another reading has no `set` either"));
        assert!(applied("reading = 1", None).is_err());
        let error = applied(&FILE.replace("reading.long", "reading.all"), None).unwrap_err();
        assert!(error.contains("reading.all: the name `all` stands for all readings"), "{error}");
    }

    #[test]
    fn a_key_that_cannot_be_set_is_named_with_its_line() {
        let error = applied(&FILE.replace("time.flows\"", "time.flows.more\""), Some("long")).unwrap_err();
        assert!(error.contains("a.toml:9") && error.contains("time.flows.more"), "{error}");
    }
}
