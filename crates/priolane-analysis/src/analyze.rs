//! Implements `priolane analyze`: evaluates Firapam's closed forms (`priolane_core::analyze`) for the traffic of a
//! model file or of an experiment, and compares them with simulated schemes of that experiment.

mod figures;
mod model_file;
mod simulated;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use priolane_core::analyze::{BytesBased, LatencyBased, Law, Model};
use priolane_source::{SIZE_LIMIT, read_text};
use serde::{Deserialize, Serialize};

pub use self::figures::{Figures, SimulatedFigures};
use self::model_file::{Gamma, LawOf, Mu, Traffic};
use self::simulated::ModelledFlows;
use priolane_lab::execute::{Failure, OnProgress};
use priolane_lab::interrupt::Interrupt;
use priolane_lab::plan::{Options, Size};

/// The request, one JSON object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Path of the model file.
    pub model: PathBuf,
    /// Size at which the experiment in the model file runs.
    #[serde(default)]
    pub size: Extent,
    /// Interrupts planning.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

/// The size at which an experiment runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// With the overlay `[quick]`.
    Quick,
    /// Without an overlay.
    #[default]
    Default,
    /// With the overlay `[full]`.
    Full,
}

impl From<Extent> for Size {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::Quick => Self::Quick,
            Extent::Default => Self::Default,
            Extent::Full => Self::Full,
        }
    }
}

/// The answer; rows are size classes, columns are latency requirements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Source of the traffic: the path of the model file or of the experiment.
    pub source: String,
    /// f_t, the number of flows.
    pub flows: f64,
    /// Flows of the experiment that the model excludes: those without a size or deadline, or outside the measured
    /// window.
    pub left_out: usize,
    /// S (Eq. 1), in bytes.
    pub sizes: Vec<f64>,
    /// G_1 .. G_N.
    pub shares: Vec<f64>,
    /// T (Eq. 2), in bytes.
    pub traffic: Vec<f64>,
    /// Standard deviation of T, in bytes.
    pub sigma: f64,
    /// D (Eq. 3), in seconds.
    pub requirements: Vec<f64>,
    /// L (Eq. 4).
    pub mix: Vec<Vec<f64>>,
    /// R (Eq. 5), in seconds.
    pub requirement: Vec<f64>,
    /// Priority by size (Eqs. 6, 9 to 11).
    pub bytes: Option<LawAnswer>,
    /// Priority by latency requirement (Eqs. 8, 12 to 14).
    pub latency: Option<LawAnswer>,
}

/// Results of one priority law: closed form and simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawAnswer {
    /// mu: the rate of a flow of priority 1, in bits per second.
    pub mu_bps: f64,
    /// Whether mu was fitted so that the predicted mean completion time equals the simulated one.
    pub fitted: bool,
    /// gamma.
    pub gamma: f64,
    /// Eq. 9 or 12 as printed, in seconds.
    pub printed_s: f64,
    /// a_1 of Eq. 10, where Eq. 9 is linear.
    pub slope: Option<f64>,
    /// Values predicted by the closed form.
    pub predicted: Figures,
    /// Values simulated with the scheme.
    pub simulated: Option<SimulatedFigures>,
}

/// Answers `request`; `progress` receives the progress of simulations and may stop them.
///
/// # Errors
/// Returns an input error with the first mistake in the model file or in the experiment it names, or the failure of a
/// run.
pub fn answer(request: &Request, progress: &mut OnProgress) -> Result<Answer, Failure> {
    let path = &request.model;
    let shown = path.display().to_string();
    let text = read_text(path, &shown, SIZE_LIMIT)?;
    let base = path.parent().unwrap_or(Path::new("."));
    let file = model_file::read(&shown, &text)?;
    let (source, model, left_out, observed) = match &file.traffic {
        Traffic::Stated(model) => (shown, model.clone(), 0, None),
        Traffic::Of(experiment) => {
            let interrupt = request.interrupt.clone();
            let options = Options { size: request.size.into(), interrupt, ..Options::default() };
            let observed = simulated::observe(experiment, base, &options)?;
            let source = experiment.path.display().to_string();
            (source, observed.model.clone(), observed.left_out, Some(observed))
        }
    };
    let bytes = file.bytes.map(|law| of_bytes(&model, &law, observed.as_ref(), progress)).transpose()?;
    let latency =
        file.latency.map(|law| of_latency(&model, &law, observed.as_ref(), progress)).transpose()?;
    Ok(Answer {
        source,
        flows: model.flows(),
        left_out,
        sizes: model.sizes().to_vec(),
        shares: model.shares().to_vec(),
        traffic: model.traffic(),
        sigma: model.deviation(),
        requirements: model.requirements().to_vec(),
        mix: model.mix().to_vec(),
        requirement: model.requirement(),
        bytes,
        latency,
    })
}

