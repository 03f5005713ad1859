//! Experiments as files state them, typed: every unit exact, every name known, every default filled in.
//!
//! Serialized, an [`Experiment`] is an experiment file again (in JSON): that is what `priolane check` prints
//! and what run ids are made of.

mod app;
mod claims;
mod coflow;
mod deadlines;
mod evaluation;
mod events;
mod group;
mod network;
pub mod noise;
mod notices;
pub mod overlay;
mod pricing;
mod schemes;
mod seeds;
mod service;
mod sizes;
mod sources;
mod timing;

use std::collections::BTreeMap;

use priolane_core::packet::Frame;
use priolane_core::price::tariff::Charge;
use priolane_core::units::Span;
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value as Json};

pub use app::{
    AppText, EpochRule, FlowSize, ListText, LoadText, OpenLoop, PairText, PairsText, PauseRule, QueryText,
    RingText, RuleKind, RuleText, Start,
};
pub use claims::{Claim, MetricAt, Source, Test, Way};
pub use coflow::{CoflowText, TraceText};
pub use deadlines::{Allowed, AtRate, Coverage, Deadline, Deadlines, Exponential, Part, Split};
pub use evaluation::{Metrics, Panel, PanelKind, SizeClass, Slowdown};
pub use events::{Event, FailEvent, NewValue, SetEvent, Setting};
pub use group::{Active, Group, HostSet, Target};
pub use network::{LinkText, Network, Paths, Shape};
pub use noise::Noise;
pub use notices::OnDowngrade;
pub use pricing::Price;
pub use schemes::{Named, name_of};
pub use seeds::{MAX_SEEDS, Seeds};
pub use service::{Pair, Payer, Portion, Service};
pub use sizes::Sizes;
pub use sources::Sources;
pub use timing::{Change, ControlText, Timing, Whom};

use crate::assumptions;
use crate::quantity::as_text;
use crate::scheme::Scheme;
use crate::source::{Field, InputError, Origin, Reader, Table};
use crate::workload::flow_list;

/// An experiment at one point of its sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// What it is called.
    pub title: String,
    /// The paper it reproduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// The figure or table it reproduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// What the paper says of it, a short quotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Anchors of docs/assumptions.md that it rests on, besides those of its schemes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<&'static str>,
    /// Names of the compared schemes, in order.
    pub schemes: Vec<String>,
    /// The seeds of each point and scheme.
    pub seeds: Seeds,
    /// What is warmed up, measured and drained.
    pub time: Timing,
    /// Packet sizes.
    #[serde(serialize_with = "network::frame_text")]
    pub frame: Frame,
    /// The network.
    pub topology: Network,
    /// Time between a packet's arrival at a host and its transport seeing it.
    #[serde(serialize_with = "as_text::span")]
    pub host_delay: Span,
    /// What hosts add by mistake to the delays that they measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_noise: Option<Noise>,
    /// How far the clock of a host may be off, to both sides.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_zero")]
    pub clock_error: Span,
    /// The groups of hosts.
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
    /// Control messages, in order of time.
    #[serde(rename = "control", skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<ControlText>,
    /// What changes or fails, in order of time.
    #[serde(rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// How often queues are read; `None` for never.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub sample_every: Option<Span>,
    /// How often senders report what of their flows is acknowledged; `None` for never.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub rates_every: Option<Span>,
    /// How often probabilities of admission are kept; `None` for never.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub admission_every: Option<Span>,
    /// What machines and flows pay; `None` where nothing is billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Permutes the order of simultaneous events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie_shuffle: Option<u64>,
    /// The schemes by name.
    pub scheme: BTreeMap<String, Scheme>,
    /// Size classes and baseline.
    pub metrics: Metrics,
    /// What is swept: dotted keys and their values, in order; empty at one point.
    #[serde(serialize_with = "axes", skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<(String, Vec<Json>)>,
    /// Figures.
    #[serde(rename = "panel", skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<Panel>,
    /// Claims.
    #[serde(rename = "claim", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The files it names.
    #[serde(skip)]
    pub sources: Sources,
}

