//! Measures the run time of threshold solvers on recorded flows of known size distributions.

use cpu_time::ThreadTime;
use priolane_core::assign::{BasinHopping, ClosedForm, EqualSplit, Opt, Opt2, Solver, SolverInput};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_workload::size_csv;
use serde::Serialize;

use super::error::BenchError;

/// Number of recorded flows per distribution.
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

/// The run time of one solver on one size distribution.
#[derive(Clone, Debug, Serialize)]
pub struct SolverTime {
    /// The table from which the sizes are drawn.
    pub sizes: &'static str,
    /// Number of recorded flows.
    pub flows: usize,
    /// Number of distinct sizes among them.
    pub different: usize,
    /// Name of the solver.
    pub solver: &'static str,
    /// Number of levels requested.
    pub levels: u8,
    /// CPU time of one solution, in milliseconds: the median; excludes sorting of the flows.
    pub cpu_ms: f64,
}

/// Measures all solvers on a million flows of each size distribution, `repeat` times.
///
/// # Errors
/// Returns an error if a distribution cannot be read or a solver rejects it.
pub fn solver_times(repeat: u32) -> Result<Vec<SolverTime>, BenchError> {
    let mut found = Vec::new();
    for name in LAWS {
        let sizes = recorded(name).ok_or(BenchError::Sizes { name })?;
        for (solver, levels) in SOLVERS {
            let question = SolverInput { sizes: &sizes, name, published: None, load: LOAD, levels };
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
    SizeDistribution::from_samples((0..FLOWS).map(|_| law.sample(&mut stream)).collect()).ok()
}

/// Returns the median time of `work` in milliseconds; `None` if `work` returns false.
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
