//! PIFO: one queue sorted by rank, in which the worst packet makes way (Sivaraman et al., SIGCOMM 2016 §2).
//!
//! The rank is what the class maps to, 0 the best, so the sorted queue is a strict queue for each rank that share a buffer
//! by push-out.

use super::kind_rules::one_sorted_queue;
use super::{BufferSpec, KindRules, OfKind, PortSetup, PushOutSpec};
use crate::ids::CLASSES;
use crate::keys::{Keys, Misfit};
use crate::part::Part;

/// One queue sorted by what classes map to; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "pifo",
    summary = "one queue sorted by what classes map to, 0 first, equals in order of arrival; the worst makes way",
    source = "PIFO (SIGCOMM 2016) §2; docs/assumptions.md#switch-side"
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

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
        one_sorted_queue(name, buffer)
    }
}
