//! Files of this program in directories that others may write to: temporary files and locks.
//!
//! Their names can be guessed. A link that somebody has put in such a place must not lead a write to another file, and a
//! FIFO there must not make the program wait.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Creates the file at `path`, and replaces any file of that name: a link is removed, not followed.
///
/// # Errors
/// Those of the system, for example if a directory stands there, or if somebody creates a file there at the same time.
pub fn create_temporary(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Opens the file at `path` for locking, and creates it if it is missing.
///
/// # Errors
/// Those of the system, and [`io::ErrorKind::InvalidInput`] if anything but a regular file stands there.
pub fn open_lock(path: &Path) -> io::Result<File> {
    open(path, File::options().create(true).append(true))
}

/// Opens the file at `path`, which must exist, for locking.
///
/// # Errors
/// As for [`open_lock`].
pub fn open_existing_lock(path: &Path) -> io::Result<File> {
    open(path, File::options().read(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "the path does not name a regular file");
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(refused()),
        _ => {}
    }
    // Another file may take its place in between.
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_temporary_file_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, place) = (folder.path().join("victim"), folder.path().join(".x.tmp"));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &place).unwrap();
        create_temporary(&place).unwrap().set_len(7).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::symlink_metadata(&place).unwrap().len(), 7);
        // That of an earlier process of the same number.
        create_temporary(&place).unwrap();
        assert_eq!(fs::symlink_metadata(&place).unwrap().len(), 0);
    }

    #[test]
    fn a_lock_is_a_regular_file_and_opening_it_waits_for_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        open_lock(&place("lock")).unwrap().try_lock().unwrap();
        open_existing_lock(&place("lock")).unwrap().try_lock().unwrap();
        symlink(place("lock"), place("link")).unwrap();
        fs::create_dir(place("directory")).unwrap();
        std::process::Command::new("mkfifo").arg(place("fifo")).status().unwrap();
        for name in ["link", "directory", "fifo"] {
            for open in [open_lock, open_existing_lock] {
                assert_eq!(open(&place(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
            }
        }
        assert_eq!(open_existing_lock(&place("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
