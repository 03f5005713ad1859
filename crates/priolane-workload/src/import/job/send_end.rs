//! The end of a send: what a rank waits for before it goes on.
//!
//! ```text
//! at-once     LogGOPSim, messages of at most S bytes (eager)
//! at-nic      (s - 1) G of LogGOPS: the time in which a NIC takes the bytes
//! delivered   ASTRA-sim: the message has arrived
//! received    LogGOPSim above S, and ATLAHS with htsim for all messages: it has arrived, and its receive has begun (rendezvous)
//! ```
//!
//! These are the rules of `src/LogGOPSim/LogGOPSim.cpp` (spcl/LogGOPSim, 76451de), of
//! `sim/htsim-backend/sim/datacenter/logsim-interface.cpp` (spcl/atlahs, 8837294), and of `process_chunk_arrival` and
//! `qp_finish` in astra-sim/astra-sim, 518bd51. The messages of a collective of Chakra end at once, as no rank of ASTRA-sim's
//! algorithms waits for them.

use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::Rate;
use priolane_sim::topology::text;
use priolane_source::InputError;

use super::op::{Kind, Op};

/// The end of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendEnd {
    /// The begin of the send.
    AtOnce,
    /// The instant at which a NIC of this rate has taken its bytes.
    AtNic(Rate),
    /// The arrival of its message.
    Delivered,
    /// The arrival of its message, or the begin of its receive if that is later.
    Received,
}

/// The ends of sends as far as a user states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendEnds {
    /// The end of messages above `eager`; `None` for that of the format.
    pub larger: Option<SendEnd>,
    /// Messages of at most this many bytes end at once; `None` for that of the format.
    pub eager: Option<u64>,
}

impl SendEnds {
    /// Reads the options `--send-ends`, `--eager` and `--nic-rate`; `None` if none is stated.
    ///
    /// # Errors
    /// Returns an [`InputError`] for an unknown word, a rate that is none, and an option that has no meaning beside the
    /// others.
    pub(crate) fn stated(
        name: Option<&str>,
        eager: Option<u64>,
        nic_rate: Option<&str>,
    ) -> Result<Option<Self>, InputError> {
        let bad =
            |flag: &str, what: String, fix: &str| Err(InputError::new(flag, None, "", what, fix.to_owned()));
        let larger = match (name, nic_rate) {
            (Some("at-nic"), Some(rate)) => match text::rate(rate) {
                Ok(rate) => Some(SendEnd::AtNic(rate)),
                Err(what) => return bad("--nic-rate", what.to_string(), "a rate such as 100Gbps"),
            },
            (Some("at-nic"), None) => {
                let what = "at-nic needs the rate of the NICs".to_owned();
                return bad("--send-ends", what, "--nic-rate with a rate such as 100Gbps");
            }
            (_, Some(_)) => {
                let what = "the rate of the NICs is for --send-ends at-nic".to_owned();
                return bad("--nic-rate", what, "--send-ends at-nic, or remove --nic-rate");
            }
            (Some("at-once"), None) => Some(SendEnd::AtOnce),
            (Some("delivered"), None) => Some(SendEnd::Delivered),
            (Some("received"), None) => Some(SendEnd::Received),
            (Some(name), None) => {
                let what = format!("unknown end {name:?}");
                return bad("--send-ends", what, "at-once, at-nic, delivered or received");
            }
            (None, None) => None,
        };
        match eager {
            Some(_) if larger == Some(SendEnd::AtOnce) => {
                let what = "all sends end at once".to_owned();
                bad("--eager", what, "--send-ends delivered or received, or remove --eager")
            }
            Some(bytes) if bytes > MAX_BYTES as u64 => {
                bad("--eager", format!("{bytes} is above 2^47"), "the bytes of a message")
            }
            _ => Ok((larger.is_some() || eager.is_some()).then_some(Self { larger, eager })),
        }
    }

    /// Returns the rules of LogGOPSim, where nothing else is stated.
    pub(super) fn of_goal(stated: Option<Self>) -> Ends {
        Self::or(stated, SendEnd::Received, Some(LOGGOPS_S))
    }

    /// Returns the rules of ASTRA-sim, where nothing else is stated.
    pub(super) fn of_chakra(stated: Option<Self>) -> Ends {
        Self::or(stated, SendEnd::Delivered, None)
    }

    fn or(stated: Option<Self>, larger: SendEnd, eager: Option<u64>) -> Ends {
        let Self { larger: own, eager: own_eager } = stated.unwrap_or_default();
        let larger = own.unwrap_or(larger);
        // A NIC takes time for each message.
        let eager = if matches!(larger, SendEnd::AtNic(_)) { own_eager } else { own_eager.or(eager) };
        Ends { larger, eager }
    }
}

/// S of LogGOPSim by default: the bytes up to which messages are eager.
const LOGGOPS_S: u64 = 65_535;

/// The end of each send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    larger: SendEnd,
    eager: Option<u64>,
}

impl Ends {
    /// Returns the end of an op if it is a send.
    pub(super) fn of(self, op: &Op) -> Option<SendEnd> {
        let Kind::Send { bytes, .. } = op.kind else { return None };
        let at_once = op.collective.is_some() || self.eager.is_some_and(|eager| bytes <= eager);
        Some(if at_once { SendEnd::AtOnce } else { self.larger })
    }
}
