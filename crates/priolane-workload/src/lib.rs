//! Workloads: who sends how much to whom, and when.
//!
//! An [`App`] and the [`Site`] it runs at make a flow list. It is a function of the two alone: random choices
//! come from streams keyed by (seed, purpose, group and host), so neither the scheme under test nor another
//! host or group moves them. Arrival times are summed in whole picoseconds.

mod coflow;
mod destinations;
mod flows;
mod incast;
mod load;
mod long_lived;
mod on_off;
mod permutation;
mod poisson;
mod query;
mod ring;
mod strata;

pub mod flow_list;
pub mod import;
pub mod offered;
pub mod size_csv;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Frame;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::dependencies::FlowDependency;

pub use coflow::{Coflow, Parts};
pub use flows::Flows;
pub use incast::{Epochs, Incast, Receiver};

pub use load::{Counts, Load, LoadOf, mean_bytes};
pub use long_lived::{LongLived, PairFlows, Pairs, Rule};
pub use on_off::{Bursts, MAX_BURST, OnOff, Reading};
pub use permutation::Permutation;
pub use poisson::{LoadChange, Poisson, Reach};
pub use query::{Floor, Pause, Query};
pub use ring::Ring;
pub use strata::SizeDraw;

use priolane_source::InputError;

/// The most flows of a list, from a file or from an app.
pub const MAX_FLOWS: u32 = 50_000_000;

/// The latest start or deadline of a flow: 26 days.
pub const LATEST_START: Time = Time::LATEST;

/// What starts flows.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// Each host starts flows at random instants to random hosts (open loop).
    Poisson(Poisson),
    /// Each host, or each pair of hosts, starts flows in bursts with idle times between them (open loop).
    OnOff(OnOff),
    /// Many hosts send to one at once, over and over.
    Incast(Incast),
    /// Each host sends one flow to another, each receives one.
    Permutation(Permutation),
    /// Flows between stated pairs, usually without end.
    LongLived(LongLived),
    /// Requests and their answers (closed loop).
    Query(Query),
    /// Ring all-reduce, over and over (closed loop).
    Ring(Ring),
    /// Flows of which the last one counts, from some hosts to some others (open loop).
    Coflow(Coflow),
    /// A list of flows.
    Flows(Flows),
}

/// Flows, and which of them wait for others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows; those that wait at the earliest instant at which they may start.
    pub flows: FlowList,
    /// Which of them wait, by the ids of `flows`.
    pub waits: Vec<FlowDependency>,
}

/// Until when an open-loop app starts flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Flows start before this instant.
    Time(Time),
    /// The first so many flows of the group.
    Flows(u64),
}

/// Where an app runs: its hosts, and what of the network it needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The hosts of the group; order and repetition do not matter but to [`Rule::Shift`].
    pub hosts: &'a [HostId],
    /// The hosts it sends to.
    pub to: &'a [HostId],
    /// The rack of each host of the network.
    pub rack: &'a [u32],
    /// The rate of a host's link.
    pub host_rate: Rate,
    /// The rate of all links from racks up into the fabric, in bits per second; 0 if there are none.
    pub core_rate_bps: u64,
    /// Sizes of packets on the wire.
    pub frame: Frame,
    /// The seed of the run.
    pub seed: u64,
    /// The group's number in the experiment.
    pub group: u16,
    /// Until when.
    pub until: Until,
    /// The first instant that is measured, by the group's own clock: sizes by strata are drawn apart before and from it.
    pub measured_from: Time,
}

