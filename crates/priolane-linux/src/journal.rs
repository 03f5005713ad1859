//! The journal: a record on disk of everything that is made, written before it is made, so that a testbed can be
//! removed after its maker was killed.
//!
//! ```text
//! DIR/NAME/lock        locked by the process that makes, uses or removes the testbed
//! DIR/NAME/plan.json   the plan
//! DIR/NAME/journal     a line for each namespace before it is made, and one after: its name, its inode
//! DIR/NAME/*.o         marking programs
//! ```
//!
//! A namespace belongs to the testbed if its inode is in the journal, or if the journal says that it was about to be
//! made: the maker had checked before that no namespace had this name.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::{Name, TestbedPlan};

/// The directory of the testbeds of this machine. Like namespaces, the directory does not survive a restart.
pub const DIRECTORY: &str = "/run/priolane-linux";
/// The directory in which `ip netns` keeps names.
pub(crate) const NAMESPACES: &str = "/run/netns";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The namespace is about to be made.
    Make(String),
    /// The namespace was made.
    Made { name: String, inode: u64 },
}

/// The state of a namespace in the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The namespace was about to be made.
    Intended,
    /// The namespace was made and has this inode.
    Made(u64),
}

/// The journal of a testbed, locked.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    _lock: File,
}

/// The state of a testbed's journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JournalState {
    /// There is no journal.
    Nothing,
    /// There is a journal, and no process holds it.
    Free,
    /// A process holds the journal.
    Held,
}

/// Returns the inode of a namespace, or `None` if no namespace has this name.
pub fn inode(namespace: &str) -> Option<u64> {
    fs::metadata(Path::new(NAMESPACES).join(namespace)).ok().map(|namespace| namespace.ino())
}

/// The number of attempts to take a lock before it counts as held, and the time between two attempts.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// The number of attempts to take a lock that another process holds while it makes or removes the testbed: 20 s in all.
const TRIES: u32 = 2_000;

impl Journal {
    /// Returns the directory of a testbed below `root`.
    pub fn path(root: &Path, name: &Name) -> PathBuf {
        root.join(name.to_string())
    }

