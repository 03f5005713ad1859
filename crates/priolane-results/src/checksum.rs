//! JSON files with a checksum of their content: `run.json`, and `grid.json` and `report.json` of Python.
//!
//! The last member of the object is `"file_sha256"`: the SHA-256 of the whole file, as 64 lower-case hexadecimal
//! digits, computed with these 64 digits replaced by zeros. It detects any changed byte. The checksum protects against
//! damage and careless edits, not against deliberate forgery.

use sha2::{Digest as _, Sha256};

use crate::digest::hex;

/// The member that contains the checksum.
pub const KEY: &str = "file_sha256";

const DIGITS: usize = 64;

/// The reason why a text is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChecksumError {
    /// There is no checksum: another program or version wrote the file, or it is truncated.
    #[error("it has no checksum: it is truncated, or another version of priolane wrote it")]
    Missing,
    /// The checksum does not match the content.
    #[error("its checksum does not match its content: it has changed since it was written")]
    Mismatch,
}

/// Returns the JSON object `text` with its checksum as the last member, on a separate line if the object has several
/// lines.
///
/// Returns `None` if `text` is not an object with at least one member, judging by its braces.
pub fn with_checksum(text: &str) -> Option<String> {
    let members = text.trim().strip_suffix('}')?.trim_end();
    if !members.starts_with('{') || members.len() == 1 {
        return None;
    }
    let (indent, end) = match members.split_once("\n") {
        Some((_, rest)) => {
            let width = rest.len() - rest.trim_start_matches(' ').len();
            (format!("\n{}", " ".repeat(width)), "\n}\n")
        }
        None => (String::new(), "}"),
    };
    let blank = format!("{members},{indent}\"{KEY}\":{}\"{}\"{end}", space(&indent), "0".repeat(DIGITS));
    let digits = hex(&Sha256::digest(blank.as_bytes()));
    let at = blank.len() - end.len() - 1 - DIGITS;
    Some(format!("{}{digits}{}", &blank[..at], &blank[at + DIGITS..]))
}

fn space(indent: &str) -> &'static str {
    if indent.is_empty() { "" } else { " " }
}

/// Verifies the checksum at the end of `text`.
///
/// # Errors
/// There is no checksum, or it does not match.
pub fn verify(text: &[u8]) -> Result<(), ChecksumError> {
    let at = digits_at(text).ok_or(ChecksumError::Missing)?;
    let mut hash = Sha256::new();
    hash.update(&text[..at]);
    hash.update([b'0'; DIGITS]);
    hash.update(&text[at + DIGITS..]);
    let matches = hex(&hash.finalize()).as_bytes() == &text[at..at + DIGITS];
    if matches { Ok(()) } else { Err(ChecksumError::Mismatch) }
}

/// Returns the offset of the checksum's digits: they end the text, up to the closing quote, brace and white space.
fn digits_at(text: &[u8]) -> Option<usize> {
    let object = text.trim_ascii_end().strip_suffix(b"}")?;
    let value = object.trim_ascii_end().strip_suffix(b"\"")?;
    let at = value.len().checked_sub(DIGITS)?;
    let before = value[..at].strip_suffix(b"\"")?.trim_ascii_end().strip_suffix(b":")?;
    let hexadecimal = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    let key = format!("\"{KEY}\"");
    (before.ends_with(key.as_bytes()) && value[at..].iter().all(hexadecimal)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\n  \"a\": 1.25,\n  \"b\": []\n}";

    #[test]
    fn the_checksum_is_of_the_file_with_its_digits_zero() {
        for text in [LINES, "{\"a\":1.25}"] {
            let written = with_checksum(text).unwrap();
            let at = digits_at(written.as_bytes()).unwrap();
            let blank = format!("{}{}{}", &written[..at], "0".repeat(64), &written[at + 64..]);
            assert_eq!(&written[at..at + 64], hex(&Sha256::digest(blank.as_bytes())));
            assert_eq!(verify(written.as_bytes()), Ok(()));
            let value: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!((value["a"].as_f64(), value[KEY].as_str()), (Some(1.25), Some(&written[at..at + 64])));
        }
        assert!(with_checksum(LINES).unwrap().contains("\n  \"file_sha256\": \""));
    }

    #[test]
    fn a_change_of_any_byte_is_noticed() {
        let written = with_checksum(LINES).unwrap().into_bytes();
        for at in 0..written.len() {
            for bit in 0..8 {
                let mut damaged = written.clone();
                damaged[at] ^= 1 << bit;
                assert!(verify(&damaged).is_err(), "bit {bit} of byte {at}");
            }
            assert!(verify(&written[..at]).is_err(), "cut off at byte {at}");
        }
        assert!(verify(&[&written[..], b"\n"].concat()).is_err());
    }

    #[test]
    fn what_is_no_object_has_no_checksum() {
        for text in ["", "{}", "[1]", "}", "3"] {
            assert_eq!(with_checksum(text), None, "{text}");
            assert_eq!(verify(text.as_bytes()), Err(ChecksumError::Missing), "{text}");
        }
    }
}
