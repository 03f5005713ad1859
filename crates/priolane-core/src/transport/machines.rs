//! The list of transports that do not use the window transport. The list generates [`Spec`], [`Transport`],
//! their dispatch, the names and the catalogue.

use std::any::Any;
use std::sync::Arc;

use super::coexist::{Boxed, Coexists, TransportsByGroup};
use super::machine::{Cost, Machine, Reports, Setup, TransportKeys};
use super::window::{self, Handshake};
use super::{Controller, EndpointUser, homa, ndp, phost, tokens};
use crate::endpoint::LocalHost;
use crate::finding::{Finding, NetworkFacts};
use crate::host::SchedulerKind;
use crate::keys::{KeyConflict, Keys, Pairs, Table};
use crate::packet::Frame;
use crate::part::{Capability, Entry, Part, Row};

type ConfigOf<M> = <M as Machine>::Config;

macro_rules! machines {
    ($($(#[$about:meta])* $machine:ident($endpoint:ty) { $($(#[$doc:meta])* $name:ident($keys:ty),)+ })*) => {
        /// A transport as read from a file.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Spec {
            /// The window transport with a congestion controller.
            Window {
                /// The controller.
                controller: Controller,
                /// The parameters of reliable delivery.
                window: Box<window::Config>,
            },
            $($($(#[$doc])* $name($keys),)+)*
        }

        /// A transport with its parameters in a run.
        #[derive(Clone, Debug)]
        #[expect(clippy::large_enum_variant, reason = "a run has one")]
        pub enum Transport {
            /// The window transport with a congestion controller and a host scheduler.
            Window {
                /// Parameters of reliable delivery.
                window: window::Config,
                /// The controller and its parameters.
                controller: Controller,
                /// The scheduler that picks the next flow of a host.
                scheduler: SchedulerKind,
            },
            $($(#[$about])* $machine(ConfigOf<$endpoint>),)*
            /// Several transports, chosen by the group of a flow.
            ByGroup(TransportsByGroup<Transport>),
        }

        impl Spec {
            /// The file names of the transports that do not use the window transport.
            pub(super) const OTHERS: &'static [&'static str] = &[$($(<$keys as Part>::NAME),+),*];

            /// Returns the name used in files.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Window { controller, .. } => controller.name(),
                    $($(Self::$name(_) => <$keys as Part>::NAME,)+)*
                }
            }

            /// Returns the catalogue entries of all transports.
            pub fn entries() -> Vec<Entry> {
                let on_window = Controller::all_entries().into_iter();
                let mut entries: Vec<Entry> = on_window.map(Entry::followed_by::<window::Config>).collect();
                $($(entries.push(Entry::of::<$keys>(Row::Transport));)+)*
                entries
            }

            /// Reads the transport with this name if it does not use the window transport.
            pub(super) fn read_other<T: Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $($(if name == <$keys as Part>::NAME {
                    return Keys::read(table).map(|keys| Some(Self::$name(keys)));
                })+)*
                Ok(None)
            }

            /// Appends the kind and the keys to `out`.
            pub(super) fn write_all(&self, out: &mut Pairs) {
                match self {
                    Self::Window { controller, window } => {
                        controller.write(out);
                        window.write(out);
                    }
                    $($(Self::$name(keys) => {
                        out.push(("kind", <$keys as Part>::NAME.into()));
                        keys.write(out);
                    })+)*
                }
            }

            /// Returns true if receivers send tokens that ports rate-limit.
            pub fn has_tokens(&self) -> bool {
                match self {
                    Self::Window { .. } => false,
                    $($(Self::$name(_) => <$keys as Part>::REQUIRES.contains(&Capability::TokenPorts),)+)*
                }
            }

            /// Returns true if the transport schedules the flows of a host and assigns their classes itself.
            pub fn schedules_itself(&self) -> bool {
                match self {
                    Self::Window { .. } => false,
                    $($(Self::$name(_) => <$keys as TransportKeys>::SCHEDULES_ITSELF,)+)*
                }
            }

            /// Returns the number of classes that its packets carry independently of the class of their flow.
            pub fn classes(&self) -> u8 {
                match self {
                    Self::Window { controller, .. } => controller.part().classes(),
                    $($(Self::$name(keys) => keys.classes(),)+)*
                }
            }

            /// Checks the keys against the packet sizes.
            ///
            /// # Errors
            /// Returns the first key that does not fit.
            pub fn fits(&self, frame: &Frame) -> Result<(), KeyConflict> {
                match self {
                    Self::Window { .. } => Ok(()),
                    $($(Self::$name(keys) => keys.fits(frame),)+)*
                }
            }

            /// Returns which settings do not go together on a network.
            pub fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
                match self {
                    Self::Window { controller, window } => {
                        let mut all = controller.findings(network);
                        all.extend(window.findings(network, controller.part().queues()));
                        all
                    }
                    $($(Self::$name(keys) => keys.findings(network),)+)*
                }
            }

            /// Returns the transport in a run with this `setup`.
            pub fn transport(&self, setup: &Setup) -> Transport {
                match self {
                    Self::Window { controller, window } => on_window(controller, window, setup),
                    $($(Self::$name(keys) => Transport::$machine(keys.config(setup)),)+)*
                }
            }
        }

        impl Transport {
            /// Calls `user` with the endpoint type of this transport. This is the only place that names all
            /// endpoint types.
            pub fn with_endpoints<U: EndpointUser>(&self, user: U) -> U::Out {
                match self {
                    Self::Window { window, controller, scheduler } => {
                        controller.with_endpoints(user, (Arc::new(*window), *scheduler))
                    }
                    $(Self::$machine(config) => {
                        let config = Arc::new(config.clone());
                        user.run(|host| <$endpoint as Machine>::new(host, Arc::clone(&config)))
                    })*
                    Self::ByGroup(transports) => user.run(|host| transports.endpoint(host)),
                }
            }

            /// Returns the packet sizes that it was made for.
            pub fn frame(&self) -> Frame {
                match self {
                    Self::Window { window, .. } => window.frame,
                    $(Self::$machine(config) => <$endpoint as Machine>::frame(config),)*
                    Self::ByGroup(transports) => transports.first().frame(),
                }
            }

            /// Returns what senders report.
            pub fn reports(&self) -> Reports {
                match self {
                    Self::Window { window, .. } => Reports::each(window.monitor),
                    $(Self::$machine(config) => <$endpoint as Machine>::reports(config),)*
                    Self::ByGroup(transports) => transports.first().reports(),
                }
            }

            /// Returns the cost of a run.
            pub fn cost(&self) -> Cost {
                match self {
                    Self::Window { window, controller, .. } => Cost {
                        instructions: controller.part().cost(),
                        control: 1.0 / f64::from(window.ack_every.max(1)),
                        per_flow: match window.handshake {
                            Handshake::OneRtt => 3.0,
                            Handshake::None | Handshake::Reuse => 0.0,
                        },
                    },
                    $(Self::$machine(config) => <$endpoint as Machine>::cost(config),)*
                    Self::ByGroup(transports) => most(transports.transports().iter().map(Self::cost)),
                }
            }
        }
    };
}

machines! {
    /// pHost.
    PHost(phost::PHost) {
        /// pHost.
        PHost(phost::Config),
    }
    /// NDP.
    Ndp(ndp::Ndp) {
        /// NDP.
        Ndp(ndp::Config),
    }
    /// Homa.
    Homa(homa::Homa) {
        /// Homa.
        Homa(homa::Config),
    }
    /// Receivers send tokens: ExpressPass, TOP.
    Tokens(tokens::Tokens) {
        /// ExpressPass.
        ExpressPass(tokens::ExpressPass),
        /// TOP.
        Top(tokens::Top),
    }
}

/// The one place of this crate that instantiates the code of all endpoints. Without optimization, and at level 1, a crate
/// links the generic code that a crate below it has instantiated: four crates drive endpoints, and each compiles 10 to 15 s
/// less.
impl Coexists for Transport {
    fn boxed(&self, host: LocalHost) -> Option<Box<dyn Any>> {
        self.with_endpoints(Boxed(host))
    }
}

/// Returns the cost of the most expensive transport for each kind of work.
fn most(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.fold(Cost { instructions: 0.0, control: 0.0, per_flow: 0.0 }, |all, one| Cost {
        instructions: all.instructions.max(one.instructions),
        control: all.control.max(one.control),
        per_flow: all.per_flow.max(one.per_flow),
    })
}

fn on_window(controller: &Controller, window: &window::Config, setup: &Setup) -> Transport {
    let window = window::Config {
        frame: setup.frame,
        queue_limit: setup.queue_limit,
        class: setup.class,
        host_level: setup.host_level,
        monitor: setup.monitor,
        ..*window
    };
    let controller = controller.clone().starting_with(&window);
    Transport::Window { window, controller, scheduler: setup.scheduler }
}
