//! docs/scheme.schema.json is what the parts declare.

use std::fs;
use std::path::Path;

use priolane_lab::reference;

/// Compares the file with the schema of the parts, or writes it if `PRIOLANE_REFERENCE` asks for that.
#[test]
fn the_schema_is_what_parts_declare() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scheme.schema.json");
    let declared = format!("{}\n", serde_json::to_string_pretty(&reference::schema()).unwrap());
    if std::env::var_os("PRIOLANE_REFERENCE").is_some() {
        fs::write(&path, &declared).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(declared.lines()).find(|(kept, declared)| kept != declared);
    assert!(
        kept == declared,
        "docs/scheme.schema.json is not what the parts declare, first at {differs:?}: \
         PRIOLANE_REFERENCE=write cargo test -p priolane-lab --test runs reference"
    );
}
