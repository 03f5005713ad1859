//! The files that an experiment names, read once and cached, so that a run uses exactly what was planned.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::disk::read_text;
use super::error::InputError;
use super::reader::Field;

/// Placeholder for the seed in a path.
const SEED: &str = "{seed}";

/// Returns the file that runs with `seed` read for `path`.
pub fn of_seed(path: &str, seed: u64) -> Cow<'_, str> {
    if path.contains(SEED) { path.replace(SEED, &seed.to_string()).into() } else { path.into() }
}

/// Texts of files by path as written, relative to the experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    experiment: Arc<str>,
    /// Directory of the files; `None` if all texts were given.
    base: Option<PathBuf>,
    texts: BTreeMap<String, Content>,
    used: BTreeMap<String, Content>,
    /// Files that only runs with one seed read, by path.
    of_seed: BTreeMap<String, u64>,
    seeds: Vec<u64>,
}

/// A file's text and its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    text: Arc<str>,
    digest: [u8; 32],
    /// Whether it is compiled in instead of a file.
    shipped: bool,
}

impl Content {
    fn new(text: &str) -> Self {
        Self { text: text.into(), digest: Sha256::digest(text.as_bytes()).into(), shipped: false }
    }
}

impl Sources {
    /// Creates sources relative to the directory `base` of the experiment file `experiment`.
    pub fn new(experiment: &str, base: &Path) -> Self {
        Self { experiment: experiment.into(), base: Some(base.to_owned()), ..Self::default() }
    }

    /// Creates sources from the given `texts`, by path as the experiment `experiment` names them; the disk is not
    /// read.
    pub fn from_texts(experiment: &str, texts: impl IntoIterator<Item = (String, Arc<str>)>) -> Self {
        let texts = texts.into_iter().map(|(path, text)| (path, Content::new(&text))).collect();
        Self { experiment: experiment.into(), texts, ..Self::default() }
    }

    /// Adds the `texts` of files that are not on the disk, by path as the experiment names them.
    #[must_use]
    pub fn with_texts<'t>(mut self, texts: impl IntoIterator<Item = (&'t String, &'t String)>) -> Self {
        self.texts.extend(texts.into_iter().map(|(path, text)| (path.clone(), Content::new(text))));
        self
    }

    /// Sets the seeds of the experiment: a path with `{seed}` stands for one file per seed.
    pub fn expect_seeds(&mut self, seeds: Vec<u64>) {
        self.seeds = seeds;
    }

    /// Returns the paths that `path` stands for: one per seed, in order, if it contains `{seed}`, else itself. Empty
    /// if the seeds are unknown.
    fn paths<'p>(&self, path: &'p str) -> Vec<Cow<'p, str>> {
        if path.contains(SEED) {
            self.seeds.iter().map(|&seed| of_seed(path, seed)).collect()
        } else {
            vec![path.into()]
        }
    }

    /// Returns the name of the experiment file, for messages.
    pub fn experiment(&self) -> &str {
        &self.experiment
    }

    /// Reads the file at `path`, of at most `limit` bytes; `field` is the location of the path.
    pub fn read(&mut self, field: &Field<'_>, path: &str, limit: u64) -> Result<Arc<str>, InputError> {
        let content = self.content(field, path, limit)?;
        let text = content.text.clone();
        self.used.insert(path.to_owned(), content);
        self.of_seed.remove(path);
        Ok(text)
    }

    /// Reads a file that is used only by reports. It is not part of run ids; otherwise as [`Self::read`].
    pub fn read_for_report(
        &mut self,
        field: &Field<'_>,
        path: &str,
        limit: u64,
    ) -> Result<Arc<str>, InputError> {
        self.content(field, path, limit).map(|content| content.text)
    }

    /// Returns the file at `path` from the cache, or reads it into the cache.
    fn content(&mut self, field: &Field<'_>, path: &str, limit: u64) -> Result<Content, InputError> {
        if let Some(content) = self.texts.get(path) {
            return Ok(content.clone());
        }
        let Some(base) = &self.base else {
            return Err(field.error(
                format!("the file {path:?} was not supplied with the run"),
                "Supply all files that the experiment names",
            ));
        };
        let text = read_text(&base.join(path), path, limit).map_err(|error| match error.line {
            None => field.error(format!("{path:?}: {}", error.what), error.fix),
            Some(_) => error,
        })?;
        let content = Content::new(&text);
        self.texts.insert(path.to_owned(), content.clone());
        Ok(content)
    }

    /// Reads the files that `path` stands for: one per seed if it contains `{seed}`, else itself.
    pub fn read_for_seeds(&mut self, field: &Field<'_>, path: &str, limit: u64) -> Result<(), InputError> {
        if !path.contains(SEED) {
            return self.read(field, path, limit).map(drop);
        }
        for seed in self.seeds.clone() {
            let own = of_seed(path, seed);
            let shared = self.used.contains_key(&*own) && !self.of_seed.contains_key(&*own);
            self.read(field, &own, limit)?;
            if !shared {
                self.of_seed.insert(own.into_owned(), seed);
            }
        }
        Ok(())
    }

    /// Returns the files that `path` stands for with their texts, after they were read; empty if the seeds are
    /// unknown.
    pub fn texts(&self, path: &str) -> Vec<(String, Arc<str>)> {
        let read = |path: Cow<'_, str>| {
            let text = self.used.get(&*path)?.text.clone();
            Some((path.into_owned(), text))
        };
        self.paths(path).into_iter().filter_map(read).collect()
    }

    /// Records the text of a shipped file that the experiment names, so that it is part of run ids.
    pub fn note(&mut self, name: &str, text: &str) {
        if !self.used.contains_key(name) {
            let content = self
                .texts
                .entry(name.to_owned())
                .or_insert_with(|| Content { shipped: true, ..Content::new(text) });
            self.used.insert(name.to_owned(), content.clone());
        }
    }

    /// Iterates over paths and SHA-256 digests of the files that runs with `seed` use, in order of paths.
    pub fn digests(&self, seed: u64) -> impl Iterator<Item = (&str, &[u8; 32])> {
        let own = move |path: &str| self.of_seed.get(path).is_none_or(|&of| of == seed);
        let used = self.used.iter().filter(move |(path, _)| own(path));
        used.map(|(path, content)| (path.as_str(), &content.digest))
    }

    /// Iterates over paths, SHA-256 digests and texts of the files that runs with `seed` read, in order of paths,
    /// without files that are compiled in.
    pub fn files(&self, seed: u64) -> impl Iterator<Item = (&str, &[u8; 32], &Arc<str>)> {
        self.digests(seed).filter_map(|(path, digest)| {
            let content = self.used.get(path)?;
            (!content.shipped).then_some((path, digest, &content.text))
        })
    }

    /// Iterates over paths and texts of all files that were read, also for reports, without files that are compiled in.
    pub fn all_read(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        let own = self.texts.iter().filter(|(_, content)| !content.shipped);
        own.map(|(path, content)| (path.as_str(), &content.text))
    }

    /// Returns the same cached files, none of them used yet: for the next sweep point.
    pub fn fresh(&self) -> Self {
        Self { used: BTreeMap::new(), of_seed: BTreeMap::new(), ..self.clone() }
    }

    /// Adds the files that `other` has read to the cache.
    pub fn learn(&mut self, other: &Self) {
        for (path, content) in &other.texts {
            self.texts.entry(path.clone()).or_insert_with(|| content.clone());
        }
    }
}
