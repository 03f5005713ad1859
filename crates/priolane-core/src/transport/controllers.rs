//! The congestion controllers, each once: the list makes the enum, its dispatch, the names and the catalogue.

use std::sync::Arc;

use super::window::{self, CongestionControl, WindowEndpoint};
use super::{EndpointUser, OnWindow, d2tcp, dctcp, hpcc, ledbat, new_reno, paccp, pfabric, prioplus, swift};
use crate::host::SchedulerKind;
use crate::keys::{Keys, Pairs, Table};
use crate::part::{Entry, Part, Row};

type ConfigOf<C> = <C as CongestionControl>::Config;

macro_rules! controllers {
    ($($(#[$doc:meta])* $name:ident: $controller:ty;)*) => {
        /// A congestion controller with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Controller {
            $($(#[$doc])* $name(ConfigOf<$controller>),)*
        }

        impl Controller {
            /// The names of files, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$(<ConfigOf<$controller> as Part>::NAME),*];

            /// The name in files.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => <ConfigOf<$controller> as Part>::NAME),* }
            }

            /// Reads the parameters of the controller `name`; `None` where there is no such controller.
            ///
            /// # Errors
            /// Those of its keys.
            pub fn read<T: Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $(if name == <ConfigOf<$controller> as Part>::NAME {
                    return Keys::read(table).map(|config| Some(Self::$name(config)));
                })*
                Ok(None)
            }

            /// Appends its keys to `out`.
            pub fn write(&self, out: &mut Pairs) {
                match self { $(Self::$name(config) => config.write(out)),* }
            }

            /// What the catalogue says of each.
            pub fn entries() -> Vec<Entry> {
                vec![$(Entry::of::<ConfigOf<$controller>>(Row::Transport).followed_by::<window::Config>()),*]
            }

            /// Its parameters, as the window machine asks them.
            pub fn on_window(&self) -> &dyn OnWindow {
                match self { $(Self::$name(config) => config),* }
            }

            fn on_window_mut(&mut self) -> &mut dyn OnWindow {
                match self { $(Self::$name(config) => config),* }
            }

            /// Calls `user` with the endpoint type of the window machine under this controller.
            pub(super) fn with_endpoints<U: EndpointUser>(
                &self,
                user: U,
                (window, scheduler): (Arc<window::Config>, SchedulerKind),
            ) -> U::Out {
                match self {
                    $(Self::$name(config) => user.run(|host| {
                        let window = Arc::clone(&window);
                        WindowEndpoint::<$controller>::with_kind(host, window, config.clone(), scheduler)
                    })),*
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
}

impl Controller {
    /// It with the window of a new flow that `window` says.
    #[must_use]
    pub(super) fn starting_with(mut self, window: &window::Config) -> Self {
        self.on_window_mut().start_with(window.first_window(), u64::from(window.frame.mss()));
        self
    }
}
