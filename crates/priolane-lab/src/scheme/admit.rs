//! The admit row: who is admitted at which class, with the parameters of each policy.

use priolane_core::admit::aequitas::{Per, Update};
use priolane_core::admit::firapam::Constants;
use priolane_core::ids::CLASSES;
use priolane_core::units::Span;
use serde::Serialize;
use serde::ser::Serializer;

use priolane_source::quantity::{as_text, show_span};
use priolane_source::{Field, Form, InputError, Merge, Own, ReadKeys, Reader, Replace};

/// Admission policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Admit {
    /// Every flow is admitted at the class it asked for.
    None,
    /// By probabilities that misses lower and windows raise, else at the lowest class.
    Aequitas(Aequitas),
    /// At the top while what is more urgent leaves room, else at the bottom.
    Pase {
        /// Number of classes, 2 to 16.
        levels: u8,
        /// Whether flows under way are mapped again.
        #[serde(flatten)]
        remap: Remap,
    },
    /// By probabilities that follow a utility, else at the adjacent class.
    Firapam(Firapam),
}

/// Parameters of Aequitas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aequitas {
    /// Number of classes, 2 to 16.
    pub levels: u8,
    /// What a window without a miss adds.
    pub alpha: f64,
    /// What a miss takes, per MTU.
    pub beta: f64,
    /// The least probability.
    pub floor: f64,
    /// The most that one miss takes.
    pub most: f64,
    /// What targets count.
    #[serde(serialize_with = "per_name")]
    pub per: Per,
    /// The target of each class but the lowest.
    #[serde(serialize_with = "spans")]
    pub targets: Vec<Span>,
    /// Where windows come from.
    #[serde(flatten)]
    pub windows: Windows,
    /// What begins a window.
    #[serde(serialize_with = "update_name")]
    pub update: Update,
}

/// How long Aequitas' windows are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Windows {
    /// As follows from a target and the percentile of flows that is to keep it.
    Percentile(f64),
    /// As stated, for all classes.
    #[serde(serialize_with = "as_text::span")]
    Window(Span),
}

/// Parameters of Firapam.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Firapam {
    /// Number of classes, 2 to 16.
    pub levels: u8,
    /// How the gradient is found.
    pub mode: Mode,
    /// t, b and c of the utility, for Gbit, seconds and Gbit/s.
    #[serde(flatten, serialize_with = "constants")]
    pub utility: Constants,
    /// The step size.
    pub a: f64,
    /// The most that one update moves a probability; only in analytic mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// The least probability.
    pub b_low: f64,
    /// The largest probability.
    pub b_up: f64,
    /// When probabilities are updated, and flows under way mapped again.
    #[serde(flatten)]
    pub remap: Remap,
}

/// How Firapam's gradient is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As the difference quotient of successive samples (Algorithm 1).
    Literal,
    /// As a derivative at fixed slack, with bounded steps.
    Analytic,
}

/// Monitor intervals, and whether they move flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Remap {
    /// What a monitor interval is.
    pub mi: Interval,
    /// Whether flows under way are mapped again.
    #[serde(serialize_with = "remap_name")]
    pub remap: priolane_core::admit::Remap,
}

/// What a monitor interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// A whole flow.
    Rpc,
    /// The round trip of a small packet between the first and the last host.
    Rtt,
    /// As long as stated.
    Every(Span),
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Rpc => s.serialize_str("rpc"),
            Self::Rtt => s.serialize_str("rtt"),
            Self::Every(span) => s.serialize_str(&show_span(*span)),
        }
    }
}

const PERS: [(&str, Per); 2] = [("mtu", Per::Mtu), ("rpc", Per::Rpc)];
const UPDATES: [(&str, Update); 3] =
    [("prose", Update::Prose), ("simulator", Update::Simulator), ("literal", Update::Literal)];
const MODES: [(&str, Mode); 2] = [("analytic", Mode::Analytic), ("literal", Mode::Literal)];
const REMAPS: [(&str, priolane_core::admit::Remap); 2] = [
    ("at_issue", priolane_core::admit::Remap::AtIssue),
    ("per_mi", priolane_core::admit::Remap::PerInterval),
];

