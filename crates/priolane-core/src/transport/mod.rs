//! How fast a flow may send, and how its bytes get there.
//!
//! [`window`] is the one reliability machine for all window-based transports; the congestion controllers
//! that steer it have a file each.

pub mod dctcp;
pub mod new_reno;
pub mod paccp;
pub mod window;

use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::host;
use crate::ids::HostId;
use window::WindowEndpoint;

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
    /// PACCP.
    Paccp(paccp::Config),
}

/// Something that is done with one endpoint type, whichever a [`Transport`] turns out to need: a run.
pub trait EndpointUser {
    /// What it results in.
    type Out;

    /// Does it; `make` builds the endpoint of a host.
    fn run<E: Endpoint + 'static>(self, make: impl Fn(HostId) -> E) -> Self::Out;
}

impl Transport {
    /// Calls `user` with the endpoint type this transport stands for: the one place that names them all.
    pub fn with_endpoints<U: EndpointUser>(&self, user: U) -> U::Out {
        let Self::Window { window, controller, scheduler } = self;
        let window = Arc::new(*window);
        match controller {
            Controller::NewReno(c) => user.run(|host| {
                WindowEndpoint::<new_reno::NewReno>::with_kind(host, Arc::clone(&window), *c, *scheduler)
            }),
            Controller::Dctcp(c) => user.run(|host| {
                WindowEndpoint::<dctcp::Dctcp>::with_kind(host, Arc::clone(&window), *c, *scheduler)
            }),
            Controller::Paccp(c) => user.run(|host| {
                WindowEndpoint::<paccp::Paccp>::with_kind(host, Arc::clone(&window), *c, *scheduler)
            }),
        }
    }
}
