//! Incast: at every epoch a randomly drawn set of hosts sends to one receiver at the same time.
//!
//! ```text
//! period = fan_in * (bits of a flow that count) / (load * (hosts of the group) * (host rate))      where a load is stated
//! ```

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::{KeyConflict, Keys, Words};
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_source::InputError;

use super::application::Application;
use super::context::{LATEST_START, MAX_FLOWS, Until, WorkloadContext, distinct, known};
use super::destinations::DestinationScope;
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream, jittered, not_too_late, size_ok};
use super::load::{Load, LoadOf, LoadTable};
use super::offered::Volume;
use super::payload::{Payload, Starts};
use super::traffic::Traffic;

/// The timing of epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Epochs {
    /// One at the start, and one every period.
    Every,
    /// With exponential gaps whose mean is the period.
    Poisson,
}

/// Many-to-one traffic, repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "incast", check = Self::check_keys)]
#[part(
    name = "incast",
    summary = "many hosts send to one host at the same time, periodically",
    source = "docs/experiments.md"
)]
pub struct Incast {
    /// The timing of epochs.
    #[key(default = Epochs::Every)]
    pub epochs: Epochs,
    /// Time between epochs, or its mean; by default computed from the load.
    #[key(optional, shown = "by load", range = "(0, )")]
    pub period: Option<Span>,
    /// Offered load as a fraction of the links of the group's hosts; an alternative to a period.
    #[key(optional, shown = "by period", form = LoadTable)]
    pub load: Option<Load>,
    /// Senders per epoch, at least 1; hosts of the group other than the receiver.
    #[key(required = "fan_in = 16", range = "[1, 65535]")]
    pub fan_in: u32,
    /// Payload bytes per sender.
    #[key(required = "size = \"64kB\"", form = Payload, group = "size")]
    pub size: u64,
    /// The receiver; without it a host that the group sends to is drawn at every epoch.
    #[key(optional)]
    pub receiver: Option<HostId>,
    /// Start of the first epoch, and maximum delay of a flow after its epoch.
    #[keys(flatten)]
    pub starts: Starts,
}

impl Application for Incast {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.flows(site).map(Traffic::independent)
    }

    fn load(&self) -> Option<(Load, DestinationScope)> {
        self.load.map(|load| (load, DestinationScope::AnyHost))
    }

    fn runs_until_end(&self) -> bool {
        true
    }

    fn notes(&self, hosts: u32) -> Result<Vec<String>, InputError> {
        let (Some(load), Some(receiver)) = (self.load, self.receiver) else { return Ok(Vec::new()) };
        let share = load.value * f64::from(hosts);
        let note = || {
            format!(
                "host {} alone receives what {hosts} hosts send at a load of {}: {share:.3} of what its link carries",
                receiver.0, load.value
            )
        };
        Ok((share > 1.0).then(note).into_iter().collect())
    }
}

struct Streams {
    epochs: Stream,
    pairs: Stream,
    starts: Stream,
}

impl Incast {
    fn check_keys(&mut self) -> Result<(), KeyConflict> {
        match (self.period, self.load) {
            (Some(_), None) => Ok(()),
            (None, Some(Load { of: LoadOf::Host, .. })) => Ok(()),
            (None, Some(_)) => {
                let what = "a load of an incast is a part of the links of the group's hosts";
                Err(KeyConflict::of("load", what, "of = \"host\""))
            }
            (Some(_), Some(_)) => {
                let fix = "a period, or a load that asks for one";
                Err(KeyConflict::of("load", "period is stated too", fix))
            }
            (None, None) => {
                let fix = "period = \"1ms\", or load = { of = \"host\", counts = \"payload\", value = 0.3 }";
                Err(KeyConflict::new("neither period nor load is stated", fix))
            }
        }
    }

    /// Returns the (mean) time between epochs at `site` with that number of sending hosts.
    fn period(&self, site: &WorkloadContext<'_>, hosts: usize) -> Result<Span, AppError> {
        let Some(load) = self.load else { return Ok(self.period.unwrap_or(Span::ZERO)) };
        load.check()?;
        let bytes = Volume::of_flow(self.size, &site.frame).of(load.counts) as f64;
        let capacity = site.host_rate.bps() as f64 * hosts as f64;
        let seconds = f64::from(self.fan_in) * 8.0 * bytes / (load.value * capacity);
        Ok(Span((seconds * PS_PER_S as f64).round().max(1.0) as u64))
    }

