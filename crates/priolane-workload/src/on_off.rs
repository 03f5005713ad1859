//! Open loop in bursts: every source starts a number of flows at a higher rate, followed by an idle time that
//! restores the long-run mean (the burst model of the Aequitas simulator, a fork of YAPS).
//!
//! ```text
//! busy:  `burst_flows` flows after exponential gaps of mean (load / burst_load) / rate; together they take t_busy
//! idle:  t_idle = t_busy * burst_load / load - t_busy
//! ```
//!
//! `rate` is the rate of Poisson arrivals at the same load. If the load in bursts equals the mean load, there are
//! no idle times and flows arrive as in the Poisson app. A source is a host that draws a destination for each flow,
//! or a pair of hosts. Each source has its own random streams and begins in the steady state: within a burst with
//! probability `load / burst_load`, else within an idle time (docs/assumptions.md#bursts).
//!
//! With the simulator's interpretation ([`BurstModel::CompatYaps`]), a source has one burst at the start. Its count of
//! flows is never reset, so every later gap has the mean of the mean load, and flows arrive as in the Poisson app.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::{Keys, Words};
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;
use priolane_source::{InputError, Reader, Sources};

use super::application::Application;
use super::clock::Clock;
use super::context::{LATEST_START, MAX_FLOWS, WorkloadContext, distinct};
use super::destinations::{Choice, Destinations};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, host_stream, pair_stream};
use super::open_loop::{OpenLoop, gap, wanted};
use super::strata::SizeDraw;
use super::traffic::Traffic;

/// Maximum number of pairs of hosts with bursts of their own.
const MAX_PAIRS: usize = 1 << 18;

/// Maximum number of flows in a burst.
pub const MAX_BURST: u32 = 10_000;

/// The sources of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Bursts {
    /// Each pair of a host and one of its destinations.
    #[default]
    #[word("pair")]
    PerPair,
    /// Each host, with a destination drawn for each flow.
    #[word("host")]
    PerHost,
}

/// The behaviour after a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum BurstModel {
    /// An idle time, and another burst.
    #[default]
    Bursts,
    /// Gaps longer by the ratio of burst load to load, and no more bursts, as in the simulator of Aequitas.
    CompatYaps,
}

/// Bursts of flows separated by idle times.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "on_off")]
#[part(
    name = "on_off",
    summary = "each host, or each pair of hosts, starts flows in bursts with idle times between them",
    source = "Aequitas (SIGCOMM 2022), its simulator"
)]
pub struct OnOff {
    /// Sizes, mean load, and the destinations of a host.
    #[keys(flatten)]
    pub open_loop: OpenLoop,
    /// How sizes are drawn.
    #[key(default = SizeDraw::Independent, skip_default)]
    pub draw: SizeDraw,
    /// Load within a burst, in the units of the mean load; from 1 to 100 times the mean load.
    #[key(required = "burst_load = 1.4")]
    pub burst_load: f64,
    /// Number of flows in a burst, 1 to 10,000.
    #[key(default = 4, range = "[1, 10000]")]
    pub burst_flows: u32,
    /// The sources of bursts.
    #[key(default = Bursts::PerPair)]
    pub per: Bursts,
    /// What follows a burst.
    #[key(default = BurstModel::Bursts)]
    pub reading: BurstModel,
}

impl Application for OnOff {
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
}

/// The way in which a source chooses destinations.
enum DestinationRule {
    /// Draws one of the choice for each flow.
    Drawn(Choice, Box<Stream>),
    /// Always this host.
    Fixed(HostId),
}

/// A source with its bursts and streams.
struct Source {
    host: HostId,
    to: DestinationRule,
    sizes: Stream,
    phase: Phase,
}

/// The parameters of a source's bursts.
#[derive(Clone, Copy)]
struct Law {
    /// Mean gap within a burst, in seconds.
    mean_gap: f64,
    /// Ratio of idle time to busy time.
    idle_by_busy: f64,
    flows: u32,
    reading: BurstModel,
}

/// The position of a source within its bursts.
struct Phase {
    law: Law,
    gaps: Stream,
    /// Start of its next flow, in picoseconds.
    next: u64,
    /// Duration of the burst up to `next`, in picoseconds.
    busy: u64,
    /// Number of flows of the burst after `next`.
    left: u32,
}

impl Phase {
    /// Creates a phase in the steady state at time 0, if there is one. A random time falls into a burst with a
    /// probability proportional to the burst's length, so this burst is longer than others by one gap. The gap at
    /// time 0 consists of an elapsed and a remaining part, both exponential.
    fn new(law: Law, gaps: Stream) -> Self {
        let mut phase = Self { law, gaps, next: 0, busy: 0, left: law.flows };
        if law.reading == BurstModel::CompatYaps {
            phase.start_next();
            return phase;
        }
        let passed = phase.gaps.below(u64::from(law.flows)) as u32;
        if phase.gaps.chance(1.0 / (1.0 + law.idle_by_busy)) {
            phase.busy = phase.some_gaps(passed + 1);
            phase.left -= passed;
        } else {
            let busy = phase.some_gaps(law.flows + 1);
            let share = phase.gaps.uniform();
            phase.next = phase.idle(busy, share);
        }
        phase.start_next();
        phase
    }

    /// Returns the sum of `count` gaps.
    fn some_gaps(&mut self, count: u32) -> u64 {
        (0..count).fold(0, |sum: u64, _| sum.saturating_add(gap(&mut self.gaps, self.law.mean_gap).0))
    }

    /// Returns a fraction of the idle time after a burst of duration `busy`.
    fn idle(&self, busy: u64, share: f64) -> u64 {
        (share * self.law.idle_by_busy * busy as f64).round() as u64
    }

