//! Packs: tar files with the files of many small runs.
//!
//! ```text
//! DIR/runs-<n>.tar      for each run: <run>/flows.parquet, the other tables, and last <run>/run.json
//! ```
//!
//! A run has four files or more. Of a run that takes a millisecond, they would take a third of the time, and a sweep of a hundred
//! thousand such runs would leave half a million files. Any program that reads tar files unpacks a pack into the directories
//! that runs have otherwise.
//!
//! A writer begins a pack of its own and appends each run with one write. If it is killed, its pack may end within a run; readers
//! do not see that run, since its record is missing, and it is run again. Nothing is ever changed in a pack: of two runs with
//! the same id, the later one in the pack with the larger number counts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str;
use std::sync::Arc;

use tar::{Archive, EntryType, Header};

use crate::record;
use crate::regular;
use crate::run_id::RunId;
use crate::store_error::{StoreError, store_error};

const BLOCK: usize = 512;
/// Time of each file in a pack, in seconds since 1970: the start of 1980. The same runs give the same pack.
const MTIME: u64 = 315_532_800;

/// The part of a pack that is one file of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of bytes of the pack before the file.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// A run in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedRun {
    /// The run.
    pub id: RunId,
    /// The pack.
    pub pack: Arc<PathBuf>,
    /// Its files, `run.json` among them, by name.
    pub files: BTreeMap<String, Extent>,
}

impl PackedRun {
    /// Returns a path for messages: that of the pack, followed by the name in the pack.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.pack.join(self.id.as_str()).join(name)
    }

    /// Returns the content of a file.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let extent = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        let mut file = regular::open(&self.pack)?;
        file.seek(SeekFrom::Start(extent.offset))?;
        let mut content = Vec::new();
        file.take(extent.bytes).read_to_end(&mut content)?;
        if (content.len() as u64) < extent.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(content)
    }
}

/// Returns the runs in the packs of a directory, by id; none of a directory that cannot be read.
pub fn packed_runs(directory: &Path) -> Vec<PackedRun> {
    Packs::read(directory).runs.into_values().collect()
}

/// The packs of a directory, and the one that this process writes.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    runs: BTreeMap<RunId, PackedRun>,
    own: Option<OwnPack>,
}

/// The pack that this process writes.
#[derive(Debug)]
struct OwnPack {
    path: Arc<PathBuf>,
    file: File,
    bytes: u64,
}

impl Packs {
    /// Reads the packs of a directory. What is not a pack is left out, and so is everything in a pack from the first place
    /// on that is not as priolane writes it.
    pub(crate) fn read(directory: &Path) -> Self {
        let mut numbers: Vec<u64> =
            fs::read_dir(directory).into_iter().flatten().filter_map(|entry| number(&entry.ok()?)).collect();
        numbers.sort_unstable();
        let mut packs = Self::default();
        for number in numbers {
            let path = Arc::new(directory.join(name(number)));
            if fs::symlink_metadata(path.as_path()).is_ok_and(|metadata| metadata.is_file()) {
                packs.add(&path);
            }
        }
        packs
    }

    /// Returns the ids of all runs, sorted.
    pub(crate) fn names(&self) -> Vec<RunId> {
        self.runs.keys().cloned().collect()
    }

    /// Returns a run.
    pub(crate) fn run(&self, id: &RunId) -> Option<&PackedRun> {
        self.runs.get(id)
    }

    /// Appends the chunk of a run to the pack of this process, which is created in `directory` if there is none.
    pub(crate) fn append(&mut self, directory: &Path, chunk: Chunk) -> Result<(), StoreError> {
        let own = match &mut self.own {
            Some(own) => own,
            none => none.insert(OwnPack::create(directory)?),
        };
        let run = own.append(chunk).map_err(store_error("write", &own.path))?;
        self.runs.insert(run.id.clone(), run);
        Ok(())
    }

