//! The keys of token transports: ExpressPass and TOP.

use priolane_core::transport::tokens::MAX_CLASSES;
use priolane_core::transport::tokens::feedback::{Config as Feedback, Form};
use priolane_core::transport::tokens::priority::{Exponential, Key, Logarithm, Priority};
use priolane_core::units::Span;
use serde::{Serialize, Serializer};

use super::check::{Fabric, Fault, carried};
use super::parts::PortKind;
use super::token_port::Order;
use super::transport::word;
use super::{Assign, Scheme};
use crate::quantity::{as_text, show_span};
use crate::source::{Field, InputError, Reader};

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
    pub expiry: Expiry,
    /// T, where they do so at hosts.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_none")]
    pub lifetime: Span,
    /// m, packets of flows that go at once.
    pub unscheduled: u16,
    /// The ways of packets.
    pub paths: Paths,
    /// What receivers rank flows by.
    pub priority: By,
    /// What carries these ranks.
    #[serde(skip_serializing_if = "Ranks::is_tokens")]
    pub ranks: Ranks,
    /// K.
    pub classes: u8,
    /// What stands for the sizes of flows.
    #[serde(skip_serializing_if = "Tail::is_heavy")]
    pub tail: Tail,
    /// m, in packets, where the tail is light; `None` for the mean of what flows there are, less one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// p, in packets; `None` for the largest flow there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// a.
    pub a: f64,
    /// b.
    pub b: f64,
    /// Thresholds in packets, in place of p, a and b.
    #[serde(skip_serializing_if = "Cuts::is_empty")]
    pub thresholds: Cuts,
    /// The shortest time to a deadline that is not in the first class.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_none")]
    pub deadline_min: Span,
    /// The time to a deadline from which flows would be beyond the last class.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_none")]
    pub deadline_max: Span,
}

fn bytes<S: Serializer>(bytes: &u16, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&format!("{bytes}B"))
}

fn is_none(span: &Span) -> bool {
    *span == Span::ZERO
}

/// Up to twelve thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    at: [u64; MAX_CLASSES as usize - 1],
    count: usize,
}

impl Cuts {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn as_slice(&self) -> &[u64] {
        &self.at[..self.count]
    }
}

impl Serialize for Cuts {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.as_slice())
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
    /// Where tokens expire.
    Expiry, EXPIRIES:
    /// At the ports, as these say.
    Switch = "switch",
    /// At the sender.
    EndHost = "end_host",
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
words!(
    /// What stands for the sizes of flows.
    Tail, TAILS:
    /// A density as 1 / x.
    Heavy = "heavy",
    /// An exponential one.
    Light = "light",
);

impl Ranks {
    fn is_tokens(&self) -> bool {
        *self == Self::Tokens
    }
}

impl Tail {
    fn is_heavy(&self) -> bool {
        *self == Self::Heavy
    }
}

words!(
    /// What receivers rank flows by.
    By, RANKINGS:
    /// Nothing.
    Single = "single",
    /// The class they ask for.
    Asked = "asked",
    /// Their size.
    Size = "size",
    /// What arrived so far.
    Attained = "attained",
    /// The time to their deadline.
    Deadline = "deadline",
    /// Exactly, by what is left.
    ExactRemaining = "exact_remaining",
    /// Exactly, by their size.
    ExactSize = "exact_size",
    /// Exactly, by their deadline.
    ExactDeadline = "exact_deadline",
    /// Exactly, by the bytes of their coflow.
    ExactCoflow = "exact_coflow",
);

/// The two transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    ExpressPass,
    Top,
}

/// The keys that only TOP has and that are always there.
const TOP_KEYS: [&str; 7] = ["expiry", "unscheduled", "paths", "priority", "classes", "a", "b"];

/// Writes the keys that ExpressPass reads.
pub(super) fn as_expresspass<S: Serializer>(tokens: &Tokens, s: S) -> Result<S::Ok, S::Error> {
    write_keys(tokens, s, |key| !TOP_KEYS.contains(&key))
}

/// Writes the keys that TOP reads with this priority.
pub(super) fn as_top<S: Serializer>(tokens: &Tokens, s: S) -> Result<S::Ok, S::Error> {
    let by_size = matches!(tokens.priority, By::Size | By::Attained);
    write_keys(tokens, s, |key| match key {
        "a" | "b" => by_size && tokens.thresholds.is_empty() && tokens.tail == Tail::Heavy,
        "classes" => !tokens.is_exact() && tokens.priority != By::Single,
        _ => true,
    })
}

