//! The name of what this module is compiled from: a hash of the sources of all crates that make results.
//!
//! Processes that share a sweep compare it. A crate from a registry has no others beside it; there the version says all.

use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 7] = ["core", "derive", "source", "workload", "sim", "results", "lab"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders: Vec<PathBuf> =
        CRATES.iter().map(|name| crates.join(format!("priolane-{name}/src"))).collect();
    let build = if folders.iter().any(|folder| folder.is_dir()) {
        let mut files = Vec::new();
        for folder in &folders {
            println!("cargo::rerun-if-changed={}", folder.display());
            list(folder, &mut files);
        }
        let mut names: Vec<(String, PathBuf)> =
            files.into_iter().map(|path| (name(&path, &crates), path)).collect();
        names.sort();
        let mut hash = Fnv::default();
        for (name, path) in names {
            let content = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            hash.add(name.as_bytes());
            hash.add(&content);
        }
        format!("{:016x}", hash.0)
    } else {
        "registry".to_owned()
    };
    println!("cargo::rustc-env=PRIOLANE_BUILD={build}");
}

/// The path below the folder of all crates, which may lie anywhere.
fn name(path: &Path, crates: &Path) -> String {
    path.strip_prefix(crates).map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// FNV-1a, 64 bits: it tells builds apart, and protects against nobody.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
