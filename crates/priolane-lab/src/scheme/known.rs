//! Assignment by what is known of a flow before it sends: its size, its deadline, both, or nothing.

use priolane_core::assign::by_flow::{Measure, PowerLaw, Rule};
use priolane_core::ids::CLASSES;
use priolane_core::units::{Rate, Span};
use priolane_source::quantity::{
    as_text, bytes as read_bytes, show_bytes, show_rate, show_span, span as read_span,
};
use priolane_source::{Field, InputError, Own, ReadKeys, Reader, Replace};
use serde::Serialize;
use serde::ser::Serializer;

use super::thresholds::ThresholdSource;

/// A rule that gives each flow its class when it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Known {
    /// By size, so that each class has its share of flows.
    FlowFraction {
        /// The share of each class, summing to 1.
        fractions: Vec<f64>,
        /// Whose sizes.
        from: ThresholdSource,
        /// The thresholds found; `None` before planning.
        #[serde(serialize_with = "some_bytes", skip_serializing_if = "Option::is_none")]
        bytes: Option<Vec<u64>>,
    },
    /// By size, so that each class has as many bytes (Homa).
    EqualBytes {
        /// Number of classes, 2 to 16.
        levels: u8,
        /// Whose sizes.
        from: ThresholdSource,
        /// The thresholds found; `None` before planning.
        #[serde(serialize_with = "some_bytes", skip_serializing_if = "Option::is_none")]
        bytes: Option<Vec<u64>>,
    },
    /// By size.
    Size {
        /// Where one class ends and the next begins.
        #[serde(serialize_with = "as_text::many_bytes")]
        thresholds: Vec<u64>,
    },
    /// By the size of the whole coflow.
    CoflowSize {
        /// Where one class ends and the next begins.
        #[serde(serialize_with = "as_text::many_bytes")]
        thresholds: Vec<u64>,
    },
    /// With a deadline first, the others by size (Karuna).
    DeadlinesFirst {
        /// Where one class of those without ends and the next begins.
        #[serde(serialize_with = "as_text::many_bytes")]
        thresholds: Vec<u64>,
    },
    /// At random.
    RandomFraction {
        /// The share of each class, summing to 1.
        fractions: Vec<f64>,
    },
    /// By the time from start to deadline.
    Deadline {
        /// Where one class ends and the next begins.
        #[serde(serialize_with = "spans")]
        thresholds: Vec<Span>,
    },
    /// By the rank of that time among all flows of the run.
    DeadlineRank {
        /// The share of each class, summing to 1.
        fractions: Vec<f64>,
    },
    /// By size over the time to the deadline.
    DemandRate {
        /// Where one class ends and the next begins, the highest rate first.
        #[serde(serialize_with = "rates")]
        thresholds: Vec<Rate>,
    },
    /// By a power law of size or deadline.
    PowerLaw {
        /// Number of classes, 2 to 16.
        levels: u8,
        /// What the law is of: a size or a time, with its scale and offset.
        #[serde(flatten, serialize_with = "measure")]
        of: Measure,
        /// The exponent, below 0.
        exponent: f64,
        /// What is added.
        base: f64,
    },
}

fn some_bytes<S: Serializer>(bytes: &Option<Vec<u64>>, s: S) -> Result<S::Ok, S::Error> {
    as_text::many_bytes(bytes.as_deref().unwrap_or_default(), s)
}

fn spans<S: Serializer>(spans: &[Span], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(spans.iter().map(|&span| show_span(span)))
}

fn rates<S: Serializer>(rates: &[Rate], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(rates.iter().map(|&rate| show_rate(rate)))
}

fn measure<S: Serializer>(measure: &Measure, s: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Stated {
        of: &'static str,
        scale: String,
        offset: String,
    }
    let stated = match *measure {
        Measure::Size { scale, offset } => {
            Stated { of: "size", scale: show_bytes(scale), offset: show_bytes(offset) }
        }
        Measure::Deadline { scale, offset } => {
            Stated { of: "deadline", scale: show_span(scale), offset: show_span(offset) }
        }
    };
    stated.serialize(s)
}

