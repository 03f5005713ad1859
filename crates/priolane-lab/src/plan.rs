//! From an experiment file to its runs: overlays, `--set`, the sweep's points, seeds, schemes, ids.

mod adaptation;
mod admission;
mod build;
mod deadlines;
mod delay_based;
mod demand;
mod drawn_deadlines;
mod failures;
mod fit;
mod global;
mod identity;
mod paths;
mod ports;
mod realize;
mod receiver_driven;
mod requirement;
mod resolve;
mod size;
mod traffic;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

pub(crate) use admission::round_trip;
pub use build::{Built, Load, Measured, build};
pub(crate) use build::{build_at, transport};
pub use demand::GroupLoad;
pub use requirement::Requirement;

use crate::experiment::overlay::{self, Axis};
use crate::experiment::{self, Experiment, MAX_SEEDS, Named, Read, Seeds, Sources};
use crate::interrupt::Interrupt;
use crate::scheme;
use crate::source::{
    InputError, Mistakes, Node, Origin, SIZE_LIMIT, Table, Value, parse, parse_value, read_text,
};

/// Most runs of a plan.
const MAX_RUNS: u64 = 1_000_000;

/// Most points of a sweep: each holds a merged experiment in memory.
const MAX_POINTS: u64 = 10_000;

/// Most values that are merged: each point reads the whole file, and each of its schemes is merged with all but the
/// other schemes. Twenty million take some seconds.
const MAX_WORK: u64 = 20_000_000;

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

/// The points of an experiment's sweep, each with what its runs share. The runs themselves are not listed.
#[derive(Clone, Debug)]
pub struct Points {
    /// The merged experiment, its sweep included.
    pub experiment: Experiment,
    /// The points, the last axis fastest; at least one.
    pub points: Vec<Point>,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
    /// The file.
    pub source: PathBuf,
}

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Dotted keys and values, in the order of the sweep.
    pub values: Vec<(String, Json)>,
    /// The merged experiment at this point.
    pub experiment: Arc<Experiment>,
    /// About how many flows each of its runs has.
    pub flows: u64,
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

pub(crate) fn points_of(
    name: &str,
    text: &str,
    base: &Path,
    options: &Options,
) -> Result<Points, InputError> {
    let mut root = parse(name, text)?;
    let mut found = Mistakes::new(name);
    let Overlaid { axes, swept, chosen, warning } = overlaid(name, &mut root, options, &mut found)?;
    let grid = match grid(name, &root, (&axes, chosen.as_deref())) {
        Ok(grid) => grid,
        Err(error) => {
            found.add(error);
            return found.done(None);
        }
    };
    let mut sources = Sources::new(name, base);
    let mut experiment: Option<Experiment> = None;
    let (mut points, mut warnings) = (Vec::new(), Warnings::default());
    warnings.extend(warning);
    for point in grid {
        options.interrupt.check(name)?;
        let mut at_point = root.clone();
        let laid = axes
            .iter()
            .zip(&point)
            .try_for_each(|(axis, value)| overlay::set_point(&mut at_point, &axis.key, value));
        let read = laid
            .and_then(|()| overlay::follow(&mut at_point))
            .and_then(|()| experiment::read(name, &at_point, sources.fresh()));
        let Some(read) = found.keep(read).filter(|_| found.is_empty()) else { return found.done(None) };
        sources.learn(&read.experiment.sources);
        let settled = settled(only(read, chosen.as_deref()), &at_point, &options.interrupt)?;
        warnings.extend(settled.warnings);
        if experiment.is_none() {
            fit::figures(&settled.experiment, &swept, &at_point)?;
        }
        experiment.get_or_insert_with(|| Experiment {
            sweep: axes.iter().map(axis_json).collect(),
            ..settled.experiment.clone()
        });
        let values = axes.iter().zip(&point).map(|(axis, node)| (axis.key.clone(), shown(node))).collect();
        points.push(Point { values, experiment: Arc::new(settled.experiment), flows: settled.flows });
    }
    let experiment = experiment.ok_or_else(|| {
        InputError::new(name, None, "sweep", "the sweep has no point", "at least one value per key")
    })?;
    Ok(Points { experiment, points, warnings: warnings.in_order, source: PathBuf::from(name) })
}

/// Warnings in the order in which they came, each once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    pub(crate) in_order: Vec<String>,
    known: HashSet<String>,
}

impl Extend<String> for Warnings {
    fn extend<I: IntoIterator<Item = String>>(&mut self, more: I) {
        for warning in more {
            if self.known.insert(warning.clone()) {
                self.in_order.push(warning);
            }
        }
    }
}

impl Points {
    /// All runs, listed.
    ///
    /// # Errors
    /// If `interrupt` stops it.
    pub fn plan(self, interrupt: &Interrupt) -> Result<Plan, InputError> {
        let mut runs = Vec::new();
        for point in &self.points {
            add_runs(point, &mut runs, interrupt)?;
        }
        let Self { experiment, warnings, source, .. } = self;
        Ok(Plan { experiment, runs, warnings, source })
    }

    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        let per_point = self.experiment.schemes.len() as u64 * self.experiment.seeds.len() as u64;
        self.points.len() as u64 * per_point
    }
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

/// All points of the sweep, the last axis fastest.
fn grid<'a>(
    name: &str,
    root: &Table,
    (axes, chosen): (&'a [Axis], Option<&[String]>),
) -> Result<Vec<Vec<&'a Node>>, InputError> {
    let count = |key: &str| match root.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.len() as u64,
        // More seeds than this are refused when the file is read, by a message of their own.
        Some(&Value::Integer(n)) => (n.max(1) as u64).min(MAX_SEEDS),
        _ => 1,
    };
    let schemes = chosen.map_or_else(|| count("schemes"), |names| names.len() as u64);
    let per_point = schemes.saturating_mul(count("seeds"));
    let count = axes.iter().fold(1u64, |n, axis| n.saturating_mul(axis.values.len() as u64));
    let runs = count.saturating_mul(per_point);
    if count > MAX_POINTS || runs > MAX_RUNS {
        let what = format!("the sweep has {count} points and {runs} runs");
        let fix = format!("at most {MAX_POINTS} points and {MAX_RUNS} runs: fewer values, schemes or seeds");
        return Err(InputError::new(name, None, "sweep", what, fix));
    }
    let values = root.values();
    // Each scheme has its own part of the file, and all else besides.
    let of_schemes = ["scheme", "schemes"].map(|key| root.get(key).map_or(0, Node::values));
    let common = values - of_schemes.iter().sum::<u64>();
    let work = count.saturating_mul(values.saturating_add(schemes.saturating_mul(common)));
    if work > MAX_WORK {
        let what = format!("{count} points and {schemes} schemes share {common} values of the file");
        return Err(InputError::new(name, None, "sweep", what, "fewer points or schemes, or a shorter file"));
    }
    let mut points = vec![Vec::new()];
    for axis in axes {
        let longer = |point: &Vec<&'a Node>| {
            let with = |value| point.iter().copied().chain([value]).collect();
            axis.values.iter().map(with).collect::<Vec<Vec<&Node>>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    Ok(points)
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
    let ids: Vec<identity::Base> =
        merged.iter().map(|merged| identity::Base::new(merged, &experiment.sources)).collect();
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
