//! Thresholds of sizes that are found from the sizes of groups.

use super::thresholds::exceeded;
use crate::assign::SizeScope;
use crate::ids::Class;
use crate::keys::{ByteList, Keys, Misfit};

/// Thresholds in bytes, and whose sizes they are found from.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct SolvedThresholds {
    /// Whose sizes the thresholds are found from: global, local or a group.
    #[key(default = SizeScope::Global, source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// The thresholds found; left out in files.
    #[key(optional, form = ByteList, group = "")]
    pub bytes: Option<Vec<u64>>,
}

impl SolvedThresholds {
    /// Checks that those that are stated divide `levels` classes.
    pub(super) fn check(&self, levels: u8) -> Result<(), Misfit> {
        match &self.bytes {
            Some(bytes) if bytes.len() + 1 != usize::from(levels) || !bytes.is_sorted() => {
                let what = format!("{} thresholds for {levels} classes", bytes.len());
                Err(Misfit::of("bytes", what, "leave the key out"))
            }
            _ => Ok(()),
        }
    }

    /// The class of a size; 0 before thresholds are found.
    pub(super) fn class(&self, size: u64) -> Class {
        exceeded(self.bytes.as_deref().unwrap_or_default(), size) as Class
    }

    /// Whose sizes the thresholds are still to be found from.
    pub(super) fn unsolved(&self) -> Option<&SizeScope> {
        self.bytes.is_none().then_some(&self.from)
    }
}