/// Why an app cannot run at its site.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AppError {
    /// The group has no host.
    #[error("the group has no host")]
    NoHosts,
    /// A host that the network does not have.
    #[error("there is no host {}", .0.0)]
    UnknownHost(HostId),
    /// A host of the group has nobody to send to.
    #[error("host {} has nobody to send to", .0.0)]
    NoDestination(HostId),
    /// A flow would go from a host to itself.
    #[error("a flow would go from host {} to itself", .0.0)]
    ToItself(HostId),
    /// Racks that do not have the same number of hosts of the group, or only one rack.
    #[error("the group does not have the same number of hosts in each of several racks")]
    UnevenRacks,
    /// A load that is not above 0 and at most 20.
    #[error("the load is {0}")]
    Load(f64),
    /// A load within bursts that is below the mean load, or more than 100 times it.
    #[error("the load within bursts is {asked}, and {load} on the mean")]
    BurstLoad {
        /// Load within bursts asked for.
        asked: f64,
        /// The mean load.
        load: f64,
    },
    /// A burst of no flow, or of more than [`MAX_BURST`].
    #[error("a burst has {0} flows")]
    BurstFlows(u32),
    /// More pairs of hosts than can have bursts of their own.
    #[error("{0} pairs of hosts would have bursts of their own")]
    TooManyPairs(usize),
    /// A load of the core where no flow crosses it.
    #[error("the load is of the core, but no flow of the group crosses it")]
    NoCore,
    /// Frames without room for payload, or larger than a packet's length field.
    #[error("the frame sizes leave no room for payload")]
    Frame,
    /// More senders than there are.
    #[error("fan_in is {asked}, but {available} hosts can send to one receiver")]
    FanIn {
        /// Senders asked for.
        asked: u32,
        /// Hosts of the group besides the receiver.
        available: u32,
    },
    /// More servers than there are.
    #[error("fan_out is {asked}, but a client can ask {available} hosts")]
    FanOut {
        /// Servers asked for.
        asked: u32,
        /// Hosts that a client can ask.
        available: u32,
    },
    /// Hardly any coflow has hosts for its mappers and reducers and flows within bounds.
    #[error(
        "a part of {0} of the coflows drawn has hosts for its mappers and reducers and flows within flow_bytes"
    )]
    NoCoflow(f64),
    /// A ring of fewer than two workers, or of one that is there twice.
    #[error("a ring of {0} workers, or one of them twice")]
    Ring(usize),
    /// A ring of more workers than bytes.
    #[error("{0} workers, and fewer bytes to reduce")]
    Parts(usize),
    /// Epochs without time between them.
    #[error("the time between epochs is zero")]
    Period,
    /// A flow of no bytes, or of more than 2^47.
    #[error("a flow has {0} bytes")]
    Size(u64),
    /// A list without flows.
    #[error("there are no flows")]
    Empty,
    /// More than [`MAX_FLOWS`] flows.
    #[error("there would be more than 50 million flows")]
    TooMany,
    /// A flow later than [`LATEST_START`].
    #[error("a flow would start after more than 26 days")]
    TooLate,
}

impl AppError {
    /// The key of the group's table that is to blame; empty for the table itself.
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoHosts | Self::UnknownHost(_) | Self::Ring(_) => "hosts",
            Self::NoDestination(_) => "to",
            Self::Load(_) => "load.value",
            Self::BurstLoad { .. } => "burst_load",
            Self::BurstFlows(_) => "burst_flows",
            Self::TooManyPairs(_) => "per",
            Self::NoCore => "load.of",
            Self::FanIn { .. } => "fan_in",
            Self::Parts(_) => "reduced",
            Self::NoCoflow(_) => "mappers",
            Self::FanOut { .. } => "fan_out",
            Self::Period => "period",
            Self::Size(_) => "size",
            Self::UnevenRacks => "pairs",
            Self::Frame | Self::ToItself(_) | Self::Empty | Self::TooMany | Self::TooLate => "",
        }
    }

    /// What would be right.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::NoHosts => "name at least one host of the topology",
            Self::UnknownHost(_) => "name hosts of the topology, numbered from 0",
            Self::NoDestination(_) => "send to at least one other host (in another rack, if only those)",
            Self::ToItself(_) => "give two different hosts",
            Self::UnevenRacks => "name as many hosts in each rack, in at least two racks",
            Self::Load(_) => "give a share above 0 and at most 20, such as 0.8 for 80 %",
            Self::BurstLoad { .. } => {
                "give at least the mean load and at most 100 times that, such as 1.4 for 140 %"
            }
            Self::BurstFlows(_) => "give 1 to 10000 flows",
            Self::TooManyPairs(_) => "let hosts have bursts, per = \"host\", or at most 262144 pairs",
            Self::NoCore => "send between racks of a fabric, or state the load of hosts",
            Self::Frame => "let mtu be above header, and mtu and link sizes below 65536 bytes together",
            Self::FanIn { .. } | Self::FanOut { .. } => "ask for at least 1 and at most that many",
            Self::NoCoflow(_) => "fewer mappers or reducers, more hosts, or wider flow_bytes: at least 0.001",
            Self::Parts(_) => "at least a byte for each worker",
            Self::Ring(_) => "name at least two hosts, each once",
            Self::Period => "give a time above zero",
            Self::Size(_) => "give 1 byte to 2^47 bytes",
            Self::Empty => "give at least one flow",
            Self::TooMany => "shorten the time or lower the load",
            Self::TooLate => "shorten the time or raise the load",
        }
    }

    /// This error as one of the table `group` of an experiment file.
    pub fn in_file(&self, file: &str, group: &str) -> InputError {
        let key = if self.key().is_empty() { group.to_owned() } else { format!("{group}.{}", self.key()) };
        InputError::new(file, None, key, self.to_string(), self.fix())
    }
}

