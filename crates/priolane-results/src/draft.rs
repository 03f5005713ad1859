//! A run being written: in a temporary directory that gets the name of the run, or in memory until it is in a pack.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::record::{self, FileRecord, RunRecord};
use crate::rows::{Rows, Table};
use crate::store::{Chunk, OWNER, RunId, RunPlace, Store, StoreError, TEMPORARY, fresh_name, store_error};
use crate::tables;

/// Packet-hops of a run that is synced to disk, about a third of a second of one core.
const WORTH_SYNCING: u64 = 10_000_000;
/// Packet-hops from which a run has a directory of its own, in a store with packs: some 50 ms of one core.
const WORTH_A_DIRECTORY: u64 = 1_000_000;
/// Bytes from which it has one whatever it took: a run may take many samples.
const LARGE: usize = 1 << 20;

/// The result of publishing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The run is now in the directory.
    New,
    /// Another process published the same run in the meantime; this one was discarded.
    AlreadyThere,
}

/// A run being written. If dropped unpublished, it is removed.
#[derive(Debug)]
pub struct Draft {
    store: Store,
    id: RunId,
    files: Vec<FileRecord>,
    place: DraftPlace,
}

#[derive(Debug)]
enum DraftPlace {
    Directory(Temporary),
    Pack(Chunk),
}

/// A temporary directory, which is removed when it is dropped unless it has been renamed.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    /// Locked until the draft is dropped. It gets the record: a file created and removed for each of a thousand
    /// runs takes a third of the kernel's time, as ext4 does not reuse inodes that were just removed.
    owner: File,
}

impl Draft {
    /// Starts writing a run, whose record it will be but for the list of files. A small run gets a place in a pack if the
    /// store has packs, another one a temporary directory.
    pub fn begin_for(store: &Store, id: &RunId, record: &RunRecord) -> Result<Self, StoreError> {
        // A run whose files in a pack are damaged has a place in a pack again, which comes before directories.
        let is_small = record.counters.packet_hops < WORTH_A_DIRECTORY;
        if store.has_packs() && is_small || store.is_packed(id) {
            return Ok(Self::in_pack(store, id));
        }
        Self::begin(store, id)
    }

    /// Starts writing a run in a temporary directory of the store.
    pub fn begin(store: &Store, id: &RunId) -> Result<Self, StoreError> {
        let _lock = store.lock()?;
        let path = store.root().join(fresh_name(TEMPORARY, id));
        fs::create_dir(&path).map_err(store_error("create", &path))?;
        let owner_path = path.join(OWNER);
        let owner = File::create_new(&owner_path).map_err(store_error("create", &owner_path))?;
        let temporary = Temporary { path, owner };
        temporary.owner.lock().map_err(store_error("lock", &owner_path))?;
        Ok(Self {
            store: store.clone(),
            id: id.clone(),
            files: Vec::new(),
            place: DraftPlace::Directory(temporary),
        })
    }

    /// Starts writing a run that goes into a pack of the store.
    fn in_pack(store: &Store, id: &RunId) -> Self {
        let place = DraftPlace::Pack(Chunk::new(id));
        Self { store: store.clone(), id: id.clone(), files: Vec::new(), place }
    }

    /// Writes one table.
    pub fn write(&mut self, table: Table, rows: &Rows) -> Result<(), StoreError> {
        let path = self.path(&table.file());
        let failed = store_error("write", &path);
        let written = match &mut self.place {
            DraftPlace::Directory(_) => {
                let file = File::create_new(&path).map_err(store_error("create", &path))?;
                tables::write(table, rows, file)
            }
            DraftPlace::Pack(chunk) => tables::to_bytes(table, rows).and_then(|(content, file)| {
                chunk.add(&file.name, &content)?;
                Ok(file)
            }),
        };
        self.files.push(written.map_err(failed)?);
        Ok(())
    }

