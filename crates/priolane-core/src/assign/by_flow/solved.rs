//! Size thresholds that are computed from the sizes of groups.

use super::thresholds::count_exceeded;
use crate::assign::SizeScope;
use crate::ids::Class;
use crate::keys::{ByteList, KeyConflict, Keys};

/// Thresholds in bytes, and the scope of the sizes they are computed from.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct SolvedThresholds {
    /// Scope of the sizes that thresholds are computed from: global, local or a group.
    #[key(default = SizeScope::Global, source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// Computed thresholds; omitted in files.
    #[key(optional, form = ByteList, group = "")]
    pub bytes: Option<Vec<u64>>,
}

impl SolvedThresholds {
    /// Checks that stated thresholds match `levels` classes.
    pub(super) fn check(&self, levels: u8) -> Result<(), KeyConflict> {
        match &self.bytes {
            Some(bytes) if bytes.len() + 1 != usize::from(levels) || !bytes.is_sorted() => {
                let what =
                    format!("{} thresholds in increasing order do not fit {levels} classes", bytes.len());
                Err(KeyConflict::of("bytes", what, "Remove the key"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the class of a size; 0 before thresholds are computed.
    pub(super) fn class(&self, size: u64) -> Class {
        count_exceeded(self.bytes.as_deref().unwrap_or_default(), size) as Class
    }

    /// Returns the scope of sizes that thresholds are still to be computed from.
    pub(super) fn unsolved(&self) -> Option<&SizeScope> {
        self.bytes.is_none().then_some(&self.from)
    }
}
