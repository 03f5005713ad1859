//! The transport row: which transport, and its parameters.

use priolane_core::ids::CLASSES;
use priolane_core::port::Limit;
use priolane_core::transport::delay::Size;
use priolane_core::units::Span;
use priolane_source::quantity::{as_text, bytes as read_bytes};
use priolane_source::{Field, InputError, Merge, Own, ReadKeys, Reader, Replace};
use serde::Serialize;

use super::delay_based::{self, Hpcc, Ledbat, Preset, Swift, WindowSize};
use super::loss_based::{self, D2tcp, Dctcp, Paccp, PaccpDctcp};
use super::prioplus::{self, PrioPlus};
use super::receiver_driven::{self, Homa, Ndp, PHost};
use super::token_rank;
use super::tokens::{self, Tokens, Whose};

/// A transport with its parameters (core's `scheme` list says what each means).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transport {
    /// Which transport.
    #[serde(flatten)]
    pub kind: TransportKind,
    /// The keys of the window machine, of transports on it; others have keys of their own only.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowKeys>,
}

/// What every transport on the window machine takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowKeys {
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

/// The transports, each with the parameters only it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// pFabric.
    PFabric {
        /// The window of a new flow.
        first_window: WindowSize,
        /// The ceiling of the window.
        max_cwnd: WindowSize,
        /// Timeouts in a row after which it only probes.
        probe_after: u32,
    },
    /// pHost.
    PHost(PHost),
    /// NDP.
    Ndp(Ndp),
    /// Homa.
    Homa(Homa),
    /// PrioPlus around Swift.
    #[serde(rename = "prioplus_swift")]
    PrioPlusSwift(PrioPlus<Swift>),
    /// PrioPlus around LEDBAT.
    #[serde(rename = "prioplus_ledbat")]
    PrioPlusLedbat(PrioPlus<Ledbat>),
    /// ExpressPass.
    ExpressPass(#[serde(serialize_with = "tokens::as_expresspass")] Tokens),
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
    pub fn name(&self) -> &'static str {
        match self {
            Self::PHost(_) => "phost",
            Self::Ndp(_) => "ndp",
            Self::Homa(_) => "homa",
            Self::NewReno => "newreno",
            Self::Dctcp(_) => "dctcp",
            Self::Paccp(_) => "paccp",
            Self::PaccpDctcp(_) => "paccp_dctcp",
            Self::D2tcp(_) => "d2tcp",
            Self::Swift(_) => "swift",
            Self::Ledbat(_) => "ledbat",
            Self::Hpcc(_) => "hpcc",
            Self::PFabric { .. } => "pfabric",
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

    /// Whether it is on the window machine, and has its keys.
    pub fn has_window(&self) -> bool {
        !self.schedules_itself() && self.tokens().is_none()
    }

    /// Whether it decides itself which flow of a host goes next, and in which class.
    pub fn schedules_itself(&self) -> bool {
        matches!(self, Self::PHost(_) | Self::Ndp(_) | Self::Homa(_))
    }
}

/// The kinds, each with how its keys are read.
const KINDS: [(&str, ReadKeys<TransportKind>); 16] = [
    ("newreno", |_| Ok(TransportKind::NewReno)),
    ("dctcp", |keys| Dctcp::read(keys).map(TransportKind::Dctcp)),
    ("paccp", |keys| Paccp::read(keys).map(TransportKind::Paccp)),
    ("d2tcp", |keys| D2tcp::read(keys).map(TransportKind::D2tcp)),
    ("swift", |keys| Swift::read(keys, Preset::Paper).map(TransportKind::Swift)),
    ("ledbat", |keys| Ledbat::read(keys).map(TransportKind::Ledbat)),
    ("prioplus_swift", |keys| {
        let swift = |keys: &mut Reader<'_>| Swift::read(keys, Preset::PrioplusBaseline);
        PrioPlus::read(keys, swift).map(TransportKind::PrioPlusSwift)
    }),
    ("hpcc", |keys| Hpcc::read(keys).map(TransportKind::Hpcc)),
    ("prioplus_ledbat", |keys| PrioPlus::read(keys, Ledbat::read).map(TransportKind::PrioPlusLedbat)),
    ("expresspass", |keys| Tokens::read(keys, Whose::ExpressPass).map(TransportKind::ExpressPass)),
    ("top", |keys| Tokens::read(keys, Whose::Top).map(TransportKind::Top)),
    ("paccp_dctcp", |keys| PaccpDctcp::read(keys).map(TransportKind::PaccpDctcp)),
    ("pfabric", pfabric),
    ("phost", |keys| PHost::read(keys).map(TransportKind::PHost)),
    ("ndp", |keys| Ndp::read(keys).map(TransportKind::Ndp)),
    ("homa", |keys| Homa::read(keys).map(TransportKind::Homa)),
];
/// Kinds on the window machine.
const WINDOW_KINDS: &[&str] = &[
    "newreno",
    "dctcp",
    "paccp",
    "d2tcp",
    "swift",
    "ledbat",
    "prioplus_swift",
    "hpcc",
    "prioplus_ledbat",
    "paccp_dctcp",
    "pfabric",
];

/// The keys of the window machine.
const WINDOW_KEYS: &[&str] = &[
    "init_window",
    "handshake",
    "recovery",
    "reliable",
    "dup_threshold",
    "ack_every",
    "ack_delay",
    "min_rto",
    "initial_rto",
    "max_rto",
    "max_window",
    "ecn_control",
    "control_class",
];

/// What is an alternative of what: a kind keeps the keys that the kind before it read as the same.
pub(super) const MERGE: Merge = Merge::of(&[
    Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: &[
            (WINDOW_KINDS, WINDOW_KEYS),
            (&["dctcp", "d2tcp", "paccp_dctcp"], loss_based::DCTCP_KEYS),
            (&["paccp", "paccp_dctcp"], loss_based::PACCP_KEYS),
            (&["swift", "prioplus_swift"], delay_based::SWIFT_KEYS),
            (&["ledbat", "prioplus_ledbat"], delay_based::LEDBAT_KEYS),
            (&["prioplus_swift", "prioplus_ledbat"], prioplus::KEYS),
            (&["expresspass", "top"], tokens::KEYS),
        ],
    },
    tokens::EXPIRY,
    token_rank::PRIORITY,
    token_rank::CUTS,
    token_rank::TAIL,
    receiver_driven::CUTOFFS,
]);

