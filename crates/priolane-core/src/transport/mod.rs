//! How fast a flow may send, and how its bytes get there.
//!
//! [`window`] is the one reliability machine for all window-based transports; the congestion controllers
//! that steer it have a file each.

mod common;
mod controllers;
pub mod d2tcp;
pub mod dctcp;
pub mod delay;
mod endpoint_user;
pub mod homa;
pub mod hpcc;
pub mod ledbat;
pub mod ndp;
pub mod new_reno;
mod on_window;
pub mod paccp;
pub mod pfabric;
pub mod phost;
pub mod prioplus;
pub mod receiver_driven;
mod registered;
mod spec;
pub mod swift;
pub mod timely;
pub mod tokens;
pub mod window;

pub use controllers::Controller;
pub use endpoint_user::EndpointUser;
pub use on_window::OnWindow;
pub use registered::{ReadKeys, RegisterError, Registered, Registration, registered};
pub use spec::{Setup, Spec, register};

use std::sync::Arc;

use crate::host;
pub use common::Stamp;

/// A transport with its parameters: what an experiment chose.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
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
    /// Receivers hand out tokens: ExpressPass, TOP.
    Tokens(Box<tokens::Config>),
    /// pHost.
    PHost(phost::Config),
    /// NDP.
    Ndp(ndp::Config),
    /// Homa.
    Homa(homa::Config),
}

impl Transport {
    /// Calls `user` with the endpoint type this transport stands for: the one place that names them all.
    pub fn with_endpoints<U: EndpointUser>(&self, user: U) -> U::Out {
        let (window, controller, scheduler) = match self {
            Self::Window { window, controller, scheduler } => (window, controller, scheduler),
            Self::Tokens(config) => {
                let config = Arc::new((**config).clone());
                return user.run(|host| tokens::Tokens::new(host, Arc::clone(&config)));
            }
            Self::PHost(config) => {
                let config = Arc::new(*config);
                return user.run(|host| phost::PHost::new(host, Arc::clone(&config)));
            }
            Self::Ndp(config) => {
                let config = Arc::new(*config);
                return user.run(|host| ndp::Ndp::new(host, Arc::clone(&config)));
            }
            Self::Homa(config) => {
                let config = Arc::new(config.clone());
                return user.run(|host| homa::Homa::new(host, Arc::clone(&config)));
            }
        };
        controller.with_endpoints(user, (Arc::new(*window), *scheduler))
    }
}
