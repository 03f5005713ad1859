//! Whether a file that stands in the place of an output may be replaced: only one that an earlier import wrote there
//! and nobody changed since.
//!
//! The report of an import has the SHA-256 of each file beside it. A report is itself replaced if it reads as one. It is
//! renamed after all other files: an import that was killed while it renamed them left its report as a temporary file,
//! which says what those files are that it had renamed.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use priolane_source::{InputError, SIZE_LIMIT, read_text};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::leftovers;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// SHA-256 of the files that an import wrote, in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// That of the flow list.
    pub flows: String,
    /// That of the table of external names.
    pub hosts: String,
    /// That of the topology, if one was given to this or an earlier import.
    pub topology: Option<String>,
    /// That of the size table, if one was requested of this or an earlier import.
    pub sizes: Option<String>,
}

/// The part of a report that says what was written.
#[derive(Deserialize)]
struct ReportedFiles {
    sha256: Digests,
}

/// The outputs that earlier imports wrote beside a report.
pub(super) struct Earlier {
    /// Those of the last import that ended in order.
    whole: Option<Digests>,
    /// Those of imports that were killed since.
    killed: Vec<Digests>,
}

impl Earlier {
    /// Reads the report at `path`, if an import wrote one there, and those that killed imports left.
    pub(super) fn read(path: &Path) -> Self {
        let left = leftovers::find(path).unwrap_or_default();
        Self { whole: read_report(path), killed: left.iter().filter_map(|path| read_report(path)).collect() }
    }

    /// Returns the digests of the files that a next import may leave as they are.
    pub(super) fn kept(self) -> Digests {
        let Digests { topology, sizes, .. } =
            self.killed.into_iter().next_back().or(self.whole).unwrap_or_default();
        Digests { topology, sizes, ..Digests::default() }
    }

    /// Checks that the report at `path` may be written.
    ///
    /// # Errors
    /// Returns an error if something else stands there.
    pub(super) fn allows_report(&self, path: &Path) -> Result<(), InputError> {
        let is_free = self.whole.is_some() || is_absent(path);
        if is_free { Ok(()) } else { Err(foreign(path)) }
    }

    /// Checks that the output at `path`, which `digest` selects, may be written.
    ///
    /// # Errors
    /// Returns an error if something stands there that is not the file of the earlier import.
    pub(super) fn allows(
        &self,
        path: &Path,
        digest: impl Fn(&Digests) -> Option<&str>,
    ) -> Result<(), InputError> {
        if is_absent(path) {
            return Ok(());
        }
        let expected: Vec<&str> = self.whole.iter().chain(&self.killed).filter_map(digest).collect();
        let is_regular = fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
        let is_own = is_regular && sha256(path).is_ok_and(|found| expected.contains(&found.as_str()));
        if is_own { Ok(()) } else { Err(foreign(path)) }
    }
}

/// Returns what the report at `path` says of the files beside it; `None` if it is not the report of an import.
fn read_report(path: &Path) -> Option<Digests> {
    let is_regular = fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    let text = is_regular.then(|| read_text(path, &path.display().to_string(), SIZE_LIMIT).ok()).flatten()?;
    serde_json::from_str::<ReportedFiles>(&text).ok().map(|report| report.sha256)
}

/// Returns whether nothing is known to stand at `path`. A path that cannot be looked up cannot be written either.
fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}

fn foreign(path: &Path) -> InputError {
    let what = "the file was not written by an import, or was changed since";
    InputError::new(
        path.display().to_string(),
        None,
        "",
        what,
        "Move the file away, or choose another output",
    )
}

/// Returns the SHA-256 of the file at `path`, in hexadecimal digits.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = BufReader::with_capacity(BLOCK, File::open(path)?);
    loop {
        let block = file.fill_buf()?;
        if block.is_empty() {
            break;
        }
        hash.update(block);
        let length = block.len();
        file.consume(length);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
