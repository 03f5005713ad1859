//! From an experiment file to its runs: overlays, `--set`, the sweep's points, seeds, schemes, ids.

mod adaptation;
mod admission;
mod build;
mod deadlines;
mod demand;
mod drawn_deadlines;
mod failures;
mod fit;
mod global;
mod identity;
mod paths;
mod points;
mod ports;
mod realize;
mod requirement;
mod resolve;
mod size;
mod traffic;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use priolane_source::{InputError, Mistakes, Node, Origin, SIZE_LIMIT, Table, Value, parse_value, read_text};
use serde_json::Value as Json;

pub(crate) use admission::round_trip;
pub use build::{Built, Load, Measured, build, build_at, transport};
pub use demand::GroupLoad;
pub use points::{Point, Points, Warnings, points_of};
pub use requirement::Requirement;

use crate::experiment::overlay::{self, Axis};
use crate::experiment::{self, Experiment, Named, Read, Seeds};
use crate::interrupt::Interrupt;
use crate::scheme;

/// What the user asked to change about an experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Dotted key and TOML text of its value; a swept key that is set is swept no more.
    pub sets: Vec<(String, String)>,
    /// Seeds in place of the file's.
    pub seeds: Option<Seeds>,
    /// Schemes in place of the file's.
    pub schemes: Option<Vec<String>>,
    /// Which overlay of the file applies.
    pub size: Size,
    /// Who may stop the planning.
    pub interrupt: Interrupt,
}

/// The overlays an experiment file may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// `[quick]`.
    Quick,
    /// None.
    #[default]
    Default,
    /// `[full]`.
    Full,
}

impl Size {
    fn table(self) -> Option<&'static str> {
        match self {
            Self::Quick => Some("quick"),
            Self::Default => None,
            Self::Full => Some("full"),
        }
    }
}

/// All runs of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The merged experiment, its sweep included.
    pub experiment: Experiment,
    /// Its runs: point-major, then seed, then scheme.
    pub runs: Vec<Run>,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
    /// The file.
    pub source: PathBuf,
}

/// One run of a plan.
#[derive(Clone, Debug)]
pub struct Run {
    /// 16 hexadecimal digits: a hash of the merged experiment, the files it names, seed and version.
    pub id: String,
    /// The scheme.
    pub scheme: String,
    /// The sweep point: dotted keys and values, in the order of the sweep.
    pub point: Vec<(String, Json)>,
    /// The seed, at least 1.
    pub seed: u64,
    /// The merged experiment at this point, shared by its runs.
    pub experiment: Arc<Experiment>,
    /// What determines this run and the others of its scheme and point, as JSON.
    pub merged: Arc<Json>,
}

/// The runs of the experiment file at `path`.
///
/// # Errors
/// An [`InputError`] with all mistakes of the file, or the first one of a file it names; also if `options` interrupts.
pub fn plan(path: &Path, options: &Options) -> Result<Plan, InputError> {
    points(path, options)?.plan(&options.interrupt)
}

/// The points of the experiment file at `path`.
///
/// # Errors
/// As [`plan`].
pub fn points(path: &Path, options: &Options) -> Result<Points, InputError> {
    let name = path.display().to_string();
    if path.to_str().is_none() {
        return Err(InputError::new(name, None, "", "the path is not UTF-8", "rename the file or directory"));
    }
    let text = read_text(path, &name, SIZE_LIMIT)?;
    let base = path.parent().unwrap_or(Path::new("."));
    points_of(&name, &text, base, options).map(|points| Points { source: path.to_owned(), ..points })
}

/// What the flows of `run` require; `None` where no deadline hangs on it.
///
/// # Errors
/// As [`build`].
pub fn required(run: &Run) -> Result<Option<Requirement>, InputError> {
    let built = build(run)?;
    let scenario = &built.scenario;
    Ok(drawn_deadlines::r_base(&run.experiment, &scenario.topology, (&scenario.flows, run.seed)))
}

/// The runs of the experiment `text`, called `name` in messages, whose files are relative to `base`.
///
/// # Errors
/// As [`plan`].
pub fn from_text(name: &str, text: &str, base: &Path, options: &Options) -> Result<Plan, InputError> {
    points_of(name, text, base, options)?.plan(&options.interrupt)
}

/// What is left to do once everything that does not depend on the point is laid over the file.
struct Overlaid {
    /// What is swept.
    axes: Vec<Axis>,
    /// The keys that the file sweeps, those that were set included.
    swept: Vec<String>,
    /// The schemes to run, if not all.
    chosen: Option<Vec<String>>,
    /// What was asked for and is not there.
    warning: Option<String>,
}

/// Lays over `root` what does not depend on the point; mistakes that leave the rest readable go to `found`.
fn overlaid(
    name: &str,
    root: &mut Table,
    options: &Options,
    found: &mut Mistakes,
) -> Result<Overlaid, InputError> {
    let whole = options.size == Size::Quick && root.get("quick").is_none();
    let warning = whole.then(|| format!("{name} has no [quick]: it is run whole"));
    found.keep(overlay::apply_size(root, options.size.table()));
    let mut axes = overlay::take_sweep(root)?;
    let swept = axes.iter().map(|axis| axis.key.clone()).collect();
    let mut sets = Vec::new();
    for (key, text) in &options.sets {
        let value = parse_value("--set", text);
        let labelled = axes.iter_mut().find(|axis| axis.key == *key && axis.is_labelled());
        if let Some(axis) = labelled {
            found.keep(axis.keep_label(&value));
            continue;
        }
        axes.retain(|axis| axis.key != *key);
        sets.push((key.as_str(), value));
    }
    let sets: Vec<(&str, &Node)> = sets.iter().map(|(key, value)| (*key, value)).collect();
    found.each(overlay::in_order(sets), |(key, value)| overlay::set(root, key, value));
    if let Some(seeds) = &options.seeds {
        let argument = if matches!(seeds, Seeds::Count(_)) { "--seeds" } else { "--seed-list" };
        found.keep(overlay::set(root, "seeds", &parse_value(argument, &seeds.to_toml())));
    }
    let chosen = options.schemes.as_deref().map(|schemes| choose(root, schemes)).transpose()?;
    Ok(Overlaid { axes, swept, chosen, warning })
}

