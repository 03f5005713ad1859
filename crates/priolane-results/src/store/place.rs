//! The place of the files of a run: a directory of its own, or a pack.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::packs::PackedRun;
use crate::digest::hex;
use crate::record::{self, FileRecord};
use crate::regular;
use crate::rows::Table;
use crate::tables::{self, Batches};

/// The place of the files of a run, whether they exist or not.
#[derive(Clone, Debug)]
pub(crate) enum RunPlace {
    /// The directory with the name of the run.
    Directory(PathBuf),
    /// A pack, which had the run when it was read.
    Pack(PackedRun),
}

impl RunPlace {
    /// Returns the path of a file, for messages and, in a directory, for links.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Directory(directory) => directory.join(name),
            Self::Pack(run) => run.path(name),
        }
    }

    /// Returns the content of a JSON file of at most [`regular::JSON_LIMIT`] bytes.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        match self {
            Self::Directory(directory) if is_directory(directory) => regular::read(&directory.join(name)),
            Self::Directory(_) => Err(io::ErrorKind::NotFound.into()),
            Self::Pack(_) if self.length(name) > Some(regular::JSON_LIMIT) => {
                Err(io::ErrorKind::FileTooLarge.into())
            }
            Self::Pack(_) => self.read_table(name),
        }
    }

    /// Returns the content of the file of a table.
    pub(crate) fn read_table(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.open(name)?.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Returns the SHA-256 of a file as hexadecimal digits.
    pub(crate) fn hash(&self, name: &str) -> io::Result<String> {
        let (mut content, mut hash) = (self.open(name)?, Sha256::new());
        let mut buffer = vec![0; 1 << 16];
        loop {
            match content.read(&mut buffer)? {
                0 => return Ok(hex(&hash.finalize())),
                n => hash.update(&buffer[..n]),
            }
        }
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Directory(directory) => Box::new(regular::open(&directory.join(name))?),
            Self::Pack(run) => Box::new(run.open(name)?.read_from(0)?),
        })
    }

    /// Returns an iterator over the batches of a table.
    pub(crate) fn table(&self, table: Table) -> io::Result<Batches> {
        match self {
            Self::Directory(directory) => tables::read(directory, table),
            Self::Pack(run) => tables::batches(run.open(&table.file())?),
        }
    }

    /// Returns whether the place has exactly `run.json` and the listed files, as listed.
    pub(crate) fn is_whole(&self, files: &[FileRecord]) -> bool {
        let is_expected = |name: &str| name == record::FILE || files.iter().any(|file| file.name == name);
        self.names().is_ok_and(|names| names.iter().all(|name| is_expected(name)))
            && Table::ALL.iter().all(|table| files.iter().any(|file| file.name == table.file()))
            && files.iter().all(|file| self.length(&file.name) == Some(file.bytes))
            && files.iter().all(|file| self.hash(&file.name).is_ok_and(|hash| hash == file.sha256))
    }

    /// Returns the names of all files; a name that is not UTF-8 is no file of a run, and neither is its replacement.
    fn names(&self) -> io::Result<Vec<String>> {
        match self {
            Self::Directory(directory) => fs::read_dir(directory)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect(),
            Self::Pack(run) => Ok(run.files.keys().cloned().collect()),
        }
    }

    /// Returns the length of a file in bytes; `None` for a file that is missing, a link, or anything else.
    fn length(&self, name: &str) -> Option<u64> {
        match self {
            Self::Directory(directory) => {
                let metadata = fs::symlink_metadata(directory.join(name)).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
            Self::Pack(run) => run.files.get(name).map(|extent| extent.bytes),
        }
    }
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
