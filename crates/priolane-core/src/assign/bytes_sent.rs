//! Classes by bytes sent: a flow is demoted as it sends (PIAS, NOS2), from the class of its group on.

use super::control;
use super::demotion_thresholds::{Count, DemotionThresholds};
use super::first_class::{self, FirstClasses};
use super::thresholds::Demotion;
use crate::ids::CLASSES;
use crate::keys::{InTable, KeyConflict, Keys};
use crate::part::Part;

/// Parameters of the policy `bytes_sent`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "bytes_sent", check = Self::check)]
#[part(
    name = "bytes_sent",
    summary = "demotes a flow level by level as it sends; needs no flow sizes",
    source = "PIAS (NSDI 2015) §3, NOS2 (GLOBECOM 2019) §III-B",
    deploy = [Dscp],
    example = r#"levels = 3, thresholds = { solver = "equal_split", from = "global" }"#
)]
pub struct BytesSent {
    /// The levels and the demotion thresholds between them.
    #[keys(flatten)]
    pub demotion: Demotion,
    /// Definition of bytes sent.
    #[key(default = Count::StreamOffset, source = "PIAS-NS2; docs/assumptions.md#bytes-sent")]
    pub count: Count,
    /// How class and host-level thresholds adapt to the workload; without it they are fixed.
    #[key(optional, form = InTable, source = "NOS2 (GLOBECOM 2019) §IV; docs/assumptions.md#controller")]
    pub controller: Option<control::Config>,
    /// The class in which flows of each group begin, by its name; they are demoted from there at the same thresholds.
    /// Groups without an entry begin in class 0.
    #[key(optional, range = "[0, 15]", source = "docs/admission.md")]
    pub first: Option<FirstClasses>,
}

impl BytesSent {
    fn check(&mut self) -> Result<(), KeyConflict> {
        let levels = self.demotion.levels;
        let Some((group, last)) = self.first.as_ref().and_then(|first| first_class::beyond(first, levels))
        else {
            return Ok(());
        };
        let what = format!(
            "flows of `{group}` would be demoted to class {last}, but classes are 0 to {}",
            CLASSES - 1
        );
        Err(KeyConflict::of(
            "first",
            what,
            format!("at most {}, or fewer levels", CLASSES - usize::from(levels)),
        ))
    }

    /// Returns the demotion thresholds of classes.
    pub fn ladder(&self) -> DemotionThresholds {
        self.demotion.ladder(self.count)
    }
}
