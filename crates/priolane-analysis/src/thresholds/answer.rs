//! The answer: thresholds of each solver with their predicted cost, or the reason why a solver has none.

use priolane_core::assign::two_level_ps::{Hyperexponential, mean_sojourn};
use priolane_core::assign::{
    BasinHopping, ClosedForm, EqualSplit, Opt, Opt2, PiasForm, PiasPublished, Solver, SolverError,
    SolverInput, byte_share, pias_cost,
};
use priolane_core::sizes::{Interpolation, SizeDistribution};
use serde::{Deserialize, Serialize};

/// Levels of a NOS2 host (§IV-B).
const NOS2_HOST: u8 = 8;

/// The solvers to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolverChoice {
    /// Every one; those that do not apply give the reason.
    #[default]
    All,
    /// Equal split.
    Es,
    /// Exact byte shares, any number of levels.
    Opt,
    /// Exact byte shares, two levels.
    Opt2,
    /// NOS2 §IV-B: OPT-2 in the switches, ES-8 in the hosts.
    Nos2,
    /// Two-level processor sharing.
    ClosedForm,
    /// PIAS's cost.
    BasinHopping,
    /// The tables of the PIAS authors.
    Published,
}

/// The output of `priolane thresholds`.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The traffic for which thresholds are computed.
    pub traffic: Traffic,
    /// The load.
    pub load: f64,
    /// Number of levels.
    pub levels: u8,
    /// Results of each solver.
    pub solvers: Vec<Outcome>,
}

/// The flow sizes for which thresholds are computed.
#[derive(Clone, Debug, Serialize)]
pub struct Traffic {
    /// Name or path of the size table or flow list.
    pub source: String,
    /// The way in which probability mass is distributed between rows.
    pub interpolation: Interpolation,
    /// Number of recorded flows; `None` for a table.
    pub flows: Option<usize>,
    /// Number of rows of the table, or of distinct recorded sizes.
    pub rows: usize,
    /// Mean size, in bytes.
    pub mean_bytes: f64,
    /// Largest size, in bytes.
    pub largest_bytes: f64,
}

/// The result of one solver.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Name of the solver.
    pub solver: &'static str,
    /// Its threshold vectors: none if it does not apply, two for NOS2.
    pub ladders: Vec<Ladder>,
    /// The reason why the solver does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The fit on which the closed form is based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// Thresholds and their predicted cost.
#[derive(Clone, Debug, Serialize)]
pub struct Ladder {
    /// The place where the thresholds are used, if the solver specifies it: `switch` or `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<&'static str>,
    /// Number of levels.
    pub levels: u8,
    /// Thresholds in bytes.
    pub thresholds: Vec<u64>,
    /// Predicted cost.
    pub costs: Costs,
    /// The cost divided by the lowest cost of all solvers in the answer.
    pub relative: Costs,
}

/// Mean completion times for given thresholds, in units of the mean service time of a stage; `None` if infinite.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Costs {
    /// By exact byte shares.
    pub byte_share: Option<f64>,
    /// PIAS's cost, scaled to the load.
    pub pias: Option<f64>,
    /// PIAS's cost as printed in ToN 2017.
    pub pias_printed: Option<f64>,
    /// PIAS's cost by share of flows, as printed in NSDI 2015.
    pub pias_flow_share: Option<f64>,
}

/// The hyperexponential distribution that the closed form fits to the sizes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fit {
    /// Probability of a short flow.
    pub p1: f64,
    /// Rate parameter of the sizes of short flows, per byte.
    pub mu1: f64,
    /// Rate parameter of the sizes of long flows, per byte.
    pub mu2: f64,
    /// Maximum difference of cumulative probability between fit and sizes.
    pub distance: f64,
    /// Mean sojourn time of the fit under the threshold divided by that without one.
    pub sojourn: f64,
}

impl Traffic {
    pub(super) fn new(source: &str, sizes: &SizeDistribution, flows: Option<usize>) -> Self {
        Self {
            source: source.to_owned(),
            interpolation: sizes.interpolation(),
            flows,
            rows: sizes.points().len(),
            mean_bytes: sizes.mean(),
            largest_bytes: sizes.max(),
        }
    }
}

