//! What receivers of TOP rank flows by: the keys, and the rule that they stand for.

use priolane_core::transport::tokens::MAX_CLASSES;
use priolane_core::transport::tokens::priority::{Exponential, Key, Logarithm, Priority};
use priolane_core::units::Span;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Own, ReadKeys, Reader, Replace};

/// What receivers rank flows by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "priority", rename_all = "snake_case")]
pub enum RankBy {
    /// Nothing.
    Single,
    /// The class they ask for.
    Asked {
        /// K.
        classes: u8,
    },
    /// Their size.
    Size(Sizes),
    /// What arrived so far.
    Attained(Sizes),
    /// The time to their deadline, in classes of equal ratio.
    Deadline {
        /// K.
        classes: u8,
        /// The shortest time that is not in the first class.
        #[serde(serialize_with = "as_text::span")]
        deadline_min: Span,
        /// The time from which flows would be beyond the last class.
        #[serde(serialize_with = "as_text::span")]
        deadline_max: Span,
    },
    /// Exactly, by what is left.
    ExactRemaining,
    /// Exactly, by their size.
    ExactSize,
    /// Exactly, by their deadline.
    ExactDeadline,
    /// Exactly, by the bytes of their coflow.
    ExactCoflow,
}

/// Classes by packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// K.
    classes: u8,
    #[serde(flatten)]
    cuts: Cuts,
}

/// Where classes by packets end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cuts {
    /// As stated, so many of them.
    Stated { at: [u64; MAX_CLASSES as usize - 1], count: usize },
    /// By a density of sizes as 1 / x up to p packets, scaled by a and b (TOP §4.2); without p the largest flow there is.
    Heavy { p: Option<f64>, a: f64, b: f64 },
    /// By an exponential density up to p packets with mean m; without m that of the flows there are, less a packet.
    Light { p: Option<f64>, mean: Option<f64> },
}

impl Serialize for Cuts {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut keys = s.serialize_map(None)?;
        match self {
            Self::Stated { at, count } => keys.serialize_entry("thresholds", &at[..*count])?,
            Self::Heavy { a, b, .. } => {
                keys.serialize_entry("a", a)?;
                keys.serialize_entry("b", b)?;
            }
            Self::Light { mean, .. } => {
                keys.serialize_entry("tail", "light")?;
                if let Some(mean) = mean {
                    keys.serialize_entry("mean", mean)?;
                }
            }
        }
        if let Self::Heavy { p: Some(p), .. } | Self::Light { p: Some(p), .. } = self {
            keys.serialize_entry("p", p)?;
        }
        keys.end()
    }
}

/// The words for ranks, each with how its other keys are read.
const RANKS: &[(&str, ReadKeys<RankBy>)] = &[
    ("single", |_| Ok(RankBy::Single)),
    ("asked", |keys| Ok(RankBy::Asked { classes: classes(keys)? })),
    ("size", by_size),
    ("attained", |keys| Sizes::read(keys).map(RankBy::Attained)),
    ("deadline", by_deadline),
    ("exact_remaining", |_| Ok(RankBy::ExactRemaining)),
    ("exact_size", |_| Ok(RankBy::ExactSize)),
    ("exact_deadline", |_| Ok(RankBy::ExactDeadline)),
    ("exact_coflow", |_| Ok(RankBy::ExactCoflow)),
];

/// What the keys of a rule are for.
pub(super) const PRIORITY: Replace = Replace::Kind {
    tag: "priority",
    default: Some("size"),
    own: Own::Only(&[
        "classes",
        "thresholds",
        "p",
        "tail",
        "mean",
        "a",
        "b",
        "deadline_min",
        "deadline_max",
        "ranks",
    ]),
    shared: &[
        (&["asked", "size", "attained", "deadline"], &["classes"]),
        (&["single", "asked", "size", "attained", "deadline"], &["ranks"]),
    ],
};

/// Thresholds are stated, or follow from a density of sizes.
pub(super) const CUTS: Replace = Replace::OneOf(&[
    Form { by: &["thresholds"], with: &[] },
    Form { by: &["p", "tail", "mean", "a", "b"], with: &[] },
]);

/// What the keys of a density are for.
pub(super) const TAIL: Replace =
    Replace::Kind { tag: "tail", default: Some("heavy"), own: Own::Only(&["mean", "a", "b"]), shared: &[] };

fn by_size(keys: &mut Reader<'_>) -> Result<RankBy, InputError> {
    Sizes::read(keys).map(RankBy::Size)
}

fn by_deadline(keys: &mut Reader<'_>) -> Result<RankBy, InputError> {
    let classes = classes(keys)?;
    let deadline_min = keys.need("deadline_min", "deadline_min = \"100us\"")?.positive_span()?;
    let field = keys.need("deadline_max", "deadline_max = \"10ms\"")?;
    let deadline_max = field.positive_span()?;
    if deadline_max <= deadline_min {
        return Err(field.error("deadline_max is not above deadline_min", "a longer time"));
    }
    Ok(RankBy::Deadline { classes, deadline_min, deadline_max })
}

fn classes(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.take("classes").map_or(Ok(6), |f| f.integer(1, u64::from(MAX_CLASSES)))? as u8)
}

