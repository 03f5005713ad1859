//! Panels of figures: the kinds, what each draws, and its data. Nothing is drawn here.
//!
//! A kind of panel has a file of its own, whose [`PanelKind`] is in [`KINDS`], and a painter of the same name in
//! `python/priolane/figures/panels`.

mod bar;
mod cdf;
mod heat_map;
mod line;
mod panel;

pub use self::bar::BAR;
pub use self::cdf::CDF;
pub use self::line::{LINE, TIME};
pub use self::panel::{Drawn, Mark, Panel, PanelKind, PanelReport, Series, Values, X};

/// All kinds.
pub const KINDS: &[&PanelKind] = &[&LINE, &BAR, &CDF, &heat_map::HEAT_MAP];