fn of_bytes(
    model: &Model,
    asked: &LawOf,
    observed: Option<&ModelledFlows>,
    progress: &mut OnProgress,
) -> Result<LawAnswer, Failure> {
    let smallest = model.sizes().first().copied().unwrap_or(0.0);
    let law = law(model, asked, smallest)?;
    let simulated = run(asked, observed, progress)?;
    let mean = BytesBased::new(model, &law, 1.0).mean_s;
    let (mu, fitted) = mu(asked, mean, simulated.as_ref());
    let found = BytesBased::new(model, &law, mu);
    Ok(LawAnswer {
        mu_bps: mu * 8.0,
        fitted,
        gamma: law.gamma,
        printed_s: found.printed_s,
        slope: found.slope,
        predicted: Figures {
            fct_s: found.fct_s.into_iter().map(Some).collect(),
            missed: found.missed,
            mean_s: Some(found.mean_s),
            miss_rate: found.miss_rate,
        },
        simulated,
    })
}

fn of_latency(
    model: &Model,
    asked: &LawOf,
    observed: Option<&ModelledFlows>,
    progress: &mut OnProgress,
) -> Result<LawAnswer, Failure> {
    let shortest = model.requirements().first().copied().unwrap_or(0.0);
    let law = law(model, asked, shortest)?;
    let simulated = run(asked, observed, progress)?;
    let mean = LatencyBased::new(model, &law, 1.0).mean_s;
    let (mu, fitted) = mu(asked, mean, simulated.as_ref());
    let found = LatencyBased::new(model, &law, mu);
    Ok(LawAnswer {
        mu_bps: mu * 8.0,
        fitted,
        gamma: law.gamma,
        printed_s: found.printed_s,
        slope: None,
        predicted: Figures {
            fct_s: found.class_s.into_iter().map(Some).collect(),
            missed: found.missed,
            mean_s: Some(found.mean_s),
            miss_rate: found.miss_rate,
        },
        simulated,
    })
}

/// Returns the law with its gamma, for x of at least `least`.
fn law(model: &Model, asked: &LawOf, least: f64) -> Result<Law, Failure> {
    let sigma = model.deviation();
    let gamma = match asked.gamma {
        Gamma::Stated(gamma) => gamma,
        Gamma::OfDeviation(k) => k * sigma,
    };
    if asked.offset >= least {
        let what = "the offset is not below the smallest class, so its priority would have no bound";
        return Err(asked.origin.error(&asked.key, what, "a smaller offset, such as 0").into());
    }
    if !(gamma > 0.0 && gamma.is_finite()) {
        let what = "gamma = k sigma is 0, because all classes have the same number of bytes";
        return Err(asked.origin.error(&asked.key, what, "scale instead of k").into());
    }
    Ok(Law { gamma, alpha: asked.offset, exponent: asked.exponent, base: asked.base })
}

fn run(
    asked: &LawOf,
    observed: Option<&ModelledFlows>,
    progress: &mut OnProgress,
) -> Result<Option<SimulatedFigures>, Failure> {
    match (observed, &asked.scheme) {
        (Some(observed), Some(scheme)) => observed.simulate(asked, scheme, progress).map(Some),
        _ => Ok(None),
    }
}

/// Returns mu in bytes per second, and whether it was fitted. The fit scales `mean`, the predicted mean completion time
/// in seconds at 1 B/s, to the simulated mean.
fn mu(asked: &LawOf, mean: f64, simulated: Option<&SimulatedFigures>) -> (f64, bool) {
    let seen = simulated.and_then(|simulated| simulated.figures.mean_s);
    match (asked.mu, seen) {
        (Mu::Stated(rate), _) => (rate.bps() as f64 / 8.0, false),
        (Mu::Fitted, Some(seen)) => (mean / seen, true),
        (Mu::Fitted, None) => (1.0, false),
    }
}
