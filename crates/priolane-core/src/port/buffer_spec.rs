//! Buffer and marking thresholds of a port, as scheme files state them.

use super::{Alpha, Buffer, ByRate, DerivedLimit, Ramp, Scope, SharedBuffer};
use crate::keys::{Bytes, KeyConflict, Keys, Millionths};
use crate::quantity::{show_limit, show_rate};
use crate::units::{Limit, Rate};

/// The probability 1 in millionths.
const CERTAIN: u32 = 1_000_000;
/// Bytes that no threshold has.
const VAST: u64 = 4_000_000_000;

/// The buffer of a port.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(one_of)]
pub enum BufferSpec {
    /// No limit.
    #[word("unbounded")]
    Unbounded,
    /// One limit for all queues together, with tail drop.
    Shared {
        /// Capacity of all queues together, at link rates not listed in `at`.
        #[key(name = "shared", required = "shared = \"240pkt\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// A separate limit of the same size for each queue.
    PerQueue {
        /// Capacity of each queue, at link rates not listed in `at`.
        #[key(name = "per_queue", required = "per_queue = \"64KiB\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// One limit for all queues together; packets of better queues push out packets of worse ones.
    PushOut {
        /// Capacity of all queues together, at link rates not listed in `at`.
        #[key(name = "push_out", required = "push_out = \"240pkt\"")]
        limit: Limit,
        /// Capacity at specific link rates.
        #[key(default = ByRate::default(), skip_default)]
        at: ByRate,
        /// The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion
        /// to the next slower rate that is stated. Without it, they hold the same.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
        rate: Option<Rate>,
    },
    /// A buffer shared by all queues of the switch, each limited to a multiple of the free bytes.
    Dynamic {
        /// Size of the switch's buffer in bytes.
        #[key(name = "dynamic", required = "dynamic = \"12MB\"", form = Bytes)]
        size: u64,
        /// Capacity of the switch, the sum of the rates of its links, that the size is for; a larger switch has more,
        /// in proportion. Without it, all switches have the size.
        #[key(optional, range = "(0, )", source = "docs/assumptions.md#memory-capacity")]
        capacity: Option<Rate>,
        /// Alpha: the limit of a queue as a multiple of the free bytes.
        #[key(required = "alpha = 1")]
        alpha: Alpha,
    },
    /// As much as the data requested by tokens can occupy at each port.
    ZeroLoss {
        /// Additional bytes for signals.
        #[key(name = "zero_loss", required = "zero_loss = \"10kB\"", form = Bytes)]
        signals: u64,
    },
}

impl BufferSpec {
    /// Returns a buffer with `limit` for all queues together.
    pub fn of(limit: Limit) -> Self {
        match limit {
            Limit::Unlimited => Self::Unbounded,
            limit => Self::Shared { limit, at: ByRate::default(), rate: None },
        }
    }

    /// Replaces an unlimited limit by `Unbounded`.
    pub(super) fn normalize(&mut self) {
        if let Self::Shared { limit: Limit::Unlimited, at, .. }
        | Self::PerQueue { limit: Limit::Unlimited, at, .. }
        | Self::PushOut { limit: Limit::Unlimited, at, .. } = self
            && at.is_empty()
        {
            *self = Self::Unbounded;
        }
    }

    /// Returns the limit at links of `rate`.
    pub fn limit_at(&self, rate: Rate) -> Limit {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => {
                at.get(rate).unwrap_or(self.limit())
            }
            _ => self.limit(),
        }
    }

    /// Returns the limit at link rates that the file does not list.
    pub fn limit(&self) -> Limit {
        match *self {
            Self::Unbounded => Limit::Unlimited,
            Self::Shared { limit, .. } | Self::PerQueue { limit, .. } | Self::PushOut { limit, .. } => limit,
            Self::Dynamic { size: bytes, .. } | Self::ZeroLoss { signals: bytes } => Limit::Bytes(bytes),
        }
    }

    /// Returns the limits at specific link rates; empty if it is the same at all.
    pub fn at(&self) -> &[(Rate, Limit)] {
        match self {
            Self::Shared { at, .. } | Self::PerQueue { at, .. } | Self::PushOut { at, .. } => at.entries(),
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => &[],
        }
    }

    /// Returns the buffer that all ports of a switch share, if any.
    pub fn memory(&self) -> Option<SharedBuffer> {
        match *self {
            Self::Dynamic { size, alpha, .. } => Some(SharedBuffer { size, alpha }),
            _ => None,
        }
    }

    /// Sets the size of a shared buffer for switches of up to `capacity`, rounded up to bytes, if the buffer states the
    /// capacity that its size is for. Returns the new size and the old one if they differ.
    pub fn fit(&mut self, capacity: Rate) -> Option<(u64, u64)> {
        let Self::Dynamic { size, capacity: stated, .. } = self else { return None };
        let stated = stated.take().filter(|&stated| stated < capacity)?;
        let old = *size;
        let scaled = (u128::from(old) * u128::from(capacity.bps())).div_ceil(u128::from(stated.bps()));
        *size = u64::try_from(scaled).unwrap_or(u64::MAX);
        Some((*size, old))
    }

    /// Returns whether its capacity depends on the rate of the link.
    pub fn depends_on_rate(&self) -> bool {
        match self {
            Self::Shared { at, rate, .. }
            | Self::PerQueue { at, rate, .. }
            | Self::PushOut { at, rate, .. } => !at.is_empty() || rate.is_some(),
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => false,
        }
    }

    /// Adds capacities for those of `rates` that are above the rate that the capacity is for and that have none of their
    /// own, if the buffer states that rate; returns what it adds.
    pub fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedLimit> {
        match self {
            Self::Shared { limit, at, rate }
            | Self::PerQueue { limit, at, rate }
            | Self::PushOut { limit, at, rate } => {
                let Some(rate) = rate.take() else { return Vec::new() };
                at.complete_above((rate, *limit), rates)
            }
            Self::Unbounded | Self::Dynamic { .. } | Self::ZeroLoss { .. } => Vec::new(),
        }
    }

    /// Returns the buffer of one port on a link of `rate`, without the shared buffer of the switch.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let limit = if self.memory().is_some() { Limit::Unlimited } else { self.limit_at(rate) };
        let limit_scope = if matches!(self, Self::PerQueue { .. }) { Scope::Queue } else { Scope::Port };
        Buffer { limit, limit_scope, ..Buffer::UNLIMITED }
    }
}

