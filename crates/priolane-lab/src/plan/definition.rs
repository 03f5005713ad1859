//! An experiment as its user wrote it: a file, a text in TOML, or values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use priolane_source::{InputError, SIZE_LIMIT, Sources, Table, from_json, parse, read_text};
use serde_json::Value as Json;

use super::options::Options;
use super::points::{self, Points};
use super::run::Plan;

/// An experiment before options, sweeps and schemes are applied. All three forms of an experiment are read by the same
/// declarations, so equal definitions have equal run ids.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name in messages: the path of a file, or another name.
    name: String,
    root: Table,
    /// The directory that the files it names are relative to.
    folder: PathBuf,
    /// The texts of files that are not on the disk, by path as its keys name them.
    texts: BTreeMap<String, String>,
}

impl Definition {
    /// Reads the file at `path`; the files that it names are relative to its directory.
    ///
    /// # Errors
    /// Returns an [`InputError`] if the file cannot be read or is not TOML.
    pub fn from_path(path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        if path.to_str().is_none() {
            return Err(InputError::new(
                name,
                None,
                "",
                "the path is not UTF-8",
                "Rename the file or directory",
            ));
        }
        let text = read_text(path, &name, SIZE_LIMIT)?;
        Self::from_text(&name, &text, path.parent().unwrap_or(Path::new(".")))
    }

    /// Reads the TOML `text`, called `name` in messages; the files that it names are relative to `folder`.
    ///
    /// # Errors
    /// Returns an [`InputError`] if the text is not TOML.
    pub fn from_text(name: &str, text: &str, folder: &Path) -> Result<Self, InputError> {
        Ok(Self::new(name, parse(name, text)?, folder))
    }

    /// Takes the keys of a JSON object, called `name` in messages, whose mistakes have keys and no lines.
    ///
    /// # Errors
    /// Returns an [`InputError`] if `keys` is not an object, or contains a null or a number out of range.
    pub fn from_json(name: &str, keys: &Json, folder: &Path) -> Result<Self, InputError> {
        Ok(Self::new(name, from_json(name, keys)?, folder))
    }

    fn new(name: &str, root: Table, folder: &Path) -> Self {
        Self { name: name.to_owned(), root, folder: folder.to_owned(), texts: BTreeMap::new() }
    }

    /// Adds the `texts` of files that are not on the disk, by path as its keys name them.
    #[must_use]
    pub fn with_texts(self, texts: BTreeMap<String, String>) -> Self {
        Self { texts, ..self }
    }

    /// Returns the name that messages use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the points of its sweep.
    ///
    /// # Errors
    /// Returns an [`InputError`] with all mistakes, or the first one of a file that it names; also if `options`
    /// interrupts.
    pub fn points(&self, options: &Options) -> Result<Points, InputError> {
        let sources = Sources::new(&self.name, &self.folder).with_texts(&self.texts);
        let points = points::of_tree(&self.name, self.root.clone(), sources, options)?;
        Ok(Points { source: PathBuf::from(&self.name), ..points })
    }

    /// Returns its runs.
    ///
    /// # Errors
    /// As for [`Self::points`].
    pub fn plan(&self, options: &Options) -> Result<Plan, InputError> {
        self.points(options)?.plan(&options.interrupt)
    }

    /// Returns the text of an experiment file with the same keys.
    ///
    /// # Errors
    /// Returns an [`InputError`] if TOML cannot write it.
    pub fn to_toml(&self) -> Result<String, InputError> {
        let keys = priolane_source::Value::Table(self.root.clone()).to_json();
        toml::to_string_pretty(&keys).map_err(|error| {
            InputError::new(&*self.name, None, "", error.to_string(), "Write it as an experiment file")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
title = "Two hosts"
schemes = ["dctcp", "newreno"]
seeds = 2
time = { warmup = "0s", measure = "1ms" }
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
[sweep]
"group.all.load.value" = [0.25, 0.5]
"#;

    fn ids(definition: &Definition) -> Vec<String> {
        let plan = definition.plan(&Options::default()).unwrap();
        plan.runs.iter().map(|run| run.id.to_string()).collect()
    }

    #[test]
    fn text_values_and_written_text_have_the_same_runs() {
        let folder = Path::new(".");
        let text = Definition::from_text("x.toml", TEXT, folder).unwrap();
        let keys: Json = toml::from_str(TEXT).unwrap();
        let values = Definition::from_json("the experiment", &keys, folder).unwrap();
        let written = Definition::from_text("y.toml", &values.to_toml().unwrap(), folder).unwrap();
        assert_eq!(ids(&text).len(), 8);
        assert_eq!(ids(&text), ids(&values));
        assert_eq!(ids(&text), ids(&written));
    }

    #[test]
    fn mistakes_of_values_have_keys_and_no_lines() {
        let mut keys: Json = toml::from_str(TEXT).unwrap();
        keys["topology"]["hosts"] = Json::from("three");
        let values = Definition::from_json("the experiment", &keys, Path::new(".")).unwrap();
        let error = values.plan(&Options::default()).unwrap_err();
        assert_eq!(error.line, None);
        assert!(error.to_string().contains("topology.hosts"), "{error}");
    }
}