fn write_keys<S: Serializer>(tokens: &Tokens, s: S, reads: impl Fn(&str) -> bool) -> Result<S::Ok, S::Error> {
    let mut keys = serde_json::to_value(tokens).map_err(serde::ser::Error::custom)?;
    if let Some(keys) = keys.as_object_mut() {
        keys.retain(|key, _| reads(key));
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
            feedback: word(keys.take("feedback"), RULES, Rule::Paper)?,
            alpha: number(keys.take("alpha"), base.alpha, [0.001, 1.0])?,
            w_init: number(keys.take("w_init"), base.w_init, [base.w_min, base.w_max])?,
            target: number(keys.take("target"), base.target, [0.0, 0.9])?,
            jitter: number(keys.take("jitter"), 0.1, [0.0, 0.9])?,
            stop: word(keys.take("stop"), STOPS, stop)?,
            recovery: word(keys.take("recovery"), REPAIRS, repair)?,
            reordering: keys.take("reordering").map_or(Ok(3), |f| f.integer(1, 1_000_000))? as u32,
            min_rto: keys.take("min_rto").map_or(Ok(Span::from_ms(1)), |f| f.positive_span())?,
            expiry: Expiry::Switch,
            lifetime: Span::ZERO,
            unscheduled: 0,
            paths: Paths::Symmetric,
            priority: By::Single,
            ranks: Ranks::Tokens,
            classes: 1,
            tail: Tail::Heavy,
            mean: None,
            p: None,
            a: 1.0,
            b: 0.0,
            thresholds: Cuts::default(),
            deadline_min: Span::ZERO,
            deadline_max: Span::ZERO,
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
        self.expiry = word(keys.take("expiry"), EXPIRIES, Expiry::Switch)?;
        if self.expiry == Expiry::EndHost {
            self.lifetime = keys.need("lifetime", "lifetime = \"45us\"")?.positive_span()?;
        }
        if let Some(field) = keys.take("unscheduled") {
            self.unscheduled = field.integer(0, 1_000)? as u16;
            if self.unscheduled > 0 && self.stop == Stop::Sender {
                let what =
                    "senders that end their tokens wait for one first, and unscheduled packets need none";
                return Err(field.error(what, "stop = \"complete\", or unscheduled = 0"));
            }
        }
        self.paths = word(keys.take("paths"), PATHS, Paths::Symmetric)?;
        self.priority = word(keys.take("priority"), RANKINGS, By::Size)?;
        self.classes = match self.priority {
            By::Single | By::ExactRemaining | By::ExactSize | By::ExactDeadline | By::ExactCoflow => 1,
            _ => keys.take("classes").map_or(Ok(6), |f| f.integer(1, u64::from(MAX_CLASSES)))? as u8,
        };
        if !self.is_exact() {
            self.ranks = word(keys.take("ranks"), CARRIERS, Ranks::Tokens)?;
        }
        match self.priority {
            By::Size | By::Attained => self.read_sizes(keys),
            By::Deadline => self.read_deadlines(keys),
            _ => Ok(()),
        }
    }

    fn read_sizes(&mut self, keys: &mut Reader<'_>) -> Result<(), InputError> {
        if let Some(field) = keys.take("thresholds") {
            let items = field.list()?;
            let cuts = items.iter().map(|item| item.integer(1, u64::from(u32::MAX)));
            let cuts = cuts.collect::<Result<Vec<u64>, InputError>>()?;
            if cuts.len() + 1 != usize::from(self.classes) || !cuts.is_sorted() {
                let what = format!("{} thresholds for {} classes", cuts.len(), self.classes);
                return Err(field.error(what, "packets in order, one less than classes"));
            }
            self.thresholds.count = cuts.len();
            self.thresholds.at[..cuts.len()].copy_from_slice(&cuts);
            return Ok(());
        }
        self.p = keys
            .take("p")
            .map(|field| above(&field, 1.0, "packets of the largest flow, such as 2107"))
            .transpose()?;
        self.tail = word(keys.take("tail"), TAILS, Tail::Heavy)?;
        if self.tail == Tail::Light {
            let mean =
                |field: Field<'_>| above(&field, 0.0, "packets of the mean flow less one, such as 133");
            self.mean = keys.take("mean").map(mean).transpose()?;
            return Ok(());
        }
        if let Some(field) = keys.take("a") {
            self.a = above(&field, 0.0, "above 0, such as 1")?;
        }
        self.b = keys.take("b").map_or(Ok(0.0), |f| f.number(-1e9, 1e9))?;
        Ok(())
    }

    fn read_deadlines(&mut self, keys: &mut Reader<'_>) -> Result<(), InputError> {
        self.deadline_min = keys.need("deadline_min", "deadline_min = \"100us\"")?.positive_span()?;
        let field = keys.need("deadline_max", "deadline_max = \"10ms\"")?;
        self.deadline_max = field.positive_span()?;
        if self.deadline_max <= self.deadline_min {
            return Err(field.error("deadline_max is not above deadline_min", "a longer time"));
        }
        Ok(())
    }

    /// Whether p is still to be found from the sizes of the experiment.
    pub fn lacks_p(&self) -> bool {
        matches!(self.priority, By::Size | By::Attained) && self.p.is_none() && self.thresholds.is_empty()
    }

    /// Whether the mean is still to be found from them.
    pub fn lacks_mean(&self) -> bool {
        matches!(self.priority, By::Size | By::Attained)
            && self.tail == Tail::Light
            && self.mean.is_none()
            && self.thresholds.is_empty()
    }

    /// Whether tokens are ranked exactly.
    pub fn is_exact(&self) -> bool {
        use By::{ExactCoflow, ExactDeadline, ExactRemaining, ExactSize};
        matches!(self.priority, ExactRemaining | ExactSize | ExactDeadline | ExactCoflow)
    }

    /// The rule of receivers.
    pub fn rule(&self) -> Priority {
        let classes = self.classes;
        match self.priority {
            By::Single => Priority::Single,
            By::Asked => Priority::Asked,
            By::Size => Priority::Size(self.cuts()),
            By::Attained => Priority::Attained(self.cuts()),
            By::Deadline => {
                let (min, max) = (self.deadline_min.0, self.deadline_max.0);
                let p = max as f64 / min as f64;
                // Buckets of equal ratio from the one time to the other.
                let scaled = Logarithm { classes, p, a: 1.0 / min as f64, b: 0.0 };
                Priority::Deadline(scaled.thresholds().into_iter().map(Span).collect())
            }
            By::ExactRemaining => Priority::Exact(Key::Remaining),
            By::ExactSize => Priority::Exact(Key::Size),
            By::ExactDeadline => Priority::Exact(Key::Deadline),
            By::ExactCoflow => Priority::Exact(Key::Coflow),
        }
    }

    fn cuts(&self) -> Vec<u64> {
        if !self.thresholds.is_empty() {
            return self.thresholds.as_slice().to_vec();
        }
        let p = self.p.unwrap_or(2.0);
        if self.tail == Tail::Light {
            return Exponential { classes: self.classes, p, mean: self.mean.unwrap_or(1.0) }.thresholds();
        }
        Logarithm { classes: self.classes, p, a: self.a, b: self.b }.thresholds()
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

fn above(field: &Field<'_>, least: f64, fix: &str) -> Result<f64, InputError> {
    let number = field.number(least, 1e15)?;
    if number > least { Ok(number) } else { Err(field.error(format!("this is not above {least}"), fix)) }
}

/// Whether a token transport fits ports, paths and flows.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let (Some(tokens), PortKind::Tokens(port)) = (scheme.transport.kind.tokens(), &scheme.port.kind) else {
        return Ok(());
    };
    if tokens.classes > port.classes {
        let what = format!("tokens have {} classes, and ports tell {} apart", tokens.classes, port.classes);
        return Err(Fault::new("port.classes", what, format!("classes = {}", tokens.classes)));
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
    if tokens.is_exact() != (port.order == Order::Rank) {
        let what = "ports that sort by rank and receivers that rank exactly need each other";
        return Err(Fault::new(
            "port.order",
            what.to_owned(),
            "order = \"rank\" with priority = \"exact_...\"",
        ));
    }
    let wanted = if tokens.ranks == Ranks::Data { tokens.classes } else { 1 };
    if port.data_queues != wanted {
        let what = format!("ports have {} queues of data, and data has {wanted} ranks", port.data_queues);
        return Err(Fault::new("port.data_queues", what, format!("data_queues = {wanted}")));
    }
    if tokens.lifetime > Span::ZERO && tokens.lifetime.times(2) < fabric.round_trip {
        let what = format!(
            "tokens live {}, and half of an empty round trip takes {}",
            show_span(tokens.lifetime),
            show_span(Span(fabric.round_trip.0 / 2))
        );
        return Err(Fault::new("transport.lifetime", what, "T = d + |P| th: add what tokens may wait"));
    }
    let reads_deadlines = matches!(tokens.priority, By::Deadline | By::ExactDeadline);
    if reads_deadlines && fabric.deadlines == crate::experiment::Coverage::None {
        let what = "receivers rank flows by deadlines, and no flow has one".to_owned();
        return Err(Fault::new("transport.priority", what, "a group with deadline = \"2ms\""));
    }
    classes(scheme, (tokens, fabric))?;
    ways(tokens, fabric)
}

/// Classes are the receivers' to give, unless they give those that flows were given.
fn classes(scheme: &Scheme, (tokens, fabric): (&Tokens, &Fabric)) -> Result<(), Fault> {
    let wanted = carried(scheme, fabric);
    let asked = tokens.priority == By::Asked;
    if asked && wanted > u32::from(tokens.classes) {
        let what = format!("flows are given {wanted} classes, and tokens have {}", tokens.classes);
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
    if fabric.sprays {
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
