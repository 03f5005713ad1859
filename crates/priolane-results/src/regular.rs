//! Opening files of results, which are regular files, without waiting and within a bound.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Maximum size of a JSON file of results, in bytes: 256 MiB. The note of a grid of 100,000 runs has about 20 MiB.
pub const JSON_LIMIT: u64 = 256 << 20;

/// Opens the regular file at `path` for reading.
///
/// # Errors
/// Those of the system, and [`io::ErrorKind::InvalidInput`] for a directory, a FIFO, a device or a socket. These are
/// refused before they are opened, since opening a FIFO waits for another process.
pub fn open(path: &Path) -> io::Result<File> {
    require_regular(&fs::metadata(path)?)?;
    // The file may be replaced in between.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads the regular file at `path`, of at most [`JSON_LIMIT`] bytes.
///
/// # Errors
/// As for [`open`], and [`io::ErrorKind::InvalidInput`] for a larger file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(JSON_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > JSON_LIMIT {
        return Err(invalid(format!("the file is larger than {JSON_LIMIT} bytes")));
    }
    Ok(bytes)
}

fn require_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(invalid("the path does not name a regular file".to_owned())) }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_directories_and_endless_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let large = dir.path().join("large");
        File::create(&large).unwrap().set_len(JSON_LIMIT + 1).unwrap();
        for path in [Path::new("/dev/zero"), dir.path(), &large] {
            assert_eq!(read(path).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        }
        assert_eq!(read(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        File::create(&large).unwrap();
        assert_eq!(read(&large).unwrap(), b"");
    }
}
