//! Writes the files of a trace: first under temporary names, then synced to disk, then renamed.
//!
//! A temporary file, `.trace-N.parquet.<pid>.tmp`, is locked by its writer. An unlocked one was left by a killed
//! writer; the next trace into the directory removes it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use priolane_results::RecordBatch;
use priolane_sim::trace::Trace;

use super::capture::{self, CapturedPacket};
use super::table;
use super::traced_flow::TracedFlow;
use crate::plan::Run;
use priolane_results::store::{StoreError, output_error};
use priolane_results::tables::write_batch;
use priolane_source::{NewDirectory, create_temporary, open_existing_lock};

/// Extension of temporary files.
const TEMPORARY: &str = ".tmp";

/// A file under its temporary name. It is removed if dropped before it is published.
#[derive(Debug)]
struct Draft {
    temporary: PathBuf,
    place: PathBuf,
    /// The temporary file, locked.
    file: File,
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After publishing, the path no longer exists.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes hops and state of a trace of all flows below `dir`, which is created if missing, and removed again if they
/// cannot be written; returns their paths.
pub(super) fn write_network(
    run: &Run,
    ports: &[String],
    trace: &Trace,
    digest: &str,
    dir: &Path,
) -> Result<[PathBuf; 2], StoreError> {
    let _folder = NewDirectory::create(dir).map_err(output_error("create", dir))?;
    sweep(dir).map_err(output_error("clear", dir))?;
    let about = about(run, digest);
    let hops = table::hops(trace, ports, &about);
    let state = table::state(trace, &about);
    let drafts = [
        draft(dir, "trace-network.parquet", |out| rows(&hops, out))?,
        draft(dir, "trace-network-state.parquet", |out| rows(&state, out))?,
    ];
    publish(drafts)
}

/// Writes hops, state and capture below `dir`, which is created if missing, and removed again if they cannot be
/// written; returns their paths in that order.
pub(super) fn write(
    life: &TracedFlow,
    captured: &[CapturedPacket],
    digest: &str,
    dir: &Path,
) -> Result<[PathBuf; 3], StoreError> {
    let _folder = NewDirectory::create(dir).map_err(output_error("create", dir))?;
    sweep(dir).map_err(output_error("clear", dir))?;
    let mut about = about(life.run, digest);
    about.insert("flow".to_owned(), life.flow.0.to_string());
    let hops = table::hops(life.trace, life.ports, &about);
    let state = table::state(life.trace, &about);
    let name = format!("trace-{}", life.flow.0);
    let drafts = [
        draft(dir, &format!("{name}.parquet"), |out| rows(&hops, out))?,
        draft(dir, &format!("{name}-state.parquet"), |out| rows(&state, out))?,
        draft(dir, &format!("{name}.pcap"), |out| capture::write(captured, out))?,
    ];
    publish(drafts)
}

/// Gives files their names; returns their paths.
fn publish<const N: usize>(drafts: [Draft; N]) -> Result<[PathBuf; N], StoreError> {
    for Draft { temporary, place, .. } in &drafts {
        fs::rename(temporary, place).map_err(output_error("create", place))?;
    }
    Ok(drafts.each_ref().map(|draft| draft.place.clone()))
}

/// Returns the metadata of both tables: the run.
fn about(run: &Run, digest: &str) -> BTreeMap<String, String> {
    let point: serde_json::Map<_, _> = run.point.iter().cloned().collect();
    [
        ("run", run.id.clone()),
        ("version", priolane_results::VERSION.to_owned()),
        ("scheme", run.scheme.clone()),
        ("point", serde_json::Value::from(point).to_string()),
        ("seed", run.seed.to_string()),
        ("digest", digest.to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

fn rows(batch: &RecordBatch, out: &mut (impl Write + Send)) -> io::Result<()> {
    write_batch(batch, out).map(drop)
}

fn draft(
    dir: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<Draft, StoreError> {
    let temporary = dir.join(format!(".{name}.{}{TEMPORARY}", std::process::id()));
    let place = dir.join(name);
    let file = create_temporary(&temporary).map_err(output_error("write", &place))?;
    let draft = Draft { temporary, place, file };
    let written = draft.file.lock().and_then(|()| {
        let mut out = BufWriter::new(&draft.file);
        fill(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    });
    written.map_err(output_error("write", &draft.place))?;
    Ok(draft)
}

/// Removes temporary files of dead writers.
fn sweep(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(".trace-") && name.ends_with(TEMPORARY));
        // A file that has vanished was removed by another process, or published. What is no file is not ours.
        let Ok(file) = (if ours { open_existing_lock(&entry.path()) } else { continue }) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
