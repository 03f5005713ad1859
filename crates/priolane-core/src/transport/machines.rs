//! The transports of their own kind, each once: the list makes [`Spec`], [`Transport`], their dispatch, the names and the catalogue.

use std::sync::Arc;

use super::machine::{Cost, Machine, Reports, Setup, TransportKeys};
use super::registered::registered;
use super::window::{self, Handshake};
use super::{Controller, EndpointUser, homa, ndp, phost, tokens};
use crate::host::SchedulerKind;
use crate::keys::{Keys, Misfit, Pairs, Table};
use crate::packet::Frame;
use crate::part::{Capability, Entry, Part, Row};

type ConfigOf<M> = <M as Machine>::Config;

macro_rules! machines {
    ($($(#[$about:meta])* $machine:ident($endpoint:ty) { $($(#[$doc:meta])* $name:ident($keys:ty),)+ })*) => {
        /// A transport as files state it.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Spec {
            /// The window machine with a congestion controller.
            Window {
                /// The controller.
                controller: Controller,
                /// The reliability machine.
                window: Box<window::Config>,
            },
            $($($(#[$doc])* $name($keys),)+)*
        }

        /// A transport with its parameters in a run.
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
                scheduler: SchedulerKind,
            },
            $($(#[$about])* $machine(ConfigOf<$endpoint>),)*
        }

        impl Spec {
            /// The names of files of those that are not on the window machine.
            pub(super) const OTHERS: &'static [&'static str] = &[$($(<$keys as Part>::NAME),+),*];

            /// The name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Window { controller, .. } => controller.name(),
                    $($(Self::$name(_) => <$keys as Part>::NAME,)+)*
                }
            }

            /// What the catalogue says of each.
            pub fn entries() -> Vec<Entry> {
                let others = registered().iter().map(|other| other.entry.clone());
                let on_window = Controller::entries().into_iter().chain(others);
                let mut entries: Vec<Entry> = on_window.map(Entry::followed_by::<window::Config>).collect();
                $($(entries.push(Entry::of::<$keys>(Row::Transport));)+)*
                entries
            }

            /// Reads the one of this name that is not on the window machine.
            pub(super) fn read_other<T: Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $($(if name == <$keys as Part>::NAME {
                    return Keys::read(table).map(|keys| Some(Self::$name(keys)));
                })+)*
                Ok(None)
            }

            /// Appends its kind and its keys to `out`.
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

            /// Whether receivers give senders tokens that ports limit.
            pub fn has_tokens(&self) -> bool {
                match self {
                    Self::Window { .. } => false,
                    $($(Self::$name(_) => <$keys as Part>::REQUIRES.contains(&Capability::TokenPorts),)+)*
                }
            }

            /// Whether it decides which flow of a host goes next, and in which class.
            pub fn schedules_itself(&self) -> bool {
                match self {
                    Self::Window { .. } => false,
                    $($(Self::$name(_) => <$keys as TransportKeys>::SCHEDULES_ITSELF,)+)*
                }
            }

            /// The number of classes that its packets carry whatever class their flow has.
            pub fn classes(&self) -> u8 {
                match self {
                    Self::Window { .. } => 1,
                    $($(Self::$name(keys) => keys.classes(),)+)*
                }
            }

            /// Checks the keys against packet sizes.
            ///
            /// # Errors
            /// What does not fit.
            pub fn fits(&self, frame: &Frame) -> Result<(), Misfit> {
                match self {
                    Self::Window { .. } => Ok(()),
                    $($(Self::$name(keys) => keys.fits(frame),)+)*
                }
            }

            /// The transport in a run that is set up so.
            pub fn transport(&self, setup: &Setup) -> Transport {
                match self {
                    Self::Window { controller, window } => on_window(controller, window, setup),
                    $($(Self::$name(keys) => Transport::$machine(keys.config(setup)),)+)*
                }
            }
        }

        impl Transport {
            /// Calls `user` with the endpoint type this transport stands for: the one place that names them all.
            pub fn with_endpoints<U: EndpointUser>(&self, user: U) -> U::Out {
                match self {
                    Self::Window { window, controller, scheduler } => {
                        controller.with_endpoints(user, (Arc::new(*window), *scheduler))
                    }
                    $(Self::$machine(config) => {
                        let config = Arc::new(config.clone());
                        user.run(|host| <$endpoint as Machine>::new(host, Arc::clone(&config)))
                    })*
                }
            }

            /// The packet sizes that it was made for.
            pub fn frame(&self) -> Frame {
                match self {
                    Self::Window { window, .. } => window.frame,
                    $(Self::$machine(config) => <$endpoint as Machine>::frame(config),)*
                }
            }

            /// What senders report.
            pub fn reports(&self) -> Reports {
                match self {
                    Self::Window { window, .. } => Reports::each(window.monitor),
                    $(Self::$machine(config) => <$endpoint as Machine>::reports(config),)*
                }
            }

            /// What a run costs.
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
    /// Receivers hand out tokens: ExpressPass, TOP.
    Tokens(tokens::Tokens) {
        /// ExpressPass.
        ExpressPass(tokens::ExpressPass),
        /// TOP.
        Top(tokens::Top),
    }
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