fn name<T: PartialEq, S: Serializer>(of: &T, words: &[(&str, T)], s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(words.iter().find(|(_, word)| word == of).map_or("", |(name, _)| name))
}

fn per_name<S: Serializer>(per: &Per, s: S) -> Result<S::Ok, S::Error> {
    name(per, &PERS, s)
}

fn update_name<S: Serializer>(update: &Update, s: S) -> Result<S::Ok, S::Error> {
    name(update, &UPDATES, s)
}

fn remap_name<S: Serializer>(remap: &priolane_core::admit::Remap, s: S) -> Result<S::Ok, S::Error> {
    name(remap, &REMAPS, s)
}

fn spans<S: Serializer>(spans: &[Span], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(spans.iter().map(|&span| show_span(span)))
}

fn constants<S: Serializer>(&Constants { t, b, c }: &Constants, s: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Stated {
        t: f64,
        b: f64,
        c: f64,
    }
    Stated { t, b, c }.serialize(s)
}

impl Admit {
    /// The name in scheme files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Aequitas(_) => "aequitas",
            Self::Pase { .. } => "pase",
            Self::Firapam(_) => "firapam",
        }
    }

    /// The number of classes flows are moved between; `None` where they are not.
    pub fn levels(&self) -> Option<u8> {
        match self {
            Self::None => None,
            Self::Pase { levels, .. } => Some(*levels),
            Self::Aequitas(aequitas) => Some(aequitas.levels),
            Self::Firapam(firapam) => Some(firapam.levels),
        }
    }

    /// Its monitor interval, where that is shorter than flows.
    pub fn interval(&self) -> Option<Interval> {
        let remap = match self {
            Self::None | Self::Aequitas(_) => return None,
            Self::Pase { remap, .. } => remap,
            Self::Firapam(firapam) => &firapam.remap,
        };
        (remap.mi != Interval::Rpc).then_some(remap.mi)
    }
}

/// Who admits, each with how its keys are read.
const KINDS: [(&str, ReadKeys<Admit>); 4] = [
    ("none", |_| Ok(Admit::None)),
    ("aequitas", |keys| aequitas(keys).map(Admit::Aequitas)),
    ("pase", |keys| Ok(Admit::Pase { levels: levels(keys)?, remap: remap(keys)? })),
    ("firapam", |keys| firapam(keys).map(Admit::Firapam)),
];

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: &[(&["aequitas", "pase", "firapam"], &["levels"]), (&["pase", "firapam"], &["mi", "remap"])],
    },
    Replace::OneOf(&[Form { by: &["percentile"], with: &[] }, Form { by: &["window"], with: &[] }]),
    // The steps of the two modes differ in scale.
    Replace::Kind { tag: "mode", default: Some("analytic"), own: Own::Only(&["a", "step"]), shared: &[] },
]);

/// Reads `admit = { kind = "firapam", levels = 3, ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Admit, InputError> {
    let mut keys = field.table()?;
    let admit = keys.need("kind", "kind = \"none\"")?.word(&KINDS)?(&mut keys)?;
    keys.finish()?;
    Ok(admit)
}

fn levels(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.need("levels", "levels = 3")?.integer(2, CLASSES as u64)? as u8)
}

/// A number from `low` to `high`, `low` itself not.
fn above(field: &Field<'_>, low: f64, high: f64) -> Result<f64, InputError> {
    let value = field.number(low, high)?;
    if value > low {
        return Ok(value);
    }
    Err(field.error(format!("{value} is out of range"), format!("above {low}, at most {high}")))
}

