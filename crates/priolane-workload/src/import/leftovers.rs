//! Temporary files of imports that were killed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use priolane_source::create_temporary;

/// Returns the temporary files of `path` that processes which have ended left beside it. The name of each has the number
/// of its process: `.NAME.PROCESS.part`.
///
/// # Errors
/// Those of the system.
pub(super) fn find(path: &Path) -> io::Result<Vec<PathBuf>> {
    let name = path.file_name().unwrap_or_default();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_left = |name: &OsStr, of: &OsStr| {
        let process = process_of(name, of);
        process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists())
    };
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(entries.filter(|entry| is_left(&entry.file_name(), name)).map(|entry| entry.path()).collect())
}

/// Creates the temporary file of `path`, and removes those that processes which have ended left beside it.
///
/// # Errors
/// Those of the system.
pub(super) fn create(temporary: &Path, path: &Path) -> io::Result<File> {
    for left in find(path)? {
        // Another import may have removed it.
        let _ = fs::remove_file(left);
    }
    create_temporary(temporary)
}

/// Returns the process of a temporary file of `path`; `None` if `name` is that of another file.
fn process_of(name: &OsStr, path: &OsStr) -> Option<u32> {
    let (name, path) = (name.to_str()?, path.to_str()?);
    name.strip_prefix('.')?.strip_prefix(path)?.strip_prefix('.')?.strip_suffix(".part")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_files_of_ended_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // Numbers of processes end below 2^22.
        let ended = 1 << 30;
        let kept = [format!(".x.csv.{own}.part"), format!(".y.csv.{ended}.part"), ".x.csv.z.part".to_owned()];
        for name in kept.iter().chain(&[format!(".x.csv.{ended}.part")]) {
            File::create(dir.path().join(name)).unwrap();
        }
        create(&dir.path().join(".x.csv.7.part"), &dir.path().join("x.csv")).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut expected: Vec<std::ffi::OsString> = kept.iter().map(Into::into).collect();
        expected.push(".x.csv.7.part".into());
        expected.sort();
        assert_eq!(left, expected);
    }
}
