//! The keys of token transports: ExpressPass and TOP.

use priolane_core::transport::tokens::feedback::{Config as Feedback, Form};
use priolane_core::units::Span;
use priolane_source::quantity::{as_text, show_span};
use priolane_source::{Field, InputError, Own, Reader, Replace};
use serde::{Serialize, Serializer};

use super::check::{Fabric, Fault, Routing, carried};
use super::parts::PortKind;
use super::token_port::Order;
use super::token_rank::RankBy;
use super::{Assign, Scheme};

/// A token transport.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tokens {
    /// The smallest token on the wire.
    #[serde(serialize_with = "bytes")]
    pub token_min: u16,
    /// The largest.
    #[serde(serialize_with = "bytes")]
    pub token_max: u16,
    /// Which form the feedback has.
    pub feedback: Rule,
    /// The first rate, as a part of the largest.
    pub alpha: f64,
    /// The first w.
    pub w_init: f64,
    /// The part of tokens that may be lost.
    pub target: f64,
    /// How much gaps vary.
    pub jitter: f64,
    /// Who ends the tokens.
    pub stop: Stop,
    /// How losses are repaired.
    pub recovery: Repair,
    /// Packets beyond a missing one.
    pub reordering: u32,
    /// Silence after which a host asks again.
    #[serde(serialize_with = "as_text::span")]
    pub min_rto: Span,
    /// Where tokens expire.
    #[serde(flatten)]
    pub expiry: Expiry,
    /// m, packets of flows that go at once.
    pub unscheduled: u16,
    /// The ways of packets.
    pub paths: Paths,
    /// What receivers rank flows by.
    #[serde(flatten)]
    pub priority: RankBy,
    /// What carries these ranks.
    #[serde(skip_serializing_if = "Ranks::is_tokens")]
    pub ranks: Ranks,
}

fn bytes<S: Serializer>(bytes: &u16, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&format!("{bytes}B"))
}

/// Where tokens expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "expiry", rename_all = "snake_case")]
pub enum Expiry {
    /// At the ports, as these say.
    Switch,
    /// At the sender.
    EndHost {
        /// T, from when a token leaves its NIC (docs/assumptions.md#top-lifetime).
        #[serde(serialize_with = "as_text::span")]
        lifetime: Span,
    },
}

