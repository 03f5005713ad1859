//! The transport row: which transport, and its parameters.

use priolane_core::ids::CLASSES;
use priolane_core::port::Limit;
use priolane_core::units::Span;
use serde::{Serialize, Serializer};

use super::delay_based::{Hpcc, Ledbat, Preset, Swift};
use super::loss_based::{D2tcp, Dctcp, Paccp, PaccpDctcp};
use super::prioplus::PrioPlus;
use super::tokens::{Tokens, Whose};
use crate::quantity::{as_text, bytes as read_bytes};
use crate::source::{Field, InputError, Reader};

/// A transport with its parameters (core's `scheme` list says what each means).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(remote = "Self")]
pub struct Transport {
    /// Which transport.
    #[serde(flatten)]
    pub kind: TransportKind,
    /// Window of a new flow, in packets or bytes.
    #[serde(serialize_with = "as_text::limit")]
    pub init_window: Limit,
    /// What happens before the first payload packet.
    pub handshake: Handshake,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Whether what is lost is sent again.
    #[serde(skip_serializing_if = "is_true")]
    pub reliable: bool,
    /// Duplicate ACKs that mean loss.
    pub dup_threshold: u32,
    /// Acknowledge every n-th packet.
    pub ack_every: u8,
    /// How long an ACK may be held back.
    #[serde(serialize_with = "as_text::span")]
    pub ack_delay: Span,
    /// Floor of the retransmission timeout.
    #[serde(serialize_with = "as_text::span")]
    pub min_rto: Span,
    /// Timeout before the first sample.
    #[serde(serialize_with = "as_text::span")]
    pub initial_rto: Span,
    /// Ceiling of the timeout.
    #[serde(serialize_with = "as_text::span")]
    pub max_rto: Span,
    /// Most bytes in flight.
    #[serde(serialize_with = "as_text::limit")]
    pub max_window: Limit,
    /// Whether control packets are ECN-capable.
    pub ecn_control: bool,
    /// The class of ACKs and other control packets.
    #[serde(skip_serializing_if = "is_zero")]
    pub control_class: u8,
}

impl Serialize for Transport {
    /// Window transports with all keys, others with their own.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.kind {
            TransportKind::ExpressPass(_) | TransportKind::Top(_) => self.kind.serialize(s),
            _ => Self::serialize(self, s),
        }
    }
}

/// The transports, each with the parameters only it has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TransportKind {
    /// TCP NewReno.
    NewReno,
    /// Data Center TCP.
    Dctcp(Dctcp),
    /// PACCP.
    Paccp(Paccp),
    /// DCTCP over PACCP.
    #[serde(rename = "paccp_dctcp")]
    PaccpDctcp(PaccpDctcp),
    /// Deadline-aware Data Center TCP.
    D2tcp(D2tcp),
    /// Swift.
    Swift(Swift),
    /// LEDBAT.
    Ledbat(Ledbat),
    /// HPCC.
    Hpcc(Hpcc),
    /// PrioPlus around Swift.
    #[serde(rename = "prioplus_swift")]
    PrioPlusSwift(PrioPlus<Swift>),
    /// PrioPlus around LEDBAT.
    #[serde(rename = "prioplus_ledbat")]
    PrioPlusLedbat(PrioPlus<Ledbat>),
    /// ExpressPass.
    ExpressPass(Tokens),
    /// TOP.
    Top(Tokens),
}

fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_zero(class: &u8) -> bool {
    *class == 0
}

/// What happens before a flow's first payload packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Handshake {
    /// Payload at once.
    #[serde(rename = "none")]
    None,
    /// One round trip per flow.
    #[serde(rename = "1rtt")]
    OneRtt,
    /// One round trip for the first flow of a pair of hosts.
    #[serde(rename = "reuse")]
    Reuse,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Selective acknowledgements.
    Sack,
    /// Partial ACKs.
    NewReno,
    /// Everything after the hole again.
    Gbn,
}

impl TransportKind {
    /// The name in scheme files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewReno => "newreno",
            Self::Dctcp(_) => "dctcp",
            Self::Paccp(_) => "paccp",
            Self::PaccpDctcp(_) => "paccp_dctcp",
            Self::D2tcp(_) => "d2tcp",
            Self::Swift(_) => "swift",
            Self::Ledbat(_) => "ledbat",
            Self::Hpcc(_) => "hpcc",
            Self::PrioPlusSwift(_) => "prioplus_swift",
            Self::PrioPlusLedbat(_) => "prioplus_ledbat",
            Self::ExpressPass(_) => "expresspass",
            Self::Top(_) => "top",
        }
    }

    /// The keys of a token transport, to be completed.
    pub fn tokens_mut(&mut self) -> Option<&mut Tokens> {
        match self {
            Self::ExpressPass(tokens) | Self::Top(tokens) => Some(tokens),
            _ => None,
        }
    }

    /// The keys of a token transport.
    pub fn tokens(&self) -> Option<&Tokens> {
        match self {
            Self::ExpressPass(tokens) | Self::Top(tokens) => Some(tokens),
            _ => None,
        }
    }
}

const KINDS: [&str; 12] = [
    "newreno",
    "dctcp",
    "paccp",
    "d2tcp",
    "swift",
    "ledbat",
    "prioplus_swift",
    "hpcc",
    "prioplus_ledbat",
    "expresspass",
    "top",
    "paccp_dctcp",
];
const HANDSHAKES: [(&str, Handshake); 3] =
    [("none", Handshake::None), ("1rtt", Handshake::OneRtt), ("reuse", Handshake::Reuse)];
const RECOVERIES: [(&str, Recovery); 3] =
    [("sack", Recovery::Sack), ("newreno", Recovery::NewReno), ("gbn", Recovery::Gbn)];

