//! The version of results: a hash of the sources that make them.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in ["priolane-core", "priolane-sim", "priolane-lab"] {
        let src = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", src.display());
        list(&src, &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(&crates).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let text = fs::read(file).unwrap_or_default();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    let hex: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=PRIOLANE_SOURCES={hex}");
}

/// All sources below `folder` but tests, which make no results.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                list(&path, files);
            }
        } else if path.extension().is_some_and(|end| end == "rs")
            && path.file_name().is_some_and(|n| n != "tests.rs")
        {
            files.push(path);
        }
    }
}
