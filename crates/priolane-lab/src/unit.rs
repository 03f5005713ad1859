//! Units of work: a run complete in itself, to be carried out by a process that shares no files with the one that planned it.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_results::answer::Answer;
use priolane_results::digest::hex;
use priolane_results::store::{RunId, Store};
use priolane_source::{InputError, Sources};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::execute::{Done, Failure, OnProgress, Settings, answer, store_answer};
use crate::plan::{Run, from_merged};

/// A run with all that determines it. The files that it names are apart, as many runs share them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// The run's id.
    pub run: String,
    /// The experiment file, for messages.
    pub file: String,
    /// The seed, at least 1.
    pub seed: u64,
    /// The merged experiment.
    pub merged: Json,
    /// SHA-256 of each file that the run reads, as 64 hexadecimal digits, by its path.
    pub files: BTreeMap<String, String>,
}

impl Unit {
    /// `run`, complete in itself.
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

    /// The run, planned again from `texts`, texts of files by their SHA-256.
    ///
    /// # Errors
    /// A file is missing, or what is planned here is another run: the planning process is of another version.
    pub fn plan(&self, texts: &BTreeMap<String, Arc<str>>) -> Result<Run, InputError> {
        let text = |digest: &String| texts.get(digest).cloned();
        let given = self.files.iter().filter_map(|(path, digest)| Some((path.clone(), text(digest)?)));
        let run = from_merged(Sources::given(&self.file, given), &self.merged, self.seed)?;
        if run.id != self.run {
            let what =
                format!("run {} is {} here: priolane differs, or a file that it names", self.run, run.id);
            return Err(InputError::new(&self.file, None, "", what, "the same priolane on both sides"));
        }
        Ok(run)
    }

    /// Carries the unit out and answers with what makes a run's directory.
    ///
    /// # Errors
    /// As [`Self::plan`], and what ends a run.
    pub fn answer(
        &self,
        texts: &BTreeMap<String, Arc<str>>,
        settings: &Settings,
        progress: &mut OnProgress,
    ) -> Result<Answer, Failure> {
        answer(&self.plan(texts)?, settings, progress)
    }
}

/// Paths, SHA-256 as hexadecimal digits and texts of the files that a run reads. A scheme file is in the merged experiment.
pub fn files(run: &Run) -> impl Iterator<Item = (&str, String, &Arc<str>)> {
    let files = run.experiment.sources.files(run.seed);
    files.filter(|(path, ..)| !path.ends_with(".toml")).map(|(path, digest, text)| (path, hex(digest), text))
}

/// Puts the answer to the unit of `run` into `store`, unless the run is there already.
///
/// # Errors
/// The answer is of another run, or differs from the run that is stored, or cannot be written.
pub fn accept(run: &Run, store: &Store, answer: Answer) -> Result<Done, Failure> {
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    store_answer(run, (store, &id), answer)
}
