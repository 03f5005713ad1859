//! Lossless classes (PFC) of a scheme's ports.

use priolane_core::ids::{CLASSES, Class, ClassSet};
use priolane_core::port::pfc::{HeadroomFrom, PAUSABLE_CLASSES, PfcSpec};
use priolane_core::port::{Alpha, SharedBuffer, pfc};
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError};
use serde::Serialize;

use super::alpha;

/// Lossless classes, and when they are paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pfc {
    /// The classes, below 8; any where headroom is free.
    pub classes: Vec<Class>,
    /// Above what a class of an ingress port is paused.
    pub xoff: Xoff,
    /// Bytes below that at which it is resumed.
    #[serde(serialize_with = "as_text::bytes")]
    pub xon_below: u64,
    /// What headroom costs.
    pub headroom: Headroom,
    /// The least headroom of a class at a port, in bytes.
    #[serde(serialize_with = "as_text::bytes")]
    pub headroom_least: u64,
}

/// A threshold of bytes from one port and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xoff {
    /// So many bytes.
    Bytes(u64),
    /// A part of what is free.
    OfFree(Alpha),
}

impl Serialize for Xoff {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bytes(bytes) => s.serialize_str(&format!("{bytes}B")),
            Self::OfFree(alpha) => {
                let (numerator, denominator) = alpha.parts();
                s.serialize_str(&format!("{numerator}/{denominator}"))
            }
        }
    }
}

/// What headroom costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Headroom {
    /// It is taken out of the buffer for good.
    Charged,
    /// Nothing: there is as much besides.
    Free,
}

const HEADROOMS: [(&str, Headroom); 2] = [("charged", Headroom::Charged), ("free", Headroom::Free)];

/// Reads the keys of `pfc`.
pub(super) fn read(field: &Field<'_>) -> Result<Pfc, InputError> {
    let mut keys = field.table()?;
    let list = keys.need("classes", "classes = [0]")?.filled_list()?;
    let text = keys.need("xoff", "xoff = \"1/8\" of what is free, or \"100kB\"")?;
    let is_bytes = text.text().is_ok_and(|t| t.ends_with('B'));
    let xoff = if is_bytes { Xoff::Bytes(text.bytes()?) } else { Xoff::OfFree(alpha::read(&text)?) };
    let xon_below = keys.take("xon_below").map_or(Ok(3_000), |f| f.bytes())?;
    let headroom = keys.word_or("headroom", &HEADROOMS, Headroom::Charged)?;
    let headroom_least = keys.take("headroom_least").map_or(Ok(0), |f| f.bytes())?;
    let end = if headroom == Headroom::Free { CLASSES as u64 } else { u64::from(PAUSABLE_CLASSES) };
    let class = |item: &Field<'_>| Ok(item.integer(0, end - 1)? as Class);
    let classes = list.iter().map(class).collect::<Result<Vec<Class>, InputError>>()?;
    keys.finish()?;
    Ok(Pfc { classes, xoff, xon_below, headroom, headroom_least })
}

impl Pfc {
    /// What a switch with this memory does.
    pub fn spec(&self, memory: SharedBuffer) -> PfcSpec {
        PfcSpec {
            memory,
            lossless: self.classes.iter().fold(ClassSet::NONE, |set, &class| set.with(class)),
            xoff: match self.xoff {
                Xoff::Bytes(bytes) => pfc::Xoff::Bytes(bytes),
                Xoff::OfFree(alpha) => pfc::Xoff::OfFree(alpha),
            },
            xon_below: self.xon_below,
            headroom: match self.headroom {
                Headroom::Charged => HeadroomFrom::Memory,
                Headroom::Free => HeadroomFrom::Beside,
            },
            headroom_least: self.headroom_least,
        }
    }
}