    /// Returns whether a testbed has a journal, and whether a process holds that journal.
    pub fn look(root: &Path, name: &Name) -> JournalState {
        let directory = Self::path(root, name);
        if !directory.join("journal").exists() {
            return JournalState::Nothing;
        }
        let Ok(lock) = File::open(directory.join("lock")) else { return JournalState::Free };
        // A child of the last holder has the lock until it executes its program.
        for _ in 0..LOOKS {
            if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
                return JournalState::Free;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        JournalState::Held
    }

    fn lock(directory: &Path) -> io::Result<File> {
        let lock = File::options().create(true).append(true).open(directory.join("lock"))?;
        for _ in 0..TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_LOOKS),
            }
        }
        let what =
            format!("another process has held the testbed for {} s", (BETWEEN_LOOKS * TRIES).as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, what))
    }

    /// Creates the journal of a testbed.
    ///
    /// # Errors
    /// Returns `AlreadyExists` if there is a journal, or the error of the system.
    pub fn create(root: &Path, plan: &TestbedPlan) -> io::Result<Self> {
        // Whoever removes what a killed process left may take the directory away before it is locked.
        for _ in 0..LOOKS {
            match Self::try_create(root, plan) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                created => return created,
            }
        }
        Self::try_create(root, plan)
    }

    fn try_create(root: &Path, plan: &TestbedPlan) -> io::Result<Self> {
        let directory = Self::path(root, &plan.name);
        if directory.join("journal").exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::create_dir_all(&directory)?;
        let lock = Self::lock(&directory)?;
        let text = serde_json::to_string(plan).map_err(io::Error::other)?;
        // Whoever removed it meanwhile removed the lock as well.
        File::create_new(directory.join("journal"))?.sync_all()?;
        let journal = Self { directory, _lock: lock };
        let written = fs::write(journal.directory.join("plan.json"), text);
        written.inspect_err(|_| journal.forget())?;
        Ok(journal)
    }

    /// Opens the journal of a testbed, once no other process holds it.
    ///
    /// # Errors
    /// Returns `NotFound` if there is no journal, or the error of the system.
    pub fn open(root: &Path, name: &Name) -> io::Result<Self> {
        let directory = Self::path(root, name);
        fs::metadata(directory.join("journal"))?;
        let lock = Self::lock(&directory)?;
        fs::metadata(directory.join("journal"))?;
        Ok(Self { directory, _lock: lock })
    }

    /// Returns the directory of the journal.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the plan of a testbed below `root`.
    ///
    /// # Errors
    /// Returns the error of the system, or an error if the file does not contain a plan.
    pub fn plan(root: &Path, name: &Name) -> io::Result<TestbedPlan> {
        let text = fs::read(Self::path(root, name).join("plan.json"))?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    fn write(&self, line: &Line) -> io::Result<()> {
        let mut file = File::options().append(true).open(self.directory.join("journal"))?;
        let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.sync_data()
    }

    /// Records that a namespace is about to be made.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn intend(&self, namespace: &str) -> io::Result<()> {
        self.write(&Line::Make(namespace.to_owned()))
    }

    /// Records that a namespace was made.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn record_namespace(&self, namespace: &str) -> io::Result<()> {
        let inode = inode(namespace).ok_or(io::ErrorKind::NotFound)?;
        self.write(&Line::Made { name: namespace.to_owned(), inode })
    }

    /// Returns all entries by namespace. A last line that was cut off when its writer was killed is ignored.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn entries(&self) -> io::Result<BTreeMap<String, Entry>> {
        let mut entries = BTreeMap::new();
        for line in fs::read_to_string(self.directory.join("journal"))?.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Make(name)) => drop(entries.insert(name, Entry::Intended)),
                Ok(Line::Made { name, inode }) => drop(entries.insert(name, Entry::Made(inode))),
                Err(_) => {}
            }
        }
        Ok(entries)
    }

    /// Removes the journal, after which no trace of the testbed is left.
    pub fn forget(&self) {
        // Where a file cannot be removed, `down` comes again.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns the names of the testbeds below `root`.
pub fn names(root: &Path) -> Vec<Name> {
    let entries = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter(|entry| entry.path().join("journal").exists());
    let mut names: Vec<Name> =
        names.filter_map(|entry| Name::try_from(entry.file_name().into_string().ok()?).ok()).collect();
    names.sort_by_key(ToString::to_string);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::star;
    use crate::port::Port;

    #[test]
    fn what_was_noted_is_read_back_without_a_line_that_was_cut_off() {
        let root = tempfile::tempdir().unwrap();
        let plan = star(2, Port::fifo());
        let journal = Journal::create(root.path(), &plan).unwrap();
        journal.intend("prl-t-h0").unwrap();
        journal.write(&Line::Made { name: "prl-t-h0".to_owned(), inode: 7 }).unwrap();
        journal.intend("prl-t-h1").unwrap();
        let mut file = File::options().append(true).open(journal.directory().join("journal")).unwrap();
        file.write_all(b"{\"make\":\"prl-t-").unwrap();
        let entries = journal.entries().unwrap();
        let expected = [("prl-t-h0", Entry::Made(7)), ("prl-t-h1", Entry::Intended)];
        assert_eq!(entries, expected.map(|(name, entry)| (name.to_owned(), entry)).into());
        assert_eq!(Journal::plan(root.path(), &plan.name).unwrap(), plan);
    }

    #[test]
    fn a_testbed_has_one_journal_that_one_process_holds() {
        let root = tempfile::tempdir().unwrap();
        let plan = star(2, Port::fifo());
        assert_eq!(Journal::look(root.path(), &plan.name), JournalState::Nothing);
        let journal = Journal::create(root.path(), &plan).unwrap();
        assert_eq!(Journal::look(root.path(), &plan.name), JournalState::Held);
        assert_eq!(names(root.path()), std::slice::from_ref(&plan.name));
        drop(journal);
        assert_eq!(Journal::look(root.path(), &plan.name), JournalState::Free);
        let second = Journal::create(root.path(), &plan).map(drop).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::AlreadyExists);
        Journal::open(root.path(), &plan.name).unwrap().forget();
        assert_eq!(Journal::look(root.path(), &plan.name), JournalState::Nothing);
        assert_eq!(Journal::open(root.path(), &plan.name).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
