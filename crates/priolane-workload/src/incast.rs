//! Incast: at every epoch a number of hosts, drawn anew, send to one receiver at once.

use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{PS_PER_S, Span, Time};

use super::{
    AppError, LATEST_START, MAX_FLOWS, Maker, Pair, Site, Until, distinct, group_stream, jittered, known,
    not_too_late, size_ok,
};

/// When epochs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epochs {
    /// One at the start, and one every so often.
    Every(Span),
    /// After exponential gaps of this mean.
    Poisson(Span),
}

/// Who receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Always this host.
    Fixed(HostId),
    /// One of the hosts the group sends to, drawn at every epoch.
    Drawn,
}

/// Many to one, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incast {
    /// When epochs are.
    pub epochs: Epochs,
    /// Senders per epoch, at least 1; hosts of the group, never the receiver.
    pub fan_in: u32,
    /// Payload bytes that each sends.
    pub bytes: u64,
    /// Who receives.
    pub receiver: Receiver,
    /// From when on.
    pub start: Time,
    /// How much later than its epoch a flow starts at most, evenly.
    pub jitter: Span,
}

struct Streams {
    epochs: Stream,
    pairs: Stream,
    starts: Stream,
}

impl Incast {
    /// Epochs before `until`, or as many whole epochs as it takes for so many flows
    /// (docs/assumptions.md#incast-whole-epochs).
    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        let (mut senders, receivers) = self.check(site)?;
        self.expect_few(site.until)?;
        let mut streams = Streams {
            epochs: group_stream(site, Purpose::Arrivals),
            pairs: group_stream(site, Purpose::Pairs),
            starts: group_stream(site, Purpose::Starts),
        };
        let mut maker = Maker::new(site);
        let mut flows = FlowList::default();
        let mut epoch = match self.epochs {
            Epochs::Every(_) => self.start,
            Epochs::Poisson(_) => self.after(self.start, &mut streams.epochs),
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
                let start = jittered(epoch, self.jitter, &mut streams.starts)?;
                flows.push(maker.flow(Pair { src, dst }, Some(self.bytes), start));
            }
            epoch = self.after(epoch, &mut streams.epochs);
        }
        Ok(flows)
    }

    /// Hosts that send, and hosts that receive.
    fn check(&self, site: &Site) -> Result<(Vec<HostId>, Vec<HostId>), AppError> {
        size_ok(Some(self.bytes))?;
        let senders = distinct(site.hosts);
        let receivers = match self.receiver {
            Receiver::Fixed(host) => vec![known(site, host)?],
            Receiver::Drawn => distinct(site.to),
        };
        if receivers.is_empty() {
            return Err(AppError::NoDestination(senders[0]));
        }
        let sends_too = receivers.iter().any(|host| senders.binary_search(host).is_ok());
        let available = senders.len() as u32 - u32::from(sends_too);
        if self.fan_in == 0 || self.fan_in > available {
            return Err(AppError::FanIn { asked: self.fan_in, available });
        }
        let (Epochs::Every(gap) | Epochs::Poisson(gap)) = self.epochs;
        if gap == Span::ZERO {
            return Err(AppError::Period);
        }
        Ok((senders, receivers))
    }

    /// Refuses what is bound to be too long a list before any of it is made.
    fn expect_few(&self, until: Until) -> Result<(), AppError> {
        let (Epochs::Every(gap) | Epochs::Poisson(gap)) = self.epochs;
        let expected = match until {
            Until::Time(end) => u128::from(end.since(self.start).0 / gap.0) * u128::from(self.fan_in),
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
            Epochs::Every(period) => period.0,
            Epochs::Poisson(mean) => {
                (stream.exponential(mean.as_secs_f64()) * PS_PER_S as f64).round() as u64
            }
        };
        Time(epoch.0.saturating_add(gap.min(LATEST_START.0 + 1)))
    }
}
