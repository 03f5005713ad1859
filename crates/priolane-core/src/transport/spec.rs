//! What a file says of a transport, and the transport that it stands for in a run.

use super::registered::{self, RegisterError, Registration, registered};
use super::window;
use super::{Controller, Transport, homa, ndp, phost, tokens};
use crate::assign::Ladder;
use crate::host::SchedulerKind;
use crate::keys::{AnyError, KeyInfo, Keys, Pairs, Table};
use crate::packet::Frame;
use crate::part::{Entry, Part, Row};
use crate::units::Span;

/// What a transport takes from the other parts of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Packet sizes.
    pub frame: Frame,
    /// Which flow of a host goes next.
    pub scheduler: SchedulerKind,
    /// Class on the wire by bytes sent.
    pub class: Ladder,
    /// Level inside the host by bytes sent.
    pub host_level: Ladder,
    /// Payload bytes of a flow that may wait in the host's transmit queue.
    pub queue_limit: Option<u64>,
    /// Length of the monitor interval after which a sender reports.
    pub monitor: Option<Span>,
}

macro_rules! machines {
    ($($(#[$doc:meta])* $name:ident: $config:ty;)*) => {
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
            $($(#[$doc])* $name($config),)*
        }

        impl Spec {
            /// The names of files of those that are not on the window machine.
            const OTHERS: &'static [&'static str] = &[$(<$config as Part>::NAME),*];

            /// The name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Window { controller, .. } => controller.name(),
                    $(Self::$name(_) => <$config as Part>::NAME,)*
                }
            }

            /// What the catalogue says of each.
            pub fn entries() -> Vec<Entry> {
                let others = registered().iter().map(|other| other.entry.clone());
                let on_window = Controller::entries().into_iter().chain(others);
                let mut entries: Vec<Entry> = on_window.map(Entry::followed_by::<window::Config>).collect();
                $(entries.push(Entry::of::<$config>(Row::Transport));)*
                entries
            }

            /// Reads the one of this name that is not on the window machine.
            fn read_other<T: Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $(if name == <$config as Part>::NAME {
                    return Keys::read(table).map(|config| Some(Self::$name(config)));
                })*
                Ok(None)
            }

            /// Appends its kind and its keys to `out`.
            fn write_all(&self, out: &mut Pairs) {
                match self {
                    Self::Window { controller, window } => {
                        controller.write(out);
                        window.write(out);
                    }
                    $(Self::$name(config) => {
                        out.push(("kind", <$config as Part>::NAME.into()));
                        config.write(out);
                    })*
                }
            }
        }
    };
}

machines! {
    /// pHost.
    PHost: phost::Config;
    /// NDP.
    Ndp: ndp::Config;
    /// Homa.
    Homa: homa::Config;
    /// ExpressPass.
    ExpressPass: tokens::ExpressPass;
    /// TOP.
    Top: tokens::Top;
}

/// Adds a congestion controller of another crate to the transports that files can name.
///
/// # Errors
/// As [`RegisterError`] says.
pub fn register(registration: Registration) -> Result<(), RegisterError> {
    let name = registration.entry.name;
    if Spec::listed().contains(&name) {
        Err(RegisterError::Taken(name))
    } else {
        registered::add(registration)
    }
}

impl Keys for Spec {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let others = registered().iter().map(|other| other.entry.name);
        let words: Vec<(&str, &str)> =
            Self::listed().into_iter().chain(others).map(|name| (name, name)).collect();
        let Some(name) = table.take("kind", |value| value.word(&words))? else {
            return Err(table.missing("kind", "kind = \"dctcp\""));
        };
        if let Some(other) = Self::read_other(name, table)? {
            return Ok(other);
        }
        let controller = match registered().iter().find(|other| other.entry.name == name) {
            Some(other) => Controller::Registered((other.read)(table).map_err(AnyError::of::<T>)?),
            None => Controller::read(name, table)?.expect("invariant: the name is on one of the lists"),
        };
        let window = window::Config::read(table)?;
        controller.part().fits(&window).map_err(|misfit| table.refuse(misfit))?;
        Ok(Self::Window { controller, window: Box::new(window) })
    }

    fn write(&self, out: &mut Pairs) {
        self.write_all(out);
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        out.extend(Self::entries().into_iter().flat_map(|entry| entry.parameters));
    }
}

impl serde::Serialize for Spec {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        crate::keys::serialize(self, s)
    }
}

impl Spec {
    /// The names of files of those of this crate.
    pub(super) fn listed() -> Vec<&'static str> {
        Controller::NAMES.iter().chain(Self::OTHERS).copied().collect()
    }

    /// The parameters of the window machine; `None` for a transport that is not on it.
    pub fn window(&self) -> Option<&window::Config> {
        match self {
            Self::Window { window, .. } => Some(window),
            _ => None,
        }
    }

    /// The congestion controller; `None` for a transport that is not on the window machine.
    pub fn controller(&self) -> Option<&Controller> {
        match self {
            Self::Window { controller, .. } => Some(controller),
            _ => None,
        }
    }

    /// What stands for the code of a transport of another crate; `None` for one of this crate.
    pub fn code(&self) -> Option<u64> {
        let registration = registered().iter().find(|other| other.entry.name == self.name());
        registration.map(|other| other.code)
    }

    /// Whether receivers give senders tokens that ports limit.
    pub fn has_tokens(&self) -> bool {
        matches!(self, Self::ExpressPass(_) | Self::Top(_))
    }

    /// Whether it decides itself which flow of a host goes next, and in which class.
    pub fn schedules_itself(&self) -> bool {
        matches!(self, Self::PHost(_) | Self::Ndp(_) | Self::Homa(_))
    }

    /// The transport in a run that is set up so.
    pub fn transport(&self, setup: &Setup) -> Transport {
        let (frame, monitor) = (setup.frame, setup.monitor);
        match self {
            Self::Window { controller, window } => {
                let window = window::Config {
                    frame,
                    queue_limit: setup.queue_limit,
                    class: setup.class,
                    host_level: setup.host_level,
                    monitor,
                    ..**window
                };
                let controller = controller.clone().starting_with(&window);
                Transport::Window { window, controller, scheduler: setup.scheduler }
            }
            Self::PHost(config) => Transport::PHost(phost::Config { frame, ..*config }),
            Self::Ndp(config) => Transport::Ndp(ndp::Config { frame, ..*config }),
            Self::Homa(config) => Transport::Homa(homa::Config { frame, ..config.clone() }),
            Self::ExpressPass(keys) => {
                Transport::Tokens(Box::new(tokens::Config { frame, monitor, ..keys.tokens.clone() }))
            }
            Self::Top(keys) => {
                Transport::Tokens(Box::new(tokens::Config { frame, monitor, ..keys.config() }))
            }
        }
    }
}
