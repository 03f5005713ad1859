//! Output files of an import: all are written to temporary files next to their final paths first, then renamed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use priolane_source::{InputError, NewDirectory};

use super::leftovers;
use super::replaced::sha256;

/// The reason why an import failed. No file was changed, unless the disk failed while complete files were renamed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input is wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file could not be written.
    #[error("{path}: cannot be written: {error}")]
    Output {
        /// The file.
        path: String,
        /// The error.
        error: io::Error,
    },
}

/// Files written to temporary paths; removed unless they are renamed.
#[derive(Default)]
pub(super) struct Pending {
    /// Temporary and final paths.
    files: Vec<(PathBuf, PathBuf)>,
    /// Their directories, which are removed after the temporary files if they are empty.
    folders: Vec<NewDirectory>,
}

impl Pending {
    /// Writes a file to a temporary path; returns its SHA-256.
    pub(super) fn add(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, Failure> {
        let fail = |error| Failure::Output { path: path.display().to_string(), error };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        if let Some(folder) = path.parent() {
            self.folders.push(NewDirectory::create(folder).map_err(fail)?);
        }
        let file = leftovers::create(&temporary, path).map_err(fail)?;
        self.files.push((temporary.clone(), path.to_owned()));
        let mut out = BufWriter::new(file);
        write(&mut out).map_err(fail)?;
        let file = out.into_inner().map_err(|error| fail(error.into_error()))?;
        file.sync_all().map_err(fail)?;
        sha256(&temporary).map_err(fail)
    }

    /// Returns the size in bytes of the last file written.
    pub(super) fn last_size(&self) -> Result<u64, Failure> {
        let size = |(temporary, path): &(PathBuf, PathBuf)| {
            let fail = |error| Failure::Output { path: path.display().to_string(), error };
            std::fs::metadata(temporary).map(|data| data.len()).map_err(fail)
        };
        self.files.last().map_or(Ok(0), size)
    }

    /// Renames all complete files to their final paths, one after the other. Removes those that could not be
    /// renamed.
    pub(super) fn keep(mut self) -> Result<(), Failure> {
        while let Some((temporary, path)) = self.files.first() {
            std::fs::rename(temporary, path)
                .map_err(|error| Failure::Output { path: path.display().to_string(), error })?;
            self.files.remove(0);
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            let _ = std::fs::remove_file(temporary);
        }
    }
}