    /// Generates the epochs before `until`, or as many whole epochs as that number of flows requires
    /// (docs/assumptions.md#incast-whole-epochs).
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        let (mut senders, receivers, period) = self.check(site)?;
        self.expect_few(site.until, period)?;
        let mut streams = Streams {
            epochs: group_stream(site, Purpose::Arrivals),
            pairs: group_stream(site, Purpose::Pairs),
            starts: group_stream(site, Purpose::Starts),
        };
        let mut maker = FlowFactory::new(site);
        let mut flows = FlowList::default();
        let mut epoch = match self.epochs {
            Epochs::Every => self.starts.first(),
            Epochs::Poisson => self.after(self.starts.first(), period, &mut streams.epochs),
        };
        while match site.until {
            Until::Time(end) => epoch < end,
            Until::Flows(count) => (flows.len() as u64) < count,
        } {
            if flows.len() + self.fan_in as usize > MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            not_too_late(epoch.0)?;
            let dst = receivers[streams.pairs.below(receivers.len() as u64) as usize];
            for &src in self.draw(&mut senders, dst, &mut streams.pairs) {
                let start = jittered(epoch, self.starts.jitter, &mut streams.starts)?;
                flows.push(maker.flow(Pair { src, dst }, Some(self.size), start));
            }
            epoch = self.after(epoch, period, &mut streams.epochs);
        }
        Ok(flows)
    }

    /// Returns the senders, the receivers and the (mean) time between epochs.
    fn check(&self, site: &WorkloadContext<'_>) -> Result<(Vec<HostId>, Vec<HostId>, Span), AppError> {
        size_ok(Some(self.size))?;
        let senders = distinct(site.hosts);
        let receivers = match self.receiver {
            Some(host) => vec![known(site, host)?],
            None => distinct(site.to),
        };
        if receivers.is_empty() {
            return Err(AppError::NoDestination(senders[0]));
        }
        let sends_too = receivers.iter().any(|host| senders.binary_search(host).is_ok());
        let available = senders.len() as u32 - u32::from(sends_too);
        if self.fan_in == 0 || self.fan_in > available {
            return Err(AppError::FanIn { asked: self.fan_in, available });
        }
        let period = self.period(site, senders.len())?;
        if period == Span::ZERO {
            return Err(AppError::Period);
        }
        Ok((senders, receivers, period))
    }

    /// Rejects a list that is certain to be too long before it is generated.
    fn expect_few(&self, until: Until, period: Span) -> Result<(), AppError> {
        let expected = match until {
            Until::Time(end) => {
                u128::from(end.since(self.starts.first()).0 / period.0) * u128::from(self.fan_in)
            }
            Until::Flows(count) => u128::from(count),
        };
        if expected > u128::from(MAX_FLOWS) { Err(AppError::TooMany) } else { Ok(()) }
    }

    /// Draws the senders of an epoch: the first `fan_in` hosts of a partial shuffle of all but the receiver.
    fn draw<'a>(&self, hosts: &'a mut [HostId], receiver: HostId, stream: &mut Stream) -> &'a [HostId] {
        let mut count = hosts.len();
        if let Some(place) = hosts.iter().position(|&host| host == receiver) {
            count -= 1;
            hosts.swap(place, count);
        }
        let fan_in = self.fan_in as usize;
        for i in 0..fan_in {
            hosts.swap(i, i + stream.below((count - i) as u64) as usize);
        }
        &hosts[..fan_in]
    }

    /// Returns the time of the epoch after one at `epoch`.
    fn after(&self, epoch: Time, period: Span, stream: &mut Stream) -> Time {
        let gap = match self.epochs {
            Epochs::Every => period.0,
            Epochs::Poisson => (stream.exponential(period.as_secs_f64()) * PS_PER_S as f64).round() as u64,
        };
        Time(epoch.0.saturating_add(gap.min(LATEST_START.0 + 1)))
    }
}
