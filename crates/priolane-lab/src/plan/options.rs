//! The user's changes to an experiment file.

use crate::experiment::Seeds;
use crate::interrupt::Interrupt;

/// The user's changes to an experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Dotted key and TOML text of its value; a swept key that is set is no longer swept.
    pub sets: Vec<(String, String)>,
    /// Seeds; replace the file's.
    pub seeds: Option<Seeds>,
    /// Schemes; replace the file's.
    pub schemes: Option<Vec<String>>,
    /// The reading of the paper, by its name in the file; `None` for the leading one.
    pub reading: Option<String>,
    /// Overlay of the file to apply.
    pub size: Size,
    /// Interrupts planning.
    pub interrupt: Interrupt,
}

/// The overlays of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// `[quick]`.
    Quick,
    /// None.
    #[default]
    Default,
    /// `[full]`.
    Full,
}

impl Size {
    pub(super) fn table(self) -> Option<&'static str> {
        match self {
            Self::Quick => Some("quick"),
            Self::Default => None,
            Self::Full => Some("full"),
        }
    }
}
