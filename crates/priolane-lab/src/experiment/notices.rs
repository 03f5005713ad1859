//! `on_downgrade`: reaction of a group's applications to a notice that a flow would run at a lower class than requested
//! (docs/assumptions.md#on-downgrade).

use priolane_core::keys::Keys;
use priolane_core::units::Span;
use priolane_sim::scenario;
use priolane_source::{Merge, Own, Replace, SharedKeys};

use super::like::LIKE;

/// The reaction of a group's applications to a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keys)]
#[keys(tag = "kind", shorthand, example = "kind = \"defer\"", source = "docs/assumptions.md#on-downgrade")]
pub enum OnDowngrade {
    /// The notice is ignored.
    #[default]
    Ignore,
    /// The flow is deferred and requests admission again.
    Defer(Deferral),
    /// Less urgent flows to the same destination request no higher class.
    Reclassify(Reclassification),
}

/// The keys of a flow that is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct Deferral {
    /// For `defer`: delay until the next request.
    #[key(default = Span::from_us(100), range = "(0, )")]
    pub by: Span,
    /// For `defer`: maximum number of deferrals.
    #[key(default = 1, range = "[1, 1000]")]
    pub times: u32,
}

/// The keys of flows that request no higher class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
pub struct Reclassification {
    /// For `reclassify`: duration of the reaction.
    #[key(default = Span::from_ms(1), range = "(0, )")]
    pub lasts: Span,
}

impl OnDowngrade {
    /// Converts to the simulator's type.
    pub fn to_scenario(self) -> scenario::OnDowngrade {
        match self {
            Self::Ignore => scenario::OnDowngrade::Ignore,
            Self::Defer(Deferral { by, times }) => scenario::OnDowngrade::Defer { by, times },
            Self::Reclassify(Reclassification { lasts }) => scenario::OnDowngrade::Reclassify { lasts },
        }
    }
}

pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind { tag: "kind", default: None, own: Own::AllBut(&[]), shared: SharedKeys::Listed(&[]) },
    LIKE,
]);
