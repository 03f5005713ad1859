//! The keys for the ranking of flows by TOP's receivers, and the rule that they select (TOP §3.2).

use super::body::MAX_CLASSES;
use super::priority::{Exponential, Key, Logarithm, Priority};
use crate::keys::{Bounds, KeyConflict, KeyInfo, KeyValue, Keys, Pairs, Schema, Table, Value, Words};
use crate::units::Span;

/// The property by which receivers rank flows.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(tag = "priority", default = "size", source = "TOP §3.2; docs/assumptions.md#top-classes")]
pub enum RankBy {
    /// All flows are equal.
    Single,
    /// The class that flows request.
    Asked(Classes),
    /// The size of flows.
    Size(Sizes),
    /// The data received so far (LAS).
    Attained(Sizes),
    /// The time to the deadline, in classes of equal ratio.
    Deadline(Deadlines),
    /// Exactly, by remaining size.
    ExactRemaining,
    /// Exactly, by size.
    ExactSize,
    /// Exactly, by deadline.
    ExactDeadline,
    /// Exactly, by the bytes of the coflow.
    ExactCoflow,
}

/// The number of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "classes")]
pub struct Classes {
    /// K, the number of token classes.
    #[key(name = "classes", default = 6, range = "[1, 13]", source = "TOP §3.1")]
    count: u8,
}

/// Classes by number of packets.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct Sizes {
    #[keys(flatten)]
    classes: Classes,
    #[keys(flatten)]
    cuts: ClassThresholds,
}

/// Classes by time to the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(check = Self::check)]
pub struct Deadlines {
    #[keys(flatten)]
    classes: Classes,
    /// Time to the deadline at the lower end of the logarithmic classes.
    #[key(
        required = "deadline_min = \"100us\"",
        range = "(0, )",
        source = "docs/assumptions.md#top-classes"
    )]
    deadline_min: Span,
    /// Time to the deadline at their upper end.
    #[key(required = "deadline_max = \"10ms\"", range = "(0, )", source = "docs/assumptions.md#top-classes")]
    deadline_max: Span,
}

/// The thresholds of classes by number of packets.
#[derive(Clone, Debug, PartialEq)]
enum ClassThresholds {
    /// As configured.
    Stated(Vec<u64>),
    /// For a density of sizes proportional to 1 / x up to p packets, scaled by a and b (TOP §4.2); without p, up to
    /// the largest flow.
    Heavy { p: Option<f64>, a: f64, b: f64 },
    /// For an exponential density up to p packets with mean m; without m, that of the flows minus one packet.
    Light { p: Option<f64>, mean: Option<f64> },
}

/// The model of the flow size distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
enum Tail {
    /// Logarithmic classes.
    Heavy,
    /// Exponential: thresholds that divide the density up to p into equal parts.
    Light,
}

impl RankBy {
    /// Returns true if flows are ranked exactly, not by classes.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::ExactRemaining | Self::ExactSize | Self::ExactDeadline | Self::ExactCoflow)
    }

    /// Returns true if the ranking needs deadlines.
    pub fn reads_deadlines(&self) -> bool {
        matches!(self, Self::Deadline(_) | Self::ExactDeadline)
    }

    /// Returns K.
    pub fn classes(&self) -> u8 {
        match self {
            Self::Asked(classes) | Self::Deadline(Deadlines { classes, .. }) => classes.count,
            Self::Size(sizes) | Self::Attained(sizes) => sizes.classes.count,
            _ => 1,
        }
    }

    fn cuts_mut(&mut self) -> Option<&mut ClassThresholds> {
        match self {
            Self::Size(sizes) | Self::Attained(sizes) => Some(&mut sizes.cuts),
            _ => None,
        }
    }

    /// Returns the field of p, in packets, if it must still be computed from the experiment's flow sizes.
    pub fn missing_p_mut(&mut self) -> Option<&mut Option<f64>> {
        match self.cuts_mut()? {
            ClassThresholds::Heavy { p, .. } | ClassThresholds::Light { p, .. } if p.is_none() => Some(p),
            _ => None,
        }
    }

    /// Returns the field of m, in packets, if it must still be computed from them.
    pub fn missing_mean_mut(&mut self) -> Option<&mut Option<f64>> {
        match self.cuts_mut()? {
            ClassThresholds::Light { mean, .. } if mean.is_none() => Some(mean),
            _ => None,
        }
    }

    /// Returns the rule for receivers.
    pub fn rule(&self) -> Priority {
        match self {
            Self::Single => Priority::Single,
            Self::Asked(_) => Priority::Asked,
            Self::Size(sizes) => Priority::Size(sizes.thresholds()),
            Self::Attained(sizes) => Priority::Attained(sizes.thresholds()),
            Self::Deadline(deadlines) => Priority::Deadline(deadlines.thresholds()),
            Self::ExactRemaining => Priority::Exact(Key::Remaining),
            Self::ExactSize => Priority::Exact(Key::Size),
            Self::ExactDeadline => Priority::Exact(Key::Deadline),
            Self::ExactCoflow => Priority::Exact(Key::Coflow),
        }
    }
}

