//! Tables as Parquet files: written in batches and hashed on the fly, read back by column.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::record::FileRecord;
use crate::regular;
use crate::rows::{BATCH, Rows, Table};

/// A writer that hashes and counts the bytes written.
#[derive(Debug)]
struct HashingWriter<W> {
    inner: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0 }
    }

    pub(crate) fn finish(self, name: &str) -> (W, FileRecord) {
        let sha256 = hex(&self.hash.finalize());
        (self.inner, FileRecord { name: name.to_owned(), bytes: self.bytes, sha256 })
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(data)?;
        self.hash.update(&data[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a table to `file`.
pub(crate) fn write(table: Table, rows: &Rows, file: File) -> io::Result<FileRecord> {
    let written = write_batches(table.schema(), rows.batches(table), HashingWriter::new(file))?;
    Ok(written.finish(&table.file()).1)
}

/// Returns a table as the content of its file.
pub(crate) fn to_bytes(table: Table, rows: &Rows) -> io::Result<(Vec<u8>, FileRecord)> {
    let written = write_batches(table.schema(), rows.batches(table), HashingWriter::new(Vec::new()))?;
    Ok(written.finish(&table.file()))
}

/// Writes a batch, a whole table, to `out`, which it returns.
///
/// # Errors
/// An error of `out`.
pub fn write_batch<W: Write + Send>(batch: &RecordBatch, out: W) -> io::Result<W> {
    write_batches(batch.schema(), std::iter::once(batch.clone()), out)
}

/// Writes batches of rows of one schema to `out`, which it returns.
fn write_batches<W: Write + Send>(
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
    out: W,
) -> io::Result<W> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("priolane".to_owned())
        .set_max_row_group_row_count(Some(BATCH * 16))
        .build();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(plain)?;
    for batch in batches {
        writer.write(&batch).map_err(plain)?;
    }
    writer.into_inner().map_err(plain)
}

/// Iterator over the batches of a table.
#[derive(Debug)]
pub struct Batches(ParquetRecordBatchReader);

impl Iterator for Batches {
    type Item = io::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)))
    }
}

/// Iterates over the batches of a table's file in a run's directory.
pub fn read(directory: &Path, table: Table) -> io::Result<Batches> {
    read_file(&directory.join(table.file()))
}

/// Iterates over the batches of the table in a file.
///
/// # Errors
/// A file that cannot be read, or is not a table.
pub fn read_file(path: &Path) -> io::Result<Batches> {
    batches(regular::open(path)?)
}

/// Iterates over the batches of the table in `source`.
pub(crate) fn batches<R: ChunkReader + 'static>(source: R) -> io::Result<Batches> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(source).map_err(plain)?;
    Ok(Batches(builder.with_batch_size(BATCH).build().map_err(plain)?))
}

/// Returns the metadata of the table in a file.
///
/// # Errors
/// A file that cannot be read, or is not a table.
pub fn metadata(path: &Path) -> io::Result<BTreeMap<String, String>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(regular::open(path)?).map_err(plain)?;
    let stated = builder.schema().metadata();
    Ok(stated.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
}

/// Extracts the I/O error from a Parquet error, so that errors such as a full disk are reported as such.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}
