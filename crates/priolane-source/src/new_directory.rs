//! Directories that are removed again unless a file was written into them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directories that [`NewDirectory::create`] has made. Dropping the value removes those that are still empty, so
/// that a full disk leaves no empty directory.
#[derive(Debug, Default)]
pub struct NewDirectory {
    /// From the outermost to the innermost.
    made: Vec<PathBuf>,
}

impl NewDirectory {
    /// Creates the directory `path` and its missing parents.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be created; those that were created are then removed.
    pub fn create(path: &Path) -> io::Result<Self> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        missing.reverse();
        let mut new = Self::default();
        for path in missing {
            match fs::create_dir(path) {
                Ok(()) => new.made.push(path.to_owned()),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(new)
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        for path in self.made.iter().rev() {
            // This fails for a directory that has a file, which is meant.
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_new_directories_are_removed_and_others_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        drop(NewDirectory::create(&deep).unwrap());
        assert!(!folder.path().join("a").exists());

        fs::create_dir(folder.path().join("a")).unwrap();
        let new = NewDirectory::create(&deep).unwrap();
        fs::write(folder.path().join("a/b/file"), "").unwrap();
        drop(new);
        assert!(folder.path().join("a/b/file").exists());
        assert!(!deep.exists());

        drop(NewDirectory::create(&folder.path().join("a")).unwrap());
        assert!(folder.path().join("a").exists(), "the directory was there before");
    }

    #[test]
    fn what_was_made_before_a_failure_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(NewDirectory::create(&folder.path().join("file/x")).is_err());
        let name = "n".repeat(300);
        assert!(NewDirectory::create(&folder.path().join("a/b").join(name)).is_err());
        assert!(!folder.path().join("a").exists());
    }
}