/// An experiment and the trees of its schemes, for messages.
#[derive(Clone, Debug)]
pub struct Read {
    /// The experiment.
    pub experiment: Experiment,
    /// Its schemes with the trees they were read from.
    pub schemes: Vec<Named>,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

/// Most groups of an experiment.
const MAX_GROUPS: usize = 10_000;

/// Reads the experiment in `root`, the tree of the file `file`, at one point: no sweep and no overlay is left.
pub fn read(file: &str, root: &Table, mut sources: Sources) -> Result<Read, InputError> {
    let origin = Origin { file: file.into(), line: Some(1) };
    let mut keys = Reader::new(root, "", &origin);
    unsupported(&mut keys)?;
    let text = |field: Option<Field<'_>>| field.map(|f| f.text().map(str::to_owned)).transpose();
    let title = match text(keys.take("title"))? {
        Some(title) => title,
        None => keys.need("title", "title = \"What this shows\"")?.text()?.to_owned(),
    };
    let named = schemes::read(&mut keys, &mut sources)?;
    let names: Vec<String> = named.iter().map(|s| s.name.clone()).collect();
    let topology_fix = "[topology] kind = \"leaf_spine\" and its keys";
    let time = timing::read(&keys.need("time", "time = { warmup = \"5ms\", measure = \"50ms\" }")?)?;
    let groups = groups(&keys.need("group", "at least one [[group]]")?, &mut sources)?;
    let metrics = match keys.take("metrics") {
        None => Metrics::default(),
        Some(field) => evaluation::metrics(&field, &names, &groups)?,
    };
    let admission_every = keys.take("admission_every").map(|f| f.positive_span()).transpose()?;
    let known = evaluation::Names { schemes: &names, metrics: &metrics, admission_every };
    let events = match keys.take("event") {
        None => Vec::new(),
        Some(field) => events::read(&field, (&time, &groups), &mut sources)?,
    };
    let paper = text(keys.take("paper"))?;
    let experiment = Experiment {
        title,
        paper: paper.clone(),
        figure: text(keys.take("figure"))?,
        quote: text(keys.take("quote"))?,
        assumptions: keys.take("assumptions").map_or(Ok(Vec::new()), |f| assumptions::read(&f))?,
        seeds: keys.take("seeds").map_or(Ok(Seeds::default()), |f| seeds::read(&f))?,
        time,
        frame: keys.take("frame").map_or(Ok(Frame::ETHERNET), |f| network::frame(&f))?,
        topology: network::network(&keys.need("topology", topology_fix)?, &mut sources)?,
        host_delay: keys.span_or("host_delay", Span::ZERO)?,
        delay_noise: keys.take("delay_noise").map(|f| noise::read(&f, &mut sources)).transpose()?,
        clock_error: keys.span_or("clock_error", Span::ZERO)?,
        groups,
        events,
        controls: keys.take("control").map_or(Ok(Vec::new()), |f| timing::controls(&f))?,
        sample_every: keys.take("sample_every").map(|f| f.positive_span()).transpose()?,
        rates_every: keys.take("rates_every").map(|f| f.positive_span()).transpose()?,
        admission_every,
        price: keys.take("price").map(|f| pricing::price(&f)).transpose()?,
        tie_shuffle: keys.take("tie_shuffle").map(|f| f.integer(0, i64::MAX as u64)).transpose()?,
        sweep: Vec::new(),
        panels: items(keys.take("panel"), |f| evaluation::panel(f, &known))?,
        claims: items(keys.take("claim"), |f| claims::claim(f, &known, paper.as_deref()))?,
        scheme: named.iter().map(|s| (s.name.clone(), s.scheme.clone())).collect(),
        schemes: names.clone(),
        metrics: metrics.clone(),
        sources,
    };
    keys.finish()?;
    targets(&experiment, root)?;
    metered(&experiment, root)?;
    Ok(Read { experiment, schemes: named })
}

impl Experiment {
    /// This experiment as JSON: an experiment file again.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).expect("invariant: every field has a JSON form")
    }

    /// What determines the runs of `scheme`, as JSON: without other schemes, seeds, panels, claims
    /// and assumptions, which are words.
    pub fn merged(&self, scheme: &str) -> Json {
        let mut merged = self.clone_for(scheme).to_json();
        if let Json::Object(map) = &mut merged {
            map.remove("seeds");
            if let Some(Json::Object(metrics)) = map.get_mut("metrics") {
                metrics.remove("baseline");
            }
        }
        merged
    }

