//! Reads the model file of `priolane analyze`: the traffic, given directly or by an experiment, and one or both
//! priority laws.

use std::path::PathBuf;

use priolane_core::analyze::{Model, ModelError, ModelInput};
use priolane_core::units::{PS_PER_S, Rate, Span};

use priolane_source::{Field, InputError, Origin, Reader, parse};

/// Maximum number of size classes, and of classes of latency requirements.
const MOST: usize = 1_000;

/// A model file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelFile {
    /// The traffic.
    pub(super) traffic: Traffic,
    /// Priority by size.
    pub(super) bytes: Option<LawOf>,
    /// Priority by latency requirement.
    pub(super) latency: Option<LawOf>,
}

/// The source of the traffic.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Traffic {
    /// The model file itself.
    Stated(Model),
    /// An experiment.
    Of(ExperimentOf),
}

/// The experiment whose flows are modelled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExperimentOf {
    /// Path, relative to the model file.
    pub(super) path: PathBuf,
    /// Upper edges of the size classes, in bytes, inclusive and increasing.
    pub(super) size_edges: Vec<u64>,
    /// Upper edges of the classes of latency requirements, increasing.
    pub(super) deadline_edges: Vec<Span>,
    /// Position in the file, for messages.
    pub(super) origin: Origin,
}

/// A priority law as given in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LawOf {
    /// mu.
    pub(super) mu: Mu,
    /// gamma.
    pub(super) gamma: Gamma,
    /// alpha, in bytes or seconds.
    pub(super) offset: f64,
    /// e.
    pub(super) exponent: f64,
    /// beta.
    pub(super) base: f64,
    /// The scheme to simulate.
    pub(super) scheme: Option<String>,
    /// The key of the law.
    pub(super) key: String,
    /// Position in the file, for messages.
    pub(super) origin: Origin,
}

/// The rate of a flow of priority 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mu {
    /// The given rate.
    Stated(Rate),
    /// Fitted so that the mean completion time equals the simulated one.
    Fitted,
}

/// gamma, per byte or per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gamma {
    /// The reciprocal of the given scale.
    Stated(f64),
    /// k sigma (Eq. 7).
    OfDeviation(f64),
}

/// The argument x of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Bytes,
    Seconds,
}

impl Measure {
    fn read(self, field: &Field<'_>) -> Result<f64, InputError> {
        match self {
            Self::Bytes => Ok(field.bytes()? as f64),
            Self::Seconds => field.span().map(seconds),
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Bytes => "scale = \"100kB\"",
            Self::Seconds => "scale = \"1ms\"",
        }
    }
}

/// Converts to seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.0 as f64 / PS_PER_S as f64
}

/// Reads the model file `text`; `name` is the file name in messages.
pub(super) fn read(name: &str, text: &str) -> Result<ModelFile, InputError> {
    let root = parse(name, text)?;
    let origin = Origin { file: name.into(), line: Some(1) };
    let mut keys = Reader::new(&root, "", &origin);
    let experiment = keys.take("experiment");
    let traffic = match &experiment {
        Some(field) => Traffic::Of(experiment_of(field, &mut keys)?),
        None => Traffic::Stated(stated(&mut keys)?),
    };
    let may_simulate = experiment.is_some();
    let mut read_law = |key, measure| keys.take(key).map(|field| law(&field, measure)).transpose();
    let bytes = read_law("bytes", Measure::Bytes)?;
    let latency = read_law("latency", Measure::Seconds)?;
    if bytes.is_none() && latency.is_none() {
        return Err(keys.error("the file has no law", "a table [bytes], a table [latency], or both"));
    }
    keys.finish()?;
    for law in bytes.iter().chain(&latency) {
        let error = |what: &str, fix: &str| Err(law.origin.error(&law.key, what, fix));
        if law.scheme.is_some() && !may_simulate {
            return error(
                "the scheme cannot be simulated without an experiment",
                "experiment = \"FILE.toml\"",
            );
        }
        if law.mu == Mu::Fitted && law.scheme.is_none() {
            return error("the rate of the flows is unknown", "rate = \"1Gbps\", or a scheme to simulate");
        }
    }
    Ok(ModelFile { traffic, bytes, latency })
}

fn experiment_of(field: &Field<'_>, keys: &mut Reader<'_>) -> Result<ExperimentOf, InputError> {
    let size_edges = edges(keys.take("size_edges"), |edge| edge.bytes())?;
    let deadline_edges = edges(keys.take("deadline_edges"), |edge| edge.positive_span())?;
    let path = PathBuf::from(field.text()?);
    Ok(ExperimentOf { path, size_edges, deadline_edges, origin: field.origin().clone() })
}

