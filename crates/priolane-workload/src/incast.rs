//! Incast: at every epoch a number of hosts, drawn anew, send to one receiver at once.

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::{Keys, Words};
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{PS_PER_S, Span, Time};

use super::application::Application;
use super::context::{LATEST_START, MAX_FLOWS, Until, WorkloadContext, distinct, known};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream, jittered, not_too_late, size_ok};
use super::payload::{Payload, Starts};
use super::traffic::Traffic;

/// How epochs follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Epochs {
    /// One at the start, and one every period.
    Every,
    /// After exponential gaps with the period as mean.
    Poisson,
}

/// Many to one, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "incast")]
#[part(
    name = "incast",
    summary = "many hosts send to one at once, over and over",
    source = "docs/experiments.md"
)]
pub struct Incast {
    /// How epochs follow each other.
    #[key(default = Epochs::Every)]
    pub epochs: Epochs,
    /// The (mean) time between epochs.
    #[key(required = "period = \"1ms\"", range = "(0, )")]
    pub period: Span,
    /// Senders per epoch, at least 1; hosts of the group, never the receiver.
    #[key(required = "fan_in = 16", range = "[1, 65535]")]
    pub fan_in: u32,
    /// Payload bytes that each sends.
    #[key(required = "size = \"64kB\"", form = Payload, group = "size")]
    pub size: u64,
    /// Who receives; without it one of the hosts the group sends to, drawn at every epoch.
    #[key(optional)]
    pub receiver: Option<HostId>,
    /// From when on, and how much later than its epoch a flow starts.
    #[keys(flatten)]
    pub starts: Starts,
}

impl Application for Incast {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.flows(site).map(Traffic::independent)
    }

    fn goes_on(&self) -> bool {
        true
    }
}

struct Streams {
    epochs: Stream,
    pairs: Stream,
    starts: Stream,
}

impl Incast {
    /// Epochs before `until`, or as many whole epochs as it takes for so many flows
    /// (docs/assumptions.md#incast-whole-epochs).
    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        let (mut senders, receivers) = self.check(site)?;
        self.expect_few(site.until)?;
        let mut streams = Streams {
            epochs: group_stream(site, Purpose::Arrivals),
            pairs: group_stream(site, Purpose::Pairs),
            starts: group_stream(site, Purpose::Starts),
        };
        let mut maker = FlowFactory::new(site);
        let mut flows = FlowList::default();
        let mut epoch = match self.epochs {
            Epochs::Every => self.starts.first(),
            Epochs::Poisson => self.after(self.starts.first(), &mut streams.epochs),
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
            epoch = self.after(epoch, &mut streams.epochs);
        }
        Ok(flows)
    }

    /// Hosts that send, and hosts that receive.
    fn check(&self, site: &WorkloadContext<'_>) -> Result<(Vec<HostId>, Vec<HostId>), AppError> {
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
        if self.period == Span::ZERO {
            return Err(AppError::Period);
        }
        Ok((senders, receivers))
    }

    /// Refuses what is bound to be too long a list before any of it is made.
    fn expect_few(&self, until: Until) -> Result<(), AppError> {
        let expected = match until {
            Until::Time(end) => {
                u128::from(end.since(self.starts.first()).0 / self.period.0) * u128::from(self.fan_in)
            }
            Until::Flows(count) => u128::from(count),
        };
        if expected > u128::from(MAX_FLOWS) { Err(AppError::TooMany) } else { Ok(()) }
    }

    /// The senders of an epoch: the first `fan_in` places of a partial shuffle of all but the receiver.
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

    /// The epoch after one at `epoch`.
    fn after(&self, epoch: Time, stream: &mut Stream) -> Time {
        let gap = match self.epochs {
            Epochs::Every => self.period.0,
            Epochs::Poisson => {
                (stream.exponential(self.period.as_secs_f64()) * PS_PER_S as f64).round() as u64
            }
        };
        Time(epoch.0.saturating_add(gap.min(LATEST_START.0 + 1)))
    }
}
