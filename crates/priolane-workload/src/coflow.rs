//! Coflows: at random instants flows start from some hosts to some others, and the last of them counts.
//!
//! ```text
//! arrivals     coflows/s of the group = load * (hosts of the group) * (host rate) / E[bits of a coflow]
//! a coflow     size S, m mappers, r reducers, each from its law, all three drawn anew until there are hosts for m and r
//!              and S / (m r) is within flow_bytes
//! its hosts    m of the group's, then r of those it sends to, all different
//! its flows    one from each mapper to each reducer, at once
//!                even    S / (m r), bytes that are left over going one each to the first of them
//!                drawn   S' / (m r), S' drawn anew for each flow
//! E[bytes]     even: E[S | accepted];  drawn: E[S]
//! ```
//!
//! `drawn` is what the released generator of PrioPlus does (docs/assumptions.md#coflow-generator).

use std::ops::RangeInclusive;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::{CoflowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::SizeDistribution;
use priolane_core::units::Time;

use super::poisson::gap;
use super::{AppError, LATEST_START, MAX_FLOWS, Maker, Pair, Site, Until, distinct, group_stream};

/// Of all coflows drawn at least this part must be accepted.
const LEAST_ACCEPTED: f64 = 1e-3;

/// How a coflow's bytes go to its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Parts {
    /// Evenly, to the byte.
    #[default]
    Even,
    /// Each flow has its part of a size of its own.
    Drawn,
}

/// Coflows at random instants.
#[derive(Clone, Debug, PartialEq)]
pub struct Coflow {
    /// The law of the bytes of a coflow.
    pub sizes: SizeDistribution,
    /// The law of the number of hosts that send, whole numbers from 1 on.
    pub mappers: SizeDistribution,
    /// The law of the number of hosts that receive, whole numbers from 1 on.
    pub reducers: SizeDistribution,
    /// What the mean flow of a coflow must have, in bytes.
    pub flow_bytes: RangeInclusive<u64>,
    /// How its bytes go to its flows.
    pub parts: Parts,
    /// Payload offered as a part of the links of the group's hosts, above 0.
    pub load: f64,
}

/// Size and shape of one coflow.
#[derive(Clone, Copy, Debug)]
struct Draw {
    bytes: u64,
    mappers: usize,
    reducers: usize,
}

/// What part of the coflows drawn is accepted, and their mean bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Accepted {
    pub(super) part: f64,
    pub(super) mean: f64,
}

/// The hosts of a group and those it sends to, each once.
struct Ends {
    from: Vec<HostId>,
    to: Vec<HostId>,
    /// How many hosts are both.
    both: usize,
}

impl Ends {
    fn of(site: &Site) -> Self {
        let (from, to) = (distinct(site.hosts), distinct(site.to));
        let both = from.iter().filter(|host| to.binary_search(host).is_ok()).count();
        Self { from, to, both }
    }

    /// Whether there are hosts for so many mappers and reducers, whichever mappers are drawn.
    fn fit(&self, mappers: usize, reducers: usize) -> bool {
        mappers <= self.from.len() && reducers + mappers.min(self.both) <= self.to.len()
    }

    /// `mappers` of the first, and then `reducers` others of the second.
    fn draw(&self, shape: Draw, stream: &mut Stream) -> (Vec<HostId>, Vec<HostId>) {
        let mappers = some_of(self.from.clone(), shape.mappers, stream);
        let left = self.to.iter().filter(|host| !mappers.contains(host)).copied().collect();
        let reducers = some_of(left, shape.reducers, stream);
        (mappers, reducers)
    }
}

