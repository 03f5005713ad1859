//! How fast a flow may send, and how its bytes get there.
//!
//! [`window`] is the one reliability machine for all window-based transports; the congestion controllers
//! that steer it have a file each.

pub mod dctcp;
pub mod new_reno;
pub mod window;

use crate::host;

/// A transport with its parameters: what an experiment chose.
#[derive(Clone, Debug)]
pub enum Transport {
    /// The window machine with a congestion controller and a host scheduler.
    Window {
        /// Parameters of the reliability machine.
        window: window::Config,
        /// The controller and its parameters.
        controller: Controller,
        /// Which flow of a host goes next.
        scheduler: host::SchedulerKind,
    },
}

/// A congestion controller with its parameters.
#[derive(Clone, Debug)]
pub enum Controller {
    /// TCP NewReno.
    NewReno(new_reno::Config),
    /// Data Center TCP.
    Dctcp(dctcp::Config),
}
