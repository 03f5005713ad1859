//! The list of threshold solvers.

use super::solver::{SolverError, SolverInput, ThresholdSolver};
use super::{BasinHopping, ClosedForm, EqualSplit, Opt, Opt2, PiasPublished};
use crate::part::parts;

/// Defines the enum [`Solver`] from the list of solvers.
macro_rules! solvers {
    ($($(#[$doc:meta])* $kind:ident;)*) => {
        parts! {
            /// The way in which thresholds are computed.
            #[derive(Copy, Eq, Hash)]
            pub enum Solver: dyn ThresholdSolver in Assign by "solver" {
                $($(#[$doc])* $kind($kind);)*
            }
        }

        impl Solver {
            /// Returns all solvers, with the defaults of their parameters.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$kind($kind::default())),*]
            }
        }
    };
}

solvers! {
    /// Equal numbers of flows per level (NOS2's ES-N).
    EqualSplit;
    /// The thresholds that minimise the model of NOS2 §III, for any number of levels.
    Opt;
    /// The threshold that minimises the same model with two levels.
    Opt2;
    /// The thresholds that basin hopping finds on PIAS's model (ToN 2017).
    BasinHopping;
    /// The closed-form threshold of two-level processor sharing (Avrachenkov, Brown, Osipova 2009).
    ClosedForm;
    /// The seven thresholds that the PIAS authors published for two workloads at five loads.
    PiasPublished;
}

impl Solver {
    /// Returns the thresholds in bytes, one fewer than levels, non-decreasing.
    ///
    /// # Errors
    /// The solver is for another number of levels, the load is not in (0, 1) and the solver needs it, or the solver
    /// has no thresholds for these sizes and load.
    pub fn solve(&self, question: &SolverInput<'_>) -> Result<Vec<u64>, SolverError> {
        let (name, load, solver) = (self.name(), question.load, self.part());
        if let Some(wants) = self.other_levels(question.levels) {
            let what = format!("{name} gives thresholds for {wants} levels, not {}", question.levels);
            return Err(SolverError::new(what, format!("{wants} levels, or {}", Self::of_any_levels())));
        }
        if solver.needs_load() && !(load > 0.0 && load < 1.0) {
            let what =
                format!("{name} has no optimum at load {load}: the lowest level would never be served");
            let refusal = SolverError::new(what, "a load above 0 and below 1, or thresholds in bytes");
            return Err(SolverError { overloaded: load >= 1.0, ..refusal });
        }
        solver.solve(question)
    }

    /// Returns the number of levels that it supports, if that is not `levels`.
    pub(super) fn other_levels(&self, levels: u8) -> Option<u8> {
        self.part().levels().filter(|&wants| wants != levels)
    }

    /// Returns the names of the solvers that support any number of levels.
    pub(super) fn of_any_levels() -> String {
        let any = Self::all().into_iter().filter(|solver| solver.part().levels().is_none());
        let names: Vec<String> = any.map(|solver| format!("{:?}", solver.name())).collect();
        names.join(" or ")
    }
}