impl Coflow {
    /// Coflows that arrive before `until`, or as many whole ones as it takes for so many flows.
    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        if !(self.load > 0.0 && self.load <= 20.0) {
            return Err(AppError::Load(self.load));
        }
        let ends = Ends::of(site);
        let accepted = self.accepted(&ends);
        if accepted.part < LEAST_ACCEPTED {
            return Err(AppError::NoCoflow(accepted.part));
        }
        let bits = 8.0 * self.mean(accepted);
        let mean_gap = bits / (self.load * ends.from.len() as f64 * site.host_rate.bps() as f64);
        let [mut arrivals, mut sizes, mut pairs] =
            [Purpose::Arrivals, Purpose::Sizes, Purpose::Pairs].map(|purpose| group_stream(site, purpose));
        let mut maker = Maker::new(site);
        let mut flows = FlowList::default();
        let mut at = Time::ZERO + gap(&mut arrivals, mean_gap);
        for number in 0.. {
            let enough = match site.until {
                Until::Time(end) => at >= end,
                Until::Flows(count) => flows.len() as u64 >= count,
            };
            if enough {
                break;
            }
            if at > LATEST_START {
                return Err(AppError::TooLate);
            }
            let shape = self.draw(&ends, &mut sizes);
            if flows.len() + shape.mappers * shape.reducers > MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let coflow = CoflowId::new(number);
            for (pair, bytes) in self.members(shape, ends.draw(shape, &mut pairs), &mut sizes) {
                flows.push(FlowSpec { coflow, ..maker.flow(pair, Some(bytes), at) });
            }
            at += gap(&mut arrivals, mean_gap);
        }
        Ok(flows)
    }

    fn mean(&self, accepted: Accepted) -> f64 {
        match self.parts {
            Parts::Even => accepted.mean,
            Parts::Drawn => self.sizes.mean(),
        }
    }

    /// What part of the coflows drawn is accepted at a site, and the mean size of these.
    #[cfg(test)]
    pub(super) fn accepted_at(&self, site: &Site) -> Accepted {
        self.accepted(&Ends::of(site))
    }

    fn accepted(&self, ends: &Ends) -> Accepted {
        let (low, high) = (*self.flow_bytes.start() as f64, *self.flow_bytes.end() as f64);
        // Sizes are rounded to whole bytes.
        let bytes_up_to = |x: f64| self.sizes.truncated_mean(x) - x * (1.0 - self.sizes.cdf(x));
        let (mut part, mut sum) = (0.0, 0.0);
        for (mappers, p) in masses(&self.mappers) {
            for (reducers, q) in masses(&self.reducers) {
                if !ends.fit(mappers, reducers) {
                    continue;
                }
                let flows = (mappers * reducers) as f64;
                let (from, to) = (low * flows - 0.5, high * flows + 0.5);
                part += p * q * (self.sizes.cdf(to) - self.sizes.cdf(from));
                sum += p * q * (bytes_up_to(to) - bytes_up_to(from));
            }
        }
        Accepted { part, mean: sum / part }
    }

    fn draw(&self, ends: &Ends, stream: &mut Stream) -> Draw {
        loop {
            let bytes = self.sizes.sample(stream);
            let [mappers, reducers] = [&self.mappers, &self.reducers].map(|law| law.sample(stream) as usize);
            let flows = (mappers * reducers) as u64;
            let low = self.flow_bytes.start().saturating_mul(flows);
            let high = self.flow_bytes.end().saturating_mul(flows);
            if ends.fit(mappers, reducers) && (low..=high).contains(&bytes) {
                return Draw { bytes, mappers, reducers };
            }
        }
    }

    /// The flows of a coflow: from where to where, and how many bytes.
    fn members(
        &self,
        shape: Draw,
        (mappers, reducers): (Vec<HostId>, Vec<HostId>),
        stream: &mut Stream,
    ) -> Vec<(Pair, u64)> {
        let count = (shape.mappers * shape.reducers) as u64;
        let pairs = mappers.iter().flat_map(|&src| reducers.iter().map(move |&dst| Pair { src, dst }));
        let bytes = |nth: u64, stream: &mut Stream| match self.parts {
            Parts::Even => shape.bytes / count + u64::from(nth < shape.bytes % count),
            Parts::Drawn => ((self.sizes.sample(stream) + count / 2) / count).max(1),
        };
        (0..).zip(pairs).map(|(nth, pair)| (pair, bytes(nth, stream))).collect()
    }
}

/// The values of a law of whole numbers with what part each has.
fn masses(law: &SizeDistribution) -> impl Iterator<Item = (usize, f64)> + '_ {
    let mut below = 0.0;
    law.points()
        .iter()
        .map(move |point| (point.bytes as usize, point.cdf - std::mem::replace(&mut below, point.cdf)))
}

/// The first `count` places of a partial shuffle.
fn some_of(mut hosts: Vec<HostId>, count: usize, stream: &mut Stream) -> Vec<HostId> {
    for i in 0..count {
        let place = i + stream.below((hosts.len() - i) as u64) as usize;
        hosts.swap(i, place);
    }
    hosts.truncate(count);
    hosts
}
