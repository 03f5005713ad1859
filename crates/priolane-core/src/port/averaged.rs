//! Marks by an average of the backlog, as RED has them (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993; sch_red of Linux).
//!
//! ```text
//! A' = (1 - w)^m A           m: full frames that the line could have sent since the queue ran empty; 0 if it has packets
//! A  = A' + w (q - A')       q: backlog with the arriving packet
//! mark by A: at, full and p_max are those of marks by the backlog itself
//! ```
//!
//! Each arrival is a sample, whether it can be marked or is dropped. Idle time is counted as RED counts it, because the
//! period in which switch chips update their averages is not public (docs/assumptions.md#red-average).

use super::backlog::Slope;
use super::{Admission, Buffer, Discipline, PortContext, PortFactory, PortSink, Scope, SortBy};
use crate::ids::{CLASSES, Class, ClassSet};
use crate::packet::{Header, Marks, QueueItem};
use crate::units::{Limit, Rate, Time};

/// The unit of the weight.
const PER_MILLION: f64 = 1e6;

/// A discipline whose packets are marked by an average of the backlog.
#[derive(Clone, Debug, PartialEq)]
pub struct AveragedSpec<S> {
    /// The discipline, whose own marks are replaced. It is boxed, as the list of disciplines has this one, too.
    pub inner: Box<S>,
    /// The weight of an arrival in the average, in millionths, 1 to 1,000,000.
    pub weight: u32,
}

impl<S: PortFactory> PortFactory for AveragedSpec<S> {
    type Port<P: QueueItem> = Averaged<S::Port<P>>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Self::Port<P> {
        let unmarked = Buffer { mark_above: Limit::Unlimited, ramp: None, ..context.buffer };
        let inner = self.inner.build(&PortContext { buffer: unmarked, ..*context });
        let map = std::array::from_fn(|class| self.inner.queue_of(class as Class));
        Averaged { inner, average: AverageMarks::new(f64::from(self.weight) / PER_MILLION, map, context) }
    }

    fn queue_of(&self, class: Class) -> u8 {
        self.inner.queue_of(class)
    }

    fn is_pausable(&self) -> bool {
        self.inner.is_pausable()
    }

    fn is_limited(&self) -> bool {
        self.inner.is_limited()
    }

    fn sends_back(&self) -> bool {
        self.inner.sends_back()
    }

    fn reads_ranks(&self) -> bool {
        self.inner.reads_ranks()
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    fn without_qdisc(&self) -> &'static str {
        "marks by an average of the queue (ecn.average): a kernel switch marks by the queue itself"
    }
}

/// The average of a queue, or of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    /// In packets or bytes, as the threshold.
    value: f64,
    /// The end of the last transmission.
    idle_from: Time,
}

/// Averages of backlogs, and the decision by them.
#[derive(Clone, Debug)]
struct AverageMarks {
    weight: f64,
    threshold: Limit,
    scope: Scope,
    slope: Slope,
    map: [u8; CLASSES],
    sort_by: SortBy,
    rate: Rate,
    /// The time of a full frame on the line, in picoseconds.
    frame_ps: f64,
    of: [Average; CLASSES],
}

impl AverageMarks {
    fn new(weight: f64, map: [u8; CLASSES], context: &PortContext) -> Self {
        let Buffer { mark_above, mark_scope, ramp, .. } = context.buffer;
        let frame = context.rate.serialize(u64::from(context.frame.max_wire()));
        Self {
            weight,
            threshold: mark_above,
            scope: mark_scope,
            slope: Slope::of(mark_above, ramp),
            map,
            sort_by: context.sort_by,
            rate: context.rate,
            frame_ps: frame.0 as f64,
            of: [Average::default(); CLASSES],
        }
    }

    /// Returns the number of the average that a packet counts in.
    fn place(&self, header: &Header) -> usize {
        let key = match (self.scope, self.sort_by) {
            (Scope::Port, _) => return 0,
            (Scope::Queue, SortBy::Class) => header.class,
            (Scope::Queue, SortBy::HostLevel) => header.host_level,
        };
        usize::from(self.map[usize::from(key) % CLASSES]) % CLASSES
    }

