//! The files an experiment names, read once and kept, so that a run is made of what was planned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::{Field, InputError, read_text};

/// Texts of files by the path as written, relative to the experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    base: PathBuf,
    texts: BTreeMap<String, Arc<str>>,
    used: BTreeMap<String, Arc<str>>,
}

impl Sources {
    /// Files relative to the directory `base`.
    pub fn new(base: &Path) -> Self {
        Self { base: base.to_owned(), ..Self::default() }
    }

    /// Reads the file at `path`, of at most `limit` bytes; `field` is where the path stands.
    pub fn read(&mut self, field: &Field<'_>, path: &str, limit: u64) -> Result<Arc<str>, InputError> {
        let text = match self.texts.get(path) {
            Some(text) => text.clone(),
            None => {
                let text: Arc<str> = read_text(&self.base.join(path), path, limit)
                    .map_err(|error| match error.line {
                        None => field.error(format!("{path:?} {}", error.what), error.fix),
                        Some(_) => error,
                    })?
                    .into();
                self.texts.insert(path.to_owned(), text.clone());
                text
            }
        };
        self.used.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    /// The text of a file that was read; empty for any other.
    pub fn known(&self, path: &str) -> &str {
        self.used.get(path).map_or("", |text| text)
    }

    /// Notes the text of something shipped that the experiment names, so that it counts for run ids.
    pub fn note(&mut self, name: &str, text: &str) {
        if !self.used.contains_key(name) {
            self.used.insert(name.to_owned(), text.into());
        }
    }

    /// Paths and texts of the files that the experiment uses, in order of paths.
    pub fn used(&self) -> impl Iterator<Item = (&str, &str)> {
        self.used.iter().map(|(path, text)| (path.as_str(), &**text))
    }

    /// The same files in memory, none of them used yet: for the next point of a sweep.
    pub fn fresh(&self) -> Self {
        Self { base: self.base.clone(), texts: self.texts.clone(), used: BTreeMap::new() }
    }

    /// Keeps in memory what `other` has read.
    pub fn learn(&mut self, other: &Self) {
        for (path, text) in &other.texts {
            self.texts.entry(path.clone()).or_insert_with(|| text.clone());
        }
    }
}
