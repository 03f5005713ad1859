//! What the user asked to change about an experiment file.

use crate::experiment::Seeds;
use crate::interrupt::Interrupt;

/// What the user asked to change about an experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Dotted key and TOML text of its value; a swept key that is set is swept no more.
    pub sets: Vec<(String, String)>,
    /// Seeds in place of the file's.
    pub seeds: Option<Seeds>,
    /// Schemes in place of the file's.
    pub schemes: Option<Vec<String>>,
    /// The reading of the paper, by its name in the file; `None` for the leading one.
    pub reading: Option<String>,
    /// Which overlay of the file applies.
    pub size: Size,
    /// Who may stop the planning.
    pub interrupt: Interrupt,
}

/// The overlays an experiment file may have.
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
