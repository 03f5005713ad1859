//! By size, cut so that classes have as many bytes (Homa, SIGCOMM 2018 §3.4).

use super::rule::Rule;
use super::thresholds::exceeded;
use crate::assign::{SizesOf, equal_bytes};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{ByteList, Keys, Misfit};
use crate::part::Part;
use crate::sizes::SizeDistribution;

/// Parameters of the rule `equal_bytes`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "equal_bytes", check = Self::check)]
#[part(
    name = "equal_bytes",
    summary = "smaller flows first, cut so that classes have as many bytes",
    source = "Homa (SIGCOMM 2018) §3.4"
)]
pub struct EqualBytes {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", source = "Firapam §II-A")]
    pub levels: u8,
    /// Whose sizes the thresholds are found from: global, local or a group.
    #[key(default = SizesOf::Global, source = "docs/thresholds.md")]
    pub from: SizesOf,
    /// The thresholds found; left out in files.
    #[key(optional, form = ByteList)]
    pub bytes: Option<Vec<u64>>,
}

impl EqualBytes {
    fn check(&mut self) -> Result<(), Misfit> {
        let levels = usize::from(self.levels());
        match &self.bytes {
            Some(bytes) if bytes.len() + 1 != levels || !bytes.is_sorted() => {
                let what = format!("{} thresholds for {levels} classes", bytes.len());
                Err(Misfit::of("bytes", what, "leave the key out"))
            }
            _ => Ok(()),
        }
    }
}

impl Rule for EqualBytes {
    fn levels(&self) -> u8 {
        self.levels
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        Some(exceeded(self.bytes.as_deref().unwrap_or_default(), flow.size?) as Class)
    }

    fn unsolved(&self) -> Option<&SizesOf> {
        self.bytes.is_none().then_some(&self.from)
    }

    fn solve(&mut self, sizes: &SizeDistribution) {
        self.bytes = Some(equal_bytes(sizes, self.levels));
    }
}
