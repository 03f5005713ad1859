//! The keys of transports whose receivers say who may send.

use priolane_core::ids::CLASSES;
use priolane_core::transport::homa::{Levels, LevelsError};
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Reader, Replace};
use serde::Serialize;

use super::thresholds::ThresholdSource;

/// pHost's keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PHost {
    /// Packets that fill a path; 0 for those of each flow's own.
    pub bdp: u16,
    /// Which flows have free tokens.
    pub free: FreeTokens,
    /// How long a token holds, in packet times.
    pub expiry: f64,
    /// How long a flow that left its tokens unused gets none, in BDP packet times.
    pub relax: f64,
    /// How long a sender that hears nothing waits until it asks again.
    #[serde(serialize_with = "as_text::span")]
    pub retry: Span,
}

/// Which flows of pHost have free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FreeTokens {
    /// All.
    Every,
    /// Those that the free tokens are enough for.
    ShortOnly,
}

/// NDP's keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ndp {
    /// Packets that a flow starts with; 0 for those that fill its path.
    pub window: u16,
    /// Whom a receiver pulls first.
    pub pull: Pull,
    /// The part of its line's rate at which a receiver pulls, above 0 and at most 1, in millionths.
    #[serde(serialize_with = "millionths", skip_serializing_if = "is_whole")]
    pub pull_rate: u32,
    /// Time after which a packet of which nothing is heard goes again.
    #[serde(serialize_with = "as_text::span")]
    pub rto: Span,
}

/// Whom a receiver of NDP pulls first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pull {
    /// Flows in turns.
    Fair,
    /// Flows of the best class in turns.
    ByClass,
}

/// Homa's keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Homa {
    /// Classes of what is sent unasked.
    pub unscheduled: u8,
    /// Classes of what is granted.
    pub scheduled: u8,
    /// Lengths up to which messages are in each unscheduled class but the last; `None` until they are found.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "cutoff_list")]
    pub cutoffs: Option<Vec<u64>>,
    /// Whose sizes cut-offs are found from.
    pub from: ThresholdSource,
    /// RTTbytes; 0 for those that fill each message's path.
    #[serde(serialize_with = "as_text::bytes")]
    pub rtt_bytes: u64,
    /// Messages granted at once.
    pub overcommit: u8,
    /// Time after which a receiver asks again.
    #[serde(serialize_with = "as_text::span")]
    pub resend: Span,
    /// Time after which a sender that hears nothing sends its first packet again.
    #[serde(serialize_with = "as_text::span")]
    pub retry: Span,
}

/// The whole, in millionths.
const WHOLE: u32 = 1_000_000;

fn is_whole(millionths: &u32) -> bool {
    *millionths == WHOLE
}

fn millionths<S: serde::Serializer>(part: &u32, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_f64(f64::from(*part) / f64::from(WHOLE))
}

/// A part of the whole, above 0, kept to millionths.
fn part(field: &Field<'_>) -> Result<u32, InputError> {
    let millionths = (field.number(0.0, 1.0)? * f64::from(WHOLE)).round() as u32;
    if millionths == 0 {
        return Err(field.error("nothing would be pulled", "above 0 and at most 1, such as 0.99"));
    }
    Ok(millionths)
}

fn cutoff_list<S: serde::Serializer>(cutoffs: &Option<Vec<u64>>, s: S) -> Result<S::Ok, S::Error> {
    as_text::many_bytes(cutoffs.as_deref().unwrap_or_default(), s)
}

fn span(field: Option<Field<'_>>, default: Span) -> Result<Span, InputError> {
    field.map_or(Ok(default), |f| f.positive_span())
}

fn packets(field: Option<Field<'_>>) -> Result<u16, InputError> {
    field.map_or(Ok(0), |f| Ok(f.integer(0, u64::from(u16::MAX))? as u16))
}

/// A number of packet times above zero, kept to thousandths.
fn times(field: Option<Field<'_>>, default: f64) -> Result<f64, InputError> {
    let Some(field) = field else { return Ok(default) };
    match field.number(0.0, 1e6)? {
        number if number < 0.001 => Err(field.error("this is zero", "0.001 at least, such as 1.5")),
        number => Ok(number),
    }
}

