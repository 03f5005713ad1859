//! How long thresholds take: each solver on the law of recorded flows, as a controller would ask it.

use cpu_time::ThreadTime;
use priolane_core::assign::{BasinHopping, ClosedForm, EqualSplit, Opt, Opt2, Question, Solver};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_workload::size_csv;
use serde::Serialize;

use super::error::BenchError;

/// Recorded flows of each law.
const FLOWS: usize = 1_000_000;
const LOAD: f64 = 0.8;
const LAWS: [&str; 2] = ["web_search", "data_mining"];
const SOLVERS: [(Solver, u8); 5] = [
    (Solver::EqualSplit(EqualSplit), 8),
    (Solver::Opt2(Opt2), 2),
    (Solver::Opt(Opt), 8),
    (Solver::ClosedForm(ClosedForm), 2),
    (Solver::BasinHopping(BasinHopping), 8),
];

/// One solver on one law.
#[derive(Clone, Debug, Serialize)]
pub struct SolverTime {
    /// The table that the sizes were drawn from.
    pub sizes: &'static str,
    /// Recorded flows.
    pub flows: usize,
    /// Sizes among them that differ.
    pub different: usize,
    /// The solver.
    pub solver: &'static str,
    /// Levels it was asked for.
    pub levels: u8,
    /// CPU time of one answer, in milliseconds: the median. The flows are sorted before.
    pub cpu_ms: f64,
}

/// All solvers on a million flows of each law, `repeat` times.
///
/// # Errors
/// If a law cannot be read or a solver refuses it.
pub fn solver_times(repeat: u32) -> Result<Vec<SolverTime>, BenchError> {
    let mut found = Vec::new();
    for name in LAWS {
        let sizes = recorded(name).ok_or(BenchError::Sizes { name })?;
        for (solver, levels) in SOLVERS {
            let question = Question { sizes: &sizes, name, published: None, load: LOAD, levels };
            found.push(SolverTime {
                sizes: name,
                flows: FLOWS,
                different: sizes.points().len(),
                solver: solver.name(),
                levels,
                cpu_ms: median_ms(repeat, || solver.solve(&question).is_ok())
                    .ok_or(BenchError::Sizes { name })?,
            });
        }
    }
    Ok(found)
}

fn recorded(name: &str) -> Option<SizeDistribution> {
    let law = size_csv::read(name, Interpolation::Linear).ok()?;
    let mut stream = Stream::new(1, Purpose::Sizes, 0);
    SizeDistribution::recorded((0..FLOWS).map(|_| law.sample(&mut stream)).collect()).ok()
}

/// `None` if `work` says that it failed.
fn median_ms(repeat: u32, work: impl Fn() -> bool) -> Option<f64> {
    let once = |_| {
        let start = ThreadTime::now();
        let done = std::hint::black_box(work());
        done.then(|| start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times: Vec<f64> = (0..repeat.max(1)).map(once).collect::<Option<_>>()?;
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
