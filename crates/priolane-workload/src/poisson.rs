//! Open loop: every host starts flows after exponential gaps, of sizes of one law, to hosts at random.
//!
//! Each host has streams of its own for gaps, sizes and destinations: its flows do not hang on which other
//! hosts the group has, except that a load of the core is shared among them and destinations are drawn from
//! those there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::SizeDistribution;
use priolane_core::units::{PS_PER_S, Span, Time};

use super::destinations::{Choice, Destinations};
use super::load::{Load, LoadOf, mean_bytes};
use super::strata::{self, SizeDraw};
use super::{AppError, LATEST_START, MAX_FLOWS, Maker, Pair, Site, Until, distinct, host_stream};

/// Whom a host sends to, of the hosts it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reach {
    /// Any but itself.
    #[default]
    AnyHost,
    /// Those of other racks.
    OtherRacks,
}

/// Poisson arrivals (NOS2 §V-A, PIAS, pFabric and most others).
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// The law of flow sizes.
    pub sizes: SizeDistribution,
    /// The offered load.
    pub load: Load,
    /// Whom a host sends to.
    pub reach: Reach,
    /// How sizes are drawn.
    pub draw: SizeDraw,
    /// What changes, in order of time.
    pub changes: Vec<LoadChange>,
}

/// Sizes and load from an instant on.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadChange {
    /// The instant, by the clock of the app.
    pub at: Time,
    /// The law of flow sizes.
    pub sizes: SizeDistribution,
    /// The offered load.
    pub load: Load,
}

/// The clock of an app whose load changes. Flows are drawn as if nothing changed; from a change on, time runs by the
/// ratio of the rates before and after, and sizes are of the law of then. What starts before a change is what starts
/// without it (docs/assumptions.md#load-change).
#[derive(Debug)]
pub(super) struct Clock<'a> {
    stretches: Vec<Stretch<'a>>,
}

/// From one change to the next.
#[derive(Debug)]
struct Stretch<'a> {
    /// Its first instant as it is drawn.
    drawn: u64,
    /// Its first instant.
    from: u64,
    /// Time per drawn time.
    slower: f64,
    sizes: &'a SizeDistribution,
}

impl Clock<'_> {
    /// When what was drawn for an instant happens, and the law of sizes of then.
    pub(super) fn read(&self, drawn: Time) -> (Time, &SizeDistribution) {
        let next = self.stretches.partition_point(|stretch| stretch.drawn <= drawn.0).max(1);
        let Stretch { drawn: first, from, slower, sizes } = self.stretches[next - 1];
        let since = drawn.0 - first;
        let since = if slower == 1.0 { since } else { (since as f64 * slower).round() as u64 };
        let end = self.stretches.get(next).map_or(u64::MAX, |next| next.from);
        (Time(from.saturating_add(since).min(end)), sizes)
    }

    /// How many stretches there are.
    pub(super) fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// The stretch of an instant.
    pub(super) fn stretch_at(&self, start: Time) -> usize {
        self.stretches.partition_point(|stretch| stretch.from <= start.0).max(1) - 1
    }

    /// The law of sizes of an instant.
    pub(super) fn law_at(&self, start: Time) -> &SizeDistribution {
        self.stretches[self.stretch_at(start)].sizes
    }
}

/// A sending host: when its next flow starts, and its streams.
struct Source {
    host: HostId,
    choice: Choice,
    gaps: Stream,
    sizes: Stream,
    pairs: Stream,
}

