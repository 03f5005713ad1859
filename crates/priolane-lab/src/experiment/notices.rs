//! `on_downgrade`: what the applications of a group do when they are told that a flow would run at a lower class than it
//! asked for (docs/assumptions.md#on-downgrade).

use priolane_core::units::Span;
use priolane_sim::scenario;
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Merge, Own, ReadKeys, Reader, Replace, Shared};
use serde::Serialize;

use super::like::LIKE;

/// What the applications of a group do about a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OnDowngrade {
    /// Nothing.
    #[default]
    Ignore,
    /// They hold the flow back and ask again.
    Defer {
        /// For how long.
        #[serde(serialize_with = "as_text::span")]
        by: Span,
        /// How often at most.
        times: u32,
    },
    /// Less urgent flows to the same destination ask for no higher class.
    Reclassify {
        /// For how long.
        #[serde(serialize_with = "as_text::span")]
        lasts: Span,
    },
}

/// What is done, each with what it is where the file says no more, and how its keys are read.
const KINDS: [(&str, (OnDowngrade, ReadKeys<OnDowngrade>)); 3] = [
    ("ignore", (OnDowngrade::Ignore, |_| Ok(OnDowngrade::Ignore))),
    ("defer", (OnDowngrade::Defer { by: BY, times: 1 }, defer)),
    ("reclassify", (OnDowngrade::Reclassify { lasts: LASTS }, reclassify)),
];

/// How long a flow is held back where the file does not say it.
const BY: Span = Span::from_us(100);

/// How long flows ask for no higher class where the file does not say it.
const LASTS: Span = Span::from_ms(1);

impl OnDowngrade {
    /// Whether nothing is done.
    pub(crate) fn is_ignore(&self) -> bool {
        *self == Self::Ignore
    }

    /// The same for the simulator.
    pub fn resolved(self) -> scenario::OnDowngrade {
        match self {
            Self::Ignore => scenario::OnDowngrade::Ignore,
            Self::Defer { by, times } => scenario::OnDowngrade::Defer { by, times },
            Self::Reclassify { lasts } => scenario::OnDowngrade::Reclassify { lasts },
        }
    }
}

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind { tag: "kind", default: None, own: Own::AllBut(&[]), shared: Shared::Listed(&[]) },
    LIKE,
]);

/// Reads `on_downgrade = "defer"` or `{ kind = "defer", by = "100us", times = 1 }`.
pub(super) fn read(field: &Field<'_>) -> Result<OnDowngrade, InputError> {
    if field.text().is_ok() {
        let (plain, _) = field.word(&KINDS)?;
        return Ok(plain);
    }
    let mut keys = field.table()?;
    let (_, read) = keys.need("kind", "kind = \"defer\"")?.word(&KINDS)?;
    let done = read(&mut keys)?;
    keys.finish()?;
    Ok(done)
}

fn defer(keys: &mut Reader<'_>) -> Result<OnDowngrade, InputError> {
    Ok(OnDowngrade::Defer {
        by: keys.take("by").map_or(Ok(BY), |f| f.positive_span())?,
        times: keys.take("times").map_or(Ok(1), |f| f.integer(1, 1_000))? as u32,
    })
}

fn reclassify(keys: &mut Reader<'_>) -> Result<OnDowngrade, InputError> {
    Ok(OnDowngrade::Reclassify { lasts: keys.take("lasts").map_or(Ok(LASTS), |f| f.positive_span())? })
}