const HANDSHAKES: [(&str, Handshake); 3] =
    [("none", Handshake::None), ("1rtt", Handshake::OneRtt), ("reuse", Handshake::Reuse)];
const RECOVERIES: [(&str, Recovery); 3] =
    [("sack", Recovery::Sack), ("newreno", Recovery::NewReno), ("gbn", Recovery::Gbn)];

/// Reads `transport = { kind = ..., ... }`.
pub(super) fn read(field: &Field<'_>) -> Result<Transport, InputError> {
    let mut keys = field.table()?;
    let kind = keys.need("kind", "kind = \"dctcp\"")?.word(&KINDS)?(&mut keys)?;
    let window = if kind.has_window() { Some(window_keys(&mut keys, &kind)?) } else { None };
    keys.finish()?;
    Ok(Transport { kind, window })
}

/// Reads the keys of the window machine, of a transport of this kind.
fn window_keys(keys: &mut Reader<'_>, kind: &TransportKind) -> Result<WindowKeys, InputError> {
    let span =
        |keys: &mut Reader<'_>, key, default| keys.take(key).map_or(Ok(default), |f| f.positive_span());
    let window = WindowKeys {
        init_window: keys.take("init_window").map_or(Ok(Limit::Packets(10)), |f| finite_window(&f))?,
        handshake: keys.word_or("handshake", &HANDSHAKES, Handshake::OneRtt)?,
        recovery: keys.word_or("recovery", &RECOVERIES, Recovery::Sack)?,
        reliable: keys.take("reliable").map_or(Ok(true), |f| f.truth())?,
        dup_threshold: keys.take("dup_threshold").map_or(Ok(3), |f| f.integer(1, 1_000_000_000))? as u32,
        ack_every: keys.take("ack_every").map_or(Ok(1), |f| f.integer(1, 255))? as u8,
        ack_delay: span(keys, "ack_delay", Span::from_ms(1))?,
        min_rto: span(keys, "min_rto", Span::from_ms(10))?,
        initial_rto: span(keys, "initial_rto", Span::from_ms(10))?,
        max_rto: span(keys, "max_rto", Span::from_ms(4_000))?,
        max_window: keys.take("max_window").map_or(Ok(Limit::Unlimited), |f| max_window(&f))?,
        ecn_control: keys.take("ecn_control").map_or(Ok(false), |f| f.truth())?,
        control_class: keys.take("control_class").map_or(Ok(0), |f| f.integer(0, CLASSES as u64 - 1))? as u8,
    };
    let shortest = window.min_rto.max(window.initial_rto);
    if window.max_rto < shortest {
        return Err(
            keys.error("max_rto is below min_rto or initial_rto", "a max_rto at least as long as both")
        );
    }
    let one = window.min_rto == window.max_rto && window.min_rto == window.initial_rto;
    if matches!(kind, TransportKind::PFabric { .. }) && !one {
        let what = "pFabric's timeout is fixed, and min_rto, initial_rto and max_rto differ";
        return Err(keys.error(what, "the same for all three, about three round trips: such as \"45us\""));
    }
    if !window.reliable && window.recovery == Recovery::Gbn {
        let what = "recovery = \"gbn\" sends everything after a hole again, and reliable = false nothing";
        return Err(keys.error(what, "recovery = \"sack\" or \"newreno\""));
    }
    Ok(window)
}

fn pfabric(keys: &mut Reader<'_>) -> Result<TransportKind, InputError> {
    let bdp = WindowSize(Size::Bdp(1.0));
    let mut window = |key| keys.take(key).map_or(Ok(bdp), |f| WindowSize::above_zero(&f));
    Ok(TransportKind::PFabric {
        first_window: window("first_window")?,
        max_cwnd: window("max_cwnd")?,
        probe_after: keys.take("probe_after").map_or(Ok(5), |f| f.integer(1, 1_000_000_000))? as u32,
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