    /// Writes a table that was produced elsewhere; `file` describes its content, which was verified.
    pub fn put(&mut self, file: &FileRecord, content: &[u8]) -> Result<(), StoreError> {
        let path = self.path(&file.name);
        let written = match &mut self.place {
            DraftPlace::Directory(_) => {
                File::create_new(&path).and_then(|mut created| created.write_all(content))
            }
            DraftPlace::Pack(chunk) => chunk.add(&file.name, content),
        };
        written.map_err(store_error("write", &path))?;
        self.files.push(file.clone());
        Ok(())
    }

    /// Reuses a table of the same run in the store `from`: as a hard link if both are in directories and that is possible,
    /// else as a copy.
    pub fn copy(&mut self, from: &Store, file: &FileRecord) -> Result<(), StoreError> {
        let place = from.place(&self.id);
        let here = self.path(&file.name);
        if matches!((&self.place, &place), (DraftPlace::Directory(_), RunPlace::Directory(_))) {
            let there = place.path(&file.name);
            fs::hard_link(&there, &here)
                .or_else(|_| fs::copy(&there, &here).map(drop))
                .map_err(store_error("write", &here))?;
            self.files.push(file.clone());
            return Ok(());
        }
        let content = place.read_table(&file.name).map_err(store_error("read", &place.path(&file.name)))?;
        self.put(file, &content)
    }

    /// Writes the record with the list of files, which becomes `run.json`, and makes the run visible.
    pub fn publish(mut self, record: &mut RunRecord) -> Result<PublishOutcome, StoreError> {
        record.files = std::mem::take(&mut self.files);
        let path = self.path(record::FILE);
        let text = record.to_text().map_err(store_error("write", &path))?;
        let Self { store, id, place, .. } = self;
        match place {
            DraftPlace::Directory(temporary) => temporary.publish((&store, &id), record, &text),
            DraftPlace::Pack(chunk) if chunk.bytes() > LARGE && !store.is_packed(&id) => {
                let mut draft = Self::begin(&store, &id)?;
                for file in &record.files {
                    draft.put(file, chunk.content(&file.name))?;
                }
                draft.publish(record)
            }
            DraftPlace::Pack(mut chunk) => {
                chunk.add(record::FILE, text.as_bytes()).map_err(store_error("write", &path))?;
                let _lock = store.lock()?;
                if store.accept(&id).is_some() {
                    return Ok(PublishOutcome::AlreadyThere);
                }
                store.packs(|packs| packs.append(store.root(), chunk))?;
                Ok(PublishOutcome::New)
            }
        }
    }

    /// Returns the path of a file that is being written; for messages, where it goes into a pack.
    fn path(&self, name: &str) -> PathBuf {
        match &self.place {
            DraftPlace::Directory(temporary) => temporary.path.join(name),
            DraftPlace::Pack(_) => self.store.path(&self.id).join(name),
        }
    }
}

impl Temporary {
    /// Writes the record and renames the directory to the name of the run.
    fn publish(
        &self,
        (store, id): (&Store, &RunId),
        record: &RunRecord,
        text: &str,
    ) -> Result<PublishOutcome, StoreError> {
        let owner = self.path.join(OWNER);
        (&self.owner).write_all(text.as_bytes()).map_err(store_error("write", &owner))?;
        let is_synced = took_long(record);
        let files = record.files.iter().map(|file| file.name.as_str()).chain([OWNER]);
        for file in files.filter(|_| is_synced) {
            let path = self.path.join(file);
            sync(&path).map_err(store_error("write", &path))?;
        }
        let _lock = store.lock()?;
        if store.accept(id).is_some() {
            return Ok(PublishOutcome::AlreadyThere);
        }
        fs::rename(&owner, self.path.join(record::FILE)).map_err(store_error("create", &owner))?;
        if is_synced {
            sync_directory(&self.path).map_err(store_error("write", &self.path))?;
        }
        store.move_aside(id)?;
        let place = store.path(id);
        fs::rename(&self.path, &place).map_err(store_error("create", &place))?;
        if is_synced {
            sync_directory(store.root()).map_err(store_error("write", store.root()))?;
        }
        Ok(PublishOutcome::New)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After publishing the path is gone; after a failure the next `Store::open` tries again.
        let _ = fs::remove_dir_all(&self.path);
    }
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
