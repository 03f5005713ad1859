//! The directory of runs: a run appears either complete or not at all.
//!
//! ```text
//! DIR/.lock                          held while names change, never while a run is written
//! DIR/.tmp-<run>-<pid>-<n>/          a run being written; its writer locks `owner` inside, the later run.json
//! DIR/<run>/                         a complete run: tables, then run.json, then renamed to this name
//! DIR/<run>.verified                 SHA-256 of the run.json on which both engines agreed
//! DIR/.mark-<run>-<pid>-<n>          such a note being written, under the lock
//! DIR/.aside-<run>-<pid>-<n>/        something else that was at DIR/<run>: kept, never deleted
//! DIR/runs-<n>.tar                   many small runs: the files of <run>/, one run after another (`packs`)
//! ```
//!
//! A run is *whole* if its directory has the run's name and its `run.json` has a valid checksum (`checksum`), names
//! the run, and lists exactly the other files there with their lengths and hashes. Nothing else is accepted. A
//! temporary directory whose `owner` is not locked belongs to a dead writer and is removed. A run in a pack comes
//! before a directory of the same name.
//!
//! A run that took long is synced to disk before it gets its name. A short one is not: after a power failure it may not be whole,
//! and runs again, which takes less time than six syncs of each of a thousand short runs.

mod packs;
mod place;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use packs::Chunk;
use packs::Packs;
pub use packs::{Extent, PackedRun, packed_runs};
pub(crate) use place::RunPlace;
use priolane_source::{open_existing_lock, open_lock};

use crate::checksum;
use crate::record::{self, RunRecord};
use crate::regular;
use crate::rows::Table;
pub use crate::run_id::RunId;
pub use crate::store_error::{StoreError, output_error, store_error};
use crate::tables::Batches;

const LOCK: &str = ".lock";
pub(crate) const OWNER: &str = "owner";
pub(crate) const TEMPORARY: &str = ".tmp-";
const MARK: &str = ".mark-";
const ASIDE: &str = ".aside-";

/// A directory of runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Whether small runs go into packs.
    has_packs: bool,
    /// The packs as they were when they were first needed, with what this store has appended since.
    packs: Arc<Mutex<Option<Packs>>>,
}

impl Store {
    /// Opens the directory `root`, creates it if it is missing, and removes temporary directories of dead writers.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(root).map_err(store_error("create", root))?;
        let store = Self::at(root);
        let _lock = store.lock()?;
        store.sweep()?;
        Ok(store)
    }

    /// Returns a directory of runs for reading only; it need not exist.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), has_packs: false, packs: Arc::default() }
    }

    /// Returns the store with small runs in packs. Only one such store may write to the directory at a time.
    #[must_use]
    pub fn with_packs(self) -> Self {
        Self { has_packs: true, ..self }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether small runs go into packs.
    pub(crate) fn has_packs(&self) -> bool {
        self.has_packs
    }

    /// Returns the path of the directory of a run, whether it exists or not.
    pub fn path(&self, id: &RunId) -> PathBuf {
        self.root.join(id.as_str())
    }

    /// Returns the record of a run if it is whole.
    pub fn accept(&self, id: &RunId) -> Option<RunRecord> {
        let place = self.place(id);
        let text = place.read(record::FILE).ok()?;
        checksum::verify(&text).ok()?;
        let record: RunRecord = serde_json::from_slice(&text).ok()?;
        (record.run == id.as_str() && place.is_whole(&record.files)).then_some(record)
    }

    /// Returns an iterator over the batches of a table of a run.
    ///
    /// # Errors
    /// The run has no such table, or its file cannot be read.
    pub fn table(&self, id: &RunId, table: Table) -> io::Result<Batches> {
        self.place(id).table(table)
    }

    /// Returns the content of the file of a table of a run.
    ///
    /// # Errors
    /// The run has no such file, or it cannot be read.
    pub fn read_table(&self, id: &RunId, name: &str) -> io::Result<Vec<u8>> {
        self.place(id).read_table(name)
    }

    /// Returns the ids of runs in packs and of directories that have a run's name, whole or not, sorted.
    pub fn names(&self) -> Result<Vec<RunId>, StoreError> {
        let mut ids = self.packs(|packs| packs.names());
        for entry in fs::read_dir(&self.root).map_err(store_error("read", &self.root))? {
            let entry = entry.map_err(store_error("read", &self.root))?;
            ids.extend(entry.file_name().to_str().and_then(RunId::new));
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Records that both engines agreed on a run as it is stored now.
    pub fn mark_verified(&self, id: &RunId) -> Result<(), StoreError> {
        let place = self.place(id);
        let hash = place.hash(record::FILE).map_err(store_error("read", &place.path(record::FILE)))?;
        let temporary = self.root.join(fresh_name(MARK, id));
        let mark = self.mark(id);
        let _lock = self.lock()?;
        let written = fs::write(&temporary, hash.as_bytes()).and_then(|()| fs::rename(&temporary, &mark));
        written.map_err(|source| {
            let _ = fs::remove_file(&temporary);
            store_error("write", &mark)(source)
        })
    }

    /// Returns whether both engines agreed on a run as it is stored now.
    pub fn is_verified(&self, id: &RunId) -> bool {
        let hash = self.place(id).hash(record::FILE);
        hash.is_ok_and(|hash| regular::read(&self.mark(id)).is_ok_and(|mark| mark == hash.as_bytes()))
    }

    /// Returns the place of the files of a run, whether they exist or not.
    pub(crate) fn place(&self, id: &RunId) -> RunPlace {
        let packed = self.packs(|packs| packs.run(id).cloned());
        packed.map_or_else(|| RunPlace::Directory(self.path(id)), RunPlace::Pack)
    }

    /// Returns whether a pack has a run, whole or not.
    pub(crate) fn is_packed(&self, id: &RunId) -> bool {
        self.packs(|packs| packs.run(id).is_some())
    }

    /// Looks for runs that others have put into packs since these were read.
    pub fn read_packs_again(&self) {
        self.packs(|packs| packs.read_on(&self.root));
    }

    /// Calls `of` with the packs, which are read when they are first needed.
    pub(crate) fn packs<T>(&self, of: impl FnOnce(&mut Packs) -> T) -> T {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        of(packs.get_or_insert_with(|| Packs::read(&self.root)))
    }

    fn mark(&self, id: &RunId) -> PathBuf {
        self.root.join(format!("{}.verified", id.as_str()))
    }

    /// Acquires the directory's lock, held until the file is dropped; dead processes hold no lock.
    pub(crate) fn lock(&self) -> Result<File, StoreError> {
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
    pub(crate) fn move_aside(&self, id: &RunId) -> Result<(), StoreError> {
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

/// Treats a removal as successful if another process did it: a writer that finds its run published removes its own
/// temporary directory without the lock.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Returns a name that no other writer uses: `<prefix><run>-<pid>-<n>`.
pub(crate) fn fresh_name(prefix: &str, id: &RunId) -> String {
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
