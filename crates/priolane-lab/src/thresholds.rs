//! Thresholds from sizes and load: the solvers behind scheme files.

use priolane_core::assign::{basin_hopping, byte_share, equal_split, opt, pias_published, two_level_ps};
use priolane_core::sizes::SizeDistribution;

use crate::scheme::Solver;

/// What thresholds are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The law of flow sizes.
    pub sizes: &'a SizeDistribution,
    /// What messages call it.
    pub name: &'a str,
    /// The shipped table it is, unchanged and linear, if it is one.
    pub published: Option<&'a str>,
    /// The load, 1 for as many bytes as the link carries.
    pub load: f64,
    /// The number of levels, 1 to 16.
    pub levels: u8,
}

/// Why a solver has no thresholds for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What stands in the way.
    pub what: String,
    /// What would do.
    pub fix: String,
}

impl Refusal {
    fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// The thresholds of `solver` in bytes, one fewer than levels, non-decreasing.
///
/// # Errors
/// If the solver is for another number of levels, the load is not in (0, 1) where the solver needs it, nothing
/// is published for these sizes and load, or no mix of two exponentials fits the sizes.
pub fn solve(solver: Solver, question: &Question) -> Result<Vec<u64>, Refusal> {
    let Question { sizes, load, levels, .. } = *question;
    let name = solver.name();
    if let Some(wants) = solver.levels().filter(|&wants| wants != levels) {
        let what = format!("{name} gives thresholds for {wants} levels, not {levels}");
        return Err(Refusal::new(what, format!("{wants} levels, or opt, equal_split or basin_hopping")));
    }
    let has_model = !matches!(solver, Solver::EqualSplit | Solver::PiasPublished);
    if has_model && !(load > 0.0 && load < 1.0) {
        let what = format!("{name} has no optimum at load {load}: the lowest level would never be served");
        return Err(Refusal::new(what, "a load above 0 and below 1, or thresholds in bytes"));
    }
    match solver {
        Solver::EqualSplit => Ok(equal_split(sizes, levels)),
        Solver::PiasPublished => published(question),
        Solver::Opt2 => Ok(vec![byte_share::opt2(sizes, load)]),
        Solver::Opt => Ok(opt(sizes, load, levels)),
        Solver::BasinHopping => Ok(basin_hopping(sizes, load, levels)),
        Solver::ClosedForm => closed_form(question),
    }
}

fn published(question: &Question) -> Result<Vec<u64>, Refusal> {
    let Question { name, load, .. } = *question;
    let table = question.published.and_then(|name| pias_published(name, load));
    table.map(|table| table.to_vec()).ok_or_else(|| {
        Refusal::new(
            format!("nothing is published for sizes {name:?} at load {load}"),
            "thresholds = { solver = \"equal_split\" } in both assign and host of [scheme.NAME] in the experiment; published are \
             web_search and data_mining, linear, at loads 0.5, 0.6 .. 0.9",
        )
    })
}

fn closed_form(question: &Question) -> Result<Vec<u64>, Refusal> {
    let found = two_level_ps::closed_form(question.sizes, question.load);
    found.map(|threshold| vec![threshold]).ok_or_else(|| {
        Refusal::new(
            format!(
                "no mix of two exponentials fits sizes {:?}: their deviation is not above their mean",
                question.name
            ),
            "solver = \"opt2\"",
        )
    })
}