impl PHost {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        const FREE: [(&str, FreeTokens); 2] =
            [("every", FreeTokens::Every), ("short_only", FreeTokens::ShortOnly)];
        Ok(Self {
            bdp: packets(keys.take("bdp"))?,
            free: keys.word_or("free", &FREE, FreeTokens::Every)?,
            expiry: times(keys.take("expiry"), 1.5)?,
            relax: times(keys.take("relax"), 3.0)?,
            retry: span(keys.take("retry"), Span::from_ms(1))?,
        })
    }
}

impl Ndp {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        const PULL: [(&str, Pull); 2] = [("fair", Pull::Fair), ("by_class", Pull::ByClass)];
        Ok(Self {
            window: packets(keys.take("window"))?,
            pull: keys.word_or("pull", &PULL, Pull::Fair)?,
            pull_rate: keys.take("pull_rate").map_or(Ok(WHOLE), |f| part(&f))?,
            rto: span(keys.take("rto"), Span::from_ms(1))?,
        })
    }
}

/// Homa's cut-offs are stated, or follow from these.
pub(super) const CUTOFFS: Replace = Replace::Stated(&["from", "rtt_bytes", "unscheduled"], &["cutoffs"]);

impl Homa {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let most = CLASSES as u64 - 1;
        let mut count = |key, default| -> Result<u8, InputError> {
            keys.take(key).map_or(Ok(default), |f| Ok(f.integer(1, most)? as u8))
        };
        let (unscheduled, scheduled) = (count("unscheduled", 1)?, count("scheduled", 7)?);
        let overcommit = keys.take("overcommit").map_or(Ok(scheduled), |f| Ok(f.integer(1, 255)? as u8))?;
        let from =
            keys.take("from").map_or(Ok(ThresholdSource::Global), |f| super::thresholds::source(&f))?;
        let rtt_bytes = keys.take("rtt_bytes").map_or(Ok(0), |f| f.bytes())?;
        let list = keys.take("cutoffs");
        let cutoffs = match &list {
            Some(list) => Some(list.list()?.iter().map(Field::bytes).collect::<Result<Vec<u64>, _>>()?),
            None if unscheduled == 1 => Some(Vec::new()),
            None if rtt_bytes == 0 => {
                let what = "cut-offs depend on what is sent unasked, and rtt_bytes is not stated";
                return Err(keys.error(what, "such as rtt_bytes = \"10kB\", or cutoffs = [\"2kB\", ...]"));
            }
            None => None,
        };
        let homa = Self {
            unscheduled,
            scheduled,
            cutoffs,
            from,
            rtt_bytes,
            overcommit,
            resend: span(keys.take("resend"), Span::from_ms(5))?,
            retry: span(keys.take("retry"), Span::from_ms(10))?,
        };
        let error = |what: String, fix: String| match &list {
            Some(list) => list.error(what, fix),
            None => keys.error(what, fix),
        };
        match homa.cutoffs.as_deref().map(|cutoffs| Levels::new(cutoffs, scheduled)) {
            _ if u64::from(unscheduled + scheduled) > CLASSES as u64 => {
                let what = format!("{unscheduled} unscheduled and {scheduled} scheduled classes");
                Err(error(what, format!("{CLASSES} in all at most")))
            }
            Some(Err(LevelsError::Order)) => {
                Err(error("cut-offs do not ascend".to_owned(), "such as [\"2kB\", \"15kB\"]".to_owned()))
            }
            Some(Ok(levels)) if levels.count() == unscheduled + scheduled => Ok(homa),
            None => Ok(homa),
            Some(Ok(_) | Err(LevelsError::Count)) => {
                let given = homa.cutoffs.as_ref().map_or(0, Vec::len);
                let what = format!("{given} cut-offs between {unscheduled} unscheduled classes");
                Err(error(what, format!("{} of them", unscheduled - 1)))
            }
        }
    }

    /// The classes of its packets; cut-offs that were not found are none.
    pub fn levels(&self) -> Levels {
        let cutoffs = self.cutoffs.as_deref().unwrap_or_default();
        Levels::new(cutoffs, self.scheduled).unwrap_or(Levels::DEFAULT)
    }
}