impl RankBy {
    /// Reads the keys; by size if nothing is said.
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        keys.word_or("priority", RANKS, by_size as ReadKeys<Self>)?(keys)
    }

    /// Whether flows are ranked exactly, and not by classes.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::ExactRemaining | Self::ExactSize | Self::ExactDeadline | Self::ExactCoflow)
    }

    /// Whether it needs deadlines.
    pub(super) fn reads_deadlines(&self) -> bool {
        matches!(self, Self::Deadline { .. } | Self::ExactDeadline)
    }

    /// K.
    pub fn classes(&self) -> u8 {
        match self {
            Self::Asked { classes } | Self::Deadline { classes, .. } => *classes,
            Self::Size(sizes) | Self::Attained(sizes) => sizes.classes,
            _ => 1,
        }
    }

    fn cuts_mut(&mut self) -> Option<&mut Cuts> {
        match self {
            Self::Size(sizes) | Self::Attained(sizes) => Some(&mut sizes.cuts),
            _ => None,
        }
    }

    /// The place of p, in packets, if it is still to be found from the sizes of the experiment.
    pub fn lacks_p(&mut self) -> Option<&mut Option<f64>> {
        match self.cuts_mut()? {
            Cuts::Heavy { p, .. } | Cuts::Light { p, .. } if p.is_none() => Some(p),
            _ => None,
        }
    }

    /// The place of m, in packets, if it is still to be found from them.
    pub fn lacks_mean(&mut self) -> Option<&mut Option<f64>> {
        match self.cuts_mut()? {
            Cuts::Light { mean, .. } if mean.is_none() => Some(mean),
            _ => None,
        }
    }

    /// The rule of receivers.
    pub fn rule(&self) -> Priority {
        match *self {
            Self::Single => Priority::Single,
            Self::Asked { .. } => Priority::Asked,
            Self::Size(sizes) => Priority::Size(sizes.thresholds()),
            Self::Attained(sizes) => Priority::Attained(sizes.thresholds()),
            Self::Deadline { classes, deadline_min: Span(min), deadline_max: Span(max) } => {
                let p = max as f64 / min as f64;
                // Buckets of equal ratio from the one time to the other.
                let scaled = Logarithm { classes, p, a: 1.0 / min as f64, b: 0.0 };
                Priority::Deadline(scaled.thresholds().into_iter().map(Span).collect())
            }
            Self::ExactRemaining => Priority::Exact(Key::Remaining),
            Self::ExactSize => Priority::Exact(Key::Size),
            Self::ExactDeadline => Priority::Exact(Key::Deadline),
            Self::ExactCoflow => Priority::Exact(Key::Coflow),
        }
    }
}

impl Sizes {
    fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let classes = classes(keys)?;
        let cuts = match keys.take("thresholds") {
            Some(field) => Cuts::stated(&field, classes)?,
            None => Cuts::by_density(keys)?,
        };
        Ok(Self { classes, cuts })
    }

    /// Packets from which a flow is in the next class; what was never found out is as if all flows had two packets.
    fn thresholds(self) -> Vec<u64> {
        let Self { classes, cuts } = self;
        match cuts {
            Cuts::Stated { at, count } => at[..count].to_vec(),
            Cuts::Heavy { p, a, b } => Logarithm { classes, p: p.unwrap_or(2.0), a, b }.thresholds(),
            Cuts::Light { p, mean } => {
                Exponential { classes, p: p.unwrap_or(2.0), mean: mean.unwrap_or(1.0) }.thresholds()
            }
        }
    }
}

impl Cuts {
    fn stated(field: &Field<'_>, classes: u8) -> Result<Self, InputError> {
        let items = field.list()?;
        let cuts = items.iter().map(|item| item.integer(1, u64::from(u32::MAX)));
        let cuts = cuts.collect::<Result<Vec<u64>, InputError>>()?;
        if cuts.len() + 1 != usize::from(classes) || !cuts.is_sorted() {
            let what = format!("{} thresholds for {classes} classes", cuts.len());
            return Err(field.error(what, "packets in order, one less than classes"));
        }
        let mut at = [0; MAX_CLASSES as usize - 1];
        at[..cuts.len()].copy_from_slice(&cuts);
        Ok(Self::Stated { at, count: cuts.len() })
    }

    fn by_density(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let largest = |field| above(&field, 1.0, "packets of the largest flow, such as 2107");
        let p = keys.take("p").map(largest).transpose()?;
        let is_light = keys.word_or("tail", &[("heavy", false), ("light", true)], false)?;
        if is_light {
            let mean = |field| above(&field, 0.0, "packets of the mean flow less one, such as 133");
            return Ok(Self::Light { p, mean: keys.take("mean").map(mean).transpose()? });
        }
        let a = keys.take("a").map_or(Ok(1.0), |field| above(&field, 0.0, "above 0, such as 1"))?;
        let b = keys.take("b").map_or(Ok(0.0), |f| f.number(-1e9, 1e9))?;
        Ok(Self::Heavy { p, a, b })
    }
}

fn above(field: &Field<'_>, least: f64, fix: &str) -> Result<f64, InputError> {
    let number = field.number(least, 1e15)?;
    if number > least { Ok(number) } else { Err(field.error(format!("this is not above {least}"), fix)) }
}