impl Poisson {
    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        self.load.check()?;
        let destinations = Destinations::new(site);
        let mut sources = self.sources(site, &destinations)?;
        let rate = self.rate(site, sources.iter().map(|source| &source.choice))?;
        let clock = self.clock(site, &sources.iter().map(|source| &source.choice).collect::<Vec<_>>())?;
        let wanted = wanted(site.until, rate * sources.len() as f64)?;
        let mean_gap = 1.0 / rate;
        let mut next = BinaryHeap::with_capacity(sources.len());
        for (index, source) in sources.iter_mut().enumerate() {
            next.push(Reverse((Time::ZERO + gap(&mut source.gaps, mean_gap), index)));
        }
        let mut maker = Maker::new(site);
        let mut flows = FlowList::default();
        while let Some(Reverse((drawn, index))) = next.pop() {
            let (start, sizes) = clock.read(drawn);
            if wanted.is_enough(&flows, start) {
                break;
            }
            if start.max(drawn) > LATEST_START {
                return Err(AppError::TooLate);
            }
            if flows.len() == MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let source = &mut sources[index];
            let dst = destinations.draw(source.choice, &mut source.pairs);
            let size = self.size(sizes, &mut source.sizes);
            flows.push(maker.flow(Pair { src: source.host, dst }, Some(size), start));
            next.push(Reverse((drawn + gap(&mut source.gaps, mean_gap), index)));
        }
        self.draw_strata(&mut flows, &clock, site);
        Ok(flows)
    }

    /// The size of a flow; of strata, which need all flows, one that [`Self::draw_strata`] replaces.
    pub(super) fn size(&self, law: &SizeDistribution, stream: &mut Stream) -> u64 {
        match self.draw {
            SizeDraw::Independent => law.sample(stream),
            SizeDraw::Strata => 1,
        }
    }

    /// Gives the flows their sizes, if these are drawn by strata.
    pub(super) fn draw_strata(&self, flows: &mut FlowList, clock: &Clock<'_>, site: &Site) {
        if self.draw == SizeDraw::Strata {
            strata::set_sizes(flows, clock, site);
        }
    }

    fn sources(&self, site: &Site, destinations: &Destinations) -> Result<Vec<Source>, AppError> {
        let source = |host| {
            let stream = |purpose| host_stream(site, purpose, host);
            let choice = destinations.choice(site, host, self.reach)?;
            let (gaps, sizes) = (stream(Purpose::Arrivals), stream(Purpose::Sizes));
            Ok(Source { host, choice, gaps, sizes, pairs: stream(Purpose::Pairs) })
        };
        distinct(site.hosts).into_iter().map(source).collect()
    }

    /// Flows per second of each of the hosts that have these choices.
    pub(super) fn rate<'c>(
        &self,
        site: &Site,
        choices: impl Iterator<Item = &'c Choice>,
    ) -> Result<f64, AppError> {
        rate(&self.sizes, self.load, site, choices)
    }

    /// The clock by which hosts with these choices start flows.
    pub(super) fn clock(&self, site: &Site, choices: &[&Choice]) -> Result<Clock<'_>, AppError> {
        let first = self.rate(site, choices.iter().copied())?;
        let mut stretches = vec![Stretch { drawn: 0, from: 0, slower: 1.0, sizes: &self.sizes }];
        for LoadChange { at, sizes, load } in &self.changes {
            load.check()?;
            let last = &stretches[stretches.len() - 1];
            let drawn = ((at.0 - last.from) as f64 / last.slower).round() as u64;
            let drawn = last.drawn.saturating_add(drawn);
            let slower = first / rate(sizes, *load, site, choices.iter().copied())?;
            stretches.push(Stretch { drawn, from: at.0, slower, sizes });
        }
        Ok(Clock { stretches })
    }
}

/// Flows per second of each of the hosts that have these choices, of sizes of a law at a load.
fn rate<'c>(
    sizes: &SizeDistribution,
    load: Load,
    site: &Site,
    choices: impl Iterator<Item = &'c Choice>,
) -> Result<f64, AppError> {
    let bits = 8.0 * mean_bytes(sizes, load.counts, &site.frame);
    match load.of {
        LoadOf::Host => Ok(load.value * site.host_rate.bps() as f64 / bits),
        LoadOf::Core => {
            let crossing: f64 = choices.map(|c| c.other_racks as f64 / c.all as f64).sum();
            if crossing == 0.0 || site.core_rate_bps == 0 {
                return Err(AppError::NoCore);
            }
            Ok(load.value * site.core_rate_bps as f64 / (bits * crossing))
        }
    }
}

impl Until {
    pub(super) fn is_enough(self, flows: &FlowList, next: Time) -> bool {
        match self {
            Self::Time(end) => next >= end,
            Self::Flows(count) => flows.len() as u64 >= count,
        }
    }
}

/// `until`, if so many flows as are to be expected are not too many.
pub(super) fn wanted(until: Until, flows_per_s: f64) -> Result<Until, AppError> {
    let expected = match until {
        Until::Time(end) => flows_per_s * end.as_secs_f64(),
        Until::Flows(count) => count as f64,
    };
    if expected > f64::from(MAX_FLOWS) { Err(AppError::TooMany) } else { Ok(until) }
}

/// An exponential gap in whole picoseconds, short enough to be added to any legal start.
pub(super) fn gap(stream: &mut Stream, mean_s: f64) -> Span {
    let ps = (stream.exponential(mean_s) * PS_PER_S as f64).round() as u64;
    Span(ps.min(LATEST_START.0 + 1))
}