/// The names of the schemes asked for; those that the file does not list are added to its list, so that claims
/// and changes may go on naming the others.
fn choose(root: &mut Table, schemes: &[String]) -> Result<Vec<String>, InputError> {
    let origin = Origin { file: "--schemes".into(), line: None };
    let names: Vec<String> = schemes.iter().map(|text| experiment::name_of(text).to_owned()).collect();
    let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
    if let Some((_, name)) = twice {
        return Err(origin.error(
            "schemes",
            format!("the scheme {name:?} is listed twice"),
            "each scheme once",
        ));
    }
    if names.is_empty() {
        return Err(origin.error("schemes", "no scheme is listed", "at least one scheme"));
    }
    if let Some(Node { value: Value::List(items), .. }) = root.get_mut("schemes") {
        for (text, name) in schemes.iter().zip(&names) {
            let is_it = |item: &Node| matches!(&item.value, Value::Text(t) if experiment::name_of(t) == name);
            if !items.iter().any(is_it) {
                items.push(Node { origin: origin.clone(), value: Value::Text(text.clone()) });
            }
        }
    }
    Ok(names)
}

/// The experiment with the chosen schemes only, in the order in which they were asked for.
fn only(read: Read, chosen: Option<&[String]>) -> Read {
    let Some(chosen) = chosen else { return read };
    let Read { mut experiment, mut schemes } = read;
    schemes.retain(|named| chosen.contains(&named.name));
    experiment.scheme.retain(|name, _| chosen.contains(name));
    experiment.schemes = chosen.to_vec();
    Read { experiment, schemes }
}

fn axis_json(axis: &Axis) -> (String, Vec<Json>) {
    (axis.key.clone(), axis.values.iter().map(shown).collect())
}

/// What figures and claims call a value of a sweep: the label of keys that are set together.
fn shown(node: &Node) -> Json {
    overlay::label(node).unwrap_or(node).value.to_json()
}

/// What is known of a point once it is checked against its network.
struct Settled {
    /// The experiment, its thresholds found.
    experiment: Experiment,
    warnings: Vec<String>,
    /// About how many flows a run has.
    flows: u64,
}

/// The experiment with its thresholds found and its schemes checked against the network.
fn settled(read: Read, root: &Table, interrupt: &Interrupt) -> Result<Settled, InputError> {
    let Read { mut experiment, schemes } = read;
    let file = experiment.sources.experiment().to_owned();
    let topology = ports::network(&experiment, root)?;
    let (mut warnings, flows) = fit::traffic(&experiment, &topology, root)?;
    fit::failures(&experiment, &topology, root)?;
    let fabric = ports::fabric(&experiment, &topology);
    let mut found = Mistakes::new(&file);
    found.each(schemes, |named| {
        interrupt.check(&file)?;
        let mut scheme = named.scheme.clone();
        resolve::thresholds(&mut scheme, &experiment, &topology).map_err(|fault| blame(&named, &fault))?;
        let found = scheme::check(&scheme, &fabric).map_err(|fault| blame(&named, &fault))?;
        warnings.extend(found.into_iter().map(|warning| format!("{}: {warning}", named.name)));
        experiment.scheme.insert(named.name.clone(), scheme);
        Ok(())
    });
    found.finish()?;
    Ok(Settled { experiment, warnings, flows })
}

/// The error of a scheme's fault, where the scheme states what is at fault.
fn blame(named: &Named, fault: &scheme::Fault) -> InputError {
    let origin = overlay::locate(&named.tree, fault.key).unwrap_or_else(|| named.origin.clone());
    origin.error(&format!("scheme.{}.{}", named.name, fault.key), fault.what.clone(), fault.fix.clone())
}

fn add_runs(point: &Point, runs: &mut Vec<Run>, interrupt: &Interrupt) -> Result<(), InputError> {
    let experiment = &point.experiment;
    let merged = experiment.all_merged();
    let code = |scheme: &String| experiment.scheme.get(scheme).and_then(|scheme| scheme.transport.code());
    let ids: Vec<identity::Base> = std::iter::zip(&experiment.schemes, &merged)
        .map(|(scheme, merged)| identity::Base::new(merged, code(scheme), &experiment.sources))
        .collect();
    for (nth, seed) in experiment.seeds.list().into_iter().enumerate() {
        if nth % 1024 == 0 {
            interrupt.check(experiment.sources.experiment())?;
        }
        for ((scheme, merged), id) in experiment.schemes.iter().zip(&merged).zip(&ids) {
            runs.push(Run {
                id: id.run_id(seed),
                scheme: scheme.clone(),
                point: point.values.clone(),
                seed,
                experiment: experiment.clone(),
                merged: merged.clone(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
