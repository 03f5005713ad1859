//! Demotion thresholds as files state them: in bytes, or left to a solver that knows sizes and load.

use super::size_scope::SizeScope;
use super::solvers::Solver;
use super::{Count, DemotionThresholds};
use crate::keys::{
    Bounds, ByteList, Bytes, Form, InTable, KeyError, KeyValue, Keys, Misfit, Schema, Value, Written,
};
use crate::sizes::{SizeDistribution, SizeError};

/// Levels by bytes sent, and the thresholds between them.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "demotion", check = Self::check)]
pub struct Demotion {
    /// Number of levels.
    #[key(required = "levels = 8", range = "[1, 16]", group = "classes", source = "NOS2 §III-A")]
    pub levels: u8,
    /// One byte count fewer than levels, or { solver = SOLVER, from = global | local | GROUP } (priolane list solvers).
    #[key(
        required = "thresholds = { solver = \"equal_split\", from = \"global\" }, or a list such as [\"100kB\"]",
        source = "NOS2 §III-B, PIAS (NSDI 2015) §4"
    )]
    pub thresholds: Thresholds,
}

impl Demotion {
    fn check(&mut self) -> Result<(), Misfit> {
        let (levels, wanted) = (self.levels, usize::from(self.levels) - 1);
        let solved = match &self.thresholds {
            Thresholds::Stated(bytes) => return number(bytes, wanted, "thresholds"),
            Thresholds::Solved(solved) => solved,
        };
        if let Some(wants) = solved.solver.other_levels(levels) {
            let what = format!("{} gives thresholds for {wants} levels, not {levels}", solved.solver.name());
            let fix = format!("levels = {wants}, or {}, for any number", Solver::of_any_levels());
            return Err(Misfit::of("thresholds.solver", what, fix));
        }
        solved.bytes.as_ref().map_or(Ok(()), |bytes| number(bytes, wanted, "thresholds.bytes"))
    }

    /// The ladder of these levels, which counts as `count` says; one level before thresholds are found.
    pub fn ladder(&self, count: Count) -> DemotionThresholds {
        let bytes = self.thresholds.bytes().unwrap_or_default();
        DemotionThresholds::new(bytes, count)
            .expect("invariant: thresholds were read or found in order, at most 15")
    }
}

fn number(bytes: &[u64], wanted: usize, key: &'static str) -> Result<(), Misfit> {
    if bytes.len() == wanted {
        return Ok(());
    }
    let what = format!("{} thresholds for {} levels", bytes.len(), wanted + 1);
    Err(Misfit::of(key, what, format!("{wanted} thresholds: one fewer than levels")))
}

/// The thresholds between levels.
#[derive(Clone, Debug, PartialEq)]
pub enum Thresholds {
    /// Stated in bytes.
    Stated(Vec<u64>),
    /// To be found from sizes and load when the experiment is planned.
    Solved(SolvedLadder),
}

impl Thresholds {
    /// The thresholds in bytes; `None` if they are not found yet.
    pub fn bytes(&self) -> Option<&[u64]> {
        match self {
            Self::Stated(bytes) => Some(bytes),
            Self::Solved(solved) => solved.bytes.as_deref(),
        }
    }

    /// How they are found, if they are not stated.
    pub fn solved(&self) -> Option<&SolvedLadder> {
        match self {
            Self::Stated(_) => None,
            Self::Solved(solved) => Some(solved),
        }
    }
}

impl KeyValue for Thresholds {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Table(_) => InTable::read(value, bounds).map(Self::Solved),
            _ => NonDecreasing::read(value, bounds).map(Self::Stated),
        }
    }

    fn write(&self) -> Written {
        match self {
            Self::Stated(bytes) => NonDecreasing::write(bytes),
            Self::Solved(solved) => InTable::write(solved),
        }
    }

    fn schema() -> Schema {
        <InTable as Form<SolvedLadder>>::schema()
    }
}

/// Thresholds that a solver finds.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct SolvedLadder {
    /// How.
    #[keys(flatten)]
    pub solver: Solver,
    /// From whose sizes and load: global, local or a group.
    #[key(required = "from = \"global\"", source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// What the solver takes the tail of these sizes for, if not for what it is.
    #[key(optional, source = "docs/thresholds.md")]
    pub tail: Option<Tail>,
    /// What the solver found; left out in files.
    #[key(optional, form = NonDecreasing)]
    pub bytes: Option<Vec<u64>>,
}

impl SolvedLadder {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.tail.is_some() && !self.solver.part().uses_sizes() {
            let fix = "solver = \"basin_hopping\" or \"opt\", or no tail";
            return Err(Misfit::of("tail", "published thresholds are not found from sizes", fix));
        }
        Ok(())
    }
}

/// A tail misjudged: sizes as a solver sees them, not as flows have them.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(one_of)]
pub enum Tail {
    /// Underestimated: no size above `max` was ever seen, larger ones count as `max`.
    Cut {
        /// The largest size.
        #[key(required = "max = \"1MB\"", form = Bytes, range = "(0, )")]
        max: u64,
    },
    /// Overestimated: what lies above a quantile is farther from it by a factor.
    Stretched {
        /// The quantile.
        #[key(required = "from = 0.9", range = "[0, 0.999999]")]
        from: f64,
        /// The factor; below 1 it is an underestimate.
        #[key(required = "times = 3", range = "[0.001, 1000]")]
        times: f64,
    },
}

impl Tail {
    /// `sizes` with this tail.
    ///
    /// # Errors
    /// It leaves no distribution.
    pub fn applied(self, sizes: &SizeDistribution) -> Result<SizeDistribution, SizeError> {
        match self {
            Self::Cut { max } => sizes.capped(max as f64),
            Self::Stretched { from, times } => sizes.stretched(from, times),
        }
    }
}

/// Byte counts of which none is below the one before it.
#[derive(Clone, Copy, Debug)]
struct NonDecreasing;

impl Form<Vec<u64>> for NonDecreasing {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<u64>, KeyError> {
        let all = ByteList::read(value, bounds)?;
        match all.windows(2).position(|pair| pair[1] < pair[0]) {
            Some(before) => {
                let wrong = KeyError::new("thresholds decrease", "thresholds in increasing order");
                Err(KeyError::Item(before + 1, Box::new(wrong)))
            }
            None => Ok(all),
        }
    }

    fn write(value: &Vec<u64>) -> Written {
        ByteList::write(value)
    }

    fn schema() -> Schema {
        ByteList::schema()
    }
}
