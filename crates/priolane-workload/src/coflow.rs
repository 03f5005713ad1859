//! Coflows: at random times flows start from some hosts to some others; the coflow completes with its last flow.
//!
//! ```text
//! arrivals     coflows/s of the group = load * (hosts of the group) * (host rate) / E[bits of a coflow]
//!              scaled: all times are multiplied by (bits of the run's coflows / time to the last arrival)
//!                      / (load * (hosts of the group) * (host rate))
//! a coflow     size S, m mappers, r reducers, each from its distribution; all three are redrawn until there are enough
//!              hosts for m and r, and S / (m r) is within flow_bytes
//! its hosts    m of the group's, then r of those it sends to, all different
//! its flows    one from each mapper to each reducer, at the same time
//!                even    S / (m r); remaining bytes are added one each to the first flows
//!                drawn   S' / (m r), S' drawn independently for each flow
//! E[bytes]     even: E[S | accepted];  drawn: E[S]
//! ```
//!
//! `drawn` is the rule of the released generator of PrioPlus (docs/assumptions.md#coflow-generator).

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::{CoflowId, HostId};
use priolane_core::keys::{InTable, KeyConflict, Keys, Words};
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::{PS_PER_S, Time};
use priolane_source::{InputError, Reader, Sources};

use super::application::Application;
use super::coflow_count::Count;
use super::context::{LATEST_START, MAX_FLOWS, Until, WorkloadContext, distinct};
use super::destinations::DestinationScope;
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream};
use super::load::{Counts, Load, LoadOf, LoadTable};
use super::open_loop::gap;
use super::payload::Payload;
use super::sizes::{NamedSizes, Sizes};
use super::traffic::Traffic;

/// Minimum fraction of drawn coflows that must be accepted.
const LEAST_ACCEPTED: f64 = 1e-3;

/// The times at which the coflows of a run start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Arrivals {
    /// As a Poisson process at the mean rate of the load.
    #[default]
    Poisson,
    /// As that process with all times multiplied by one factor, so that all coflows of the run, over the time to the
    /// last arrival, are the load. Only in runs by `time.flows`.
    Scaled,
}

/// The way in which the bytes of a coflow are divided among its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Parts {
    /// Evenly, to the byte.
    #[default]
    Even,
    /// Each flow gets its share of an independently drawn size.
    Drawn,
}

/// Bounds on the mean flow size of a coflow, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "flow_bytes", check = Self::check)]
pub struct FlowBytes {
    /// Minimum mean flow size.
    #[key(default = 1, form = Payload)]
    pub from: u64,
    /// Maximum mean flow size.
    #[key(default = MAX_BYTES as u64, form = Payload)]
    pub to: u64,
}

impl FlowBytes {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.from > self.to {
            let fix = "flow_bytes = { from = \"1kB\", to = \"100MB\" }";
            return Err(KeyConflict::new("from is above to", fix));
        }
        Ok(())
    }
}

/// Coflows at random times.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "coflow", check = Self::check)]
#[part(
    name = "coflow",
    summary = "coflows: flows from some hosts to some others, of which the last to finish counts",
    source = "docs/assumptions.md#coflow-generator"
)]
pub struct Coflow {
    /// Distribution of the size of a coflow in bytes, as that of flow sizes in `poisson`.
    #[key(required = "sizes = \"coflows.csv\": bytes of whole coflows", form = NamedSizes)]
    pub sizes: Sizes,
    /// Distribution of the number of senders.
    #[key(required = "mappers = 20, or \"coflow_mappers\"")]
    pub mappers: Count,
    /// Distribution of the number of receivers.
    #[key(required = "reducers = 1, or \"coflow_reducers\"")]
    pub reducers: Count,
    /// Bounds on the mean flow size of a coflow.
    #[key(default = FlowBytes::default(), form = InTable)]
    pub flow_bytes: FlowBytes,
    /// How the bytes of a coflow are divided among its flows.
    #[key(default = Parts::Even)]
    pub flow_sizes: Parts,
    /// When the coflows of a run start.
    #[key(default = Arrivals::Poisson, skip_default, source = "TOP §3.2")]
    pub arrivals: Arrivals,
    /// Offered payload as a fraction of the link rates of the group's hosts.
    #[key(required = "load = { of = \"host\", counts = \"payload\", value = 0.4 }", form = LoadTable)]
    pub load: Load,
}