impl Known {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FlowFraction { .. } => "flow_fraction",
            Self::EqualBytes { .. } => "equal_bytes",
            Self::Size { .. } => "size",
            Self::CoflowSize { .. } => "coflow_size",
            Self::RandomFraction { .. } => "random_fraction",
            Self::DeadlinesFirst { .. } => "deadlines_first",
            Self::Deadline { .. } => "deadline",
            Self::DeadlineRank { .. } => "deadline_rank",
            Self::DemandRate { .. } => "demand_rate",
            Self::PowerLaw { .. } => "power_law",
        }
    }

    /// The number of classes it gives.
    pub fn levels(&self) -> u8 {
        match self {
            Self::EqualBytes { levels, .. } | Self::PowerLaw { levels, .. } => *levels,
            Self::FlowFraction { fractions, .. }
            | Self::RandomFraction { fractions }
            | Self::DeadlineRank { fractions } => fractions.len() as u8,
            Self::Size { thresholds } | Self::CoflowSize { thresholds } => thresholds.len() as u8 + 1,
            Self::DeadlinesFirst { thresholds } => thresholds.len() as u8 + 2,
            Self::Deadline { thresholds } => thresholds.len() as u8 + 1,
            Self::DemandRate { thresholds } => thresholds.len() as u8 + 1,
        }
    }

    /// Whether it looks at deadlines.
    pub fn reads_deadlines(&self) -> bool {
        match self {
            Self::Deadline { .. }
            | Self::DeadlinesFirst { .. }
            | Self::DeadlineRank { .. }
            | Self::DemandRate { .. } => true,
            Self::PowerLaw { of, .. } => matches!(of, Measure::Deadline { .. }),
            Self::FlowFraction { .. }
            | Self::EqualBytes { .. }
            | Self::Size { .. }
            | Self::CoflowSize { .. }
            | Self::RandomFraction { .. } => false,
        }
    }

    /// The rule, its thresholds found.
    pub fn rule(&self) -> Rule {
        match self {
            Self::FlowFraction { bytes, .. } | Self::EqualBytes { bytes, .. } => {
                Rule::Size(bytes.clone().unwrap_or_default())
            }
            Self::Size { thresholds } => Rule::Size(thresholds.clone()),
            Self::CoflowSize { thresholds } => Rule::CoflowSize(thresholds.clone()),
            Self::RandomFraction { fractions } => Rule::Random(fractions.clone()),
            Self::DeadlinesFirst { thresholds } => Rule::DeadlinesFirst(thresholds.clone()),
            Self::Deadline { thresholds } => Rule::Deadline(thresholds.clone()),
            Self::DeadlineRank { fractions } => Rule::DeadlineRank(fractions.clone()),
            Self::DemandRate { thresholds } => Rule::DemandRate(thresholds.clone()),
            &Self::PowerLaw { levels, of, exponent, base } => {
                Rule::PowerLaw(PowerLaw { of, levels, exponent, base })
            }
        }
    }
}

/// The rules of this module, each with how its keys are read.
pub(super) const KINDS: [(&str, ReadKeys<Known>); 10] = [
    ("flow_fraction", flow_fraction),
    ("equal_bytes", equal_bytes),
    ("size", |keys| Ok(Known::Size { thresholds: thresholds(keys, "[\"100kB\", \"1MB\"]", Field::bytes)? })),
    ("random_fraction", |keys| Ok(Known::RandomFraction { fractions: fractions(keys)? })),
    ("deadline", |keys| {
        Ok(Known::Deadline { thresholds: thresholds(keys, "[\"2ms\", \"8ms\"]", Field::positive_span)? })
    }),
    ("deadline_rank", |keys| Ok(Known::DeadlineRank { fractions: fractions(keys)? })),
    ("demand_rate", |keys| Ok(Known::DemandRate { thresholds: demands(keys)? })),
    ("power_law", power_law),
    ("coflow_size", |keys| {
        Ok(Known::CoflowSize { thresholds: thresholds(keys, "[\"1MB\", \"10MB\"]", Field::bytes)? })
    }),
    ("deadlines_first", |keys| Ok(Known::DeadlinesFirst { thresholds: behind_deadlines(keys)? })),
];

/// Thresholds that were found are those of what is stated beside them.
pub(super) const SOLVED: Replace = Replace::Stated(&["fractions", "levels", "from"], &["bytes"]);

/// Sizes and deadlines have different units.
pub(super) const POWER_LAW: Replace =
    Replace::Kind { tag: "of", default: None, own: Own::Only(&["scale", "offset"]), shared: &[] };

fn flow_fraction(keys: &mut Reader<'_>) -> Result<Known, InputError> {
    let fractions = fractions(keys)?;
    let (from, bytes) = solved(keys, fractions.len())?;
    Ok(Known::FlowFraction { fractions, from, bytes })
}

fn equal_bytes(keys: &mut Reader<'_>) -> Result<Known, InputError> {
    let levels = levels(keys)?;
    let (from, bytes) = solved(keys, usize::from(levels))?;
    Ok(Known::EqualBytes { levels, from, bytes })
}

fn levels(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.need("levels", "levels = 3")?.integer(2, CLASSES as u64)? as u8)
}

fn fractions(keys: &mut Reader<'_>) -> Result<Vec<f64>, InputError> {
    let field = keys.need("fractions", "fractions = [0.5, 0.1, 0.4]")?;
    let items = field.filled_list()?;
    let fractions = items.iter().map(|item| item.number(0.0, 1.0)).collect::<Result<Vec<f64>, _>>()?;
    let sum: f64 = fractions.iter().sum();
    if fractions.len() < 2 || fractions.len() > CLASSES || (sum - 1.0).abs() > 1e-9 {
        let what = format!("{} fraction(s) that sum to {sum}", fractions.len());
        return Err(field.error(what, "2 to 16 fractions, class 0 first, that sum to 1"));
    }
    Ok(fractions)
}