    /// Notes that a packet starts transmission at `t`.
    fn sends(&mut self, t: Time, header: &Header) {
        let place = self.place(header);
        self.of[place].idle_from = t + self.rate.serialize(u64::from(header.wire));
    }

    /// Counts an arrival at `now` that finds these packets and bytes; returns the average.
    fn sample(&mut self, now: Time, header: &Header, (packets, bytes): (u32, u64)) -> f64 {
        let found = match self.threshold {
            Limit::Packets(_) => f64::from(packets) + 1.0,
            Limit::Bytes(_) | Limit::Unlimited => (bytes + u64::from(header.wire)) as f64,
        };
        let place = self.place(header);
        let Average { value, idle_from } = &mut self.of[place];
        if packets == 0 && now > *idle_from {
            let frames = now.since(*idle_from).0 as f64 / self.frame_ps;
            *value *= libm::pow(1.0 - self.weight, frames);
        }
        *value += self.weight * (found - *value);
        *value
    }

    /// Returns whether an arrival is to be marked, and counts it.
    fn marks(&mut self, now: Time, header: &Header, found: (u32, u64)) -> bool {
        let average = self.sample(now, header, found);
        let threshold = match self.threshold {
            Limit::Packets(packets) => f64::from(packets),
            Limit::Bytes(bytes) => bytes as f64,
            Limit::Unlimited => return false,
        };
        if !header.marks.has(Marks::ECN_CAPABLE) || average <= threshold {
            return false;
        }
        // Numbers above 2^64 become the largest one.
        let excess = ((average - threshold) * Slope::PARTS as f64) as u64;
        self.slope.is_step() || self.slope.marks(excess, header, found.1 + u64::from(header.wire))
    }
}

/// A port that marks by an average of the backlog.
#[derive(Debug)]
pub struct Averaged<D> {
    inner: D,
    average: AverageMarks,
}

impl<D> Averaged<D> {
    /// Counts an arrival, and returns whether it is to be marked.
    fn marks<P: QueueItem>(&mut self, now: Time, header: &Header) -> bool
    where
        D: Discipline<P>,
    {
        let found = match self.average.scope {
            Scope::Port => (self.inner.packets(), self.inner.bytes()),
            Scope::Queue => (self.inner.packets_before(header), self.inner.bytes_before(header)),
        };
        self.average.marks(now, header, found)
    }
}

fn marked(admission: Admission) -> Admission {
    if admission == Admission::Queued { Admission::Marked } else { admission }
}

impl<P: QueueItem, D: Discipline<P>> Discipline<P> for Averaged<D> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        self.inner.expire(now, out);
        if !self.marks(now, item.header()) {
            return self.inner.enqueue(now, item, out);
        }
        let mut with_mark = *item;
        Admission::Marked.mark(&mut with_mark);
        marked(self.inner.enqueue(now, &with_mark, out))
    }

    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let admission = self.inner.try_bypass(now, header)?;
        let marks = self.marks(now, header);
        if admission.is_kept() {
            self.average.sends(now, header);
        }
        Some(if marks { marked(admission) } else { admission })
    }

    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        self.inner.expire(now, out);
    }

    fn next_eligible_time(&self) -> Option<Time> {
        self.inner.next_eligible_time()
    }

    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        let item = self.inner.dequeue(t, out)?;
        self.average.sends(t, item.header());
        Some(item)
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        self.inner.is_ready(paused)
    }

    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        let item = self.inner.dequeue_unpaused(t, paused, out)?;
        self.average.sends(t, item.header());
        Some(item)
    }

    fn packets(&self) -> u32 {
        self.inner.packets()
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn payload_bytes(&self) -> u64 {
        self.inner.payload_bytes()
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        self.inner.bytes_before(header)
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.inner.packets_before(header)
    }
}

#[cfg(test)]
mod tests;
