//! Computes the id of a run: a hash of exactly what determines its result.

use priolane_source::Sources;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Descriptive keys, excluded from the id: figures that need the same run share it.
const DESCRIPTIVE_KEYS: [&str; 4] = ["title", "paper", "figure", "quote"];

/// The common part of the ids of runs of one scheme and point.
pub(super) struct Base<'a> {
    text: String,
    codes: Vec<u64>,
    sources: &'a Sources,
}

impl<'a> Base<'a> {
    /// Collects the merged experiment without descriptive keys, and the files it names; of files per seed, each run
    /// hashes its own. `codes` are the code ids of parts of other crates.
    pub(super) fn new(merged: &Json, codes: Vec<u64>, sources: &'a Sources) -> Self {
        let mut text = String::new();
        match merged {
            Json::Object(map) => {
                object(map.iter().filter(|(key, _)| !DESCRIPTIVE_KEYS.contains(&key.as_str())), &mut text)
            }
            other => canonical(other, &mut text),
        }
        Self { text, codes, sources }
    }

    /// Returns 16 hexadecimal digits: a hash of these, the seed and the version of results.
    pub(super) fn run_id(&self, seed: u64) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&priolane_results::RESULTS.to_le_bytes());
        part(&seed.to_le_bytes());
        part(self.text.as_bytes());
        // The content of a scheme file is in the merged experiment; other schemes do not matter.
        for (name, digest) in self.sources.digests(seed).filter(|(name, _)| !name.ends_with(".toml")) {
            part(name.as_bytes());
            part(digest);
        }
        for code in &self.codes {
            part(&code.to_le_bytes());
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Writes JSON with the keys of every object sorted.
fn canonical(json: &Json, out: &mut String) {
    match json {
        Json::Object(map) => object(map.iter(), out),
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

fn object<'j>(entries: impl Iterator<Item = (&'j String, &'j Json)>, out: &mut String) {
    let mut entries: Vec<(&String, &Json)> = entries.collect();
    entries.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in entries {
        out.push_str(&Json::from(key.as_str()).to_string());
        out.push(':');
        canonical(value, out);
        out.push(',');
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_parts_of_other_crates_change_the_ids_of_runs() {
        let (merged, sources) = (Json::Null, Sources::default());
        let id = |codes: &[u64]| Base::new(&merged, codes.to_vec(), &sources).run_id(1);
        assert_eq!(id(&[1]), id(&[1]));
        assert_ne!(id(&[1]), id(&[2]));
        assert_ne!(id(&[0]), id(&[]));
        assert_ne!(id(&[1, 2]), id(&[2, 1]));
    }
}
