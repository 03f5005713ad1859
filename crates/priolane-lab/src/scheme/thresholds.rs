//! Demotion thresholds: stated in bytes, or left to a solver that knows sizes and load.

use serde::Serialize;

use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Merge, Replace};

/// Thresholds of a ladder of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Thresholds {
    /// Stated in bytes.
    Given(#[serde(serialize_with = "as_text::many_bytes")] Vec<u64>),
    /// To be found from sizes and load when the experiment is planned.
    Solved {
        /// How.
        solver: Solver,
        /// From whose sizes and load.
        from: ThresholdSource,
        /// What the solver takes the tail of these sizes for, if not for what it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        tail: Option<Tail>,
        /// What the solver gave; `None` before planning.
        #[serde(serialize_with = "some_bytes", skip_serializing_if = "Option::is_none")]
        bytes: Option<Vec<u64>>,
    },
}

/// How thresholds are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// As many flows in each level (NOS2's ES-N).
    EqualSplit,
    /// The seven thresholds the PIAS authors published for two workloads at five loads.
    PiasPublished,
    /// The one threshold that minimises the two-level model of NOS2 §III.
    Opt2,
    /// Those that minimise the same model with any number of levels.
    Opt,
    /// Those that basin hopping finds on PIAS's model (ToN 2017).
    BasinHopping,
    /// The one threshold of two-level processor sharing in closed form (Avrachenkov, Brown, Osipova 2009).
    ClosedForm,
}

/// A tail misjudged: sizes as a solver sees them, not as flows have them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tail {
    /// Underestimated: no size above `max` was ever seen, larger ones count as `max`.
    Cut {
        /// The largest size, in bytes.
        #[serde(serialize_with = "as_text::bytes")]
        max: u64,
    },
    /// Overestimated: what lies above a quantile is farther from it by a factor.
    Stretched {
        /// The quantile, from 0 to below 1.
        from: f64,
        /// The factor, above 0 (below 1 it is an underestimate).
        times: f64,
    },
}

/// Whose sizes and load thresholds are found from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThresholdSource {
    /// All groups together; they must agree.
    Global,
    /// Each host's own estimate: with stationary sizes, that of the groups, which must agree.
    Local,
    /// The group of this name.
    Group(String),
}

impl Serialize for ThresholdSource {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Group(name) => name,
        })
    }
}

impl Solver {
    /// The name in scheme files.
    pub fn name(self) -> &'static str {
        SOLVERS.iter().find(|(_, solver)| *solver == self).map_or("", |(name, _)| name)
    }

    /// The number of levels it is for, if not any.
    pub fn levels(self) -> Option<u8> {
        match self {
            Self::EqualSplit | Self::Opt | Self::BasinHopping => None,
            Self::PiasPublished => Some(8),
            Self::Opt2 | Self::ClosedForm => Some(2),
        }
    }
}

impl Thresholds {
    /// The thresholds in bytes; `None` if they are not resolved.
    pub fn bytes(&self) -> Option<&[u64]> {
        match self {
            Self::Given(bytes) => Some(bytes),
            Self::Solved { bytes, .. } => bytes.as_deref(),
        }
    }
}

const SOLVERS: [(&str, Solver); 6] = [
    ("equal_split", Solver::EqualSplit),
    ("pias_published", Solver::PiasPublished),
    ("opt2", Solver::Opt2),
    ("opt", Solver::Opt),
    ("basin_hopping", Solver::BasinHopping),
    ("closed_form", Solver::ClosedForm),
];

fn some_bytes<S: serde::Serializer>(bytes: &Option<Vec<u64>>, s: S) -> Result<S::Ok, S::Error> {
    as_text::many_bytes(bytes.as_deref().unwrap_or_default(), s)
}

/// Thresholds that were found are those of what is stated beside them, and a tail has two forms.
pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::Stated(&["solver", "from", "tail"], &["bytes"])],
    inner: &[("tail", &TAIL_MERGE)],
    each: None,
};

const TAIL_MERGE: Merge = Merge::of(&[Replace::OneOf(&[
    Form { by: &["max"], with: &[] },
    Form { by: &["from", "times"], with: &[] },
])]);

/// Reads the thresholds of a ladder of `levels` levels.
pub(super) fn read(field: &Field<'_>, levels: u8) -> Result<Thresholds, InputError> {
    let Ok(mut keys) = field.table() else {
        return given(field, levels).map(Thresholds::Given);
    };
    let field = keys.need("solver", "solver = \"equal_split\"")?;
    let solver = field.word(&SOLVERS)?;
    if let Some(wants) = solver.levels().filter(|&wants| wants != levels) {
        let what = format!("{} gives thresholds for {wants} levels, not {levels}", solver.name());
        let fix =
            format!("levels = {wants}, or \"opt\", \"equal_split\" or \"basin_hopping\", for any number");
        return Err(field.error(what, fix));
    }
    let from = match keys.need("from", "from = \"global\"")?.text()? {
        "global" => ThresholdSource::Global,
        "local" => ThresholdSource::Local,
        name => ThresholdSource::Group(name.to_owned()),
    };
    let bytes = keys.take("bytes").map(|f| given(&f, levels)).transpose()?;
    let tail = keys.take("tail").map(|f| tail(&f, solver)).transpose()?;
    keys.finish()?;
    Ok(Thresholds::Solved { solver, from, tail, bytes })
}

/// Reads `from = "global"`, `"local"` or a group's name.
pub(super) fn source(field: &Field<'_>) -> Result<ThresholdSource, InputError> {
    Ok(match field.text()? {
        "global" => ThresholdSource::Global,
        "local" => ThresholdSource::Local,
        name => ThresholdSource::Group(name.to_owned()),
    })
}

/// Reads `tail = { max = "1MB" }` or `tail = { from = 0.9, times = 3 }`.
fn tail(field: &Field<'_>, solver: Solver) -> Result<Tail, InputError> {
    if solver == Solver::PiasPublished {
        let fix = "solver = \"basin_hopping\" or \"opt\", or no tail";
        return Err(field.error("published thresholds are not found from sizes", fix));
    }
    let mut keys = field.table()?;
    let max = keys.take("max").map(|f| f.bytes()).transpose()?;
    let from = keys.take("from").map(|f| f.number(0.0, 0.999_999)).transpose()?;
    let times = keys.take("times").map(|f| f.number(0.001, 1_000.0)).transpose()?;
    keys.finish()?;
    match (max, from, times) {
        (Some(max), None, None) if max > 0 => Ok(Tail::Cut { max }),
        (None, Some(from), Some(times)) => Ok(Tail::Stretched { from, times }),
        _ => Err(field.error("this is no tail", "{ max = \"1MB\" }, or { from = 0.9, times = 3 }")),
    }
}

fn given(field: &Field<'_>, levels: u8) -> Result<Vec<u64>, InputError> {
    let items = field.list()?;
    let wanted = usize::from(levels) - 1;
    if items.len() != wanted {
        let what = format!("{} thresholds for {levels} levels", items.len());
        return Err(field.error(what, format!("{wanted} thresholds: one fewer than levels")));
    }
    let mut bytes = Vec::with_capacity(wanted);
    for item in items {
        let value = item.bytes()?;
        if bytes.last().is_some_and(|&last| value < last) {
            return Err(item.error("thresholds decrease", "thresholds in increasing order"));
        }
        bytes.push(value);
    }
    Ok(bytes)
}
