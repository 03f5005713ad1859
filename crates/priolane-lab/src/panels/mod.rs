//! Panels of figures: their kinds and data. Python draws them.
//!
//! A kind of panel has a file of its own, whose [`PanelKind`] is in [`KINDS`], and a painter of the same name in
//! `python/priolane/figure/panels` (pages) and `python/priolane/plots/panels` (PNG and PDF).

mod bar;
pub(crate) mod by_size;
mod cdf;
mod heat_map;
mod line;
mod panel;
pub(crate) mod published;
mod scatter;
mod table;

pub(crate) use self::bar::BAR;
pub(crate) use self::cdf::CDF;
pub use self::line::{LINE, TIME};
pub use self::panel::{Axes, By, Dot, FlowValue, Mark, PanelInput, Series, Values, X};
pub(crate) use self::panel::{Panel, PanelKind, PanelReport, SweptValues};
#[cfg(test)]
pub(crate) use self::scatter::SCATTER;

use std::sync::LazyLock;

use priolane_core::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// All kinds of panels.
pub const KINDS: &[&PanelKind] = &[&LINE, &BAR, &CDF, &heat_map::HEAT_MAP, &scatter::SCATTER, &table::TABLE];

/// The name and summary of each kind.
static WORDS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| KINDS.iter().map(|kind| (kind.name, kind.summary)).collect());

impl KeyValue for &'static PanelKind {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        let words: Vec<(&str, Self)> = KINDS.iter().map(|&kind| (kind.name, kind)).collect();
        value.word(&words)
    }

    fn write(&self) -> WrittenValue {
        self.name.into()
    }

    fn schema() -> Schema {
        Schema::Words(&WORDS)
    }
}
