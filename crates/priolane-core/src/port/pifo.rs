//! PIFO: one queue sorted by rank that evicts the worst packet when full (Sivaraman et al., SIGCOMM 2016 §2).
//!
//! The rank of a packet is the value that its class maps to, 0 the best. So the sorted queue is equivalent to a
//! strict queue per rank, with one shared buffer and push-out.

use super::kind_rules::one_sorted_queue;
use super::{BufferSpec, KindRules, OfKind, PortSetup, PushOutSpec};
use crate::ids::CLASSES;
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;

/// One queue sorted by the ranks that classes map to; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pifo",
    summary = "one queue sorted by the rank of each class, 0 first, ties in order of arrival; a full queue \
               drops the worst packet",
    source = "PIFO (SIGCOMM 2016) §2; docs/assumptions.md#switch-side",
    deploy = [RankQueues],
    serves = "sort packets by class and drop the worst",
    lacks = "queues sorted by rank (PIFO)",
    example = r#"buffer = { shared = "240pkt" }"#
)]
pub struct PifoSpec;

impl OfKind for PifoSpec {
    type Spec = PushOutSpec;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        PushOutSpec { queues: CLASSES as u8, map: setup.map }
    }
}

impl KindRules for PifoSpec {
    fn queues(&self) -> u8 {
        CLASSES as u8
    }

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
        one_sorted_queue(name, buffer)
    }
}
