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
mod ports;
mod realize;
mod receiver_driven;
mod requirement;
mod resolve;
mod traffic;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

pub(crate) use admission::round_trip;
pub(crate) use build::transport;
pub use build::{Built, Load, Measured, build};
pub use demand::GroupLoad;
pub use requirement::Requirement;

use crate::experiment::overlay::{self, Axis};
use crate::experiment::{self, Experiment, MAX_SEEDS, Named, Read, Seeds, Sources};
use crate::scheme;
use crate::source::{InputError, Node, Origin, SIZE_LIMIT, Table, Value, parse, parse_value, read_text};

/// Most runs of a plan.
const MAX_RUNS: u64 = 1_000_000;

/// Most points of a sweep: each holds a merged experiment in memory.
const MAX_POINTS: u64 = 10_000;

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
/// An [`InputError`] with the first thing that is wrong with the file or a file it names.
pub fn plan(path: &Path, options: &Options) -> Result<Plan, InputError> {
    let name = path.display().to_string();
    let text = read_text(path, &name, SIZE_LIMIT)?;
    let base = path.parent().unwrap_or(Path::new("."));
    from_text(&name, &text, base, options).map(|plan| Plan { source: path.to_owned(), ..plan })
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
    let mut root = parse(name, text)?;
    let Overlaid { axes, swept, chosen, warning } = overlaid(name, &mut root, options)?;
    let points = grid(name, &root, (&axes, chosen.as_deref()))?;
    let mut sources = Sources::new(name, base);
    let mut plan: Option<Plan> = None;
    for point in points {
        let mut at_point = root.clone();
        for (axis, value) in axes.iter().zip(&point) {
            overlay::set_point(&mut at_point, &axis.key, value)?;
        }
        overlay::follow(&mut at_point)?;
        let read = experiment::read(name, &at_point, sources.fresh())?;
        sources.learn(&read.experiment.sources);
        let read = only(read, chosen.as_deref());
        let (experiment, warnings) = settled(read, &at_point)?;
        if plan.is_none() {
            fit::figures(&experiment, &swept, &at_point)?;
        }
        let plan = plan.get_or_insert_with(|| Plan {
            experiment: Experiment { sweep: axes.iter().map(axis_json).collect(), ..experiment.clone() },
            runs: Vec::new(),
            warnings: warning.clone().into_iter().collect(),
            source: PathBuf::from(name),
        });
        for warning in warnings {
            if !plan.warnings.contains(&warning) {
                plan.warnings.push(warning);
            }
        }
        let point: Vec<(String, Json)> =
            axes.iter().zip(&point).map(|(axis, node)| (axis.key.clone(), shown(node))).collect();
        add_runs(&Arc::new(experiment), &point, &mut plan.runs);
    }
    plan.ok_or_else(|| {
        InputError::new(name, None, "sweep", "the sweep has no point", "at least one value per key")
    })
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

fn overlaid(name: &str, root: &mut Table, options: &Options) -> Result<Overlaid, InputError> {
    let whole = options.size == Size::Quick && root.get("quick").is_none();
    let warning = whole.then(|| format!("{name} has no [quick]: it is run whole"));
    overlay::apply_size(root, options.size.table())?;
    let mut axes = overlay::take_sweep(root)?;
    let swept = axes.iter().map(|axis| axis.key.clone()).collect();
    for (key, text) in &options.sets {
        let value = parse_value("--set", text);
        let labelled = axes.iter_mut().find(|axis| axis.key == *key && axis.is_labelled());
        if let Some(axis) = labelled {
            axis.keep_label(&value)?;
            continue;
        }
        axes.retain(|axis| axis.key != *key);
        overlay::set(root, key, &value)?;
    }
    if let Some(seeds) = &options.seeds {
        let argument = if matches!(seeds, Seeds::Count(_)) { "--seeds" } else { "--seed-list" };
        overlay::set(root, "seeds", &parse_value(argument, &seeds.to_toml()))?;
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
fn grid(
    name: &str,
    root: &Table,
    (axes, chosen): (&[Axis], Option<&[String]>),
) -> Result<Vec<Vec<Node>>, InputError> {
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
    let mut points = vec![Vec::new()];
    for axis in axes {
        let longer = |point: &Vec<Node>| {
            let with = |value: &Node| point.iter().chain([value]).cloned().collect();
            axis.values.iter().map(with).collect::<Vec<Vec<Node>>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    Ok(points)
}

/// The experiment with its thresholds found and its schemes checked against the network.
fn settled(read: Read, root: &Table) -> Result<(Experiment, Vec<String>), InputError> {
    let Read { mut experiment, schemes } = read;
    let topology = ports::network(&experiment, root)?;
    let mut warnings = fit::traffic(&experiment, &topology, root)?;
    fit::failures(&experiment, &topology, root)?;
    let fabric = ports::fabric(&experiment, &topology);
    for named in schemes {
        let mut scheme = named.scheme.clone();
        resolve::thresholds(&mut scheme, &experiment, &topology).map_err(|fault| blame(&named, &fault))?;
        let found = scheme::check(&scheme, &fabric).map_err(|fault| blame(&named, &fault))?;
        warnings.extend(found.into_iter().map(|warning| format!("{}: {warning}", named.name)));
        experiment.scheme.insert(named.name.clone(), scheme);
    }
    Ok((experiment, warnings))
}

/// The error of a scheme's fault, where the scheme states what is at fault.
fn blame(named: &Named, fault: &scheme::Fault) -> InputError {
    let origin = overlay::locate(&named.tree, fault.key).unwrap_or_else(|| named.origin.clone());
    origin.error(&format!("scheme.{}.{}", named.name, fault.key), fault.what.clone(), fault.fix.clone())
}

fn add_runs(experiment: &Arc<Experiment>, point: &[(String, Json)], runs: &mut Vec<Run>) {
    let merged: Vec<Arc<Json>> = experiment.schemes.iter().map(|s| Arc::new(experiment.merged(s))).collect();
    for seed in experiment.seeds.list() {
        for (scheme, merged) in experiment.schemes.iter().zip(&merged) {
            runs.push(Run {
                id: identity::run_id(merged, &experiment.sources, seed),
                scheme: scheme.clone(),
                point: point.to_vec(),
                seed,
                experiment: experiment.clone(),
                merged: merged.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