    fn start_next(&mut self) {
        let gap = self.some_gaps(1);
        self.busy = self.busy.saturating_add(gap);
        self.next = self.next.saturating_add(gap);
        self.left -= 1;
    }

    /// Advances to the flow after `next`.
    fn advance(&mut self) {
        match self.law.reading {
            _ if self.left > 0 => {}
            BurstModel::Bursts => {
                self.next = self.next.saturating_add(self.idle(self.busy, 1.0));
                self.busy = 0;
                self.left = self.law.flows;
            }
            BurstModel::CompatYaps => {
                self.law.mean_gap *= 1.0 + self.law.idle_by_busy;
                self.law.idle_by_busy = 0.0;
                self.left = u32::MAX;
            }
        }
        self.start_next();
    }
}

impl OnOff {
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        self.check()?;
        self.draw.check(site)?;
        let destinations = Destinations::new(site);
        let mut sources = self.sources(site, &destinations)?;
        let mut next: BinaryHeap<_> =
            sources.iter().enumerate().map(|(index, source)| Reverse((source.phase.next, index))).collect();
        let clock = self.clock(site, &destinations)?;
        let mut maker = FlowFactory::new(site);
        let mut flows = FlowList::default();
        while let Some(Reverse((drawn, index))) = next.pop() {
            let (start, sizes) = clock.read(Time(drawn));
            if site.until.is_enough(&flows, start) {
                break;
            }
            if start.0.max(drawn) > LATEST_START.0 {
                return Err(AppError::TooLate);
            }
            if flows.len() == MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let source = &mut sources[index];
            let dst = match &mut source.to {
                DestinationRule::Drawn(choice, pairs) => destinations.draw(*choice, pairs),
                DestinationRule::Fixed(dst) => *dst,
            };
            let size = self.draw.size(sizes, &mut source.sizes);
            flows.push(maker.flow(Pair { src: source.host, dst }, Some(size), start));
            source.phase.advance();
            next.push(Reverse((source.phase.next, index)));
        }
        self.draw.set_sizes(&mut flows, &clock, site);
        Ok(flows)
    }

    fn clock<'s>(
        &'s self,
        site: &WorkloadContext<'s>,
        destinations: &Destinations,
    ) -> Result<Clock<'s>, AppError> {
        let choice = |host| destinations.choice(site, host, self.open_loop.reach);
        let choices: Vec<Choice> = distinct(site.hosts).into_iter().map(choice).collect::<Result<_, _>>()?;
        self.open_loop.clock(site, &choices.iter().collect::<Vec<_>>())
    }

    fn check(&self) -> Result<(), AppError> {
        self.open_loop.load.check()?;
        let load = self.open_loop.load.value;
        if !(self.burst_load >= load && self.burst_load <= 100.0 * load) {
            return Err(AppError::BurstLoad { asked: self.burst_load, load });
        }
        if (1..=MAX_BURST).contains(&self.burst_flows) {
            Ok(())
        } else {
            Err(AppError::BurstFlows(self.burst_flows))
        }
    }

    fn sources(
        &self,
        site: &WorkloadContext<'_>,
        destinations: &Destinations,
    ) -> Result<Vec<Source>, AppError> {
        let choice = |host| Ok((host, destinations.choice(site, host, self.open_loop.reach)?));
        let hosts: Vec<(HostId, Choice)> =
            distinct(site.hosts).into_iter().map(choice).collect::<Result<_, AppError>>()?;
        let rate = self.open_loop.rate(site, hosts.iter().map(|(_, choice)| choice))?;
        wanted(site.until, rate * hosts.len() as f64)?;
        let pairs: usize = hosts.iter().map(|(_, choice)| choice.all).sum();
        match self.per {
            Bursts::PerHost => {
                Ok(hosts.into_iter().map(|(host, choice)| self.host(site, host, choice, rate)).collect())
            }
            Bursts::PerPair if pairs > MAX_PAIRS => Err(AppError::TooManyPairs(pairs)),
            Bursts::PerPair => Ok(hosts
                .into_iter()
                .flat_map(|(src, choice)| {
                    let all = destinations.all(choice);
                    all.map(move |dst| self.pair(site, Pair { src, dst }, rate / choice.all as f64))
                })
                .collect()),
        }
    }

    /// Creates the phase of a source with a long-run rate of `rate` flows per second.
    fn phase(&self, rate: f64, gaps: Stream) -> Phase {
        let stretch = self.burst_load / self.open_loop.load.value;
        let (mean_gap, idle_by_busy) = (1.0 / (rate * stretch), stretch - 1.0);
        Phase::new(Law { mean_gap, idle_by_busy, flows: self.burst_flows, reading: self.reading }, gaps)
    }

    fn host(&self, site: &WorkloadContext<'_>, host: HostId, choice: Choice, rate: f64) -> Source {
        let stream = |purpose| host_stream(site, purpose, host);
        let to = DestinationRule::Drawn(choice, Box::new(stream(Purpose::Pairs)));
        let phase = self.phase(rate, stream(Purpose::Arrivals));
        Source { host, to, sizes: stream(Purpose::Sizes), phase }
    }

    fn pair(&self, site: &WorkloadContext<'_>, pair: Pair, rate: f64) -> Source {
        let stream = |purpose| pair_stream(site, purpose, pair);
        let phase = self.phase(rate, stream(Purpose::Arrivals));
        Source { host: pair.src, to: DestinationRule::Fixed(pair.dst), sizes: stream(Purpose::Sizes), phase }
    }
}