fn edges<'a, T: PartialOrd>(
    field: Option<Field<'a>>,
    read: impl Fn(&Field<'a>) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let values = few(&field)?.iter().map(read).collect::<Result<Vec<T>, _>>()?;
    match values.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(values),
        false => Err(field.error("the edges do not increase", "edges in increasing order")),
    }
}

fn few<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, InputError> {
    let items = field.filled_list()?;
    if items.len() > MOST {
        return Err(
            field.error(format!("the list has {} items", items.len()), format!("at most {MOST} items"))
        );
    }
    Ok(items)
}

fn numbers(field: &Field<'_>) -> Result<Vec<f64>, InputError> {
    few(field)?.iter().map(|item| item.number(0.0, 1.0)).collect()
}

fn stated(keys: &mut Reader<'_>) -> Result<Model, InputError> {
    let flows = keys.need("flows", "flows = 1000, or an experiment = \"FILE.toml\"")?;
    let sizes = keys.need("sizes", "sizes = [\"10kB\", \"1MB\"]: the mean size of each class")?;
    let shares =
        keys.need("shares", "shares = [0.9, 0.1]: the share of each class in the number of flows")?;
    let deadlines = keys.need("deadlines", "deadlines = [\"1ms\", \"10ms\"]: the mean of each class")?;
    let mix =
        keys.need("mix", "mix = [[0.5, 0.5], [0, 1]]: a row for each size, a share for each deadline")?;
    let parts = ModelInput {
        flows: flows.number(0.0, f64::MAX)?,
        sizes: few(&sizes)?.iter().map(|f| f.bytes().map(|b| b as f64)).collect::<Result<_, _>>()?,
        shares: numbers(&shares)?,
        requirements: few(&deadlines)?.iter().map(|f| f.span().map(seconds)).collect::<Result<_, _>>()?,
        mix: few(&mix)?.iter().map(numbers).collect::<Result<_, _>>()?,
    };
    Model::new(parts).map_err(|error| {
        let (field, fix) = match error {
            ModelError::Flows => (&flows, "flows = 1000"),
            ModelError::Sizes => (&sizes, "sizes = [\"10kB\", \"1MB\"]"),
            ModelError::Shares => (&shares, "shares = [0.9, 0.1]"),
            ModelError::Requirements => (&deadlines, "deadlines = [\"1ms\", \"10ms\"]"),
            ModelError::Mix => (&mix, "mix = [[0.5, 0.5], [0, 1]]"),
        };
        field.error(error.to_string(), fix)
    })
}

fn law(field: &Field<'_>, measure: Measure) -> Result<LawOf, InputError> {
    let mut keys = field.table()?;
    let mu = keys.take("rate").map_or(Ok(Mu::Fitted), |f| f.rate().map(Mu::Stated))?;
    let gamma = match (keys.take("scale"), keys.take("k")) {
        (Some(scale), None) => match measure.read(&scale)? {
            0.0 => return Err(scale.error("the value is zero", measure.example())),
            scale => Gamma::Stated(1.0 / scale),
        },
        (None, Some(k)) if measure == Measure::Bytes => match k.number(0.0, f64::MAX)? {
            0.0 => return Err(k.error("the value is zero", "a k above 0: gamma = k sigma, per byte")),
            k => Gamma::OfDeviation(k),
        },
        (None, Some(k)) => {
            return Err(k.error("gamma of latencies does not depend on traffic", measure.example()));
        }
        _ => return Err(keys.error("gamma must be set by exactly one key", measure.example())),
    };
    let offset = keys.take("offset").map_or(Ok(0.0), |f| measure.read(&f))?;
    let exponent = keys.need("exponent", "exponent = -0.5")?;
    let power = exponent.number(-100.0, 0.0)?;
    if power == 0.0 {
        return Err(exponent.error("all priorities would be equal", "an exponent below 0, such as -0.5"));
    }
    let base = keys.take("base").map_or(Ok(0.0), |f| f.number(0.0, 1e9))?;
    let scheme = keys.take("scheme").map(|f| f.text().map(str::to_owned)).transpose()?;
    keys.finish()?;
    let (key, origin) = (field.key().to_owned(), field.origin().clone());
    Ok(LawOf { mu, gamma, offset, exponent: power, base, scheme, key, origin })
}