/// Reads `transport = { kind = ..., ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Transport, InputError> {
    let mut keys = field.table()?;
    let kind = match keys.need("kind", "kind = \"dctcp\"")?.choice(&KINDS)? {
        0 => TransportKind::NewReno,
        1 => TransportKind::Dctcp(Dctcp::read(&mut keys)?),
        2 => TransportKind::Paccp(Paccp::read(&mut keys)?),
        3 => TransportKind::D2tcp(D2tcp::read(&mut keys)?),
        4 => TransportKind::Swift(Swift::read(&mut keys, Preset::Paper)?),
        5 => TransportKind::Ledbat(Ledbat::read(&mut keys)?),
        6 => {
            let swift = |keys: &mut Reader<'_>| Swift::read(keys, Preset::PrioplusBaseline);
            TransportKind::PrioPlusSwift(PrioPlus::read(&mut keys, swift)?)
        }
        7 => TransportKind::Hpcc(Hpcc::read(&mut keys)?),
        8 => TransportKind::PrioPlusLedbat(PrioPlus::read(&mut keys, Ledbat::read)?),
        9 => return tokens(keys, Whose::ExpressPass),
        10 => return tokens(keys, Whose::Top),
        _ => TransportKind::PaccpDctcp(PaccpDctcp::read(&mut keys)?),
    };
    let span =
        |keys: &mut Reader<'_>, key, default| keys.take(key).map_or(Ok(default), |f| f.positive_span());
    let transport = Transport {
        kind,
        init_window: keys.take("init_window").map_or(Ok(Limit::Packets(10)), |f| finite_window(&f))?,
        handshake: word(keys.take("handshake"), &HANDSHAKES, Handshake::OneRtt)?,
        recovery: word(keys.take("recovery"), &RECOVERIES, Recovery::Sack)?,
        reliable: keys.take("reliable").map_or(Ok(true), |f| f.truth())?,
        dup_threshold: keys.take("dup_threshold").map_or(Ok(3), |f| f.integer(1, 1_000_000_000))? as u32,
        ack_every: keys.take("ack_every").map_or(Ok(1), |f| f.integer(1, 255))? as u8,
        ack_delay: span(&mut keys, "ack_delay", Span::from_ms(1))?,
        min_rto: span(&mut keys, "min_rto", Span::from_ms(10))?,
        initial_rto: span(&mut keys, "initial_rto", Span::from_ms(10))?,
        max_rto: span(&mut keys, "max_rto", Span::from_ms(4_000))?,
        max_window: keys.take("max_window").map_or(Ok(Limit::Unlimited), |f| max_window(&f))?,
        ecn_control: keys.take("ecn_control").map_or(Ok(false), |f| f.truth())?,
        control_class: keys.take("control_class").map_or(Ok(0), |f| f.integer(0, CLASSES as u64 - 1))? as u8,
    };
    let shortest = transport.min_rto.max(transport.initial_rto);
    if transport.max_rto < shortest {
        return Err(
            keys.error("max_rto is below min_rto or initial_rto", "a max_rto at least as long as both")
        );
    }
    if !transport.reliable && transport.recovery == Recovery::Gbn {
        let what = "recovery = \"gbn\" sends everything after a hole again, and reliable = false nothing";
        return Err(keys.error(what, "recovery = \"sack\" or \"newreno\""));
    }
    keys.finish()?;
    Ok(transport)
}

/// A token transport, which has keys of its own only; the others are of no account.
fn tokens(mut keys: Reader<'_>, whose: Whose) -> Result<Transport, InputError> {
    let tokens = Tokens::read(&mut keys, whose)?;
    keys.finish()?;
    let kind = match whose {
        Whose::ExpressPass => TransportKind::ExpressPass(tokens),
        Whose::Top => TransportKind::Top(tokens),
    };
    Ok(Transport {
        kind,
        init_window: Limit::Packets(10),
        handshake: Handshake::OneRtt,
        recovery: Recovery::Sack,
        reliable: true,
        dup_threshold: 3,
        ack_every: 1,
        ack_delay: Span::from_ms(1),
        min_rto: tokens.min_rto,
        initial_rto: tokens.min_rto,
        max_rto: Span::from_ms(4_000),
        max_window: Limit::Unlimited,
        ecn_control: false,
        control_class: 0,
    })
}

/// A window in packets or bytes, above zero and finite.
fn finite_window(field: &Field<'_>) -> Result<Limit, InputError> {
    match field.limit()? {
        Limit::Packets(0) | Limit::Bytes(0) => Err(field.error("the window is zero", "at least \"1pkt\"")),
        Limit::Unlimited => Err(field.error("a new flow's window must be finite", "such as \"10pkt\"")),
        limit => Ok(limit),
    }
}

/// A number of bytes above zero, or `"unbounded"`.
fn max_window(field: &Field<'_>) -> Result<Limit, InputError> {
    let text = field.text()?;
    if text == "unbounded" {
        return Ok(Limit::Unlimited);
    }
    match read_bytes(text) {
        Ok(0) => Err(field.error("the window is zero", "bytes such as \"2MB\", or \"unbounded\"")),
        Ok(bytes) => Ok(Limit::Bytes(bytes)),
        Err(error) => Err(field.error(error.what, "bytes such as \"2MB\", or \"unbounded\"")),
    }
}

/// One of the named words, or the default if the key is absent.
pub(super) fn word<T: Copy>(
    field: Option<Field<'_>>,
    words: &[(&'static str, T)],
    default: T,
) -> Result<T, InputError> {
    let names: Vec<&'static str> = words.iter().map(|(name, _)| *name).collect();
    field.map_or(Ok(default), |f| Ok(words[f.choice(&names)?].1))
}
