//! Ports of kind `tokens`: their keys.

use priolane_core::ids::CLASSES;
use priolane_core::packet::Frame;
use priolane_core::port::{Among, DataRate, GroupOrder, Split, TokenGroupSpec};
use priolane_core::transport::tokens::MAX_CLASSES;
use priolane_core::units::Span;
use serde::Serialize;

use priolane_source::quantity::as_text;
use priolane_source::{InputError, Reader};

/// Signals, classes of tokens behind one limiter, and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TokenPort {
    /// Token classes, 1 to 16.
    pub classes: u8,
    /// Tokens that wait in a class, at least 1.
    pub depth: u32,
    /// Tokens that may go at once, at least 1.
    pub burst: u32,
    /// Bytes on the wire of a mean token.
    #[serde(serialize_with = "as_text::wire_bytes")]
    pub token: u16,
    /// Slots after which a waiting token expires, 0 for never.
    pub expiry: u32,
    /// Who goes first, and what is limited.
    pub mode: Mode,
    /// What orders tokens.
    #[serde(skip_serializing_if = "Order::is_class")]
    pub order: Order,
    /// Queues of data, 1 to 13.
    #[serde(skip_serializing_if = "is_one")]
    pub data_queues: u8,
    /// What tokens take from the limiter to the line, zero without an assistant switch.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_zero")]
    pub detour: Span,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

fn is_one(queues: &u8) -> bool {
    *queues == 1
}

/// What orders tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Their class.
    Class,
    /// Their rank.
    Rank,
}

impl Order {
    fn is_class(&self) -> bool {
        *self == Self::Class
    }
}

const ORDERS: [(&str, Order); 2] = [("class", Order::Class), ("rank", Order::Rank)];

/// The modes of TOP's Fig. 3, and those that it rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Data first, both limited.
    A,
    /// Tokens first, both limited.
    B,
    /// Data first and not limited.
    UnlimitedDataHigh,
    /// Tokens first, data not limited.
    UnlimitedDataLow,
    /// As b, with a limiter for each class.
    PerClassSplit,
    /// As b, limited where tokens arrive, without regard to their class.
    IngressBlind,
}

const MODES: [(&str, Mode); 6] = [
    ("a", Mode::A),
    ("b", Mode::B),
    ("unlimited_data_high", Mode::UnlimitedDataHigh),
    ("unlimited_data_low", Mode::UnlimitedDataLow),
    ("per_class_split", Mode::PerClassSplit),
    ("ingress_blind", Mode::IngressBlind),
];

/// Reads the keys of a port of kind `tokens`.
pub(super) fn read(keys: &mut Reader<'_>) -> Result<TokenPort, InputError> {
    let top = TokenGroupSpec::TOP;
    let mut whole = |key, default: u32, low, high| match keys.take(key) {
        Some(field) => field.integer(low, high).map(|n| n as u32),
        None => Ok(default),
    };
    let classes = whole("classes", u32::from(top.classes), 1, CLASSES as u64)? as u8;
    let depth = whole("depth", top.depth, 1, 1_000_000)?;
    let data_queues = whole("data_queues", u32::from(top.data_queues), 1, u64::from(MAX_CLASSES))? as u8;
    let expiry = whole("expiry", top.expiry.unwrap_or(0), 0, 1_000_000)?;
    let burst = match keys.take("burst") {
        None => top.burst,
        Some(field) => match field.integer(0, 1_000_000)? {
            0 => return Err(field.error("a bucket that holds no token lets none go", "burst = 1, or more")),
            tokens => tokens as u32,
        },
    };
    let token = match keys.take("token") {
        None => top.token_wire,
        Some(field) => match field.bytes()? {
            bytes @ 1..=9_999 => bytes as u16,
            _ => return Err(field.error("this is no size of a token", "\"84B\", what it takes on the wire")),
        },
    };
    let mode = keys.word_or("mode", &MODES, Mode::B)?;
    let order = keys.word_or("order", &ORDERS, Order::Class)?;
    let detour = keys.take("detour");
    let takes = detour.as_ref().map_or(Ok(Span::ZERO), |f| f.span())?;
    if let (Some(field), true) = (detour, takes > Span::ZERO && expiry > 0) {
        let what = "tokens do not expire at a switch that sends them through another";
        return Err(field.error(what, "expiry = 0, and transport.expiry = \"end_host\""));
    }
    Ok(TokenPort { classes, depth, burst, token, expiry, mode, order, data_queues, detour: takes })
}

impl TokenPort {
    /// The port, for packets of `frame`.
    pub fn spec(&self, frame: &Frame) -> TokenGroupSpec {
        let (order, data) = match self.mode {
            Mode::A => (GroupOrder::DataFirst, DataRate::Limited),
            Mode::B | Mode::PerClassSplit | Mode::IngressBlind => {
                (GroupOrder::TokensFirst, DataRate::Limited)
            }
            Mode::UnlimitedDataHigh => (GroupOrder::DataFirst, DataRate::Unlimited),
            Mode::UnlimitedDataLow => (GroupOrder::TokensFirst, DataRate::Unlimited),
        };
        TokenGroupSpec {
            classes: self.classes,
            depth: self.depth,
            burst: self.burst,
            token_wire: self.token,
            data_wire: frame.max_wire(),
            expiry: (self.expiry > 0).then_some(self.expiry),
            order,
            data,
            among: if self.order == Order::Rank { Among::Rank } else { Among::Classes },
            data_queues: self.data_queues,
            unscheduled: None,
            split: match self.mode {
                Mode::PerClassSplit => Split::PerClass,
                Mode::IngressBlind => Split::Arriving,
                Mode::A | Mode::B | Mode::UnlimitedDataHigh | Mode::UnlimitedDataLow => Split::Group,
            },
            detour: self.detour,
        }
    }
}