impl Application for Coflow {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        if let Some(field) = keys.take("sizes") {
            self.sizes.open(&field, files)?;
        }
        for (key, count) in [("mappers", &mut self.mappers), ("reducers", &mut self.reducers)] {
            if let Some(field) = keys.take(key) {
                count.open(&field, files)?;
            }
        }
        Ok(())
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.flows(site).map(Traffic::independent)
    }

    fn load(&self) -> Option<(Load, DestinationScope)> {
        Some((self.load, DestinationScope::AnyHost))
    }

    fn runs_until_end(&self) -> bool {
        true
    }

    fn notes(&self, _: u32) -> Result<Vec<String>, InputError> {
        let Sizes { csv, factor, .. } = &self.sizes;
        let is_scaled = (factor - 1.0).abs() > 1e-9;
        let scaled = || {
            format!("coflows have {factor:.6} times the bytes of {csv}, and arrive at the rate of the load")
        };
        Ok(is_scaled.then(scaled).into_iter().collect())
    }
}

/// Size and shape of a coflow.
#[derive(Clone, Copy, Debug)]
struct Draw {
    bytes: u64,
    mappers: usize,
    reducers: usize,
}

/// The arrival of a coflow: its time, and the ends and bytes of its flows.
struct Arrival {
    at: Time,
    members: Vec<(Pair, u64)>,
}

/// The fraction of drawn coflows that is accepted, and their mean size in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AcceptedCoflows {
    pub(crate) part: f64,
    pub(crate) mean: f64,
}

/// The hosts of a group and those it sends to, without duplicates.
struct Ends {
    from: Vec<HostId>,
    to: Vec<HostId>,
    /// Number of hosts that are both.
    both: usize,
}

impl Ends {
    fn of(site: &WorkloadContext<'_>) -> Self {
        let (from, to) = (distinct(site.hosts), distinct(site.to));
        let both = from.iter().filter(|host| to.binary_search(host).is_ok()).count();
        Self { from, to, both }
    }

    /// Returns true if there are enough hosts for the mappers and reducers, whichever mappers are drawn.
    fn fit(&self, mappers: usize, reducers: usize) -> bool {
        mappers <= self.from.len() && reducers + mappers.min(self.both) <= self.to.len()
    }

    /// Draws `mappers` hosts of `from`, and then other hosts of `to` as reducers.
    fn draw(&self, shape: Draw, stream: &mut Stream) -> (Vec<HostId>, Vec<HostId>) {
        let mappers = some_of(self.from.clone(), shape.mappers, stream);
        let left = self.to.iter().filter(|host| !mappers.contains(host)).copied().collect();
        let reducers = some_of(left, shape.reducers, stream);
        (mappers, reducers)
    }
}

