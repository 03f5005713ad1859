//! What a run is called: a hash of all that determines its result, and of nothing else.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::experiment::Sources;

/// 16 hexadecimal digits from the merged experiment, the files it names, the seed and the version.
pub(super) fn run_id(merged: &Json, sources: &Sources, seed: u64) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(crate::VERSION.as_bytes());
    part(&seed.to_le_bytes());
    let mut text = String::new();
    canonical(merged, &mut text);
    part(text.as_bytes());
    // A scheme file's content is in the merged experiment, resolved; another scheme's does not matter.
    for (name, digest) in sources.digests().filter(|(name, _)| !name.ends_with(".toml")) {
        part(name.as_bytes());
        part(digest);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// JSON with the keys of every object in order.
fn canonical(json: &Json, out: &mut String) {
    match json {
        Json::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                out.push_str(&Json::from(key.as_str()).to_string());
                out.push(':');
                canonical(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Json::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}