/// Runs the solvers and relates their costs to the lowest one.
pub(super) fn answer_of(question: &SolverInput, asked: SolverChoice, traffic: Traffic) -> Answer {
    const ALL: [SolverChoice; 7] = [
        SolverChoice::Es,
        SolverChoice::Opt,
        SolverChoice::Opt2,
        SolverChoice::Nos2,
        SolverChoice::ClosedForm,
        SolverChoice::BasinHopping,
        SolverChoice::Published,
    ];
    let mut solvers: Vec<Outcome> = match asked {
        SolverChoice::All => ALL.iter().map(|&asked| outcome(question, asked)).collect(),
        one => vec![outcome(question, one)],
    };
    let ladders = || solvers.iter().flat_map(|s| &s.ladders).map(|ladder| ladder.costs);
    let least = |of: fn(Costs) -> Option<f64>| ladders().filter_map(of).min_by(f64::total_cmp);
    let best = Costs {
        byte_share: least(|c| c.byte_share),
        pias: least(|c| c.pias),
        pias_printed: least(|c| c.pias_printed),
        pias_flow_share: least(|c| c.pias_flow_share),
    };
    for ladder in solvers.iter_mut().flat_map(|s| &mut s.ladders) {
        ladder.relative = ladder.costs.over(best);
    }
    Answer { traffic, load: question.load, levels: question.levels, solvers }
}

fn outcome(question: &SolverInput, asked: SolverChoice) -> Outcome {
    let one = |name, solver| of_solver(question, name, solver);
    match asked {
        SolverChoice::All | SolverChoice::Opt => one("opt", Solver::Opt(Opt)),
        SolverChoice::Es => one("es", Solver::EqualSplit(EqualSplit)),
        SolverChoice::Opt2 => one("opt2", Solver::Opt2(Opt2)),
        SolverChoice::ClosedForm => {
            let mut found = one("closed_form", Solver::ClosedForm(ClosedForm));
            found.fit = found.ladders.first().and_then(|ladder| fit(question, ladder.thresholds[0]));
            found
        }
        SolverChoice::BasinHopping => one("basin_hopping", Solver::BasinHopping(BasinHopping)),
        SolverChoice::Published => one("published", Solver::PiasPublished(PiasPublished)),
        SolverChoice::Nos2 => nos2(question),
    }
}

fn of_solver(question: &SolverInput, name: &'static str, solver: Solver) -> Outcome {
    outcome_of(name, solver.solve(question).map(|found| vec![ladder(question, None, found)]))
}

/// Solves OPT-2 for the switches and ES-8 for the hosts, regardless of the requested number of levels.
fn nos2(question: &SolverInput) -> Outcome {
    let part = |place, solver: Solver, levels| {
        solver.solve(&SolverInput { levels, ..*question }).map(|found| ladder(question, Some(place), found))
    };
    let parts = part("switch", Solver::Opt2(Opt2), 2)
        .and_then(|switch| Ok(vec![switch, part("host", Solver::EqualSplit(EqualSplit), NOS2_HOST)?]));
    outcome_of("nos2", parts)
}

fn outcome_of(solver: &'static str, ladders: Result<Vec<Ladder>, SolverError>) -> Outcome {
    let (ladders, reason) = match ladders {
        Ok(ladders) => (ladders, None),
        Err(refusal) => (Vec::new(), Some(refusal.what)),
    };
    Outcome { solver, ladders, reason, fit: None }
}

fn ladder(question: &SolverInput, place: Option<&'static str>, thresholds: Vec<u64>) -> Ladder {
    let SolverInput { sizes, load, .. } = *question;
    let finite = |cost: f64| cost.is_finite().then_some(cost);
    let pias = |form| finite(pias_cost(sizes, &thresholds, load, form));
    let costs = Costs {
        byte_share: finite(byte_share::cost(sizes, &thresholds, load)),
        pias: pias(PiasForm::Normalised),
        pias_printed: pias(PiasForm::Printed),
        pias_flow_share: pias(PiasForm::FlowShare),
    };
    let levels = thresholds.len() as u8 + 1;
    Ladder { place, levels, thresholds, costs, relative: costs }
}

fn fit(question: &SolverInput, threshold: u64) -> Option<Fit> {
    let law = Hyperexponential::fit(question.sizes)?;
    let with = mean_sojourn(&law, question.load, threshold as f64);
    let sojourn = with * (1.0 - question.load) / law.mean();
    let Hyperexponential { p1, mu1, mu2 } = law;
    Some(Fit { p1, mu1, mu2, distance: law.distance(question.sizes), sojourn })
}

impl Costs {
    fn over(self, best: Self) -> Self {
        let ratio = |cost: Option<f64>, best: Option<f64>| Some(cost? / best?);
        Self {
            byte_share: ratio(self.byte_share, best.byte_share),
            pias: ratio(self.pias, best.pias),
            pias_printed: ratio(self.pias_printed, best.pias_printed),
            pias_flow_share: ratio(self.pias_flow_share, best.pias_flow_share),
        }
    }
}

#[cfg(test)]
mod tests;
