//! Demotion thresholds as written in files: in bytes, or computed by a solver from sizes and load.

use super::size_scope::SizeScope;
use super::solver::{SolverError, SolverInput};
use super::solvers::Solver;
use super::{BasinHopping, Count, DemotionThresholds, EqualSplit, Opt};
use crate::keys::{
    Bounds, ByteList, Bytes, Form, InTable, KeyConflict, KeyError, KeyValue, Keys, Schema, Value, Words,
    WrittenValue,
};
use crate::sizes::{SizeDistribution, SizeError};

/// Levels by bytes sent, and the thresholds between them.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "demotion", check = Self::check)]
pub struct Demotion {
    /// Number of levels.
    #[key(required = "levels = 8", range = "[1, 16]", group = "classes", source = "NOS2 §III-A")]
    pub levels: u8,
    /// Thresholds in bytes, one fewer than levels, or { solver = SOLVER, from = global | local | GROUP } (priolane
    /// list solvers).
    #[key(
        required = "thresholds = { solver = \"equal_split\", from = \"global\" }, or a list such as [\"100kB\"]",
        source = "NOS2 §III-B, PIAS (NSDI 2015) §4"
    )]
    pub thresholds: Thresholds,
}

impl Demotion {
    fn check(&mut self) -> Result<(), KeyConflict> {
        let (levels, wanted) = (self.levels, usize::from(self.levels) - 1);
        let solved = match &self.thresholds {
            Thresholds::Stated(bytes) => return number(bytes, wanted, "thresholds"),
            Thresholds::Solved(solved) => solved,
        };
        if let Some(wants) = solved.solver.other_levels(levels) {
            let what = format!("{} gives thresholds for {wants} levels, not {levels}", solved.solver.name());
            let fix = format!(
                "levels = {wants}, or {}, which supports any number of levels",
                Solver::of_any_levels()
            );
            return Err(KeyConflict::of("thresholds.solver", what, fix));
        }
        solved.bytes.as_ref().map_or(Ok(()), |bytes| number(bytes, wanted, "thresholds.bytes"))
    }

    /// Returns the demotion thresholds with this definition of bytes sent; one level before thresholds are computed.
    pub fn ladder(&self, count: Count) -> DemotionThresholds {
        let bytes = self.thresholds.bytes().unwrap_or_default();
        DemotionThresholds::new(bytes, count)
            .expect("invariant: thresholds were read or found in order, at most 15")
    }
}

fn number(bytes: &[u64], wanted: usize, key: &'static str) -> Result<(), KeyConflict> {
    if bytes.len() == wanted {
        return Ok(());
    }
    let what = format!("there are {} thresholds for {} levels", bytes.len(), wanted + 1);
    Err(KeyConflict::of(key, what, format!("{wanted} thresholds: one fewer than levels")))
}

/// The thresholds between levels.
#[derive(Clone, Debug, PartialEq)]
pub enum Thresholds {
    /// Stated in bytes.
    Stated(Vec<u64>),
    /// Computed from sizes and load when the experiment is planned.
    Solved(SolvedLadder),
}

impl Thresholds {
    /// Returns the thresholds in bytes; `None` if they are not computed yet.
    pub fn bytes(&self) -> Option<&[u64]> {
        match self {
            Self::Stated(bytes) => Some(bytes),
            Self::Solved(solved) => solved.bytes.as_deref(),
        }
    }

    /// Returns how they are computed; `None` if they are stated.
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

    fn write(&self) -> WrittenValue {
        match self {
            Self::Stated(bytes) => NonDecreasing::write(bytes),
            Self::Solved(solved) => InTable::write(solved),
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![ByteList::schema(), <InTable as Form<SolvedLadder>>::schema()])
    }
}

