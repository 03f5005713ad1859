//! The files an experiment names, read once and kept, so that a run is made of what was planned.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::disk::read_text;
use super::error::InputError;
use super::reader::Field;

/// What stands for the number of a seed in a path.
const SEED: &str = "{seed}";

/// The file that runs of `seed` read where `path` is written.
pub fn of_seed(path: &str, seed: u64) -> Cow<'_, str> {
    if path.contains(SEED) { path.replace(SEED, &seed.to_string()).into() } else { path.into() }
}

/// Texts of files by the path as written, relative to the experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    experiment: Arc<str>,
    /// Where files are read; `None` where all texts were given.
    base: Option<PathBuf>,
    texts: BTreeMap<String, Content>,
    used: BTreeMap<String, Content>,
    /// Files that runs of one seed only read, by path.
    of_seed: BTreeMap<String, u64>,
    seeds: Vec<u64>,
}

/// A file's text and its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    text: Arc<str>,
    digest: [u8; 32],
    /// Whether it is compiled in, and no file.
    shipped: bool,
}

impl Content {
    fn new(text: &str) -> Self {
        Self { text: text.into(), digest: Sha256::digest(text.as_bytes()).into(), shipped: false }
    }
}

impl Sources {
    /// Files relative to the directory `base` of the experiment file `experiment`.
    pub fn new(experiment: &str, base: &Path) -> Self {
        Self { experiment: experiment.into(), base: Some(base.to_owned()), ..Self::default() }
    }

    /// The files whose texts are `texts`, by path as the experiment `experiment` names them; the disk is not read.
    pub fn given(experiment: &str, texts: impl IntoIterator<Item = (String, Arc<str>)>) -> Self {
        let texts = texts.into_iter().map(|(path, text)| (path, Content::new(&text))).collect();
        Self { experiment: experiment.into(), texts, ..Self::default() }
    }

    /// The experiment has these seeds: a path with `{seed}` stands for a file for each of them.
    pub fn expect_seeds(&mut self, seeds: Vec<u64>) {
        self.seeds = seeds;
    }

    /// The paths that `path` stands for: with `{seed}` in it one for each seed, in order, else itself. None where the
    /// seeds are not known.
    fn paths<'p>(&self, path: &'p str) -> Vec<Cow<'p, str>> {
        if path.contains(SEED) {
            self.seeds.iter().map(|&seed| of_seed(path, seed)).collect()
        } else {
            vec![path.into()]
        }
    }

    /// The name of the experiment file, for messages.
    pub fn experiment(&self) -> &str {
        &self.experiment
    }

    /// Reads the file at `path`, of at most `limit` bytes; `field` is where the path stands.
    pub fn read(&mut self, field: &Field<'_>, path: &str, limit: u64) -> Result<Arc<str>, InputError> {
        let content = match self.texts.get(path) {
            Some(content) => content.clone(),
            None => {
                let Some(base) = &self.base else {
                    return Err(field.error(format!("{path:?} did not come with the run"), "all named files"));
                };
                let text = read_text(&base.join(path), path, limit).map_err(|error| match error.line {
                    None => field.error(format!("{path:?}: {}", error.what), error.fix),
                    Some(_) => error,
                })?;
                let content = Content::new(&text);
                self.texts.insert(path.to_owned(), content.clone());
                content
            }
        };
        let text = content.text.clone();
        self.used.insert(path.to_owned(), content);
        self.of_seed.remove(path);
        Ok(text)
    }

    /// Reads the files that `path` stands for: with `{seed}` in it one for each seed, else itself.
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

    /// The files that `path` stands for, each with its text, once they are read; none where the seeds are not known.
    pub fn texts(&self, path: &str) -> Vec<(String, Arc<str>)> {
        let read = |path: Cow<'_, str>| {
            let text = self.used.get(&*path)?.text.clone();
            Some((path.into_owned(), text))
        };
        self.paths(path).into_iter().filter_map(read).collect()
    }

    /// Notes the text of something shipped that the experiment names, so that it counts for run ids.
    pub fn note(&mut self, name: &str, text: &str) {
        if !self.used.contains_key(name) {
            let content = self
                .texts
                .entry(name.to_owned())
                .or_insert_with(|| Content { shipped: true, ..Content::new(text) });
            self.used.insert(name.to_owned(), content.clone());
        }
    }

    /// Paths and SHA-256 digests of the files that runs of `seed` use, in order of paths.
    pub fn digests(&self, seed: u64) -> impl Iterator<Item = (&str, &[u8; 32])> {
        let own = move |path: &str| self.of_seed.get(path).is_none_or(|&of| of == seed);
        let used = self.used.iter().filter(move |(path, _)| own(path));
        used.map(|(path, content)| (path.as_str(), &content.digest))
    }

    /// Paths, SHA-256 digests and texts of the files that runs of `seed` read, in order of paths, without what is compiled
    /// in.
    pub fn files(&self, seed: u64) -> impl Iterator<Item = (&str, &[u8; 32], &Arc<str>)> {
        self.digests(seed).filter_map(|(path, digest)| {
            let content = self.used.get(path)?;
            (!content.shipped).then_some((path, digest, &content.text))
        })
    }

    /// The same files in memory, none of them used yet: for the next point of a sweep.
    pub fn fresh(&self) -> Self {
        Self { used: BTreeMap::new(), of_seed: BTreeMap::new(), ..self.clone() }
    }

    /// Keeps in memory what `other` has read.
    pub fn learn(&mut self, other: &Self) {
        for (path, content) in &other.texts {
            self.texts.entry(path.clone()).or_insert_with(|| content.clone());
        }
    }
}
