//! Reading input files whole, within bounds.

use std::io::Read;
use std::path::Path;

use super::{InputError, Origin};

/// Largest experiment, scheme, size or topology file: 1 MiB.
pub const SIZE_LIMIT: u64 = 1 << 20;

/// Largest flow list: 256 MiB.
pub const FLOW_LIST_LIMIT: u64 = 256 << 20;

/// Reads the text file at `path`, of at most `limit` bytes; `shown` is its name in messages.
pub fn read_text(path: &Path, shown: &str, limit: u64) -> Result<String, InputError> {
    let origin = Origin { file: shown.into(), line: None };
    let unreadable = |error: std::io::Error| {
        origin.error("", format!("cannot be read: {error}"), "the path of a readable text file")
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(origin.error("", "this is no regular file", "the path of a text file"));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
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
