//! Classes by size, with thresholds that give all classes equal bytes (Homa, SIGCOMM 2018 §3.4).

use super::rule::Rule;
use super::solved::SolvedThresholds;
use super::thresholds::misjudge;
use crate::assign::{SizeScope, equal_bytes};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;
use crate::sizes::SizeDistribution;

/// Parameters of the rule `equal_bytes`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "equal_bytes", check = Self::check)]
#[part(
    name = "equal_bytes",
    summary = "smaller flows first, split so that all classes carry the same number of bytes",
    source = "Homa (SIGCOMM 2018) §3.4",
    deploy = [Dscp, SizesKnown],
    example = "levels = 3"
)]
pub struct EqualBytes {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// The thresholds between classes.
    #[keys(flatten)]
    pub thresholds: SolvedThresholds,
    /// Largest factor of errors in the known sizes, up or down.
    #[key(
        default = 1.0,
        skip_default,
        range = "[1, 1000000]",
        source = "docs/assumptions.md#misjudged-sizes"
    )]
    pub error: f64,
}

impl EqualBytes {
    fn check(&mut self) -> Result<(), KeyConflict> {
        self.thresholds.check(self.levels())
    }
}

impl Rule for EqualBytes {
    fn levels(&self) -> u8 {
        self.levels
    }

    fn class(&self, flow: &FlowSpec, u: f64) -> Option<Class> {
        Some(self.thresholds.class(misjudge(flow.whole_size()?, self.error, u)))
    }

    fn unsolved(&self) -> Option<&SizeScope> {
        self.thresholds.unsolved()
    }

    fn solve(&mut self, sizes: &SizeDistribution) {
        self.thresholds.bytes = Some(equal_bytes(sizes, self.levels));
    }
}