/// ECN marking thresholds by link rate.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "ecn", check = Self::check)]
pub struct Ecn {
    /// Backlog that the threshold applies to.
    #[key(default = Scope::Port, source = "docs/assumptions.md#marking")]
    pub per: Scope,
    /// Marking threshold for each link rate.
    #[key(required = "at = { \"10Gbps\" = \"65pkt\" }", source = "RFC 8257 §3.1")]
    pub at: ByRate,
    /// Backlog above which every packet is marked (Kmax), for link rates of `at` (Kmin); other rates follow in proportion.
    /// Between both, packets are marked with a probability that grows from 0 to `p_max`. Without it, all packets above
    /// `at` are marked.
    #[key(default = ByRate::default(), skip_default, source = "DCQCN (SIGCOMM 2015) §3.1; docs/assumptions.md#red")]
    pub full: ByRate,
    /// Probability of a mark at the backlog of `full` (Pmax), rounded to millionths.
    #[key(default = 1_000_000, skip_default, form = Millionths, range = "(0, 1]", source = "DCQCN (SIGCOMM 2015) §3.1")]
    pub p_max: u32,
    /// Weight of an arriving packet in an exponentially weighted average of the backlog (w_q), by which packets are then
    /// marked, rounded to millionths. Without it, they are marked by the backlog itself.
    #[key(
        optional,
        form = Millionths,
        range = "(0, 1]",
        shown = "none",
        source = "Floyd and Jacobson (1993) §4; docs/assumptions.md#red-average"
    )]
    pub average: Option<u32>,
}

