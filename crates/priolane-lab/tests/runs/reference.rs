//! docs/reference.md and docs/scheme.schema.json are what the parts declare.

use std::fs;
use std::path::Path;

use priolane_lab::reference;

/// Holds `docs/NAME` against `text`, or writes it if `PRIOLANE_REFERENCE` asks for that.
fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("PRIOLANE_REFERENCE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).find(|(kept, text)| kept != text);
    assert!(
        kept == text,
        "docs/{name} is not what the parts declare, first at {differs:?}: \
         PRIOLANE_REFERENCE=write cargo test -p priolane-lab --test runs reference"
    );
}

#[test]
fn the_page_is_what_parts_declare() {
    hold("reference.md", &reference::page());
}

#[test]
fn the_schema_is_what_parts_declare() {
    hold("scheme.schema.json", &format!("{}\n", serde_json::to_string_pretty(&reference::schema()).unwrap()));
}
