//! What starts flows: the apps of a group with their keys.

use std::borrow::Cow;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use priolane_source::quantity::{as_text, show_bytes};
use priolane_source::{FLOW_LIST_LIMIT, Field, InputError, Merge, Own, ReadKeys, Reader, Replace, Shared};
use priolane_workload::flow_list::{self, Row};
use priolane_workload::{Bursts, MAX_BURST, Reach, Reading, SizeDraw};
use serde::Serialize;
use serde::ser::Serializer;

use super::coflow::{self, CoflowText, TraceText};
use super::like::LIKE;
use super::load::{self, LoadText};
use super::sizes::{self, Sizes};
use super::sources::Sources;

/// An app as the file states it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "app", rename_all = "snake_case")]
pub enum AppText {
    /// The group sends nothing.
    #[serde(rename = "none")]
    Nothing,
    /// Open-loop arrivals.
    Poisson {
        /// Flow sizes.
        sizes: Sizes,
        /// Offered load.
        load: LoadText,
        /// Whom a host sends to.
        #[serde(serialize_with = "reach_text")]
        reach: Reach,
        /// How sizes are drawn.
        #[serde(skip_serializing_if = "SizeDraw::is_independent")]
        draw: SizeDraw,
    },
    /// Open-loop arrivals in bursts.
    OnOff {
        /// Flow sizes.
        sizes: Sizes,
        /// Offered load on the long run.
        load: LoadText,
        /// Whom a host sends to.
        #[serde(serialize_with = "reach_text")]
        reach: Reach,
        /// How sizes are drawn.
        #[serde(skip_serializing_if = "SizeDraw::is_independent")]
        draw: SizeDraw,
        /// Load within a burst, of what and counted as `load`.
        burst_load: f64,
        /// Flows of a burst.
        burst_flows: u32,
        /// Who has bursts of its own.
        #[serde(serialize_with = "bursts_text")]
        per: Bursts,
        /// What follows a burst.
        #[serde(serialize_with = "reading_text")]
        reading: Reading,
    },
    /// Many to one, over and over.
    Incast {
        /// How epochs follow each other.
        epochs: EpochRule,
        /// The (mean) time between epochs.
        #[serde(serialize_with = "as_text::span")]
        period: Span,
        /// Senders per epoch.
        fan_in: u32,
        /// Bytes each sends.
        #[serde(serialize_with = "as_text::bytes")]
        size: u64,
        /// The receiver; `None` draws one at every epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        receiver: Option<u16>,
        /// When flows start.
        #[serde(flatten)]
        start: Start,
    },
    /// Every host sends one flow and receives one.
    Permutation {
        /// Bytes, or endless.
        size: FlowSize,
        /// When flows start.
        #[serde(flatten)]
        start: Start,
    },
    /// Flows between stated pairs.
    LongLived {
        /// Who sends to whom.
        pairs: PairsText,
        /// Bytes, or endless.
        size: FlowSize,
        /// When flows start.
        #[serde(flatten)]
        start: Start,
    },
    /// Requests and answers in a closed loop.
    Query(QueryText),
    /// Ring all-reduce, over and over.
    Ring(RingText),
    /// Coflows by laws.
    Coflow(CoflowText),
    /// The coflows of a trace.
    CoflowTrace(TraceText),
    /// A list of flows.
    Flows {
        /// The list.
        list: ListText,
        /// How long news takes of which the list does not say it; `None` if no flow of it waits.
        #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
        after_delay: Option<Span>,
    },
}

/// What an app that offers a load says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLoop<'a> {
    /// Flow sizes.
    pub sizes: &'a Sizes,
    /// Offered load on the long run.
    pub load: LoadText,
    /// Whom a host sends to.
    pub reach: Reach,
}

impl AppText {
    /// The load, if the app offers one, and whom a host sends to.
    pub fn load(&self) -> Option<(LoadText, Reach)> {
        match self {
            Self::Coflow(CoflowText { load, .. }) => Some((*load, Reach::AnyHost)),
            _ => self.open_loop().map(|OpenLoop { load, reach, .. }| (load, reach)),
        }
    }