fn aequitas(keys: &mut Reader<'_>) -> Result<Aequitas, InputError> {
    let levels = levels(keys)?;
    let alpha = keys.take("alpha").map_or(Ok(0.01), |f| above(&f, 0.0, 1.0))?;
    let beta = keys.take("beta").map_or(Ok(0.01), |f| f.number(0.0, 1.0))?;
    let floor = keys.take("floor").map_or(Ok(0.1), |f| above(&f, 0.0, 1.0))?;
    let most = keys.take("most").map_or(Ok(1.0), |f| above(&f, 0.0, 1.0))?;
    let per = keys.word_or("per", &PERS, Per::Mtu)?;
    let field = keys.need("targets", "targets = [\"15us\", \"25us\"]")?;
    let targets = field.filled_list()?.iter().map(Field::positive_span).collect::<Result<Vec<_>, _>>()?;
    if targets.len() + 1 != usize::from(levels) {
        let what = format!("{} target(s) for {levels} classes", targets.len());
        return Err(field.error(what, "one for each class but the lowest, class 0 first"));
    }
    let windows = match (keys.take("percentile"), keys.take("window")) {
        (Some(_), Some(field)) => {
            return Err(field.error("percentile is stated too", "one of percentile and window"));
        }
        (None, Some(field)) => Windows::Window(field.positive_span()?),
        (percentile, None) => Windows::Percentile(percentile.map_or(Ok(99.9), |f| f.number(0.0, 99.9))?),
    };
    let update = keys.word_or("update", &UPDATES, Update::Prose)?;
    Ok(Aequitas { levels, alpha, beta, floor, most, per, targets, windows, update })
}

fn firapam(keys: &mut Reader<'_>) -> Result<Firapam, InputError> {
    let levels = levels(keys)?;
    let mode = keys.word_or("mode", &MODES, Mode::Analytic)?;
    let default = Constants::default();
    let utility = Constants {
        t: keys.take("t").map_or(Ok(default.t), |f| above(&f, 0.0, 1.0))?,
        b: keys.take("b").map_or(Ok(default.b), |f| f.number(0.0, f64::MAX))?,
        c: keys.take("c").map_or(Ok(default.c), |f| f.number(0.0, f64::MAX))?,
    };
    let usual = if mode == Mode::Literal { 25.0 } else { 0.05 };
    let a = keys.take("a").map_or(Ok(usual), |f| f.number(0.0, f64::MAX))?;
    let step = match (mode, keys.take("step")) {
        (Mode::Literal, Some(field)) => {
            let what = "steps of the literal mode are not bounded";
            return Err(field.error(what, "mode = \"analytic\", or no step"));
        }
        (Mode::Literal, None) => None,
        (Mode::Analytic, field) => Some(field.map_or(Ok(0.1), |f| above(&f, 0.0, 2.0))?),
    };
    let low = keys.take("b_low");
    let b_low = low.as_ref().map_or(Ok(0.1), |f| f.number(0.0, 2.0))?;
    let b_up = keys.take("b_up").map_or(Ok(1.9), |f| {
        f.number(1.0, 2.0).and_then(|b| match b {
            b if b < 2.0 => Ok(b),
            _ => Err(f.error("2 is out of range", "at least 1, below 2: beyond 2 nobody would keep a class")),
        })
    })?;
    match low {
        Some(field) if b_low > b_up => {
            let what = format!("b_low = {b_low} is above b_up = {b_up}");
            return Err(field.error(what, "0 < b_low <= 1 <= b_up < 2"));
        }
        Some(field) if !(b_low > 0.0 && b_low <= 1.0) => {
            return Err(field.error(format!("{b_low} is out of range"), "above 0, at most 1"));
        }
        _ => {}
    }
    Ok(Firapam { levels, mode, utility, a, step, b_low, b_up, remap: remap(keys)? })
}

fn remap(keys: &mut Reader<'_>) -> Result<Remap, InputError> {
    let mi = match keys.take("mi") {
        None => Interval::Rpc,
        Some(field) => match field.text() {
            Ok("rpc") => Interval::Rpc,
            Ok("rtt") => Interval::Rtt,
            _ => Interval::Every(field.positive_span().map_err(|error| InputError {
                fix: "\"rpc\", \"rtt\", or a time such as \"50us\"".to_owned(),
                ..error
            })?),
        },
    };
    let field = keys.take("remap");
    let at_issue = priolane_core::admit::Remap::AtIssue;
    let remap = field.as_ref().map_or(Ok(at_issue), |field| field.word(&REMAPS))?;
    match field {
        Some(field) if mi == Interval::Rpc && remap == priolane_core::admit::Remap::PerInterval => Err(field
            .error("a monitor interval of mi = \"rpc\" is over when its flow is", "mi = \"rtt\" or a time")),
        _ => Ok(Remap { mi, remap }),
    }
}
