//! The JSON Schemas in docs are what parts and tables declare.

use std::fs;
use std::path::Path;

use priolane_lab::reference;

/// Compares the file with what is declared, or writes it if `PRIOLANE_REFERENCE` asks for that.
fn kept(name: &str, schema: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let declared = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    if std::env::var_os("PRIOLANE_REFERENCE").is_some() {
        fs::write(&path, &declared).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(declared.lines()).find(|(kept, declared)| kept != declared);
    assert!(
        kept == declared,
        "docs/{name} is not what is declared, first at {differs:?}: \
         PRIOLANE_REFERENCE=write cargo test -p priolane-lab --test runs reference"
    );
}

#[test]
fn the_schema_of_schemes_is_what_parts_declare() {
    kept("scheme.schema.json", &reference::schema());
}

#[test]
fn the_schema_of_experiments_is_what_tables_and_parts_declare() {
    kept("experiment.schema.json", &reference::experiment_schema());
}