    /// Sizes of flows and load, if the app states both.
    pub fn open_loop(&self) -> Option<OpenLoop<'_>> {
        match self {
            Self::Poisson { sizes, load, reach, .. } | Self::OnOff { sizes, load, reach, .. } => {
                Some(OpenLoop { sizes, load: *load, reach: *reach })
            }
            _ => None,
        }
    }
}

/// How epochs of an incast follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EpochRule {
    /// One every period.
    Every,
    /// After exponential gaps with the period as mean.
    Poisson,
}

/// Requests and answers, as the file states them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryText {
    /// Bytes of a query to one server.
    #[serde(serialize_with = "as_text::bytes")]
    pub query: u64,
    /// Servers asked at once.
    pub fan_out: u32,
    /// Sizes of answers.
    pub sizes: Sizes,
    /// From the arrival of a query to its answer.
    #[serde(serialize_with = "as_text::span")]
    pub think: Span,
    /// From the last answer to the next request.
    #[serde(serialize_with = "as_text::span")]
    pub pause: Span,
    /// How pauses are drawn.
    pub pauses: PauseRule,
    /// Requests that a client has under way at once.
    pub concurrency: u32,
    /// Requests of each loop; `None` for as many as there is time for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// When the first pause begins.
    #[serde(serialize_with = "as_text::span")]
    pub start: Span,
}

/// Training of one model, as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RingText {
    /// Bytes that are reduced in an iteration.
    #[serde(serialize_with = "as_text::bytes")]
    pub reduced: u64,
    /// From a worker's last part to its next iteration.
    #[serde(serialize_with = "as_text::span")]
    pub compute: Span,
    /// Iterations; `None` for as many as there is time for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// When the first begins, and how much longer computing takes at most.
    #[serde(flatten)]
    pub start: Start,
}

/// How pauses between requests are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseRule {
    /// Exponentially, with the pause as mean.
    Exponential,
    /// Always the same.
    Fixed,
}

/// When flows start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The earliest start.
    #[serde(serialize_with = "as_text::span")]
    pub start: Span,
    /// How much later a flow starts at most, evenly.
    #[serde(serialize_with = "as_text::span")]
    pub jitter: Span,
}

/// Bytes of a flow; `None` for one without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSize(pub Option<u64>);

impl Serialize for FlowSize {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(bytes) => s.serialize_str(&show_bytes(bytes)),
            None => s.serialize_str("endless"),
        }
    }
}

/// Who sends to whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PairsText {
    /// As listed.
    Listed(Vec<PairText>),
    /// By a rule.
    Rule(RuleText),
}

/// One listed pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PairText {
    /// The sender.
    pub src: u16,
    /// The receiver.
    pub dst: u16,
    /// How many flows.
    pub count: u32,
    /// Their path, where paths are pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<u16>,
}

