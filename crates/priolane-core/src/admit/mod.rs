//! Who is admitted at the class it asks for: policies of a source host, which see its flows as they open and what their
//! senders report, and nothing else.
//!
//! ```text
//!              open(asked)                 report, completed
//!   flow ──────────────────▶ policy ◀────────────────────────── sender
//!              given                          │
//!   sender ◀───────────────── dice            └─▶ given anew (where flows under way are moved)
//! ```
//!
//! Class 0 is the highest, `levels - 1` the lowest. A flow that asks for a class beyond the lowest counts as asking
//! for the lowest. Probabilities are kept per source host (one policy each), destination and class.

mod account;
mod admission;
pub mod aequitas;
pub mod firapam;
mod live;
mod none;
pub mod pase;

pub use account::{Account, Key, Magnitudes, Settled, Trail};
pub use admission::{Admission, Notice, Remap};
pub use none::Everyone;

/// Which policy, with its parameters.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Policy {
    /// Every flow gets the class it asks for.
    #[default]
    None,
    /// Aequitas (SIGCOMM 2022).
    Aequitas(aequitas::Config),
    /// PASE's mapping (SIGCOMM 2014), arbitrated at the source.
    Pase(pase::Config),
    /// Firapam.
    Firapam(firapam::Config),
}

impl Policy {
    /// The policy of a host that has not sent a flow; `None` where all get what they ask for.
    pub fn at_host(&self) -> Option<Box<dyn Admission>> {
        match self {
            Self::None => None,
            Self::Aequitas(config) => Some(Box::new(aequitas::Aequitas::new(config.clone()))),
            Self::Pase(config) => Some(Box::new(pase::Pase::new(*config))),
            Self::Firapam(config) => Some(Box::new(firapam::Firapam::new(*config))),
        }
    }

    /// The number of classes it gives; `None` where all get what they ask for.
    pub fn levels(&self) -> Option<u8> {
        match self {
            Self::None => None,
            Self::Aequitas(config) => Some(config.levels),
            Self::Pase(config) => Some(config.levels),
            Self::Firapam(config) => Some(config.levels),
        }
    }
}

#[cfg(test)]
mod tests;
