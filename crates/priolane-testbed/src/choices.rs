//! The choices of the user for a testbed.

use serde::{Deserialize, Serialize};

/// The kind of the switches of a testbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchKind {
    /// Namespaces that route, with queueing disciplines of the kernel.
    Kernel,
    /// Processes that forward by the disciplines of the simulator.
    User,
}

/// The way in which a run is to be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// The divisor of rates; `None` for a scale at which the fastest line of a host has 100 Mbit/s.
    pub scale: Option<u64>,
    /// The kind of the switches; `None` for those of the kernel where they can be what the scheme asks for, and
    /// otherwise in user space.
    pub switch: Option<SwitchKind>,
}
