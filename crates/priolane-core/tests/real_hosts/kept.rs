//! Digests of all datagrams of a trial, and the file that holds them.

use std::fs;
use std::path::Path;

/// The variable that makes a test rewrite its file.
const WRITE: &str = "PRIOLANE_KEPT";

/// The 64-bit FNV-1a hash of bytes that come in parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    pub(crate) fn line(self, name: &str) -> String {
        format!("{name},{:016x}", self.0)
    }
}

/// Compares `lines` with the file `name` of `tests/kept`, or writes it.
pub(crate) fn assert_kept(name: &str, lines: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept").join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var(WRITE).is_ok_and(|value| value == "write") {
        return fs::write(&path, text).expect("the folder exists");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differ: Vec<&String> =
        lines.iter().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    assert!(
        differ.is_empty() && kept.lines().count() == lines.len(),
        "{differ:?} differ from {}: if hosts are meant to send other datagrams, write it with {WRITE}=write",
        path.display(),
    );
}