/// The flows of an app, sorted by start, then source, then the order in which the source starts them. Their ids are
/// places in this list: [`merge`] gives them those of the run.
///
/// # Errors
/// An [`AppError`] where app and site do not fit, or the list would be too long.
pub fn generate(app: &App, site: &Site) -> Result<FlowList, AppError> {
    let Traffic { mut flows, .. } = traffic(app, site)?;
    flows.number();
    Ok(flows)
}

/// As [`generate`], with what waits for what; flows have ids among those of their group, which [`merge_traffic`]
/// replaces.
///
/// # Errors
/// Those of [`generate`].
pub fn traffic(app: &App, site: &Site) -> Result<Traffic, AppError> {
    check(site)?;
    let independent = |flows| Traffic { flows, waits: Vec::new() };
    let mut traffic = match app {
        App::Poisson(app) => app.flows(site).map(independent),
        App::OnOff(app) => app.flows(site).map(independent),
        App::Incast(app) => app.flows(site).map(independent),
        App::Permutation(app) => app.flows(site).map(independent),
        App::LongLived(app) => app.flows(site).map(independent),
        App::Query(app) => app.traffic(site),
        App::Ring(app) => app.traffic(site),
        App::Coflow(app) => app.flows(site).map(independent),
        App::Flows(app) => app.flows(site).map(|flows| Traffic { flows, waits: app.waits.clone() }),
    }?;
    traffic.flows.number();
    traffic.flows.sort_by_key(|flow| (flow.start, flow.src));
    Ok(traffic)
}

/// The flow list of a run from those of its groups, each as [`generate`] sorted it: in order of start, group,
/// source and sequence, numbered from 0.
pub fn merge(groups: Vec<FlowList>) -> FlowList {
    let independent = |flows| Traffic { flows, waits: Vec::new() };
    merge_traffic(groups.into_iter().map(independent).collect()).flows
}

/// As [`merge`], for groups of which some flows wait for others of their group; waits are in order of their flows.
pub fn merge_traffic(groups: Vec<Traffic>) -> Traffic {
    let mut flows = FlowList::default();
    let mut waits = Vec::new();
    for Traffic { flows: mut own, waits: own_waits } in groups {
        // By ids that no flow of another group has, until the order of all is known.
        let first = flows.len() as u32;
        let shifted = |id: FlowId| FlowId(first + id.0);
        if own_waits.is_empty() {
            own.number();
        }
        waits.extend(own_waits.into_iter().map(|wait| renamed(wait, shifted)));
        if flows.is_empty() {
            flows = own;
        } else {
            flows.extend(own.iter().map(|flow| FlowSpec { id: shifted(flow.id), ..flow }));
        }
    }
    flows.sort_by_key(|flow| (flow.start, flow.group, flow.src));
    if !waits.is_empty() {
        let mut new_id = vec![FlowId(0); flows.len()];
        (0..).zip(&flows).for_each(|(place, flow)| new_id[flow.id.index()] = FlowId(place));
        waits = waits.into_iter().map(|wait| renamed(wait, |flow| new_id[flow.index()])).collect();
        waits.sort_by_key(|wait| wait.flow);
    }
    flows.number();
    Traffic { flows, waits }
}

/// `wait` where flows have other ids.
fn renamed(wait: FlowDependency, id: impl Fn(FlowId) -> FlowId) -> FlowDependency {
    FlowDependency { flow: id(wait.flow), after: wait.after.iter().map(|&flow| id(flow)).collect(), ..wait }
}

