//! Selects the run of a plan that a request denotes: exactly one, or a message that says what to add.

use priolane_source::{InputError, parse_value};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::experiment::Seeds;
use crate::plan::{Plan, Run};

/// The flow to trace, its run, and the capture point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Flow: its index in the run's flow list, from 0.
    pub flow: u32,
    /// Seed; required if the experiment has several.
    pub seed: Option<u64>,
    /// Swept keys and the TOML text of their values, enough to select one sweep point.
    pub point: Vec<(String, String)>,
    /// Port, by its name in tables, on whose link packets are captured; default is the sender's.
    pub at: Option<String>,
}

/// Returns the single run of `plan` that matches `request`.
///
/// # Errors
/// Returns an error if no run or several runs match.
pub(super) fn choose<'a>(plan: &'a Plan, request: &Request) -> Result<&'a Run, InputError> {
    let wanted = point(plan, request)?;
    let seeds = plan.experiment.seeds.list();
    if let Some(seed) = request.seed.filter(|seed| !seeds.contains(seed)) {
        let fix = match &plan.experiment.seeds {
            Seeds::Count(count) => format!("a seed from 1 to {count}, or --set 'seeds=[{seed}]'"),
            Seeds::Listed(_) => format!("one of {}, or --set 'seeds=[{seed}]'", numbers(&seeds)),
        };
        return Err(wrong(plan, "--seed", format!("the experiment has no seed {seed}"), fix));
    }
    let fits = |run: &&Run| {
        request.seed.is_none_or(|seed| run.seed == seed)
            && wanted.iter().all(|(key, value)| has(run, key, value))
    };
    let found: Vec<&Run> = plan.runs.iter().filter(fits).collect();
    match found[..] {
        [run] => Ok(run),
        [] => Err(wrong(plan, "--point", "no run matches".into(), "a point of the sweep".into())),
        _ => Err(several(plan, &found)),
    }
}

/// Returns the values of `--point`; each must be a value of the sweep.
fn point(plan: &Plan, request: &Request) -> Result<Vec<(String, Json)>, InputError> {
    let checked = |(key, text): &(String, String)| {
        let value = parse_value("--point", text).value.to_json();
        let swept: Vec<&Json> = values(&plan.runs.iter().collect::<Vec<_>>(), key);
        if swept.is_empty() {
            let keys: Vec<&str> = plan.runs[0].point.iter().map(|(key, _)| key.as_str()).collect();
            let fix = match keys[..] {
                [] => "--set, which changes any key: the experiment has no sweep".to_owned(),
                _ => format!("one of {}; --set changes any other key", keys.join(", ")),
            };
            return Err(wrong(plan, "--point", format!("{key:?} is not swept"), fix));
        }
        if !swept.iter().any(|known| same(known, &value)) {
            let what = format!("{key:?} never has the value {}", plain(&value));
            return Err(wrong(plan, "--point", what, format!("one of {}", list(&swept, ", "))));
        }
        Ok((key.clone(), value))
    };
    request.point.iter().map(checked).collect()
}

fn has(run: &Run, key: &str, value: &Json) -> bool {
    run.point.iter().any(|(k, v)| k == key && same(v, value))
}

/// Whether two values are equal: 1 equals 1.0.
fn same(a: &Json, b: &Json) -> bool {
    a == b || a.as_f64().is_some_and(|a| Some(a) == b.as_f64())
}

/// Returns the message for several matching runs, with their differences.
fn several(plan: &Plan, found: &[&Run]) -> InputError {
    let mut add = Vec::new();
    let schemes = distinct(found.iter().map(|run| run.scheme.as_str()));
    if schemes.len() > 1 {
        add.push(format!("--scheme {}", schemes.join("|")));
    }
    let seeds = distinct(found.iter().map(|run| run.seed));
    if let [first, .., last] = seeds[..] {
        let which = match &plan.experiment.seeds {
            Seeds::Count(_) => format!("from {first} to {last}"),
            Seeds::Listed(_) => format!("one of {}", numbers(&seeds)),
        };
        add.push(format!("--seed K ({which})"));
    }
    for (key, _) in &found[0].point {
        let swept = values(found, key);
        if swept.len() > 1 {
            add.push(format!("--point {key}={}", list(&swept, "|")));
        }
    }
    let what = format!("{} runs match", found.len());
    wrong(plan, "", what, format!("Add {}", add.join(" and ")))
}

/// Returns the values of a swept key in `runs`.
fn values<'a>(runs: &[&'a Run], key: &str) -> Vec<&'a Json> {
    distinct(runs.iter().filter_map(|run| run.point.iter().find(|(k, _)| k == key)).map(|(_, value)| value))
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

fn numbers(seeds: &[u64]) -> String {
    seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn list(values: &[&Json], between: &str) -> String {
    values.iter().map(|value| plain(value)).collect::<Vec<_>>().join(between)
}

/// Formats a value as a user writes it: strings without quotes.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn wrong(plan: &Plan, key: &str, what: String, fix: String) -> InputError {
    InputError::new(plan.source.display().to_string(), None, key, what, fix)
}
