//! Units of work: self-contained runs, for execution by a process that shares no files with the planning process.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_results::answer::RemoteRun;
use priolane_results::digest::hex;
use priolane_results::store::{RunId, Store};
use priolane_source::{InputError, Sources};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::execute::{self, Failure, FinishedRun, OnProgress, Settings, store_answer};
use crate::plan::{Run, from_merged};

/// A run with everything that determines it. Its files are separate, since many runs share them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunUnit {
    /// Run id.
    pub run: String,
    /// Name of the experiment file, for messages.
    pub file: String,
    /// Seed, at least 1.
    pub seed: u64,
    /// The merged experiment.
    pub merged: Json,
    /// SHA-256 of each file that the run reads, as 64 hexadecimal digits, by path.
    pub files: BTreeMap<String, String>,
}

impl RunUnit {
    /// Returns the unit of `run`.
    pub fn of(run: &Run) -> Self {
        let sources = &run.experiment.sources;
        Self {
            run: run.id.clone(),
            file: sources.experiment().to_owned(),
            seed: run.seed,
            merged: run.merged.as_ref().clone(),
            files: files(run).map(|(path, digest, _)| (path.to_owned(), digest)).collect(),
        }
    }

    /// Plans the run again from `texts`, the texts of files by SHA-256.
    ///
    /// # Errors
    /// Returns an error if a file is missing, or the planned run differs: the planning process has another version.
    pub fn plan(&self, texts: &BTreeMap<String, Arc<str>>) -> Result<Run, InputError> {
        let text = |digest: &String| texts.get(digest).cloned();
        let given = self.files.iter().filter_map(|(path, digest)| Some((path.clone(), text(digest)?)));
        let run = from_merged(Sources::from_texts(&self.file, given), &self.merged, self.seed)?;
        if run.id != self.run {
            let what = format!(
                "run {} has the id {} here, because priolane or a file that the experiment names differs",
                self.run, run.id
            );
            return Err(InputError::new(
                &self.file,
                None,
                "",
                what,
                "the same version of priolane on both sides",
            ));
        }
        Ok(run)
    }

    /// Executes the unit and returns the contents of the run's directory.
    ///
    /// # Errors
    /// As for [`Self::plan`], and the failures of a run.
    pub fn answer(
        &self,
        texts: &BTreeMap<String, Arc<str>>,
        settings: &Settings,
        progress: &mut OnProgress,
    ) -> Result<RemoteRun, Failure> {
        answer(&self.plan(texts)?, settings, progress)
    }
}

/// Executes a run and returns the contents of its directory.
///
/// # Errors
/// The failures of a run.
pub fn answer(run: &Run, settings: &Settings, progress: &mut OnProgress) -> Result<RemoteRun, Failure> {
    execute::answer(run, settings, progress)
}

/// Returns path, SHA-256 in hexadecimal and text of each file that a run reads. Scheme files are part of the merged
/// experiment.
pub fn files(run: &Run) -> impl Iterator<Item = (&str, String, &Arc<str>)> {
    let files = run.experiment.sources.files(run.seed);
    files.filter(|(path, ..)| !path.ends_with(".toml")).map(|(path, digest, text)| (path, hex(digest), text))
}

/// Stores the answer to the unit of `run`, unless the run is already stored.
///
/// # Errors
/// Returns an error if the answer belongs to another run, differs from the stored run, or cannot be written.
pub fn accept(run: &Run, store: &Store, answer: RemoteRun) -> Result<FinishedRun, Failure> {
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    store_answer(run, (store, &id), answer)
}
