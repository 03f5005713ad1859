//! `on_downgrade`: reaction of a group's applications to a notice that a flow would run at a lower class than requested
//! (docs/assumptions.md#on-downgrade).

use priolane_core::units::Span;
use priolane_sim::scenario;
use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Merge, Own, ReadKeys, Reader, Replace, SharedKeys};
use serde::Serialize;

use super::like::LIKE;

/// The reaction of a group's applications to a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OnDowngrade {
    /// The notice is ignored.
    #[default]
    Ignore,
    /// The flow is deferred and requests admission again.
    Defer {
        /// Delay until the next request.
        #[serde(serialize_with = "as_text::span")]
        by: Span,
        /// Maximum number of deferrals.
        times: u32,
    },
    /// Less urgent flows to the same destination request no higher class.
    Reclassify {
        /// Duration of the reaction.
        #[serde(serialize_with = "as_text::span")]
        lasts: Span,
    },
}

/// The reactions: word, value with default keys, and reader of the keys.
const KINDS: [(&str, (OnDowngrade, ReadKeys<OnDowngrade>)); 3] = [
    ("ignore", (OnDowngrade::Ignore, |_| Ok(OnDowngrade::Ignore))),
    ("defer", (OnDowngrade::Defer { by: BY, times: 1 }, defer)),
    ("reclassify", (OnDowngrade::Reclassify { lasts: LASTS }, reclassify)),
];

/// Default delay of a deferred flow.
const BY: Span = Span::from_us(100);

/// Default duration of reclassification.
const LASTS: Span = Span::from_ms(1);

impl OnDowngrade {
    /// Whether notices are ignored.
    pub(crate) fn is_ignore(&self) -> bool {
        *self == Self::Ignore
    }

    /// Converts to the simulator's type.
    pub fn to_scenario(self) -> scenario::OnDowngrade {
        match self {
            Self::Ignore => scenario::OnDowngrade::Ignore,
            Self::Defer { by, times } => scenario::OnDowngrade::Defer { by, times },
            Self::Reclassify { lasts } => scenario::OnDowngrade::Reclassify { lasts },
        }
    }
}

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind { tag: "kind", default: None, own: Own::AllBut(&[]), shared: SharedKeys::Listed(&[]) },
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