impl Expiry {
    fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let is_at_host = keys.word_or("expiry", &[("switch", false), ("end_host", true)], false)?;
        if !is_at_host {
            return Ok(Self::Switch);
        }
        let lifetime = keys.need("lifetime", "lifetime = \"45us\"")?.positive_span()?;
        Ok(Self::EndHost { lifetime })
    }

    /// T, where they do so at hosts.
    pub fn lifetime(self) -> Option<Span> {
        match self {
            Self::Switch => None,
            Self::EndHost { lifetime } => Some(lifetime),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $table:ident: $($(#[$one:meta])* $word:ident = $text:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub enum $name { $($(#[$one])* #[serde(rename = $text)] $word),* }

        const $table: &[(&str, $name)] = &[$(($text, $name::$word)),*];
    };
}

words!(
    /// The forms of the feedback.
    Rule, RULES:
    /// The paper's.
    Paper = "paper",
    /// That of the published simulation.
    Ns2 = "ns2",
);
words!(
    /// Who ends a flow's tokens.
    Stop, STOPS:
    /// The sender.
    Sender = "sender",
    /// The receiver, when all arrived.
    Complete = "complete",
    /// The receiver, with no more under way than needed.
    NeedCap = "token_need_cap",
);
words!(
    /// How losses are repaired.
    Repair, REPAIRS:
    /// What is missing.
    Selective = "selective",
    /// All from there on.
    GoBackN = "gbn",
);
words!(
    /// The ways of packets.
    Paths, PATHS:
    /// Tokens retrace their data.
    Symmetric = "symmetric",
    /// Each packet by itself, at random.
    Spray = "spray",
    /// Each packet by itself, in turns.
    RoundRobin = "round_robin",
    /// Each packet by itself, by what waits at ports.
    Drill = "drill",
);
words!(
    /// What carries the ranks of flows.
    Ranks, CARRIERS:
    /// Tokens.
    Tokens = "tokens",
    /// Data.
    Data = "data",
);
impl Ranks {
    fn is_tokens(&self) -> bool {
        *self == Self::Tokens
    }
}

/// The two transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    ExpressPass,
    Top,
}

/// The names of the keys that both transports have.
pub(super) const KEYS: &[&str] = &[
    "token_min",
    "token_max",
    "feedback",
    "alpha",
    "w_init",
    "target",
    "jitter",
    "stop",
    "recovery",
    "reordering",
    "min_rto",
];

/// Only tokens that expire at hosts have a lifetime there.
pub(super) const EXPIRY: Replace =
    Replace::Kind { tag: "expiry", default: Some("switch"), own: Own::Only(&["lifetime"]), shared: &[] };

/// The keys that only TOP has and that are always there.
const TOP_KEYS: [&str; 4] = ["expiry", "unscheduled", "paths", "priority"];

/// Writes the keys that ExpressPass reads.
pub(super) fn as_expresspass<S: Serializer>(tokens: &Tokens, s: S) -> Result<S::Ok, S::Error> {
    let mut keys = serde_json::to_value(tokens).map_err(serde::ser::Error::custom)?;
    if let Some(keys) = keys.as_object_mut() {
        keys.retain(|key, _| !TOP_KEYS.contains(&key.as_str()));
    }
    keys.serialize(s)
}

impl Tokens {
    /// Reads the keys; all of them may be left out.
    pub(super) fn read(keys: &mut Reader<'_>, whose: Whose) -> Result<Self, InputError> {
        let is_top = whose == Whose::Top;
        let base = Feedback::DEFAULT;
        let (stop, repair) =
            if is_top { (Stop::Complete, Repair::Selective) } else { (Stop::Sender, Repair::GoBackN) };
        let number = |field: Option<Field<'_>>, default, [low, high]: [f64; 2]| match field {
            None => Ok(default),
            Some(field) => field.number(low, high),
        };
        let largest = if is_top { 84 } else { 92 };
        let mut tokens = Self {
            token_min: size(keys.take("token_min"), 84)?,
            token_max: size(keys.take("token_max"), largest)?,
            feedback: keys.word_or("feedback", RULES, Rule::Paper)?,
            alpha: number(keys.take("alpha"), base.alpha, [0.001, 1.0])?,
            w_init: number(keys.take("w_init"), base.w_init, [base.w_min, base.w_max])?,
            target: number(keys.take("target"), base.target, [0.0, 0.9])?,
            jitter: number(keys.take("jitter"), 0.1, [0.0, 0.9])?,
            stop: keys.word_or("stop", STOPS, stop)?,
            recovery: keys.word_or("recovery", REPAIRS, repair)?,
            reordering: keys.take("reordering").map_or(Ok(3), |f| f.integer(1, 1_000_000))? as u32,
            min_rto: keys.take("min_rto").map_or(Ok(Span::from_ms(1)), |f| f.positive_span())?,
            expiry: Expiry::Switch,
            unscheduled: 0,
            paths: Paths::Symmetric,
            priority: RankBy::Single,
            ranks: Ranks::Tokens,
        };
        if tokens.token_min > tokens.token_max {
            return Err(
                keys.error("token_min is above token_max", "token_min = \"84B\", token_max = \"92B\"")
            );
        }
        if is_top {
            tokens.read_top(keys)?;
        }
        Ok(tokens)
    }

    fn read_top(&mut self, keys: &mut Reader<'_>) -> Result<(), InputError> {
        self.expiry = Expiry::read(keys)?;
        if let Some(field) = keys.take("unscheduled") {
            self.unscheduled = field.integer(0, 1_000)? as u16;
            if self.unscheduled > 0 && self.stop == Stop::Sender {
                let what =
                    "senders that end their tokens wait for one first, and unscheduled packets need none";
                return Err(field.error(what, "stop = \"complete\", or unscheduled = 0"));
            }
        }
        self.paths = keys.word_or("paths", PATHS, Paths::Symmetric)?;
        self.priority = RankBy::read(keys)?;
        if !self.priority.is_exact() {
            self.ranks = keys.word_or("ranks", CARRIERS, Ranks::Tokens)?;
        }
        Ok(())
    }

    /// The parameters of the feedback.
    pub fn feedback(&self) -> Feedback {
        let form = match self.feedback {
            Rule::Paper => Form::Paper,
            Rule::Ns2 => Form::Ns2,
        };
        Feedback { form, alpha: self.alpha, w_init: self.w_init, target: self.target, ..Feedback::DEFAULT }
    }
}

fn size(field: Option<Field<'_>>, default: u16) -> Result<u16, InputError> {
    let Some(field) = field else { return Ok(default) };
    match field.bytes()? {
        bytes @ 1..=9_999 => Ok(bytes as u16),
        _ => Err(field.error("this is no size of a token", "\"84B\", what it takes on the wire")),
    }
}

