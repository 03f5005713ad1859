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
//! A writer begins a pack of its own, whose number is larger than those of all others, and appends each run with one write. If
//! it is killed, its pack may end within a run; readers do not see that run, since its record is missing, and it is run again.
//! Nothing is ever changed in a pack: of two runs with the same id, the later one in the pack with the larger number counts.
//!
//! A place that no writer leaves is damage, which readers report. The runs before that place are there, and so are those from the next
//! header on, if one follows within [`MOST_JUNK`] bytes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use tar::{EntryType, Header};

use crate::record;
use crate::regular;
use crate::run_id::RunId;
use crate::store_error::{StoreError, store_error};

const BLOCK: usize = 512;
/// Number of bytes after a damaged place within which the next run is looked for.
const MOST_JUNK: u64 = 16 << 20;
/// Number of bytes that no file has, so that sums of offsets and lengths do not overflow.
const MOST_BYTES: u64 = 1 << 62;
/// Packs have smaller numbers, so that there is always a larger one.
const MOST_NUMBER: u32 = 1_000_000_000;
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

    /// Opens a file for reading in parts.
    pub(crate) fn open(&self, name: &str) -> io::Result<Section> {
        let extent = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Section { file: regular::open(&self.pack)?, extent: *extent })
    }
}

/// A file of a run in an open pack.
#[derive(Debug)]
pub(crate) struct Section {
    file: File,
    extent: Extent,
}

impl Section {
    /// Returns a reader of the file from byte `start` on.
    pub(crate) fn read_from(&self, start: u64) -> io::Result<impl Read + use<>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.extent.offset.saturating_add(start)))?;
        Ok(file.take(self.extent.bytes.saturating_sub(start)))
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.extent.bytes
    }
}

impl ChunkReader for Section {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(Box::new(self.read_from(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut content = Vec::new();
        self.read_from(start)?.take(length as u64).read_to_end(&mut content)?;
        if content.len() < length {
            return Err(ParquetError::EOF(format!("{} bytes wanted, {} there", length, content.len())));
        }
        Ok(content.into())
    }
}

/// Returns the runs in the packs of a directory, by id, and the damage of its packs in words; nothing of a directory that cannot
/// be read.
pub fn packed_runs(directory: &Path) -> (Vec<PackedRun>, Vec<String>) {
    let packs = Packs::read(directory);
    (packs.runs.into_values().collect(), packs.damage)
}

/// The packs of a directory, and the one that this process writes.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    runs: BTreeMap<RunId, PackedRun>,
    /// Number of bytes of each pack that have been read, by its number.
    read: BTreeMap<u32, u64>,
    /// Time of the last change of the directory whose names have been read.
    changed: Option<SystemTime>,
    damage: Vec<String>,
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
    /// Reads the packs of a directory. Links and other names are not packs.
    pub(crate) fn read(directory: &Path) -> Self {
        let mut packs = Self::default();
        packs.read_on(directory);
        packs
    }

    /// Reads what has been appended to packs since they were read, and new packs.
    pub(crate) fn read_on(&mut self, directory: &Path) {
        let changed = fs::metadata(directory).and_then(|metadata| metadata.modified()).ok();
        let known =
            (changed == self.changed && changed.is_some()).then(|| self.read.keys().copied().collect());
        self.changed = changed;
        for number in known.unwrap_or_else(|| numbers(directory)) {
            let path = directory.join(name(number));
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let from = self.read.get(&number).copied().unwrap_or(0);
            let is_own = self.own.as_ref().is_some_and(|own| *own.path == path);
            if !metadata.is_file() || is_own || metadata.len() <= from {
                continue;
            }
            let mut scan = Scan { packs: self, path: Arc::new(path), junk: 0 };
            let end = scan.read(from).unwrap_or_else(|error| {
                scan.damaged(&format!("it cannot be read: {error}"));
                metadata.len()
            });
            self.read.insert(number, end);
        }
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
}

/// The reading of one pack.
struct Scan<'a> {
    packs: &'a mut Packs,
    path: Arc<PathBuf>,
    /// Number of bytes since the last header, if there is none where one should be.
    junk: u64,
}

/// The block before a file in a pack.
enum Block {
    /// The header of a file of a run.
    File(RunId, String, u64),
    /// Zeros, with which other programs end a tar file.
    Zeros,
    /// Anything else.
    Junk,
}

impl Scan<'_> {
    /// Adds the runs from byte `from` on; returns the first byte after the last of them.
    fn read(&mut self, from: u64) -> io::Result<u64> {
        let mut file = regular::open(&self.path)?;
        let length = file.metadata()?.len();
        let (mut at, mut end) = (from, from);
        let mut current: Option<(RunId, BTreeMap<String, Extent>)> = None;
        let mut block = [0; BLOCK];
        while at + BLOCK as u64 <= length && self.junk < MOST_JUNK {
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut block)?;
            at += BLOCK as u64;
            let (id, name, bytes) = match Block::read(&block) {
                Block::File(id, name, bytes) => (id, name, bytes),
                other => {
                    self.skip(&other, at);
                    current = None;
                    continue;
                }
            };
            let extent = Extent { offset: at, bytes };
            let next = at + bytes.next_multiple_of(BLOCK as u64);
            if next > length {
                // A writer that was killed leaves this.
                break;
            }
            (at, self.junk) = (next, 0);
            let (run, mut files) =
                current.take().filter(|(run, _)| *run == id).unwrap_or((id, BTreeMap::new()));
            let is_last = name == record::FILE;
            files.insert(name, extent);
            if is_last {
                end = at;
                self.packs.runs.insert(run.clone(), PackedRun { id: run, pack: self.path.clone(), files });
            } else {
                current = Some((run, files));
            }
        }
        Ok(end)
    }

    /// Notes that the block that ends at byte `at` is not a header.
    fn skip(&mut self, block: &Block, at: u64) {
        if !matches!(block, Block::Zeros) && self.junk == 0 {
            self.damaged(&format!("no run begins at byte {}, where one should", at - BLOCK as u64));
        }
        self.junk += BLOCK as u64;
    }

    fn damaged(&mut self, what: &str) {
        let text = format!("{}: damaged: {what}", self.path.display());
        if !self.packs.damage.contains(&text) {
            self.packs.damage.push(text);
        }
    }
}

