//! Typed experiments, as read from files: all units are exact, names resolved and defaults filled in.
//!
//! An [`Experiment`] serializes to an experiment file in JSON, which `priolane check` prints and run ids are computed
//! from.

mod arrays;
mod cause;
mod claims;
mod coverage;
mod deadlines;
mod equipment;
mod evaluation;
mod events;
mod free_keys;
mod group;
mod like;
mod network;
pub mod noise;
mod notices;
pub mod overlay;
mod pricing;
mod read;
pub(crate) mod readings;
mod references;
mod schemes;
mod seeds;
mod service;
pub(crate) mod tables;
mod timing;

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_core::packet::Frame;
use priolane_core::send_jitter::SendJitter;
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Merge, Sources};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value as Json};

pub use cause::{Cause, CauseEvidence, CauseKind};
pub use claims::{AgreeTest, Claim, Source, Test, TrendDirection, TrendTest};
pub(crate) use claims::{BoundTest, EqualTest, MetricAt, OpenRange, RatioTest};
pub(crate) use deadlines::AtRate;
pub use deadlines::{AllowedTime, Deadline, Deadlines, Exponential, Part, Split};
pub(crate) use evaluation::Metrics;
pub use evaluation::Slowdown;
pub use events::{Event, EventKind};
pub use group::{Active, FlowKeys, Group, HostSet, Target};
pub use network::{Network, Paths};
pub use noise::Noise;
pub use notices::OnDowngrade;
pub use pricing::Price;
pub use read::read;
pub use readings::Reading;
pub use schemes::{NamedScheme, name_of};
pub(crate) use seeds::MAX_SEEDS;
pub use seeds::Seeds;
pub(crate) use service::MixDraw;
pub(crate) use service::Payer;
pub use service::{Pair, Service};
pub use timing::{Arrivals, ControlTarget, Timing};
pub(crate) use timing::{Change, ControlText};

use crate::panels::Panel;
use crate::scheme::{self, Scheme};

/// An experiment at one sweep point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Title.
    pub title: String,
    /// The paper that it reproduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// The figure or table that it reproduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// A short quotation from the paper about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Anchors of docs/assumptions.md on which it relies, besides those of its schemes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<&'static str>,
    /// Names of the compared schemes, in order.
    pub schemes: Vec<String>,
    /// The seeds of each point and scheme.
    pub seeds: Seeds,
    /// Warm-up, measurement and drain.
    pub time: Timing,
    /// Packet sizes.
    #[serde(serialize_with = "network::frame_text")]
    pub frame: Frame,
    /// The network.
    pub topology: Network,
    /// Delay between a packet's arrival at a host and its delivery to the transport.
    #[serde(serialize_with = "as_text::span")]
    pub host_delay: Span,
    /// Measurement error that hosts add to delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_noise: Option<Noise>,
    /// Maximum offset of a host's clock in either direction.
    #[serde(serialize_with = "as_text::span", skip_serializing_if = "is_zero")]
    pub clock_error: Span,
    /// The groups of hosts.
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
    /// Control messages, in order of time.
    #[serde(rename = "control", skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<ControlText>,
    /// Traffic changes and failures, in order of time.
    #[serde(rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Sampling interval of queues; `None` for no samples.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub sample_every: Option<Span>,
    /// Interval at which senders report the acknowledged bytes of their flows; `None` for no reports.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub rates_every: Option<Span>,
    /// Sampling interval of admission probabilities; `None` for no samples.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub admission_every: Option<Span>,
    /// Prices of virtual machines and flows; `None` without pricing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Settings of hosts that no scheme has.
    pub host: HostSettings,
    /// The schemes by name.
    pub scheme: BTreeMap<String, Scheme>,
    /// Size classes, baseline and other settings of metrics.
    pub metrics: Metrics,
    /// Swept dotted keys and their values, in order; empty at one point.
    #[serde(serialize_with = "axes", skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<(String, Vec<Json>)>,
    /// Panels of figures.
    #[serde(rename = "panel", skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<Panel>,
    /// Claims.
    #[serde(rename = "claim", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The files that it reads.
    #[serde(skip)]
    pub sources: Sources,
}

/// The keys of `[host]` that no scheme has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostSettings {
    /// The random time that packets take to leave a host.
    pub send_jitter: SendJitter,
}

/// An experiment with the trees of its schemes, which messages refer to.
#[derive(Clone, Debug)]
pub struct LoadedExperiment {
    /// The experiment.
    pub experiment: Experiment,
    /// Its schemes with the trees from which they were read.
    pub schemes: Vec<NamedScheme>,
}

