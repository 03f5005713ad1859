//! The watchdog of lossless queues, as switches have it (`PFC_WD` of SONiC).
//!
//! ```text
//! storm     the next node has paused a class of a port for `after` without a break
//! drop      packets of the class that are queued at the port are dropped, and so is each that arrives
//! forward   the port ignores the pause and sends
//! end       the pause has been absent for `restore`
//! ```
//!
//! It ends deadlocks: packets of a cycle of pauses leave the buffers of one of its switches.

use crate::keys::{Keys, Words};
use crate::units::Span;

/// The treatment of packets of a class in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum StormAction {
    /// Drop packets of the class that are queued, and those that arrive.
    #[word("drop")]
    Drop,
    /// Ignore the pause.
    #[word("forward")]
    Forward,
}

/// The key `watchdog` of `pfc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "watchdog")]
pub struct Watchdog {
    /// Time for which a class has to be paused until its port is in a storm.
    #[key(required = "after = \"200ms\"", range = "(0, )", source = "docs/assumptions.md#pfc")]
    pub after: Span,
    /// What happens to packets of the class in a storm: drop, or forward as if it were not paused.
    #[key(required = "action = \"drop\"", source = "docs/assumptions.md#pfc")]
    pub action: StormAction,
    /// Time for which the pause has to be absent until the storm ends.
    #[key(required = "restore = \"200ms\"", range = "(0, )", source = "docs/assumptions.md#pfc")]
    pub restore: Span,
}
