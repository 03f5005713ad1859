//! The remains of processes that were killed: names that no journal records.
//!
//! ```text
//! /run/netns/prl-probe-PID-N        a namespace in which a probe of an earlier version tried what the machine can
//! /tmp/prl-probe-PID-N.o            the marking program of such a probe
//! /run/priolane-linux/NAME          without a journal: its maker was killed before the first namespace, or its remover after the last
//! ```
//!
//! An object is a leftover if its name has one of these forms and its process has ended.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::child::user;
use crate::command::run;
use crate::journal::{DIRECTORY, NAMESPACES};
use crate::plan::{Name, PREFIX};

/// Something that a killed process left.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Leftover {
    /// A network namespace.
    Namespace(String),
    /// A file.
    File(PathBuf),
    /// A directory of a testbed without a journal.
    Directory(PathBuf),
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace(name) => write!(f, "network namespace {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Directory(path) => write!(f, "directory {}", path.display()),
        }
    }
}

/// The directories that may contain leftovers.
#[derive(Clone, Debug)]
struct Places {
    namespaces: PathBuf,
    files: PathBuf,
    testbeds: PathBuf,
}

impl Places {
    fn of_this_machine() -> Self {
        Self { namespaces: NAMESPACES.into(), files: std::env::temp_dir(), testbeds: DIRECTORY.into() }
    }

    /// Returns the leftovers in these directories, in order.
    fn find(&self, is_alive: impl Fn(u32) -> bool) -> Vec<Leftover> {
        let is_left = |name: &str| probe(name).is_some_and(|pid| !is_alive(pid));
        let namespaces = names(&self.namespaces).filter(|name| is_left(name)).map(Leftover::Namespace);
        let files = names(&self.files).filter(|name| name.strip_suffix(".o").is_some_and(is_left));
        let files =
            files.map(|name| self.files.join(name)).filter(|path| is_own_file(path)).map(Leftover::File);
        let testbeds = names(&self.testbeds).filter(|name| Name::try_from(name.clone()).is_ok());
        let testbeds = testbeds.map(|name| self.testbeds.join(name)).filter(|path| is_abandoned(path));
        let mut all: Vec<Leftover> =
            namespaces.chain(files).chain(testbeds.map(Leftover::Directory)).collect();
        all.sort();
        all
    }
}

fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Returns the process that a probe's name contains, or `None` if the name is not that of a probe.
fn probe(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix(PREFIX)?.strip_prefix("probe-")?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(pid) && is_number(number) { pid.parse().ok() } else { None }
}

/// Returns whether `path` is a plain file of this user and not a link, because the directory may belong to another
/// user.
fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.uid() == user())
}

/// Returns whether a directory is that of a testbed without a journal that no process makes or removes.
fn is_abandoned(path: &Path) -> bool {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if !is_directory || path.join("journal").exists() {
        return false;
    }
    // Whoever makes a testbed holds the lock before there is a journal, and starts again if the directory is taken away before.
    match File::open(path.join("lock")) {
        Ok(lock) => lock.try_lock().is_ok() && !path.join("journal").exists(),
        Err(_) => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
    }
}

/// Returns whether a process with this number runs.
fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Returns the leftovers on this machine.
pub fn find() -> Vec<Leftover> {
    Places::of_this_machine().find(is_alive)
}

/// Removes the leftovers on this machine, and returns those that were removed. A leftover that cannot be removed stays.
pub fn remove() -> Vec<Leftover> {
    let removed = |left: &Leftover| match left {
        Leftover::Namespace(name) => run(&["ip", "netns", "delete", name]).is_ok(),
        Leftover::File(path) => fs::remove_file(path).is_ok(),
        Leftover::Directory(path) => fs::remove_dir_all(path).is_ok(),
    };
    find().into_iter().filter(removed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_probes_whose_process_has_ended_are_left_over() {
        for (name, pid) in [
            ("prl-probe-12-0", Some(12)),
            ("prl-probe-4194304-17", Some(4_194_304)),
            ("prl-probe-12", None),
            ("prl-probe-12-0x", None),
            ("prl-probe--0", None),
            ("prl-probe-+2-0", None),
            ("prl-lab-h0", None),
            ("probe-12-0", None),
            ("prl-probe-99999999999-0", None),
        ] {
            assert_eq!(probe(name), pid, "{name}");
        }
        assert!(is_alive(std::process::id()));
    }

    #[test]
    fn what_is_left_is_found_and_what_is_in_use_or_somebody_elses_is_not() {
        let root = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = root.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let places = Places { namespaces: place("netns"), files: place("tmp"), testbeds: place("run") };
        for name in ["prl-probe-7-0", "prl-probe-8-0", "prl-lab-h0", "other"] {
            fs::write(places.namespaces.join(name), "").unwrap();
        }
        for name in ["prl-probe-7-1.o", "prl-probe-8-0.o", "prl-probe-7-2", "notes.o"] {
            fs::write(places.files.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", places.files.join("prl-probe-7-3.o")).unwrap();
        fs::create_dir(places.files.join("prl-probe-7-4.o")).unwrap();
        let testbed = |name: &str, files: &[&str]| {
            let path = places.testbeds.join(name);
            fs::create_dir(&path).unwrap();
            files.iter().for_each(|file| fs::write(path.join(file), "").unwrap());
            path
        };
        let abandoned = testbed("gone", &["lock", "plan.json"]);
        testbed("lab", &["lock", "journal"]);
        let empty = testbed("empty", &[]);
        testbed("No Name", &["lock"]);
        testbed("other", &["notes"]);
        let held = testbed("held", &["lock"]);
        let lock = File::open(held.join("lock")).unwrap();
        lock.try_lock().unwrap();
        let expected = vec![
            Leftover::Namespace("prl-probe-7-0".to_owned()),
            Leftover::File(places.files.join("prl-probe-7-1.o")),
            Leftover::Directory(empty),
            Leftover::Directory(abandoned),
        ];
        assert_eq!(places.find(|pid| pid == 8), expected);
        assert_eq!(expected[0].to_string(), "network namespace prl-probe-7-0");
    }
}
