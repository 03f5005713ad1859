//! Errors of the store of runs, and of outputs.

use std::io;
use std::path::{Path, PathBuf};

/// A file or directory that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}{remains}; fix this and run the command again", path.display())]
pub struct StoreError {
    /// The operation: `write`, `create`, ...
    pub doing: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
    /// The results that are left, as a clause that continues the message; empty if nothing is known.
    pub remains: &'static str,
}

/// Attaches operation and path to an I/O error in a directory of runs.
pub fn store_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError { doing, path, source, remains: "" }
}

/// Attaches operation and path to an I/O error at an output that is written as a whole or not at all.
pub fn output_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError { doing, path, source, remains: "; nothing was written" }
}