    /// Adds the runs of the pack at `path`.
    fn add(&mut self, path: &Arc<PathBuf>) {
        let Ok(file) = regular::open(path) else { return };
        let Ok(length) = file.metadata().map(|metadata| metadata.len()) else { return };
        let mut archive = Archive::new(file);
        let Ok(entries) = archive.entries_with_seek() else { return };
        let mut files: Option<(RunId, BTreeMap<String, Extent>)> = None;
        for entry in entries.raw(true) {
            let Ok(entry) = entry else { return };
            let extent = Extent { offset: entry.raw_file_position(), bytes: entry.size() };
            let end = extent.offset.checked_add(extent.bytes);
            let is_regular = entry.header().entry_type() == EntryType::Regular;
            let Some((id, name)) = file_name(&entry.path_bytes()) else { return };
            if !is_regular || end.is_none_or(|end| end > length) {
                return;
            }
            let (run, mut known) = match files.take() {
                Some((run, known)) if run == id => (run, known),
                _ => (id, BTreeMap::new()),
            };
            let is_last = name == record::FILE;
            known.insert(name, extent);
            if is_last {
                self.runs.insert(run.clone(), PackedRun { id: run, pack: path.clone(), files: known });
            } else {
                files = Some((run, known));
            }
        }
    }
}

impl OwnPack {
    /// Creates the pack with the first number that no pack has.
    fn create(directory: &Path) -> Result<Self, StoreError> {
        for number in 0.. {
            let path = directory.join(name(number));
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path: Arc::new(path), file, bytes: 0 }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(store_error("create", &path)(error)),
            }
        }
        unreachable!("a directory has fewer files than there are numbers")
    }

    /// Appends the chunk of a run; if it cannot be written, the pack is as before.
    fn append(&mut self, chunk: Chunk) -> io::Result<PackedRun> {
        if let Err(error) = self.file.write_all(&chunk.bytes) {
            self.file.set_len(self.bytes)?;
            self.file.seek(SeekFrom::Start(self.bytes))?;
            return Err(error);
        }
        let moved = |extent: Extent| Extent { offset: extent.offset + self.bytes, ..extent };
        let files = chunk.files.into_iter().map(|(name, extent)| (name, moved(extent))).collect();
        self.bytes += chunk.bytes.len() as u64;
        Ok(PackedRun { id: chunk.id, pack: self.path.clone(), files })
    }
}

/// The part of a pack that is one run, in memory.
#[derive(Debug)]
pub(crate) struct Chunk {
    id: RunId,
    bytes: Vec<u8>,
    files: BTreeMap<String, Extent>,
}

impl Chunk {
    /// Returns the chunk of a run without files.
    pub(crate) fn new(id: &RunId) -> Self {
        Self { id: id.clone(), bytes: Vec::new(), files: BTreeMap::new() }
    }

    /// Adds a file; `run.json` is the last one.
    pub(crate) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut header = Header::new_ustar();
        header.set_path(format!("{}/{name}", self.id.as_str()))?;
        header.set_entry_type(EntryType::Regular);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(MTIME);
        header.set_cksum();
        self.bytes.extend_from_slice(header.as_bytes());
        let extent = Extent { offset: self.bytes.len() as u64, bytes: content.len() as u64 };
        self.files.insert(name.to_owned(), extent);
        self.bytes.extend_from_slice(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(BLOCK), 0);
        Ok(())
    }
}

/// Returns the name of a pack.
fn name(number: u64) -> String {
    format!("runs-{number}.tar")
}

/// Returns the number of the pack that a directory entry names.
fn number(entry: &fs::DirEntry) -> Option<u64> {
    let file = entry.file_name();
    let number = file.to_str()?.strip_prefix("runs-")?.strip_suffix(".tar")?.parse().ok()?;
    (file.to_str()? == name(number)).then_some(number)
}

/// Returns the run and the name of the file that a path in a pack names.
fn file_name(path: &[u8]) -> Option<(RunId, String)> {
    let (run, name) = str::from_utf8(path).ok()?.split_once('/')?;
    let is_plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'_');
    (is_plain(name) && !name.starts_with('.')).then_some((RunId::new(run)?, name.to_owned()))
}
