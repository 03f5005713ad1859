//! What a run is called: a hash of all that determines its result, and of nothing else.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::experiment::Sources;

/// What an experiment is called and where it is from: figures that ask for the same run share it.
const WORDS: [&str; 4] = ["title", "paper", "figure", "quote"];

/// 16 hexadecimal digits from the merged experiment but for its words, the files it names, the seed and the version of results.
pub(super) fn run_id(merged: &Json, sources: &Sources, seed: u64) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(&crate::RESULTS.to_le_bytes());
    part(&seed.to_le_bytes());
    let mut text = String::new();
    match merged {
        Json::Object(map) => {
            let decides = |(key, _): &(&String, &Json)| !WORDS.contains(&key.as_str());
            let own = map.iter().filter(decides).map(|(key, value)| (key.clone(), value.clone())).collect();
            canonical(&Json::Object(own), &mut text);
        }
        other => canonical(other, &mut text),
    }
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
