//! Opening and reading input files, within bounds.

use std::fs::{File, FileType};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::{InputError, Origin};

/// Maximum size of an experiment, scheme, size or topology file: 1 MiB.
pub const SIZE_LIMIT: u64 = 1 << 20;

/// Maximum size of a flow list: 256 MiB.
pub const FLOW_LIST_LIMIT: u64 = 256 << 20;

/// Opens the regular file at `path` for reading; `shown` is its name in messages.
///
/// # Errors
/// If it cannot be opened, or is a directory, a FIFO, a device or a socket. These are rejected before opening, since
/// opening may block until another process opens the other end.
pub fn open(path: &Path, shown: &str) -> Result<File, InputError> {
    let origin = Origin { file: shown.into(), line: None };
    let unreadable = |error: std::io::Error| {
        origin.error("", format!("the file cannot be read: {error}"), "the path of a readable text file")
    };
    let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if !kind.is_file() {
        return Err(origin.error("", format!("the path names {}, not a regular file", name(kind)), FIX));
    }
    // The file may be replaced in between, also by a FIFO, whose opening would wait without `O_NONBLOCK`.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(unreadable)?;
    let kind = file.metadata().map_err(unreadable)?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(origin.error("", format!("the path names {}, not a regular file", name(kind)), FIX))
}

const FIX: &str = "the path of a text file";

/// Returns the kind of a file, for messages.
fn name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    "a special file"
}

/// Reads the text file at `path`, of at most `limit` bytes; `shown` is its name in messages.
pub fn read_text(path: &Path, shown: &str, limit: u64) -> Result<String, InputError> {
    let origin = Origin { file: shown.into(), line: None };
    let mut bytes = Vec::new();
    open(path, shown)?.take(limit + 1).read_to_end(&mut bytes).map_err(|error| {
        origin.error("", format!("the file cannot be read: {error}"), "the path of a readable text file")
    })?;
    if bytes.len() as u64 > limit {
        let what = format!("the file is larger than {limit} bytes");
        return Err(origin.error("", what, format!("a file of at most {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|&&b| b == b'\n').count() + 1;
        let origin = Origin { file: shown.into(), line: Some(line) };
        origin.error("", format!("byte {good} is not UTF-8"), "a text file in UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_limit_is_read_and_one_byte_more_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, "x", 5).unwrap(), "12345");
        assert_eq!(read_text(&path, "x", 4).unwrap_err().what, "the file is larger than 4 bytes");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_named_with_their_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for (text, line) in [(&b"\xff"[..], 1), (b"a\nb\xff", 2), (b"a\nb\n\xff\n", 3)] {
            std::fs::write(&path, text).unwrap();
            let error = read_text(&path, "x", 100).unwrap_err();
            assert_eq!((error.file.as_str(), error.line), ("x", Some(line)));
        }
    }

    #[test]
    fn devices_and_directories_are_refused_by_their_kind() {
        let what = |path: &Path| open(path, "x").unwrap_err().what;
        assert_eq!(what(Path::new("/dev/zero")), "the path names a device, not a regular file");
        assert_eq!(what(&std::env::temp_dir()), "the path names a directory, not a regular file");
    }
}