impl Coflow {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.load.of == LoadOf::Host && self.load.counts == Counts::Payload {
            return Ok(());
        }
        let what = "the load of coflows must be payload as a fraction of the hosts' links";
        Err(KeyConflict::of("load", what, "of = \"host\", counts = \"payload\""))
    }

    /// Generates the coflows that arrive before `until`, or as many whole ones as that number of flows requires.
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        self.load.check()?;
        let ends = Ends::of(site);
        let bits_per_s = self.load.value * ends.from.len() as f64 * site.host_rate.bps() as f64;
        let mut arrivals = self.draw_all(&ends, bits_per_s, site)?;
        if self.arrivals == Arrivals::Scaled {
            scale(&mut arrivals, bits_per_s, site.until)?;
        }
        let mut maker = FlowFactory::new(site);
        let mut flows = FlowList::default();
        for (number, Arrival { at, members }) in (0..).zip(arrivals) {
            let coflow = CoflowId::new(number);
            for (pair, bytes) in members {
                flows.push(FlowSpec { coflow, ..maker.flow(pair, Some(bytes), at) });
            }
        }
        Ok(flows)
    }

    /// Draws the coflows of a run, with arrivals as of a Poisson process.
    fn draw_all(
        &self,
        ends: &Ends,
        bits_per_s: f64,
        site: &WorkloadContext<'_>,
    ) -> Result<Vec<Arrival>, AppError> {
        let accepted = self.accepted(ends);
        if accepted.part < LEAST_ACCEPTED {
            return Err(AppError::NoCoflow(accepted.part));
        }
        let mean_gap = 8.0 * self.mean(accepted) / bits_per_s;
        let [mut arrivals, mut sizes, mut pairs] =
            [Purpose::Arrivals, Purpose::Sizes, Purpose::Pairs].map(|purpose| group_stream(site, purpose));
        let (mut drawn, mut flows) = (Vec::new(), 0);
        let mut at = Time::ZERO + gap(&mut arrivals, mean_gap);
        loop {
            let enough = match site.until {
                Until::Time(end) => at >= end,
                Until::Flows(count) => flows as u64 >= count,
            };
            if enough {
                return Ok(drawn);
            }
            if at > LATEST_START {
                return Err(AppError::TooLate);
            }
            let shape = self.draw(ends, &mut sizes);
            flows += shape.mappers * shape.reducers;
            if flows > MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let hosts = ends.draw(shape, &mut pairs);
            drawn.push(Arrival { at, members: self.members(shape, hosts, &mut sizes) });
            at += gap(&mut arrivals, mean_gap);
        }
    }

    fn mean(&self, accepted: AcceptedCoflows) -> f64 {
        match self.flow_sizes {
            Parts::Even => accepted.mean,
            Parts::Drawn => self.sizes.law.mean(),
        }
    }

    /// Returns the fraction of drawn coflows that is accepted in a context, and their mean size.
    #[cfg(test)]
    pub(crate) fn accepted_at(&self, site: &WorkloadContext<'_>) -> AcceptedCoflows {
        self.accepted(&Ends::of(site))
    }

    fn accepted(&self, ends: &Ends) -> AcceptedCoflows {
        let (low, high) = (self.flow_bytes.from as f64, self.flow_bytes.to as f64);
        // Sizes are rounded to whole bytes.
        let bytes_up_to = |x: f64| self.sizes.law.truncated_mean(x) - x * (1.0 - self.sizes.law.cdf(x));
        let (mut part, mut sum) = (0.0, 0.0);
        for (mappers, p) in self.mappers.masses() {
            for (reducers, q) in self.reducers.masses() {
                if !ends.fit(mappers, reducers) {
                    continue;
                }
                let flows = (mappers * reducers) as f64;
                let (from, to) = (low * flows - 0.5, high * flows + 0.5);
                part += p * q * (self.sizes.law.cdf(to) - self.sizes.law.cdf(from));
                sum += p * q * (bytes_up_to(to) - bytes_up_to(from));
            }
        }
        AcceptedCoflows { part, mean: sum / part }
    }

    fn draw(&self, ends: &Ends, stream: &mut Stream) -> Draw {
        loop {
            let bytes = self.sizes.law.sample(stream);
            let [mappers, reducers] = [&self.mappers, &self.reducers].map(|count| count.sample(stream));
            let flows = (mappers * reducers) as u64;
            let low = self.flow_bytes.from.saturating_mul(flows);
            let high = self.flow_bytes.to.saturating_mul(flows);
            if ends.fit(mappers, reducers) && (low..=high).contains(&bytes) {
                return Draw { bytes, mappers, reducers };
            }
        }
    }

    /// Returns the flows of a coflow: source, destination and bytes.
    fn members(
        &self,
        shape: Draw,
        (mappers, reducers): (Vec<HostId>, Vec<HostId>),
        stream: &mut Stream,
    ) -> Vec<(Pair, u64)> {
        let count = (shape.mappers * shape.reducers) as u64;
        let pairs = mappers.iter().flat_map(|&src| reducers.iter().map(move |&dst| Pair { src, dst }));
        let bytes = |nth: u64, stream: &mut Stream| match self.flow_sizes {
            Parts::Even => shape.bytes / count + u64::from(nth < shape.bytes % count),
            Parts::Drawn => ((self.sizes.law.sample(stream) + count / 2) / count).max(1),
        };
        (0..).zip(pairs).map(|(nth, pair)| (pair, bytes(nth, stream))).collect()
    }
}

/// Returns the first `count` hosts of a partial shuffle.
fn some_of(mut hosts: Vec<HostId>, count: usize, stream: &mut Stream) -> Vec<HostId> {
    for i in 0..count {
        let place = i + stream.below((hosts.len() - i) as u64) as usize;
        hosts.swap(i, place);
    }
    hosts.truncate(count);
    hosts
}

/// Multiplies all arrival times by the factor with which the coflows offer `bits_per_s` up to the last arrival.
fn scale(arrivals: &mut [Arrival], bits_per_s: f64, until: Until) -> Result<(), AppError> {
    if matches!(until, Until::Time(_)) {
        return Err(AppError::ScaledArrivals);
    }
    let Some(last) = arrivals.last().map(|coflow| coflow.at.0.max(1) as f64) else { return Ok(()) };
    let bytes: f64 = arrivals.iter().flat_map(|coflow| &coflow.members).map(|&(_, bytes)| bytes as f64).sum();
    let end = 8.0 * bytes / bits_per_s * PS_PER_S as f64;
    if end > LATEST_START.0 as f64 {
        return Err(AppError::TooLate);
    }
    arrivals.iter_mut().for_each(|coflow| coflow.at = Time((coflow.at.0 as f64 / last * end).round() as u64));
    Ok(())
}