impl Block {
    fn read(block: &[u8; BLOCK]) -> Self {
        if block.iter().all(|&byte| byte == 0) {
            return Self::Zeros;
        }
        let header = Header::from_byte_slice(block);
        let mut summed = header.clone();
        summed.set_cksum();
        let is_whole = matches!((header.cksum(), summed.cksum()), (Ok(stated), Ok(sum)) if stated == sum);
        let is_regular = header.entry_type() == EntryType::Regular;
        match (file_name(&header.path_bytes()), header.entry_size()) {
            (Some((id, name)), Ok(bytes)) if is_whole && is_regular && bytes <= MOST_BYTES => {
                Self::File(id, name, bytes)
            }
            _ => Self::Junk,
        }
    }
}

impl OwnPack {
    /// Creates the pack with a number larger than that of any other.
    fn create(directory: &Path) -> Result<Self, StoreError> {
        let mut number = numbers(directory).last().map_or(0, |last| last + 1);
        loop {
            let path = directory.join(name(number));
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path: Arc::new(path), file, bytes: 0 }),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(store_error("create", &path)(error)),
            }
        }
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

    /// Returns the length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the content of a file.
    pub(crate) fn content(&self, name: &str) -> &[u8] {
        let Some(extent) = self.files.get(name) else { return &[] };
        &self.bytes[extent.offset as usize..][..extent.bytes as usize]
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
fn name(number: u32) -> String {
    format!("runs-{number}.tar")
}

/// Returns the numbers that names in a directory have, in order.
fn numbers(directory: &Path) -> Vec<u32> {
    let number = |entry: fs::DirEntry| {
        let file = entry.file_name();
        let number: u32 = file.to_str()?.strip_prefix("runs-")?.strip_suffix(".tar")?.parse().ok()?;
        (number < MOST_NUMBER && file.to_str()? == name(number)).then_some(number)
    };
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut numbers: Vec<u32> = entries.filter_map(|entry| number(entry.ok()?)).collect();
    numbers.sort_unstable();
    numbers
}

/// Returns the run and the name of the file that a path in a pack names.
fn file_name(path: &[u8]) -> Option<(RunId, String)> {
    let (run, name) = str::from_utf8(path).ok()?.split_once('/')?;
    let is_plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'_');
    (is_plain(name) && !name.starts_with('.')).then_some((RunId::new(run)?, name.to_owned()))
}
