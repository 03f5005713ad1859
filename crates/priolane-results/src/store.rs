//! The directory of runs: a run appears either complete or not at all.
//!
//! ```text
//! DIR/.lock                          held while names change, never while a run is written
//! DIR/.tmp-<run>-<pid>-<n>/          a run being written; its writer locks `owner` inside, the later run.json
//! DIR/<run>/                         a complete run: tables, then run.json, then renamed to this name
//! DIR/<run>.verified                 SHA-256 of the run.json on which both engines agreed
//! DIR/.mark-<run>-<pid>-<n>          such a note being written, under the lock
//! DIR/.aside-<run>-<pid>-<n>/        something else that was at DIR/<run>: kept, never deleted
//! ```
//!
//! A run is *whole* if its directory has the run's name and its `run.json` has a valid checksum (`checksum`), names
//! the run, and lists exactly the other files there with their lengths and hashes. Nothing else is accepted. A
//! temporary directory whose `owner` is not locked belongs to a dead writer and is removed.
//!
//! A run that took long is synced to disk before it gets its name. A short one is not: after a power failure it may not be whole,
//! and runs again, which takes less time than six syncs of each of a thousand short runs.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use priolane_source::{open_existing_lock, open_lock};
use sha2::{Digest as _, Sha256};

use crate::checksum;
use crate::digest::hex;
use crate::record::{self, FileRecord, RunRecord};
use crate::regular;
use crate::rows::{Rows, Table};
use crate::tables;

/// Packet-hops of a run that is synced to disk, about a third of a second of one core.
const WORTH_SYNCING: u64 = 10_000_000;

const LOCK: &str = ".lock";
const OWNER: &str = "owner";
const TEMPORARY: &str = ".tmp-";
const MARK: &str = ".mark-";
const ASIDE: &str = ".aside-";

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

/// A run's id: 16 lower-case hexadecimal digits. Only directories with such names belong to priolane.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// Parses `text` as a run's id; `None` if it has another form.
    pub fn new(text: &str) -> Option<Self> {
        let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 16 && text.bytes().all(hexadecimal)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The result of publishing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The run is now in the directory.
    New,
    /// Another process published the same run in the meantime; this one was discarded.
    AlreadyThere,
}