/// Alternative keys of an experiment file.
pub(crate) const MERGE: Merge = Merge {
    rules: &[],
    inner: &[
        ("time", &timing::MERGE),
        ("switch", &equipment::MERGE),
        ("topology", &network::MERGE),
        ("group", &group::MERGE),
        ("metrics", &evaluation::MERGE),
        ("scheme", &Merge { rules: &[], inner: &[], each: Some(&scheme::MERGE) }),
    ],
    each: None,
};

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

impl Experiment {
    /// Whether traffic and network stay the same during the run: no event, no flow that is aborted, and no group that
    /// starts or ends in it.
    pub fn is_stationary(&self) -> bool {
        let aborts = |control: &ControlText| matches!(control.change, Change::Abort(true));
        let stays = |group: &Group| {
            group.flows.active.is_none_or(|active| active.from == Span::ZERO && active.until.is_none())
        };
        self.events.is_empty() && !self.controls.iter().any(aborts) && self.groups.iter().all(stays)
    }

    /// Returns the experiment file as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).expect("invariant: every field has a JSON form")
    }

    /// Returns, as JSON, what determines the runs of `scheme`: without other schemes, seeds, panels, claims and
    /// assumptions.
    pub fn merged(&self, scheme: &str) -> Json {
        self.without_schemes().with(self, scheme)
    }

    /// Returns [`Self::merged`] for each scheme in order; the common part is computed once.
    pub(crate) fn all_merged(&self) -> Vec<Arc<Json>> {
        let common = self.without_schemes();
        self.schemes.iter().map(|scheme| Arc::new(common.with(self, scheme))).collect()
    }

    fn without_schemes(&self) -> Common {
        let Self { metrics, groups, controls, events, .. } = self;
        let bare = Self {
            title: self.title.clone(),
            seeds: self.seeds.clone(),
            paper: self.paper.clone(),
            figure: self.figure.clone(),
            quote: self.quote.clone(),
            assumptions: Vec::new(),
            schemes: Vec::new(),
            scheme: BTreeMap::new(),
            sweep: Vec::new(),
            panels: Vec::new(),
            claims: Vec::new(),
            metrics: Metrics { baseline: None, average_over: None, ..metrics.clone() },
            groups: groups.clone(),
            controls: controls.clone(),
            events: events.clone(),
            topology: self.topology.clone(),
            delay_noise: self.delay_noise.clone(),
            sources: Sources::default(),
            ..*self
        };
        match bare.to_json() {
            Json::Object(mut map) => {
                map.remove("seeds");
                Common(map)
            }
            _ => unreachable!("invariant: an experiment is an object"),
        }
    }

    /// Returns the group of this name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Returns the highest class number that a flow of the scheme's transport requests, at its start or by a control
    /// message.
    pub(crate) fn top_class(&self) -> u8 {
        self.top_class_of(|group| group.flows.transport.is_none())
    }

    /// Returns the highest class number that a flow of a group with a transport of its own requests.
    pub(crate) fn other_class(&self) -> u8 {
        self.top_class_of(|group| group.flows.transport.is_some())
    }

    fn top_class_of(&self, is_counted: impl Fn(&Group) -> bool) -> u8 {
        let of_group = |group: &Group| match group.app.part().listed() {
            Some(list) => list.top_class,
            None => group.flows.class.unwrap_or(0),
        };
        let by_control = self.controls.iter().map(|control| match control.change {
            Change::Class(class) => class,
            Change::Abort(_) | Change::Pay(_) => 0,
        });
        let groups = self.groups.iter().filter(|group| is_counted(group));
        groups.map(of_group).chain(by_control).max().unwrap_or(0)
    }
}

/// A merged experiment without its schemes.
struct Common(Map<String, Json>);

impl Common {
    fn with(&self, experiment: &Experiment, scheme: &str) -> Json {
        let mut merged = self.0.clone();
        let own = experiment.scheme.get(scheme);
        let bare = own.map(|own| Scheme { assumptions: Vec::new(), ..own.clone() });
        let json =
            |scheme: Scheme| serde_json::to_value(scheme).expect("invariant: every field has a JSON form");
        let named: Map<String, Json> = bare.into_iter().map(|own| (scheme.to_owned(), json(own))).collect();
        merged.insert("scheme".to_owned(), Json::Object(named));
        merged.insert("schemes".to_owned(), Json::from(vec![scheme]));
        Json::Object(merged)
    }
}

fn axes<S: Serializer>(sweep: &[(String, Vec<Json>)], s: S) -> Result<S::Ok, S::Error> {
    let map: Map<String, Json> = sweep.iter().map(|(k, v)| (k.clone(), Json::from(v.clone()))).collect();
    map.serialize(s)
}