/// Those of `flows`, in order of their ids, that wait for no other.
pub fn independent<'a>(flows: &'a FlowList, waits: &[FlowDependency]) -> Cow<'a, FlowList> {
    if waits.is_empty() {
        return Cow::Borrowed(flows);
    }
    let mut waits = waits.iter().peekable();
    Cow::Owned(flows.iter().filter(|flow| waits.next_if(|wait| wait.flow == flow.id).is_none()).collect())
}

fn check(site: &Site) -> Result<(), AppError> {
    if site.hosts.is_empty() {
        return Err(AppError::NoHosts);
    }
    for &host in site.hosts.iter().chain(site.to) {
        known(site, host)?;
    }
    let Frame { mtu, header, link, gap, minimum, .. } = site.frame;
    let largest = u32::from(mtu.max(minimum)) + u32::from(link) + u32::from(gap);
    if mtu <= header || largest > u32::from(u16::MAX) {
        return Err(AppError::Frame);
    }
    Ok(())
}

fn known(site: &Site, host: HostId) -> Result<HostId, AppError> {
    if host.index() < site.rack.len() { Ok(host) } else { Err(AppError::UnknownHost(host)) }
}

fn size_ok(size: Option<u64>) -> Result<(), AppError> {
    match size {
        Some(bytes) if bytes == 0 || bytes > MAX_BYTES as u64 => Err(AppError::Size(bytes)),
        _ => Ok(()),
    }
}

/// `hosts` sorted, each once.
fn distinct(hosts: &[HostId]) -> Vec<HostId> {
    let mut hosts = hosts.to_vec();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

/// The stream of a host of the group (docs/assumptions.md#streams-by-group).
fn host_stream(site: &Site, purpose: Purpose, host: HostId) -> Stream {
    Stream::new(site.seed, purpose, u64::from(site.group) << 32 | u64::from(host.0))
}

/// The stream of a pair of hosts, none of which is a host's or the group's.
fn pair_stream(site: &Site, purpose: Purpose, pair: Pair) -> Stream {
    let key = u64::from(pair.dst.0) << 48 | u64::from(site.group) << 32 | 1 << 30 | u64::from(pair.src.0);
    Stream::new(site.seed, purpose, key)
}

/// The stream of the group as a whole.
fn group_stream(site: &Site, purpose: Purpose) -> Stream {
    Stream::new(site.seed, purpose, u64::from(site.group) << 32 | 1 << 31)
}

/// `start` and up to `jitter` more, evenly.
fn jittered(start: Time, jitter: Span, stream: &mut Stream) -> Result<Time, AppError> {
    let late = if jitter == Span::ZERO { 0 } else { stream.below(jitter.0.saturating_add(1)) };
    not_too_late(start.0.saturating_add(late))
}

fn not_too_late(ps: u64) -> Result<Time, AppError> {
    if ps > LATEST_START.0 { Err(AppError::TooLate) } else { Ok(Time(ps)) }
}

/// One end and the other of a flow.
#[derive(Clone, Copy)]
struct Pair {
    src: HostId,
    dst: HostId,
}

/// Makes the flows of a group: ids are places in their sequence, and entropy comes of places in the sequence of a source.
struct Maker<'a> {
    site: &'a Site<'a>,
    made: u32,
    sequence: Vec<u32>,
}

impl<'a> Maker<'a> {
    fn new(site: &'a Site<'a>) -> Self {
        Self { site, made: 0, sequence: vec![0; site.rack.len()] }
    }

    fn flow(&mut self, pair: Pair, size: Option<u64>, start: Time) -> FlowSpec {
        let Pair { src, dst } = pair;
        let entropy = self.next_entropy(src);
        let group = self.site.group;
        let id = FlowId(self.made);
        self.made += 1;
        FlowSpec {
            id,
            src,
            dst,
            size,
            start,
            class: 0,
            deadline: None,
            group,
            entropy,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
        }
    }

    fn next_entropy(&mut self, src: HostId) -> u16 {
        let sequence = &mut self.sequence[src.index()];
        let key = u64::from(self.site.group) << 48 | u64::from(src.0) << 32 | u64::from(*sequence);
        *sequence += 1;
        (mixed(mixed(self.site.seed ^ mixed(Purpose::Paths as u64)) ^ key) >> 48) as u16
    }
}

/// A bijection of 64 bits whose every output bit hangs on every input bit (the finalizer of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
