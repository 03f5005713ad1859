//! The list of congestion controllers. The list generates the enum, its dispatch, the names and the
//! catalogue.

use std::sync::Arc;

use super::window::{self, CongestionControl, WindowEndpoint};
use super::{
    ControllerParams, EndpointUser, RegisteredController, d2tcp, dctcp, hpcc, ledbat, new_reno, paccp,
    pfabric, prioplus, swift,
};
use crate::host::SchedulerKind;
use crate::part::parts;
use crate::registry::Registered as _;

type ConfigOf<C> = <C as CongestionControl>::Config;

macro_rules! controllers {
    ($($(#[$doc:meta])* $name:ident: $controller:ty;)*) => {
        parts! {
            /// A congestion controller with its parameters.
            pub enum Controller: dyn ControllerParams in Transport {
                $($(#[$doc])* $name(ConfigOf<$controller>);)*
            } else {
                /// A controller of another crate.
                Registered(Box<dyn RegisteredController>);
            }
        }

        impl Controller {
            /// Calls `user` with the endpoint type of the window transport for this controller.
            pub(super) fn with_endpoints<U: EndpointUser>(
                &self,
                user: U,
                (window, scheduler): (Arc<window::Config>, SchedulerKind),
            ) -> U::Out {
                match self {
                    $(Self::$name(config) => user.run(|host| {
                        let window = Arc::clone(&window);
                        WindowEndpoint::<$controller>::with_kind(host, window, config.clone(), scheduler)
                    }),)*
                    Self::Registered(controller) => user.run_registered(&**controller, window, scheduler),
                }
            }
        }
    };
}

controllers! {
    /// TCP NewReno.
    NewReno: new_reno::NewReno;
    /// Data Center TCP.
    Dctcp: dctcp::Dctcp;
    /// PACCP.
    Paccp: paccp::Paccp;
    /// DCTCP over PACCP: weights and minimum rates without full buffers.
    PaccpDctcp: dctcp::Dctcp<paccp::Paccp>;
    /// Deadline-aware Data Center TCP.
    D2tcp: d2tcp::D2tcp;
    /// Swift.
    Swift: swift::Swift;
    /// LEDBAT.
    Ledbat: ledbat::Ledbat;
    /// HPCC.
    Hpcc: hpcc::Hpcc;
    /// pFabric.
    PFabric: pfabric::PFabric;
    /// PrioPlus around Swift.
    PrioPlusSwift: prioplus::PrioPlus<swift::Swift>;
    /// PrioPlus around LEDBAT.
    PrioPlusLedbat: prioplus::PrioPlus<ledbat::Ledbat>;
    /// TIMELY.
    Timely: super::timely::Timely;
    /// CUBIC.
    Cubic: super::cubic::Cubic;
    /// DCQCN.
    Dcqcn: super::dcqcn::Dcqcn;
    /// NSCC.
    Nscc: super::nscc::Nscc;
}

impl Controller {
    /// Returns the controller with the initial window that `window` configures.
    #[must_use]
    pub(super) fn starting_with(mut self, window: &window::Config) -> Self {
        self.part_mut().start_with(window.first_window(), u64::from(window.frame.mss()));
        self
    }
}
