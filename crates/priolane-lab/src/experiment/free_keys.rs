//! Descriptions of tables whose keys the user chooses.

use priolane_core::keys::{Bounds, KeyInfo, Schema};

/// Describes the keys of `[quick]` and `[full]`.
pub(super) fn describe_size(out: &mut Vec<KeyInfo>) {
    out.push(dotted("Any dotted key of the file, such as \"time.measure\", and its value", Schema::Any));
}

/// Describes the keys of `[sweep]`.
pub(super) fn describe_sweep(out: &mut Vec<KeyInfo>) {
    let meaning = "A dotted key of the network, traffic or a scheme, and its values, each once; or a name, and tables that \
                   set several dotted keys together, each with a `label`";
    out.push(dotted(meaning, Schema::List(Box::new(Schema::Any))));
}

/// Returns the description of a key that the user chooses.
fn dotted(meaning: &'static str, schema: Schema) -> KeyInfo {
    KeyInfo {
        name: "NAME",
        group: "",
        meaning,
        unit: "",
        bounds: Bounds::ANY,
        default: String::new(),
        source: "",
        required: false,
        none: None,
        schema,
    }
}