/// Thresholds that a solver computes.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct SolvedLadder {
    /// The solver.
    #[keys(flatten)]
    pub solver: Solver,
    /// Solver for the sizes and loads for which `solver` has no thresholds; without one, these are an error.
    #[key(optional, source = "docs/assumptions.md#pias-thresholds")]
    pub otherwise: Option<Otherwise>,
    /// Scope of the sizes and load: global, local or a group.
    #[key(required = "from = \"global\"", source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// Tail that the solver assumes for these sizes, if it differs from the actual one.
    #[key(optional, source = "docs/thresholds.md")]
    pub tail: Option<Tail>,
    /// Result of the solver; omitted in files.
    #[key(optional, form = NonDecreasing)]
    pub bytes: Option<Vec<u64>>,
}

impl SolvedLadder {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.tail.is_some() && !self.solver.part().uses_sizes() {
            let fix = "solver = \"basin_hopping\" or \"opt\", or remove tail";
            return Err(KeyConflict::of(
                "tail",
                "published thresholds do not depend on sizes, so a tail has no effect",
                fix,
            ));
        }
        Ok(())
    }
}

impl SolvedLadder {
    /// Returns the thresholds, and why `otherwise` had to compute them, if so. From then on, `solver` is the one that
    /// computed them.
    ///
    /// # Errors
    /// Neither solver has thresholds for these sizes and load.
    pub fn solve(
        &mut self,
        question: &SolverInput<'_>,
    ) -> Result<(Vec<u64>, Option<SolverError>), SolverError> {
        let otherwise = self.otherwise.take();
        match (self.solver.solve(question), otherwise) {
            (Ok(found), _) => Ok((found, None)),
            (Err(refusal), None) => Err(refusal),
            (Err(refusal), Some(other)) => {
                self.solver = other.solver();
                self.solver.solve(question).map(|found| (found, Some(refusal)))
            }
        }
    }
}

/// A solver of any sizes, load and number of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Otherwise {
    /// As `solver = "equal_split"`.
    EqualSplit,
    /// As `solver = "opt"`.
    Opt,
    /// As `solver = "basin_hopping"`.
    BasinHopping,
}

impl Otherwise {
    fn solver(self) -> Solver {
        match self {
            Self::EqualSplit => Solver::EqualSplit(EqualSplit),
            Self::Opt => Solver::Opt(Opt),
            Self::BasinHopping => Solver::BasinHopping(BasinHopping),
        }
    }
}

/// A misestimated tail of the sizes that a solver sees.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(one_of)]
pub enum Tail {
    /// Underestimated: sizes above `max` are observed as `max`.
    Cut {
        /// The largest observed size.
        #[key(required = "max = \"1MB\"", form = Bytes, range = "(0, )")]
        max: u64,
    },
    /// Overestimated: sizes above a quantile are stretched away from it by a factor.
    Stretched {
        /// The quantile.
        #[key(required = "from = 0.9", range = "[0, 0.999999]")]
        from: f64,
        /// The factor; below 1 the tail is underestimated.
        #[key(required = "times = 3", range = "[0.001, 1000]")]
        times: f64,
    },
}

impl Tail {
    /// Returns `sizes` with this tail.
    ///
    /// # Errors
    /// The result is not a distribution.
    pub fn applied(self, sizes: &SizeDistribution) -> Result<SizeDistribution, SizeError> {
        match self {
            Self::Cut { max } => sizes.capped(max as f64),
            Self::Stretched { from, times } => sizes.stretched(from, times),
        }
    }
}

/// Non-decreasing byte counts.
#[derive(Clone, Copy, Debug)]
struct NonDecreasing;

impl Form<Vec<u64>> for NonDecreasing {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<u64>, KeyError> {
        let all = ByteList::read(value, bounds)?;
        match all.windows(2).position(|pair| pair[1] < pair[0]) {
            Some(before) => {
                let wrong = KeyError::new("the thresholds decrease", "thresholds in increasing order");
                Err(KeyError::Item(before + 1, Box::new(wrong)))
            }
            None => Ok(all),
        }
    }

    fn write(value: &Vec<u64>) -> WrittenValue {
        ByteList::write(value)
    }

    fn schema() -> Schema {
        ByteList::schema()
    }
}