    fn clone_for(&self, scheme: &str) -> Self {
        let bare = |s: &Scheme| Scheme { assumptions: Vec::new(), ..s.clone() };
        let own = self.scheme.get(scheme).map(|s| (scheme.to_owned(), bare(s)));
        Self {
            schemes: vec![scheme.to_owned()],
            scheme: own.into_iter().collect(),
            assumptions: Vec::new(),
            sweep: Vec::new(),
            panels: Vec::new(),
            claims: Vec::new(),
            ..self.clone()
        }
    }

    /// The group of this name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The largest class that a flow asks for, at its start or by a control message.
    pub fn top_class(&self) -> u8 {
        let of_group = |group: &Group| match &group.app {
            AppText::Flows { list: ListText::Inline(flows), .. } => {
                flows.iter().map(|f| f.class).max().unwrap_or(0)
            }
            AppText::Flows { list: ListText::Path(path), .. } => self.listed_class(path),
            _ => group.class.unwrap_or(0),
        };
        let by_control = self.controls.iter().map(|control| match control.change {
            Change::Class(class) => class,
            Change::Abort(_) | Change::Pay(_) => 0,
        });
        self.groups.iter().map(of_group).chain(by_control).max().unwrap_or(0)
    }

    /// The largest class in a flow list; what is wrong with the list is found where it is read for its flows.
    fn listed_class(&self, path: &str) -> u8 {
        const ANY_HOST: u32 = 1 << 16;
        let rows = flow_list::Reader::new(self.sources.known(path).as_bytes(), path, ANY_HOST);
        rows.map_or(0, |rows| rows.map_while(Result::ok).map(|flow| flow.class).max().unwrap_or(0))
    }
}

/// Refuses by name what is part of the format but not of this version.
fn unsupported(keys: &mut Reader<'_>) -> Result<(), InputError> {
    match keys.take("flows") {
        Some(field) => Err(field.error("a number of flows belongs into `time`", "time = { flows = 1000 }")),
        None => Ok(()),
    }
}

fn groups(field: &Field<'_>, sources: &mut Sources) -> Result<Vec<Group>, InputError> {
    let tables = field.filled_list()?;
    if tables.len() > MAX_GROUPS {
        return Err(field.error(format!("{} groups", tables.len()), format!("at most {MAX_GROUPS}")));
    }
    let mut groups: Vec<Group> = Vec::new();
    for table in tables {
        let group = group::group(&table, sources)?;
        if groups.iter().any(|other| other.name == group.name) {
            return Err(
                table.error(format!("a second group is called {:?}", group.name), "a name of its own")
            );
        }
        groups.push(group);
    }
    Ok(groups)
}

fn items<T>(
    field: Option<Field<'_>>,
    read: impl Fn(&Field<'_>) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    field.map_or(Ok(Vec::new()), |f| f.list())?.iter().map(read).collect()
}

/// Groups that groups send to must exist.
fn targets(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    for group in &experiment.groups {
        let Target::Group(to) = &group.to else { continue };
        if experiment.group(to).is_none() {
            let key = format!("group.{}.to", group.name);
            let origin = overlay::locate(root, &key).unwrap_or(Origin { file: "".into(), line: None });
            let names: Vec<&str> = experiment.groups.iter().map(|g| g.name.as_str()).collect();
            let fix = format!("\"*\" for every host, or one of the groups {}", names.join(", "));
            return Err(origin.error(&key, format!("there is no group {to:?}"), fix));
        }
    }
    Ok(())
}

/// What is sent is known from reports of senders.
fn metered(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    let sent = experiment.price.is_some_and(|price| price.charge == Charge::Sent);
    if !sent || experiment.rates_every.is_some() {
        return Ok(());
    }
    let origin = overlay::locate(root, "price.charge").unwrap_or(Origin { file: "".into(), line: None });
    let what = "what flows sent so far is known from their senders' reports, and there are none";
    Err(origin.error("price.charge", what, "rates_every = \"1ms\", or charge = \"reserved\""))
}

fn axes<S: Serializer>(sweep: &[(String, Vec<Json>)], s: S) -> Result<S::Ok, S::Error> {
    let map: Map<String, Json> = sweep.iter().map(|(k, v)| (k.clone(), Json::from(v.clone()))).collect();
    map.serialize(s)
}
