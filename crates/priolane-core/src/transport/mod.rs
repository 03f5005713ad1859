//! How fast a flow may send, and how its bytes get there.
//!
//! [`window`] is the one reliability machine for all window-based transports; the congestion controllers
//! that steer it have a file each.

mod common;
pub mod d2tcp;
pub mod dctcp;
pub mod delay;
pub mod homa;
pub mod hpcc;
pub mod ledbat;
pub mod ndp;
pub mod new_reno;
pub mod paccp;
pub mod pfabric;
pub mod phost;
pub mod prioplus;
pub mod receiver_driven;
pub mod swift;
pub mod tokens;
pub mod window;

use std::sync::Arc;

use crate::endpoint::{Endpoint, LocalHost};
use crate::host;
pub use common::Stamp;
use window::{CongestionControl, WindowEndpoint};

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

/// A congestion controller with its parameters.
#[derive(Clone, Debug)]
pub enum Controller {
    /// TCP NewReno.
    NewReno(new_reno::Config),
    /// Data Center TCP.
    Dctcp(dctcp::Config),
    /// PACCP.
    Paccp(paccp::Config),
    /// DCTCP over PACCP: weights and minimum rates without full buffers.
    PaccpDctcp(dctcp::Config<paccp::Config>),
    /// Swift.
    Swift(swift::Config),
    /// LEDBAT.
    Ledbat(ledbat::Config),
    /// HPCC.
    Hpcc(hpcc::Config),
    /// Deadline-aware Data Center TCP.
    D2tcp(d2tcp::Config),
    /// pFabric.
    PFabric(pfabric::Config),
    /// PrioPlus around Swift.
    PrioPlusSwift(prioplus::Config<swift::Config>),
    /// PrioPlus around LEDBAT.
    PrioPlusLedbat(prioplus::Config<ledbat::Config>),
}

/// Something that is done with one endpoint type, whichever a [`Transport`] turns out to need: a run.
pub trait EndpointUser {
    /// What it results in.
    type Out;

    /// Does it; `make` builds the endpoint of a host.
    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out;
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
                let config = Arc::new(*config);
                return user.run(|host| homa::Homa::new(host, Arc::clone(&config)));
            }
        };
        let window = (Arc::new(*window), *scheduler);
        match controller {
            Controller::NewReno(c) => on_window::<new_reno::NewReno, U>(user, window, c),
            Controller::Dctcp(c) => on_window::<dctcp::Dctcp<new_reno::NewReno>, U>(user, window, c),
            Controller::Paccp(c) => on_window::<paccp::Paccp, U>(user, window, c),
            Controller::PaccpDctcp(c) => on_window::<dctcp::Dctcp<paccp::Paccp>, U>(user, window, c),
            Controller::Swift(c) => on_window::<swift::Swift, U>(user, window, c),
            Controller::Ledbat(c) => on_window::<ledbat::Ledbat, U>(user, window, c),
            Controller::Hpcc(c) => on_window::<hpcc::Hpcc, U>(user, window, c),
            Controller::D2tcp(c) => on_window::<d2tcp::D2tcp, U>(user, window, c),
            Controller::PFabric(c) => on_window::<pfabric::PFabric, U>(user, window, c),
            Controller::PrioPlusSwift(c) => on_window::<prioplus::PrioPlus<swift::Swift>, U>(user, window, c),
            Controller::PrioPlusLedbat(c) => {
                on_window::<prioplus::PrioPlus<ledbat::Ledbat>, U>(user, window, c)
            }
        }
    }
}

/// Calls `user` with the window machine under the controller `C`.
fn on_window<C: CongestionControl + 'static, U: EndpointUser>(
    user: U,
    (window, scheduler): (Arc<window::Config>, host::SchedulerKind),
    config: &C::Config,
) -> U::Out {
    user.run(|host| WindowEndpoint::<C>::with_kind(host, Arc::clone(&window), config.clone(), scheduler))
}