impl Deadlines {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.deadline_max > self.deadline_min {
            return Ok(());
        }
        Err(KeyConflict::of("deadline_max", "deadline_max is not above deadline_min", "a longer time"))
    }

    /// Returns thresholds for classes of equal ratio between the two times.
    fn thresholds(&self) -> Vec<Span> {
        let (min, max) = (self.deadline_min.0 as f64, self.deadline_max.0 as f64);
        let scaled = Logarithm { classes: self.classes.count, p: max / min, a: 1.0 / min, b: 0.0 };
        scaled.thresholds().into_iter().map(Span).collect()
    }
}

impl Sizes {
    fn check(&mut self) -> Result<(), KeyConflict> {
        let classes = self.classes.count;
        match &self.cuts {
            ClassThresholds::Stated(at) if at.len() + 1 != usize::from(classes) || !at.is_sorted() => {
                let what = format!(
                    "{} thresholds do not fit {classes} classes, or are not in increasing order",
                    at.len()
                );
                Err(KeyConflict::of(
                    "thresholds",
                    what,
                    "numbers of packets in increasing order, one fewer than classes",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the smallest number of packets of each class but the first. A missing p is replaced as if all flows
    /// had two packets.
    fn thresholds(&self) -> Vec<u64> {
        let classes = self.classes.count;
        match self.cuts {
            ClassThresholds::Stated(ref at) => at.clone(),
            ClassThresholds::Heavy { p, a, b } => {
                Logarithm { classes, p: p.unwrap_or(2.0), a, b }.thresholds()
            }
            ClassThresholds::Light { p, mean } => {
                Exponential { classes, p: p.unwrap_or(2.0), mean: mean.unwrap_or(1.0) }.thresholds()
            }
        }
    }
}

const CLASS_BOUNDS: Bounds = Bounds::whole(1, u32::MAX as u64, "[1, 4294967295]");
const LARGEST: Bounds = Bounds::above(1.0, "(1, )");
const POSITIVE: Bounds = Bounds::above(0.0, "(0, )");

/// Thresholds are configured, or follow from a density of sizes.
impl Keys for ClassThresholds {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let number = |bounds| move |value: Value<'_>| f64::read(&value, &bounds);
        if let Some(at) = table.take("thresholds", |value| Vec::<u64>::read(&value, &CLASS_BOUNDS))? {
            return Ok(Self::Stated(at));
        }
        let p = table.take("p", number(LARGEST))?;
        let tail = table.take("tail", |value| value.word(Tail::WORDS))?.unwrap_or(Tail::Heavy);
        if tail == Tail::Light {
            return Ok(Self::Light { p, mean: table.take("mean", number(POSITIVE))? });
        }
        let a = table.take("a", number(POSITIVE))?.unwrap_or(1.0);
        let b = table.take("b", number(Bounds::ANY))?.unwrap_or(0.0);
        Ok(Self::Heavy { p, a, b })
    }

    fn write(&self, out: &mut Pairs) {
        match self {
            Self::Stated(at) => out.push(("thresholds", at.write())),
            Self::Heavy { a, b, .. } => out.extend([("a", a.write()), ("b", b.write())]),
            Self::Light { mean, .. } => {
                out.push(("tail", Tail::Light.write()));
                out.extend(mean.map(|mean| ("mean", mean.write())));
            }
        }
        if let Self::Heavy { p: Some(p), .. } | Self::Light { p: Some(p), .. } = self {
            out.push(("p", p.write()));
        }
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        let key = |name, meaning, [unit, default, source]: [&'static str; 3], bounds, schema| KeyInfo {
            name,
            group: "cuts",
            meaning,
            unit,
            bounds,
            default: default.to_owned(),
            source,
            required: false,
            none: None,
            schema,
        };
        let classes = "docs/assumptions.md#top-classes";
        out.extend([
            key(
                "thresholds",
                "Thresholds between classes, in place of p, tail, mean, a and b",
                ["pkt", "", "TOP §3.2"],
                CLASS_BOUNDS,
                Vec::<u64>::schema(),
            ),
            key(
                "p",
                "p of floor(K log_p(a x + b)): the largest flow",
                ["pkt", "that of the experiment's sizes", "TOP §3.2"],
                LARGEST,
                Schema::Number,
            ),
            key(
                "tail",
                "Model of the distribution of flow sizes",
                ["", "heavy", "TOP §3.2; docs/assumptions.md#top-classes"],
                Bounds::ANY,
                Tail::schema(),
            ),
            key(
                "mean",
                "m of a light tail: the size over which the exponential falls by a factor of e",
                ["pkt", "the mean of the experiment's sizes less one", classes],
                POSITIVE,
                Schema::Number,
            ),
            key("a", "a of the logarithm", ["", "1", classes], POSITIVE, Schema::Number),
            key("b", "b of the logarithm", ["", "0", classes], Bounds::ANY, Schema::Number),
        ]);
    }
}

const _: () = assert!(MAX_CLASSES == 13, "the range of K");

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(count: u8, cuts: ClassThresholds) -> Sizes {
        Sizes { classes: Classes { count }, cuts }
    }

    #[test]
    fn stated_thresholds_are_one_fewer_than_classes_and_in_order() {
        let stated = |at: &[u64]| sizes(3, ClassThresholds::Stated(at.to_vec())).check();
        assert!(stated(&[5, 9]).is_ok() && stated(&[5, 5]).is_ok());
        for wrong in [&[5][..], &[9, 5], &[1, 2, 3], &[]] {
            assert!(stated(wrong).is_err(), "{wrong:?}");
        }
        assert!(sizes(3, ClassThresholds::Heavy { p: None, a: 1.0, b: 0.0 }).check().is_ok());
        let rule = RankBy::Size(sizes(3, ClassThresholds::Stated(vec![5, 9]))).rule();
        assert_eq!(rule, Priority::Size(vec![5, 9]));
    }

    #[test]
    fn classes_of_deadlines_have_equal_ratios_between_two_times() {
        let deadlines = |min, max| Deadlines {
            classes: Classes { count: 3 },
            deadline_min: Span::from_ms(min),
            deadline_max: Span::from_ms(max),
        };
        assert!(deadlines(1, 8).check().is_ok());
        assert!(deadlines(8, 8).check().is_err() && deadlines(8, 1).check().is_err());
        // From 1 ms to 8 ms in three classes of ratio 2.
        let found = deadlines(1, 8).thresholds();
        assert!(
            found.len() == 2
                && found.iter().zip([2, 4]).all(|(&at, ms)| at.0.abs_diff(ms * 1_000_000_000) <= 1)
        );
    }

    #[test]
    fn what_sizes_decide_is_missing_until_it_is_set() {
        let mut light = RankBy::Attained(sizes(4, ClassThresholds::Light { p: None, mean: None }));
        *light.missing_p_mut().unwrap() = Some(100.0);
        *light.missing_mean_mut().unwrap() = Some(20.0);
        assert!(light.missing_p_mut().is_none() && light.missing_mean_mut().is_none());
        let mut heavy = RankBy::Size(sizes(4, ClassThresholds::Heavy { p: None, a: 1.0, b: 0.0 }));
        assert!(heavy.missing_mean_mut().is_none() && heavy.missing_p_mut().is_some());
        let mut stated = RankBy::Size(sizes(2, ClassThresholds::Stated(vec![5])));
        assert!(stated.missing_p_mut().is_none() && RankBy::Single.missing_p_mut().is_none());
        assert_eq!([heavy.classes(), stated.classes(), RankBy::ExactSize.classes()], [4, 2, 1]);
    }
}
