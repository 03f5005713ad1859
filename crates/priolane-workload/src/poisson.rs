//! Open loop: every host starts flows to random hosts with exponential gaps and sizes from a distribution.
//!
//! Each host has its own streams for gaps, sizes and destinations. So its flows do not depend on the other hosts of
//! the group, with two exceptions: a load of the core is divided among the hosts, and destinations are drawn from
//! the existing hosts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::Keys;
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;
use priolane_source::{InputError, Reader, Sources};

use super::application::Application;
use super::context::{InitialState, LATEST_START, MAX_FLOWS, WorkloadContext, distinct};
use super::destinations::{Choice, Destinations};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, host_stream};
use super::open_loop::{OpenLoop, gap, wanted};
use super::strata::SizeDraw;
use super::traffic::Traffic;
use super::warm_start::{OfferedRate, WarmStart};

/// Poisson arrivals.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "poisson")]
#[part(
    name = "poisson",
    summary = "each host starts flows at random instants to random hosts",
    source = "NOS2 §V-A, PIAS, pFabric and most others"
)]
pub struct Poisson {
    #[keys(flatten)]
    /// Sizes, load, and the destinations of a host.
    pub open_loop: OpenLoop,
    /// How sizes are drawn.
    #[key(default = SizeDraw::Independent, skip_default)]
    pub draw: SizeDraw,
}

impl Application for Poisson {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        self.open_loop.open(keys, files)
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.flows(site).map(Traffic::independent)
    }

    fn open_loop(&self) -> Option<&OpenLoop> {
        Some(&self.open_loop)
    }

    fn size_draw(&self) -> Option<SizeDraw> {
        Some(self.draw)
    }

    fn runs_until_end(&self) -> bool {
        true
    }

    fn starts_warm(&self) -> bool {
        true
    }
}

/// A sending host: the start of its next flow, and its streams.
struct Source {
    host: HostId,
    choice: Choice,
    gaps: Stream,
    sizes: Stream,
    pairs: Stream,
}

impl Poisson {
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        self.open_loop.load.check()?;
        self.draw.check(site)?;
        let destinations = Destinations::new(site);
        let mut sources = self.sources(site, &destinations)?;
        let rate = self.open_loop.rate(site, sources.iter().map(|source| &source.choice))?;
        let clock =
            self.open_loop.clock(site, &sources.iter().map(|source| &source.choice).collect::<Vec<_>>())?;
        let wanted = wanted(site.until, rate * sources.len() as f64)?;
        let mean_gap = 1.0 / rate;
        let mut next = BinaryHeap::with_capacity(sources.len());
        for (index, source) in sources.iter_mut().enumerate() {
            next.push(Reverse((Time::ZERO + gap(&mut source.gaps, mean_gap), index)));
        }
        let mut maker = FlowFactory::new(site);
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
            let size = self.draw.size(sizes, &mut source.sizes);
            flows.push(maker.flow(Pair { src: source.host, dst }, Some(size), start));
            next.push(Reverse((drawn + gap(&mut source.gaps, mean_gap), index)));
        }
        self.draw.set_sizes(&mut flows, &clock, site);
        let by_busiest = match site.initial {
            InitialState::Empty => return Ok(flows),
            InitialState::WarmPath => None,
            InitialState::Warm => {
                let crossing = sources.iter().map(|source| source.choice.crossing()).sum();
                let rate = OfferedRate { flows_per_s: rate, senders: sources.len(), crossing };
                Some(rate.under_way(&self.open_loop.sizes.law, site)?)
            }
        };
        for &Source { host, choice, .. } in &sources {
            let mean = by_busiest.unwrap_or_else(|| site.under_way[host.index()]);
            let warm = WarmStart::new(&self.open_loop.sizes.law, mean);
            warm.push(&mut flows, &mut maker, host, |stream| destinations.draw(choice, stream))?;
        }
        Ok(flows)
    }

    fn sources(
        &self,
        site: &WorkloadContext<'_>,
        destinations: &Destinations,
    ) -> Result<Vec<Source>, AppError> {
        let source = |host| {
            let stream = |purpose| host_stream(site, purpose, host);
            let choice = destinations.choice(site, host, self.open_loop.reach)?;
            let (gaps, sizes) = (stream(Purpose::Arrivals), stream(Purpose::Sizes));
            Ok(Source { host, choice, gaps, sizes, pairs: stream(Purpose::Pairs) })
        };
        distinct(site.hosts).into_iter().map(source).collect()
    }
}
