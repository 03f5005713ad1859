//! Result of a run executed elsewhere: its record and tables as one byte string.
//!
//! ```text
//! "priolane answer\n"                16 bytes
//! version of this format             1 byte
//! 1 if both engines agreed, else 0   1 byte
//! run.json, then each table that it lists, in its order: length (8 bytes, little endian), content
//! SHA-256 of everything before       32 bytes
//! ```

use std::io;

use sha2::{Digest as _, Sha256};

use crate::checksum;
use crate::digest::hex;
use crate::record::{self, FileRecord, RunRecord};
use crate::rows::{Rows, Table};
use crate::run_id::RunId;
use crate::store::Store;
use crate::tables;

const MAGIC: &[u8; 16] = b"priolane answer\n";
const FORMAT: u8 = 1;
const HASH: usize = 32;

/// A run that was executed elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteRun {
    /// Its record, including the list of files.
    pub record: RunRecord,
    /// Contents of its files, in the order of the record.
    pub tables: Vec<Vec<u8>>,
    /// Whether both engines agreed on it.
    pub verified: bool,
}

/// The reason why bytes are not a valid answer.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// They do not start with the magic bytes.
    #[error("the answer is not from priolane: its {0} bytes have no valid header")]
    Foreign(usize),
    /// Another version wrote it.
    #[error("the answer has format {0}, but this priolane reads format {FORMAT}: install the same version")]
    Format(u8),
    /// The bytes were modified or truncated.
    #[error("the answer is damaged: {0}")]
    Damaged(String),
}

impl RemoteRun {
    /// Creates the answer of a run on one engine.
    ///
    /// # Errors
    /// A table cannot be written as Parquet.
    pub fn new(mut record: RunRecord, rows: &Rows) -> io::Result<Self> {
        let mut tables = Vec::new();
        record.files.clear();
        for table in rows.tables() {
            let (content, file) = tables::to_bytes(table, rows)?;
            record.files.push(file);
            tables.push(content);
        }
        Ok(Self { record, tables, verified: false })
    }

    /// Returns the answer that a store has of a run that was simulated; `None` if it has none, or not all of it.
    pub fn stored(store: &Store, id: &RunId) -> Option<Self> {
        store.read_packs_again();
        let record = store.accept(id).filter(|record| record.measured.is_none())?;
        let tables = record.files.iter().map(|file| store.read_table(id, &file.name));
        let tables: Vec<_> = tables.collect::<io::Result<_>>().ok()?;
        let are_whole = record.files.iter().zip(&tables).all(|(file, content)| is_whole(content, file));
        are_whole.then(|| Self { verified: store.is_verified(id), record, tables })
    }

    /// Encodes the answer as bytes.
    ///
    /// # Errors
    /// A value of the record cannot be represented in JSON.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let text = self.record.to_text()?;
        let mut out = MAGIC.to_vec();
        out.extend([FORMAT, u8::from(self.verified)]);
        for part in std::iter::once(text.as_bytes()).chain(self.tables.iter().map(Vec::as_slice)) {
            out.extend((part.len() as u64).to_le_bytes());
            out.extend(part);
        }
        let hash = Sha256::digest(&out);
        out.extend(hash);
        Ok(out)
    }

    /// Decodes the output of [`Self::encode`].
    ///
    /// # Errors
    /// The bytes are something else, of another version, or modified.
    pub fn decode(bytes: &[u8]) -> Result<Self, AnswerError> {
        let damaged = |what: &str| AnswerError::Damaged(what.to_owned());
        let rest = bytes.strip_prefix(MAGIC).ok_or(AnswerError::Foreign(bytes.len()))?;
        let (&format, rest) = rest.split_first().ok_or_else(|| damaged("it ends after its first line"))?;
        if format != FORMAT {
            return Err(AnswerError::Format(format));
        }
        let end = bytes.len().saturating_sub(HASH);
        let body = rest.len().checked_sub(HASH).and_then(|body| rest.get(..body));
        let body = body.ok_or_else(|| damaged("its end is missing"))?;
        if Sha256::digest(&bytes[..end])[..] != bytes[end..] {
            return Err(damaged("its checksum does not match its content"));
        }
        let (&verified, mut parts) = body.split_first().ok_or_else(|| damaged("it is empty"))?;
        let text = part(&mut parts).ok_or_else(|| damaged("it has no record"))?;
        checksum::verify(text).map_err(|error| AnswerError::Damaged(format!("{}: {error}", record::FILE)))?;
        let record: RunRecord = serde_json::from_slice(text)
            .map_err(|error| AnswerError::Damaged(format!("{}: {error}", record::FILE)))?;
        let mut tables = Vec::new();
        for file in &record.files {
            let content = part(&mut parts).filter(|content| is_whole(content, file));
            let content =
                content.ok_or_else(|| AnswerError::Damaged(format!("{} is incomplete", file.name)))?;
            tables.push(content.to_vec());
        }
        let listed = |table: &Table| record.files.iter().any(|file| file.name == table.file());
        if !parts.is_empty() || !Table::ALL.iter().all(listed) {
            return Err(damaged("it does not have the tables of a run"));
        }
        Ok(Self { record, tables, verified: verified != 0 })
    }
}

/// Removes and returns the next part of `rest`.
fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let (found, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(found)
}

fn is_whole(content: &[u8], file: &FileRecord) -> bool {
    let known = Table::of_file(&file.name).is_some();
    known && content.len() as u64 == file.bytes && hex(&Sha256::digest(content)) == file.sha256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_its_checksum_is_damaged_although_the_answer_is_whole() {
        let text = b"{}";
        let mut bytes = MAGIC.to_vec();
        bytes.extend([FORMAT, 0]);
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        let hash = Sha256::digest(&bytes);
        bytes.extend(hash);
        let why = format!("{}: {}", record::FILE, checksum::verify(text).unwrap_err());
        let found = RemoteRun::decode(&bytes).unwrap_err().to_string();
        assert_eq!(found, format!("the answer is damaged: {why}"));
    }
}