/// Thresholds of a kind of quantity, at least one, in increasing order.
fn thresholds<'a, T: PartialOrd>(
    keys: &mut Reader<'a>,
    example: &str,
    read: impl Fn(&Field<'a>) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    let field = keys.need("thresholds", &format!("thresholds = {example}"))?;
    let all = field.filled_list()?.iter().map(read).collect::<Result<Vec<T>, _>>()?;
    let ordered = all.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || all.len() >= CLASSES {
        return Err(
            field.error("these are no thresholds", format!("1 to 15 in increasing order, such as {example}"))
        );
    }
    Ok(all)
}

/// Thresholds that leave a class for flows with a deadline.
fn behind_deadlines(keys: &mut Reader<'_>) -> Result<Vec<u64>, InputError> {
    let example = "[\"100kB\", \"1MB\"]";
    let field = keys.need("thresholds", &format!("thresholds = {example}"))?;
    let all = field.filled_list()?.iter().map(Field::bytes).collect::<Result<Vec<u64>, _>>()?;
    if all.is_sorted() && all.len() + 2 <= CLASSES {
        return Ok(all);
    }
    Err(field.error("these are no thresholds", format!("1 to 14 in increasing order, such as {example}")))
}

fn demands(keys: &mut Reader<'_>) -> Result<Vec<Rate>, InputError> {
    let field = keys.need("thresholds", "thresholds = [\"5Gbps\", \"1Gbps\"]")?;
    let all = field.filled_list()?.iter().map(Field::rate).collect::<Result<Vec<Rate>, _>>()?;
    if all.len() >= CLASSES || !all.windows(2).all(|pair| pair[0] >= pair[1]) {
        let fix =
            "1 to 15 in decreasing order, such as [\"5Gbps\", \"1Gbps\"]: more demand is a higher class";
        return Err(field.error("these are no thresholds of demand", fix));
    }
    Ok(all)
}

/// Whose sizes thresholds come from, and what they are where that was found.
fn solved(keys: &mut Reader<'_>, levels: usize) -> Result<(ThresholdSource, Option<Vec<u64>>), InputError> {
    let from = match keys.take("from") {
        None => ThresholdSource::Global,
        Some(field) => match field.text()? {
            "global" => ThresholdSource::Global,
            "local" => ThresholdSource::Local,
            name => ThresholdSource::Group(name.to_owned()),
        },
    };
    let Some(field) = keys.take("bytes") else { return Ok((from, None)) };
    let bytes = field.filled_list()?.iter().map(Field::bytes).collect::<Result<Vec<u64>, _>>()?;
    if bytes.len() + 1 != levels || !bytes.is_sorted() {
        return Err(
            field.error(format!("{} thresholds for {levels} classes", bytes.len()), "leave the key out")
        );
    }
    Ok((from, Some(bytes)))
}

/// How the scale of a measure, and its offset if there is one, are read.
type ReadMeasure = fn(&Field<'_>, Option<Field<'_>>) -> Result<Measure, InputError>;

/// Measures, each with how it is read and an example of its scale.
const MEASURES: [(&str, (ReadMeasure, &str)); 2] =
    [("size", (by_size, "scale = \"100kB\"")), ("deadline", (by_deadline, "scale = \"2ms\""))];

fn by_size(scale: &Field<'_>, offset: Option<Field<'_>>) -> Result<Measure, InputError> {
    let offset = offset.map_or(Ok(0), |f| f.bytes())?;
    Ok(Measure::Size { scale: quantity(scale, read_bytes)?, offset })
}

fn by_deadline(scale: &Field<'_>, offset: Option<Field<'_>>) -> Result<Measure, InputError> {
    let offset = offset.map_or(Ok(Span::ZERO), |f| f.span())?;
    Ok(Measure::Deadline { scale: quantity(scale, read_span)?, offset })
}

fn power_law(keys: &mut Reader<'_>) -> Result<Known, InputError> {
    let levels = levels(keys)?;
    let (measure, fix) = keys.need("of", "of = \"size\"")?.word(&MEASURES)?;
    let scale = keys.need("scale", fix)?;
    let of = measure(&scale, keys.take("offset"))?;
    match of {
        Measure::Size { scale: 0, .. } | Measure::Deadline { scale: Span::ZERO, .. } => {
            return Err(scale.error("this is zero", "a scale above zero"));
        }
        _ => {}
    }
    let field = keys.need("exponent", "exponent = -0.5")?;
    let exponent = field.number(-100.0, 0.0)?;
    if exponent >= 0.0 {
        return Err(
            field.error("the exponent is not below 0", "below 0: smaller flows, or shorter deadlines, first")
        );
    }
    let base = keys.take("base").map_or(Ok(0.0), |f| f.number(-1e6, 1e6))?;
    Ok(Known::PowerLaw { levels, of, exponent, base })
}

fn quantity<T>(
    field: &Field<'_>,
    read: impl Fn(&str) -> Result<T, priolane_source::quantity::QuantityError>,
) -> Result<T, InputError> {
    read(field.text()?).map_err(|error| field.error(error.what, error.fix))
}
