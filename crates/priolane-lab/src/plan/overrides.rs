//! Changes an experiment file before its sweep: overlays, `--set`, seeds and requested schemes.

use priolane_source::{InputError, Mistakes, Node, Origin, Table, Value, parse_value};
use serde_json::{Map, Value as Json};

use super::options::{Options, Size};
use crate::experiment::overlay::{self, Axis};
use crate::experiment::{self, LoadedExperiment, Reading, Seeds, readings};

/// The sweep that remains after all changes that do not depend on the point.
pub(super) struct Sweep {
    /// The swept keys with their values.
    pub(super) axes: Vec<Axis>,
    /// The keys that the file sweeps, including those that were set.
    pub(super) swept: Vec<String>,
    /// The schemes to run, if not all.
    pub(super) chosen: Option<Vec<String>>,
    /// The readings of the file.
    pub(super) readings: Vec<Reading>,
    /// A warning about a request that the file cannot meet.
    pub(super) warning: Option<String>,
}

/// Applies to `root` the changes that do not depend on the point; recoverable mistakes are added to `found`.
pub(super) fn apply(
    name: &str,
    root: &mut Table,
    options: &Options,
    found: &mut Mistakes,
) -> Result<Sweep, InputError> {
    let readings = readings::apply(name, root, options.reading.as_deref());
    let readings = found.keep(readings).unwrap_or_default();
    let whole = options.size == Size::Quick && root.get("quick").is_none();
    let warning = whole.then(|| format!("{name} has no [quick], so the whole experiment is run"));
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
    Ok(Sweep { axes, swept, chosen, readings, warning })
}

/// Returns the names of the requested schemes. Those that the file does not list are added to its list, so that claims
/// and changes may still refer to the others.
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

/// Returns the experiment with the chosen schemes only, in the requested order.
pub(super) fn only(read: LoadedExperiment, chosen: Option<&[String]>) -> LoadedExperiment {
    let Some(chosen) = chosen else { return read };
    let LoadedExperiment { mut experiment, mut schemes } = read;
    schemes.retain(|named| chosen.contains(&named.name));
    experiment.scheme.retain(|name, _| chosen.contains(name));
    experiment.schemes = chosen.to_vec();
    LoadedExperiment { experiment, schemes }
}

/// Returns a swept key, and its values as figures and claims refer to them.
pub(super) fn axis_json(axis: &Axis) -> (String, Vec<Json>) {
    (axis.key.clone(), axis.values.iter().map(shown).collect())
}

/// Returns a swept value as figures and claims refer to it: for keys that are set together, their label.
pub(super) fn shown(node: &Node) -> Json {
    overlay::label(node).unwrap_or(node).value.to_json()
}

/// Whether all keys of `at` have these values at `point`. Numbers are compared as numbers.
pub(super) fn is_at(point: &[(String, Json)], at: &Map<String, Json>) -> bool {
    let is_same = |own: &Json, wanted: &Json| match (own.as_f64(), wanted.as_f64()) {
        (Some(own), Some(wanted)) => own == wanted,
        _ => own == wanted,
    };
    point.iter().all(|(key, own)| at.get(key).is_none_or(|wanted| is_same(own, wanted)))
}