impl Ecn {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.at.is_empty() {
            return Err(KeyConflict::of("at", "no threshold is set", "at = { \"10Gbps\" = \"65pkt\" }"));
        }
        let is_vast = |&&(_, limit): &&(Rate, Limit)| matches!(limit, Limit::Bytes(bytes) if bytes >= VAST);
        if let Some(&(rate, limit)) = self.at.entries().iter().find(is_vast) {
            let what = format!("at {} the threshold is {}", show_rate(rate), show_limit(limit));
            return Err(KeyConflict::of("at", what, "a threshold below 4 GB"));
        }
        if self.full.is_empty() {
            return match self.p_max {
                CERTAIN => Ok(()),
                _ => Err(KeyConflict::of(
                    "p_max",
                    "p_max is the probability of a mark at full, and full is not set",
                    "full = { \"40Gbps\" = \"200kB\" }, or no p_max",
                )),
            };
        }
        self.check_ramp()
    }

    /// Checks that the backlogs of `full` are above those of `at`, in the same unit.
    fn check_ramp(&self) -> Result<(), KeyConflict> {
        for &(rate, to) in self.full.entries() {
            let what = match (self.at.get(rate), to) {
                (Some(Limit::Packets(from)), Limit::Packets(to)) if to > from => continue,
                (Some(Limit::Bytes(from)), Limit::Bytes(to)) if to > from => continue,
                (Some(from), to) => {
                    format!(
                        "at {} full is {}, and at is {}",
                        show_rate(rate),
                        show_limit(to),
                        show_limit(from)
                    )
                }
                (None, _) => format!("full has {}, and at has not", show_rate(rate)),
            };
            let fix = "for rates of at, a larger backlog than there, in the same unit";
            return Err(KeyConflict::of("full", what, fix));
        }
        Ok(())
    }

    /// Returns the threshold at links of `rate`.
    pub fn threshold(&self, rate: Rate) -> Option<Limit> {
        self.at.get(rate)
    }

    /// Adds thresholds for those of `rates` that have none, in proportion to that of the next slower rate that has one, or
    /// else of the slowest, rounded up; returns what it adds.
    pub fn complete(&mut self, rates: &[Rate]) -> Vec<DerivedLimit> {
        self.full.complete(rates);
        self.at.complete(rates)
    }

    /// Returns `buffer` with the marking threshold at a link of `rate`.
    pub fn marking(&self, rate: Rate, buffer: Buffer) -> Buffer {
        let mark_above = self.threshold(rate).unwrap_or(Limit::Unlimited);
        let ramp = self.full.get(rate).map(|full| Ramp { full, most: self.p_max });
        Buffer { mark_above, mark_scope: self.per, ramp, ..buffer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Bounds, Form, InTable, KeyError, Value};

    type Entries<'a> = Vec<(&'a str, Value<'a>)>;

    fn read(at: Entries<'_>, full: Option<Entries<'_>>, p_max: Option<f64>) -> Result<Ecn, KeyError> {
        let full = full.map(|full| ("full", Value::Table(full)));
        let p_max = p_max.map(|p_max| ("p_max", Value::Float(p_max)));
        let entries = [("at", Value::Table(at))].into_iter().chain(full).chain(p_max).collect();
        InTable::read(&Value::Table(entries), &Bounds::ANY)
    }

    fn at<'a>(rate: &'a str, limit: &'a str) -> Entries<'a> {
        vec![(rate, Value::Text(limit))]
    }

    #[test]
    fn a_ramp_leads_from_at_to_full_and_other_rates_follow_in_proportion() {
        let mut ecn = read(at("40Gbps", "5kB"), Some(at("40Gbps", "200kB")), Some(0.01)).unwrap();
        ecn.complete(&[Rate::from_gbps(100)]);
        let buffer = ecn.marking(Rate::from_gbps(100), Buffer::UNLIMITED);
        assert_eq!(buffer.mark_above, Limit::Bytes(12_500));
        assert_eq!(buffer.ramp, Some(Ramp { full: Limit::Bytes(500_000), most: 10_000 }));
        let step = read(at("40Gbps", "5kB"), None, None).unwrap();
        assert_eq!(step.marking(Rate::from_gbps(40), Buffer::UNLIMITED).ramp, None);
    }

    /// Buffers with this limit for all queues together, for each, and with pushing out.
    fn limited(limit: Limit, at: &ByRate, rate: Option<Rate>) -> [BufferSpec; 3] {
        let shared = BufferSpec::Shared { limit, at: at.clone(), rate };
        let per_queue = BufferSpec::PerQueue { limit, at: at.clone(), rate };
        [shared, per_queue, BufferSpec::PushOut { limit, at: at.clone(), rate }]
    }

    #[test]
    fn without_a_limit_at_any_rate_a_buffer_is_unbounded() {
        let at = read(at("40Gbps", "5kB"), None, None).unwrap().at;
        for mut buffer in limited(Limit::Unlimited, &ByRate::default(), None) {
            buffer.normalize();
            assert_eq!(buffer, BufferSpec::Unbounded);
        }
        let limits = limited(Limit::Unlimited, &at, None).into_iter();
        for buffer in limits.chain(limited(Limit::Bytes(9), &ByRate::default(), None)) {
            let mut same = buffer.clone();
            same.normalize();
            assert_eq!(same, buffer);
        }
    }

    #[test]
    fn a_port_has_the_limit_of_its_rate() {
        let at = read(at("40Gbps", "5kB"), None, None).unwrap().at;
        let scopes = [Scope::Port, Scope::Queue, Scope::Port];
        for (buffer, scope) in limited(Limit::Bytes(1_000), &at, None).into_iter().zip(scopes) {
            let of = |gbps| buffer.buffer_at(Rate::from_gbps(gbps));
            let limits = [10, 40].map(|gbps| (of(gbps).limit, of(gbps).limit_scope));
            assert_eq!(limits, [(Limit::Bytes(1_000), scope), (Limit::Bytes(5_000), scope)]);
            assert!(buffer.depends_on_rate() && buffer.at() == [(Rate::from_gbps(40), Limit::Bytes(5_000))]);
        }
        // 1,000 B at 10 Gbps are 10,000 B at 100 Gbps, and the rate is used once.
        for mut buffer in limited(Limit::Bytes(1_000), &ByRate::default(), Some(Rate::from_gbps(10))) {
            assert!(buffer.depends_on_rate());
            assert_eq!(buffer.complete(&[1, 10, 100].map(Rate::from_gbps)).len(), 1);
            let limits = [1, 10, 100].map(|gbps| buffer.limit_at(Rate::from_gbps(gbps)));
            assert_eq!(limits, [1_000, 1_000, 10_000].map(Limit::Bytes));
            assert!(buffer.complete(&[Rate::from_gbps(200)]).is_empty());
        }
        for buffer in [BufferSpec::Unbounded, BufferSpec::ZeroLoss { signals: 7 }] {
            assert!(!buffer.depends_on_rate() && buffer.at().is_empty() && buffer.memory().is_none());
        }
    }

    #[test]
    fn the_memory_of_a_switch_grows_with_its_capacity() {
        let alpha = Alpha::new((1, 1)).unwrap();
        let capacity = Some(Rate::from_gbps(300));
        let mut buffer = BufferSpec::Dynamic { size: 1_000, capacity, alpha };
        assert_eq!(buffer.buffer_at(Rate::from_gbps(10)).limit, Limit::Unlimited);
        let same = buffer.clone().fit(Rate::from_gbps(300));
        // 1,000 B * 400 / 300 are 1,333.3 B.
        assert_eq!((same, buffer.fit(Rate::from_gbps(400))), (None, Some((1_334, 1_000))));
        assert_eq!(buffer.memory(), Some(SharedBuffer { size: 1_334, alpha }));
        assert_eq!(buffer.fit(Rate::from_gbps(800)), None, "the capacity is used once");
    }

    #[test]
    fn a_threshold_that_no_queue_reaches_is_refused() {
        let error = read(at("40Gbps", "4GB"), None, None).unwrap_err();
        assert!(format!("{error:?}").contains("at 40Gbps the threshold is 4GB"), "{error:?}");
    }

    #[test]
    fn a_ramp_that_leads_nowhere_is_refused() {
        let refused = [
            (Some(at("40Gbps", "5kB")), Some(0.01), "at 40Gbps full is 5kB, and at is 5kB"),
            (Some(at("40Gbps", "200pkt")), None, "at 40Gbps full is 200pkt, and at is 5kB"),
            (Some(at("10Gbps", "200kB")), None, "full has 10Gbps, and at has not"),
            (None, Some(0.01), "p_max is the probability of a mark at full, and full is not set"),
        ];
        for (full, p_max, message) in refused {
            let error = read(at("40Gbps", "5kB"), full, p_max).unwrap_err();
            assert!(format!("{error:?}").contains(message), "{error:?}");
        }
    }
}