/// Whether a token transport fits ports, paths and flows.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let (Some(tokens), PortKind::Tokens(port)) = (scheme.transport.kind.tokens(), &scheme.port.kind) else {
        return Ok(());
    };
    if tokens.priority.classes() > port.classes {
        let what = format!(
            "tokens have {} classes, and ports tell {} apart",
            tokens.priority.classes(),
            port.classes
        );
        return Err(Fault::new("port.classes", what, format!("classes = {}", tokens.priority.classes())));
    }
    let mean = u32::from(tokens.token_min) + u32::from(tokens.token_max);
    if mean != 2 * u32::from(port.token) {
        let what = format!(
            "ports take tokens for {}B on average, and they have {}B",
            port.token,
            f64::from(mean) / 2.0
        );
        return Err(Fault::new("port.token", what, "the mean of token_min and token_max"));
    }
    if tokens.priority.is_exact() != (port.order == Order::Rank) {
        let what = "ports that sort by rank and receivers that rank exactly need each other";
        return Err(Fault::new(
            "port.order",
            what.to_owned(),
            "order = \"rank\" with priority = \"exact_...\"",
        ));
    }
    let wanted = if tokens.ranks == Ranks::Data { tokens.priority.classes() } else { 1 };
    if port.data_queues != wanted {
        let what = format!("ports have {} queues of data, and data has {wanted} ranks", port.data_queues);
        return Err(Fault::new("port.data_queues", what, format!("data_queues = {wanted}")));
    }
    if let Some(lifetime) = tokens.expiry.lifetime()
        && lifetime.times(2) < fabric.round_trip
    {
        let what = format!(
            "tokens live {}, and half of an empty round trip takes {}",
            show_span(lifetime),
            show_span(Span(fabric.round_trip.0 / 2))
        );
        return Err(Fault::new("transport.lifetime", what, "T = d + |P| th: add what tokens may wait"));
    }
    if tokens.priority.reads_deadlines() && fabric.deadlines == crate::experiment::Coverage::None {
        let what = "receivers rank flows by deadlines, and no flow has one".to_owned();
        return Err(Fault::new("transport.priority", what, "a group with deadline = \"2ms\""));
    }
    classes(scheme, (tokens, fabric))?;
    ways(tokens, fabric)
}

/// Classes are the receivers' to give, unless they give those that flows were given.
fn classes(scheme: &Scheme, (tokens, fabric): (&Tokens, &Fabric)) -> Result<(), Fault> {
    let wanted = carried(scheme, fabric);
    let asked = matches!(tokens.priority, RankBy::Asked { .. });
    if asked && wanted > u32::from(tokens.priority.classes()) {
        let what = format!("flows are given {wanted} classes, and tokens have {}", tokens.priority.classes());
        let fix = format!("transport.classes = {wanted} and port.classes = {wanted}");
        return Err(Fault::new("transport.classes", what, fix));
    }
    if !asked && scheme.admit.levels().is_some() {
        let what = format!("`{}` gives flows classes, and receivers give tokens theirs", scheme.admit.name());
        return Err(Fault::new("admit", what, "the transport `top` with priority = \"asked\""));
    }
    match scheme.assign {
        Assign::None => Ok(()),
        Assign::Known(_) if asked => Ok(()),
        _ => {
            let what =
                format!("`{}` gives packets classes, and receivers give tokens theirs", scheme.assign.name());
            Err(Fault::new(
                "assign",
                what,
                "assign = { kind = \"none\" }, or a rule by flow with priority = \"asked\"",
            ))
        }
    }
}

/// Tokens and data must meet, unless all is sprayed.
fn ways(tokens: &Tokens, fabric: &Fabric) -> Result<(), Fault> {
    if tokens.paths != Paths::Symmetric {
        return Ok(());
    }
    if fabric.routing == Routing::PerPacket {
        let what = "the network sprays packets, and data must take the way of its tokens".to_owned();
        return Err(Fault::new(
            "transport.paths",
            what,
            "topology.paths = \"hashed\", or transport.paths = \"spray\", \"round_robin\" or \"drill\" (top)",
        ));
    }
    if !fabric.symmetric {
        let what = "in this network there is no choice of paths by which data takes the way of its tokens"
            .to_owned();
        return Err(Fault::new(
            "transport",
            what,
            "a leaf-spine, fat-tree, three-tier or single-path network",
        ));
    }
    Ok(())
}