/// Pairs by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleKind,
    /// Flows for each pair.
    pub count: u32,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum RuleKind {
    /// Each to each.
    AllPairs,
    /// Each to each of another rack.
    OtherRacks,
    /// The i-th of its rack to the i-th of the rack 1 + (i mod (racks - 1)) further on.
    OneOtherRack,
    /// The i-th to the (i + by)-th.
    Shift {
        /// By how many.
        by: u32,
    },
    /// Each to one host.
    ToOne {
        /// That host.
        host: u16,
    },
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ListText {
    /// The path of a flow list; with `{seed}` in it there is one for each seed.
    Path(String),
    /// In the experiment itself.
    Inline(#[serde(serialize_with = "inline")] Vec<Row>),
}

/// How the keys of an app are read.
type ReadApp = fn(&mut Reader<'_>, &mut Sources) -> Result<AppText, InputError>;

/// What a group keeps of a base with another app, besides the keys of all groups.
pub(super) const fn app_rule(all: &'static [&'static str]) -> Replace {
    Replace::Kind {
        tag: "app",
        default: None,
        own: Own::AllBut(all),
        shared: Shared::Listed(&[
            (&["poisson", "on_off"], &["sizes", "load", "reach"]),
            (&["incast", "permutation", "long_lived"], &["size"]),
            (&["incast", "permutation", "long_lived", "ring"], &["start", "jitter"]),
        ]),
    }
}

/// What pairs keep of a base with another rule.
pub(super) const PAIRS_MERGE: Merge = Merge::of(&[
    Replace::Kind { tag: "rule", default: None, own: Own::AllBut(&["count"]), shared: Shared::Listed(&[]) },
    LIKE,
]);

/// The apps, each with how its keys are read.
const APPS: [(&str, ReadApp); 11] = [
    ("none", |_, _| Ok(AppText::Nothing)),
    ("poisson", poisson),
    ("on_off", on_off),
    ("incast", |keys, _| incast(keys)),
    ("permutation", |keys, _| Ok(AppText::Permutation { size: flow_size(keys)?, start: start(keys)? })),
    ("long_lived", |keys, _| long_lived(keys)),
    ("query", query),
    ("ring", |keys, _| ring(keys)),
    ("coflow", |keys, sources| coflow::coflow(keys, sources).map(AppText::Coflow)),
    ("coflow_trace", |keys, sources| coflow::trace(keys, sources).map(AppText::CoflowTrace)),
    ("flows", flows),
];

/// The apps that send: all but the first.
pub(super) const SENDING: [&str; APPS.len() - 1] = {
    let mut names = [""; APPS.len() - 1];
    let mut i = 0;
    while i < names.len() {
        names[i] = APPS[i + 1].0;
        i += 1;
    }
    names
};

/// Reads `app` and its keys.
pub(super) fn read(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<AppText, InputError> {
    keys.need("app", "app = \"poisson\"")?.word(&APPS)?(keys, sources)
}

fn long_lived(keys: &mut Reader<'_>) -> Result<AppText, InputError> {
    let pairs = keys.need("pairs", "pairs = [{ src = 0, dst = 1 }] or { rule = \"all_pairs\" }")?;
    Ok(AppText::LongLived { pairs: pairs_text(&pairs)?, size: flow_size(keys)?, start: start(keys)? })
}

fn poisson(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<AppText, InputError> {
    let (sizes, load, reach) = open_loop(keys, sources)?;
    Ok(AppText::Poisson { sizes, load, reach, draw: draw(keys)? })
}

fn on_off(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<AppText, InputError> {
    let (sizes, load, reach) = open_loop(keys, sources)?;
    let draw = draw(keys)?;
    let burst_load = keys.need("burst_load", "burst_load = 1.4")?.any_number()?;
    let flows = keys.take("burst_flows").map_or(Ok(4), |f| f.integer(1, u64::from(MAX_BURST)))?;
    let per =
        keys.word_or("per", &[("pair", Bursts::PerPair), ("host", Bursts::PerHost)], Bursts::PerPair)?;
    let readings = [("bursts", Reading::Bursts), ("compat_yaps", Reading::CompatYaps)];
    let reading = keys.word_or("reading", &readings, Reading::Bursts)?;
    Ok(AppText::OnOff { sizes, load, reach, draw, burst_load, burst_flows: flows as u32, per, reading })
}

/// `sizes`, `load` and `reach`.
fn open_loop(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<(Sizes, LoadText, Reach), InputError> {
    let sizes = sizes::read(&keys.need("sizes", "sizes = \"web_search\"")?, sources)?;
    let load_fix = "load = { of = \"host\", counts = \"payload\", value = 0.6 }";
    let load = load::read(&keys.need("load", load_fix)?)?;
    let reaches = [("any_host", Reach::AnyHost), ("other_racks", Reach::OtherRacks)];
    let reach = keys.word_or("reach", &reaches, Reach::AnyHost)?;
    Ok((sizes, load, reach))
}

/// How sizes are drawn.
fn draw(keys: &mut Reader<'_>) -> Result<SizeDraw, InputError> {
    let draws = [("independent", SizeDraw::Independent), ("strata", SizeDraw::Strata)];
    keys.word_or("draw", &draws, SizeDraw::default())
}

const PAUSES: [(&str, PauseRule); 2] = [("exponential", PauseRule::Exponential), ("fixed", PauseRule::Fixed)];

fn query(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<AppText, InputError> {
    let count = |field: Option<Field<'_>>| field.map_or(Ok(1), |f| f.integer(1, 65_535)).map(|n| n as u32);
    Ok(AppText::Query(QueryText {
        query: sizes::payload(&keys.need("query", "query = \"1kB\"")?)?,
        fan_out: count(keys.take("fan_out"))?,
        sizes: sizes::read(&keys.need("sizes", "sizes = \"web_search\"")?, sources)?,
        think: keys.span_or("think", Span::ZERO)?,
        pause: keys.need("pause", "pause = \"1ms\"")?.span()?,
        pauses: keys.word_or("pauses", &PAUSES, PauseRule::Exponential)?,
        concurrency: count(keys.take("concurrency"))?,
        requests: keys.take("requests").map(|f| f.integer(1, 50_000_000)).transpose()?,
        start: keys.span_or("start", Span::ZERO)?,
    }))
}

/// How long news takes between hosts where nothing says it (docs/assumptions.md#flow-list-after).
const AFTER_DELAY: Span = Span::from_us(1);

fn flows(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<AppText, InputError> {
    let list = list(&keys.need("list", "list = \"flows.csv\"")?, sources)?;
    let has_waits = |path: &Cow<'_, str>| {
        let list = flow_list::Reader::new(sources.known(path).as_bytes(), path, 1);
        list.is_ok_and(|list| list.has_waits())
    };
    let waits = match &list {
        ListText::Path(path) => {
            let paths = sources.paths(path);
            // Of no list it is not known, where the seeds are not.
            paths.is_empty() || paths.iter().any(has_waits)
        }
        ListText::Inline(_) => false,
    };
    let after_delay = match keys.take("after_delay") {
        Some(field) if !waits => {
            return Err(field.error("no flow of the list waits for another", "leave the key out"));
        }
        Some(field) => Some(field.positive_span()?),
        None => Some(AFTER_DELAY).filter(|_| waits),
    };
    Ok(AppText::Flows { list, after_delay })
}

fn ring(keys: &mut Reader<'_>) -> Result<AppText, InputError> {
    Ok(AppText::Ring(RingText {
        reduced: sizes::payload(&keys.need("reduced", "reduced = \"100MB\": bytes of all parameters")?)?,
        compute: keys.need("compute", "compute = \"2ms\"")?.span()?,
        iterations: keys.take("iterations").map(|f| f.integer(1, 1 << 31)).transpose()?.map(|n| n as u32),
        start: start(keys)?,
    }))
}

fn incast(keys: &mut Reader<'_>) -> Result<AppText, InputError> {
    let rules = [("every", EpochRule::Every), ("poisson", EpochRule::Poisson)];
    let epochs = keys.word_or("epochs", &rules, EpochRule::Every)?;
    Ok(AppText::Incast {
        epochs,
        period: keys.need("period", "period = \"1ms\"")?.positive_span()?,
        fan_in: keys.need("fan_in", "fan_in = 16")?.integer(1, 65_535)? as u32,
        size: sizes::payload(&keys.need("size", "size = \"64kB\"")?)?,
        receiver: keys.take("receiver").map(|f| host(&f)).transpose()?,
        start: start(keys)?,
    })
}

fn start(keys: &mut Reader<'_>) -> Result<Start, InputError> {
    Ok(Start { start: keys.span_or("start", Span::ZERO)?, jitter: keys.span_or("jitter", Span::ZERO)? })
}

fn flow_size(keys: &mut Reader<'_>) -> Result<FlowSize, InputError> {
    let field = keys.need("size", "size = \"1MB\" or size = \"endless\"")?;
    endless_or_payload(&field)
}

fn endless_or_payload(field: &Field<'_>) -> Result<FlowSize, InputError> {
    if field.text().is_ok_and(|text| text == "endless") {
        return Ok(FlowSize(None));
    }
    sizes::payload(field).map(|bytes| FlowSize(Some(bytes)))
}

/// Rules for pairs, each with how its keys are read.
const PAIR_RULES: [(&str, ReadKeys<RuleKind>); 5] = [
    ("all_pairs", |_| Ok(RuleKind::AllPairs)),
    ("other_racks", |_| Ok(RuleKind::OtherRacks)),
    ("one_other_rack", |_| Ok(RuleKind::OneOtherRack)),
    ("shift", |keys| Ok(RuleKind::Shift { by: keys.need("by", "by = 1")?.integer(1, 65_535)? as u32 })),
    ("to_one", |keys| Ok(RuleKind::ToOne { host: host(&keys.need("host", "host = 0")?)? })),
];

fn host(field: &Field<'_>) -> Result<u16, InputError> {
    field.integer(0, 65_535).map(|h| h as u16)
}

/// `src` and `dst` of `item`, which has these keys.
fn ends(item: &Field<'_>, keys: &mut Reader<'_>) -> Result<(u16, u16), InputError> {
    let (src, dst) = (host(&keys.need("src", "src = 0")?)?, host(&keys.need("dst", "dst = 1")?)?);
    if src == dst {
        return Err(item.error("the flow goes from a host to itself", "two different hosts"));
    }
    Ok((src, dst))
}

fn pairs_text(field: &Field<'_>) -> Result<PairsText, InputError> {
    let count = |keys: &mut Reader<'_>| {
        keys.take("count").map_or(Ok(1), |f| f.integer(1, 1_000_000)).map(|n| n as u32)
    };
    let Ok(mut keys) = field.table() else {
        let mut pairs = Vec::new();
        for item in field.filled_list()? {
            let mut keys = item.table()?;
            let (src, dst) = ends(&item, &mut keys)?;
            let path = keys.take("path").map(|f| host(&f)).transpose()?;
            pairs.push(PairText { src, dst, count: count(&mut keys)?, path });
            keys.finish()?;
        }
        return Ok(PairsText::Listed(pairs));
    };
    let rule = keys.need("rule", "rule = \"all_pairs\"")?.word(&PAIR_RULES)?(&mut keys)?;
    let count = count(&mut keys)?;
    keys.finish()?;
    Ok(PairsText::Rule(RuleText { rule, count }))
}

fn list(field: &Field<'_>, sources: &mut Sources) -> Result<ListText, InputError> {
    if let Ok(path) = field.text() {
        sources.read_for_seeds(field, path, FLOW_LIST_LIMIT)?;
        return Ok(ListText::Path(path.to_owned()));
    }
    let mut flows = Vec::new();
    for item in field.filled_list()? {
        let mut keys = item.table()?;
        let (src, dst) = ends(&item, &mut keys)?;
        let flow = FlowSpec {
            id: FlowId(0),
            src: HostId(src),
            dst: HostId(dst),
            size: flow_size(&mut keys)?.0,
            start: Time(start(&mut keys)?.start.0),
            class: keys.take("class").map_or(Ok(0), |f| f.integer(0, 15))? as u8,
            deadline: None,
            group: 0,
            entropy: 0,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
        };
        let path = keys.take("path").map(|f| host(&f)).transpose()?;
        keys.finish()?;
        flows.push(Row { flow, after: Vec::new(), delay: None, path });
    }
    Ok(ListText::Inline(flows))
}

fn inline<S: Serializer>(rows: &[Row], s: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Listed {
        src: u16,
        dst: u16,
        size: FlowSize,
        #[serde(serialize_with = "as_text::span")]
        start: Span,
        class: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<u16>,
    }
    s.collect_seq(rows.iter().map(|&Row { flow: ref f, path, .. }| Listed {
        src: f.src.0,
        dst: f.dst.0,
        size: FlowSize(f.size),
        start: Span(f.start.0),
        class: f.class,
        path,
    }))
}

fn bursts_text<S: Serializer>(per: &Bursts, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match per {
        Bursts::PerPair => "pair",
        Bursts::PerHost => "host",
    })
}

fn reading_text<S: Serializer>(reading: &Reading, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match reading {
        Reading::Bursts => "bursts",
        Reading::CompatYaps => "compat_yaps",
    })
}

fn reach_text<S: Serializer>(reach: &Reach, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match reach {
        Reach::AnyHost => "any_host",
        Reach::OtherRacks => "other_racks",
    })
}