/// A directory of runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Opens the directory `root`, creates it if it is missing, and removes temporary directories of dead writers.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(root).map_err(store_error("create", root))?;
        let store = Self { root: root.to_owned() };
        let _lock = store.lock()?;
        store.sweep()?;
        Ok(store)
    }

    /// Returns a directory of runs for reading only; it need not exist.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Returns the path of a run, whether it exists or not.
    pub fn path(&self, id: &RunId) -> PathBuf {
        self.root.join(id.as_str())
    }

    /// Returns the record of a run if it is whole.
    pub fn accept(&self, id: &RunId) -> Option<RunRecord> {
        let directory = self.path(id);
        if !fs::symlink_metadata(&directory).is_ok_and(|m| m.is_dir()) {
            return None;
        }
        let text = regular::read(&directory.join(record::FILE)).ok()?;
        checksum::verify(&text).ok()?;
        let record: RunRecord = serde_json::from_slice(&text).ok()?;
        (record.run == id.as_str() && is_whole(&directory, &record.files)).then_some(record)
    }

    /// Returns the ids of directories that have a run's name, whole or not, sorted.
    pub fn names(&self) -> Result<Vec<RunId>, StoreError> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(store_error("read", &self.root))? {
            let entry = entry.map_err(store_error("read", &self.root))?;
            ids.extend(entry.file_name().to_str().and_then(RunId::new));
        }
        ids.sort();
        Ok(ids)
    }

    /// Starts writing a run in a temporary directory.
    pub fn begin(&self, id: &RunId) -> Result<Draft, StoreError> {
        let _lock = self.lock()?;
        let path = self.root.join(fresh_name(TEMPORARY, id));
        fs::create_dir(&path).map_err(store_error("create", &path))?;
        let owner_path = path.join(OWNER);
        let owner = File::create_new(&owner_path).map_err(store_error("create", &owner_path))?;
        let draft = Draft { store: self.clone(), id: id.clone(), path, files: Vec::new(), owner };
        draft.owner.lock().map_err(store_error("lock", &owner_path))?;
        Ok(draft)
    }

    /// Records that both engines agreed on a run as it is stored now.
    pub fn mark_verified(&self, id: &RunId) -> Result<(), StoreError> {
        let record = self.path(id).join(record::FILE);
        let hash = hash_file(&record).map_err(store_error("read", &record))?;
        let temporary = self.root.join(fresh_name(MARK, id));
        let mark = self.mark(id);
        let _lock = self.lock()?;
        let written = write_file(&temporary, hash.as_bytes()).and_then(|()| fs::rename(&temporary, &mark));
        written.map_err(|source| {
            let _ = fs::remove_file(&temporary);
            store_error("write", &mark)(source)
        })
    }

    /// Returns whether both engines agreed on a run as it is stored now.
    pub fn is_verified(&self, id: &RunId) -> bool {
        let hash = hash_file(&self.path(id).join(record::FILE));
        hash.is_ok_and(|hash| regular::read(&self.mark(id)).is_ok_and(|mark| mark == hash.as_bytes()))
    }

    fn mark(&self, id: &RunId) -> PathBuf {
        self.root.join(format!("{}.verified", id.as_str()))
    }

    /// Acquires the directory's lock, held until the file is dropped; dead processes hold no lock.
    fn lock(&self) -> Result<File, StoreError> {
        let path = self.root.join(LOCK);
        let file = open_lock(&path).map_err(store_error("open", &path))?;
        file.lock().map_err(store_error("lock", &path))?;
        Ok(file)
    }

    /// Removes temporary directories of dead writers. The lock must be held.
    fn sweep(&self) -> Result<(), StoreError> {
        for entry in fs::read_dir(&self.root).map_err(store_error("read", &self.root))? {
            let entry = entry.map_err(store_error("read", &self.root))?;
            let (name, path) = (entry.file_name(), entry.path());
            let Some(name) = name.to_str() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && is_fresh_name(TEMPORARY, name) && is_abandoned(&path) {
                gone(fs::remove_dir_all(&path)).map_err(store_error("remove", &path))?;
            } else if kind.is_file() && is_fresh_name(MARK, name) {
                gone(fs::remove_file(&path)).map_err(store_error("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Moves away whatever is at a run's path. The lock must be held, and it must not be a whole run.
    fn move_aside(&self, id: &RunId) -> Result<(), StoreError> {
        let there = self.path(id);
        match fs::symlink_metadata(&there) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(store_error("look at", &there)(error)),
            Ok(kind) if kind.is_dir() => {
                let aside = self.root.join(fresh_name(ASIDE, id));
                fs::rename(&there, aside).map_err(store_error("move aside", &there))
            }
            Ok(_) => Err(store_error("replace", &there)(io::Error::other("it is not a directory"))),
        }
    }
}

/// A run being written. If dropped unpublished, it is removed.
#[derive(Debug)]
pub struct Draft {
    store: Store,
    id: RunId,
    path: PathBuf,
    files: Vec<FileRecord>,
    /// Locked until the draft is dropped. It gets the record: a file created and removed for each of a thousand
    /// runs takes a third of the kernel's time, as ext4 does not reuse inodes that were just removed.
    owner: File,
}

impl Draft {
    /// Writes one table.
    pub fn write(&mut self, table: Table, rows: &Rows) -> Result<(), StoreError> {
        let path = self.path.join(table.file());
        let file = File::create_new(&path).map_err(store_error("create", &path))?;
        self.files.push(tables::write(table, rows, file).map_err(store_error("write", &path))?);
        Ok(())
    }

    /// Writes a table that was produced elsewhere; `file` describes its content, which was verified.
    pub fn put(&mut self, file: &FileRecord, content: &[u8]) -> Result<(), StoreError> {
        let path = self.path.join(&file.name);
        write_file(&path, content).map_err(store_error("write", &path))?;
        self.files.push(file.clone());
        Ok(())
    }

    /// Reuses a table of the same run from the directory `from`, as a hard link if possible, else as a copy.
    pub fn link_file(&mut self, from: &Path, file: &FileRecord) -> Result<(), StoreError> {
        let (there, here) = (from.join(&file.name), self.path.join(&file.name));
        fs::hard_link(&there, &here)
            .or_else(|_| fs::copy(&there, &here).map(drop))
            .map_err(store_error("write", &here))?;
        self.files.push(file.clone());
        Ok(())
    }

    /// Writes the record with the list of files, which becomes `run.json`, and makes the run visible.
    pub fn publish(self, record: &mut RunRecord) -> Result<PublishOutcome, StoreError> {
        record.files = self.files.clone();
        let owner = self.path.join(OWNER);
        let text = record.to_text().map_err(store_error("write", &owner))?;
        (&self.owner).write_all(text.as_bytes()).map_err(store_error("write", &owner))?;
        let is_synced = took_long(record);
        let files = self.files.iter().map(|file| file.name.as_str()).chain([OWNER]);
        for file in files.filter(|_| is_synced) {
            let path = self.path.join(file);
            sync(&path).map_err(store_error("write", &path))?;
        }
        let _lock = self.store.lock()?;
        if self.store.accept(&self.id).is_some() {
            return Ok(PublishOutcome::AlreadyThere);
        }
        fs::rename(&owner, self.path.join(record::FILE)).map_err(store_error("create", &owner))?;
        if is_synced {
            sync_directory(&self.path).map_err(store_error("write", &self.path))?;
        }
        self.store.move_aside(&self.id)?;
        let place = self.store.path(&self.id);
        fs::rename(&self.path, &place).map_err(store_error("create", &place))?;
        if is_synced {
            sync_directory(&self.store.root).map_err(store_error("write", &self.store.root))?;
        }
        Ok(PublishOutcome::New)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After publishing the path is gone; after a failure the next `Store::open` tries again.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Treats a removal as successful if another process did it: a writer that finds its run published removes its own
/// temporary directory without the lock.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Returns whether a directory has exactly `run.json` and the listed files, as listed.
fn is_whole(directory: &Path, files: &[FileRecord]) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let expected = |name: &OsStr| name == record::FILE || files.iter().any(|f| name == f.name.as_str());
    entries.into_iter().all(|entry| entry.is_ok_and(|e| expected(&e.file_name())))
        && Table::ALL.iter().all(|table| files.iter().any(|f| f.name == table.file()))
        && files.iter().all(|file| is_file_whole(&directory.join(&file.name), file))
}

fn is_file_whole(path: &Path, expected: &FileRecord) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && m.len() == expected.bytes) {
        return false;
    }
    hash_file(path).is_ok_and(|hash| hash == expected.sha256)
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = regular::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(content)
}

/// Returns true if a run is worth the time of a sync: it is long, or was measured on real hosts.
fn took_long(record: &RunRecord) -> bool {
    record.counters.packet_hops >= WORTH_SYNCING || record.measured.is_some()
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Syncs a directory's entries to disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { sync(path) } else { Ok(()) }
}

/// Returns a name that no other writer uses: `<prefix><run>-<pid>-<n>`.
fn fresh_name(prefix: &str, id: &RunId) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}{}-{}-{}", id.as_str(), std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns whether a name has exactly the form of `fresh_name`.
fn is_fresh_name(prefix: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(prefix) else { return false };
    let parts: Vec<&str> = rest.split('-').collect();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    matches!(parts[..], [run, pid, n] if RunId::new(run).is_some() && number(pid) && number(n))
}

/// Returns whether the `owner` of a temporary directory is unlocked. Writers create and lock it under the directory's
/// lock.
fn is_abandoned(temporary: &Path) -> bool {
    match open_existing_lock(&temporary.join(OWNER)) {
        Ok(owner) => !matches!(owner.try_lock(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
