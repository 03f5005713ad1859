//! Classes of flows: ranges of sizes, perhaps of some groups, a class of service or a class on the wire only.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::Class;
use priolane_core::price::Cos;
use priolane_sim::outcome::FlowRecord;
use priolane_source::quantity::as_text;
use serde::{Serialize, Serializer};

use priolane_results::source::Source;

/// The class that always exists: every finite flow.
pub const ALL: &str = "all";

/// A named range of flow sizes, in payload bytes, perhaps of some flows only; serialized as experiment files state it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Its name in metric paths.
    #[serde(skip)]
    pub name: String,
    /// size < below
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
    /// size > above
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub above: Option<u64>,
    /// size >= from
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// size <= to
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// The groups whose flows count; all if empty.
    #[serde(serialize_with = "one_or_all", skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// The class of service whose flows count, by what they (or their machines) pay for; all if `None`.
    #[serde(serialize_with = "cos_text", skip_serializing_if = "Option::is_none")]
    pub cos: Option<Cos>,
    /// The class that ratios of this one are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The class that flows ask for; any if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Class>,
    /// The class that flows are given when they start; any if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Class>,
}

impl SizeClass {
    /// The class `all`.
    pub fn all() -> Self {
        Self { name: ALL.to_owned(), ..Self::default() }
    }

    /// Whether a size is in its range.
    pub fn has(&self, bytes: u64) -> bool {
        self.below.is_none_or(|x| bytes < x)
            && self.above.is_none_or(|x| bytes > x)
            && self.from.is_none_or(|x| bytes >= x)
            && self.to.is_none_or(|x| bytes <= x)
    }

    /// Whether a flow of `bytes` payload bytes belongs to the class; one without end (`None`) does where sizes have
    /// no upper bound.
    pub fn contains(&self, bytes: Option<u64>, payer: Payer<'_>) -> bool {
        let sized = match bytes {
            Some(bytes) => self.has(bytes),
            None => self.below.is_none() && self.to.is_none(),
        };
        sized
            && (self.group.is_empty() || self.group.iter().any(|own| own == payer.group))
            && self.cos.is_none_or(|own| own == payer.cos)
    }

    /// Whether a flow that asked for the first class and was given the second may belong to it.
    pub fn holds(&self, (asked, given): (Class, Class)) -> bool {
        self.asked.is_none_or(|class| class == asked) && self.given.is_none_or(|class| class == given)
    }

    /// Whether a flow counts in it: measured, with an end, and of the class in all that the class states.
    pub(super) fn counts(
        &self,
        source: &Source,
        (spec, measured): (&FlowSpec, bool),
        record: &FlowRecord,
    ) -> bool {
        let of_class = || {
            self.contains(spec.size, Payer::of(spec, source))
                && self.holds((record.class.asked, record.class.given))
        };
        measured && spec.size.is_some() && of_class()
    }
}

/// One name as a text, several as a list: as files have it.
fn one_or_all<S: Serializer>(names: &[String], s: S) -> Result<S::Ok, S::Error> {
    match names {
        [one] => one.serialize(s),
        all => all.serialize(s),
    }
}

fn cos_text<S: Serializer>(cos: &Option<Cos>, s: S) -> Result<S::Ok, S::Error> {
    cos.map(Cos::name).serialize(s)
}

/// Whose flow it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payer<'a> {
    /// Its group; empty if it has none.
    pub group: &'a str,
    /// What it, or its machine, pays for.
    pub cos: Cos,
}

impl<'a> Payer<'a> {
    /// Whose flow `spec` is.
    pub fn of(spec: &FlowSpec, source: &Source<'a>) -> Self {
        Self { group: source.group(spec.group).unwrap_or_default(), cos: Cos::of(spec.weights) }
    }

    /// The payer that the columns `group` and `cos` of a table name.
    pub fn named(group: &'a str, cos: &str) -> Self {
        let all = [Cos::Differentiated, Cos::MinimumRate];
        let cos = all.into_iter().find(|own| own.name() == cos).unwrap_or(Cos::BestEffort);
        Self { group, cos }
    }
}
