//! Counters of a link and the queues in front of it, by class.

use std::hint::select_unpredictable;

use priolane_core::ids::{CLASSES, Class, ClassSet, LinkId};
use priolane_core::packet::{Header, Kind};
use priolane_core::units::{Span, Time};

use crate::observe::outcome::{ClassSample, PacketCount, PortClassRecord, PortQueue, Readings, Sample};

/// Counters of one class at a link and its queues.
#[derive(Clone, Copy, Debug, Default)]
struct ClassCount {
    served: PacketCount,
    /// Sum of service starts minus sum of arrivals, wrapping: the total wait once the queue is empty, in picoseconds
    /// (below 2^64: half a year).
    waited: u64,
    marked: u64,
    waiting: u32,
}

impl ClassCount {
    /// Counts a packet as no longer waiting from `t`; returns true if none waits any more.
    #[inline]
    fn leave(&mut self, t: Time) -> bool {
        self.waiting -= 1;
        self.waited = self.waited.wrapping_add(t.0);
        self.waiting == 0
    }
}

/// Counters of a class above 0.
#[derive(Clone, Copy, Debug, Default)]
struct LowerClass {
    count: ClassCount,
    /// Packets that started service while a packet of a better class waited. There is none better than class 0.
    inversions: u64,
}

/// Losses and other rare events of one class at a link.
#[derive(Clone, Copy, Debug, Default)]
struct ClassLoss {
    dropped: PacketCount,
    lost: PacketCount,
    /// Packets and their trimmed bytes.
    trimmed: PacketCount,
    expired: PacketCount,
    /// Total duration of pauses of the class, in picoseconds.
    paused: u64,
}

/// Counters by class, including priority inversions.
#[derive(Debug, Default)]
pub(crate) struct PortCounters {
    /// Class 0, stored inline: most ports use no other.
    first: ClassCount,
    /// Bit `c` is set while a packet of class `c` waits.
    waiting: u16,
    /// Bit `c` is set once a packet of class `c`, above 0, arrived.
    seen: u16,
    /// Peak bytes of queued payload packets, up to 4 GB.
    peak: u32,
    /// As `waited` of a class, for payload packets of all classes.
    payload_waited: u64,
    /// `None` while all counts are in `first`, and nothing was lost or sampled.
    rest: Option<Box<Rest>>,
}

/// With this, a port with one queue takes three cache lines.
const _: () = assert!(size_of::<PortCounters>() == 64);

/// Counters that many ports do not need.
#[derive(Debug, Default)]
struct Rest {
    /// The classes above 0.
    others: [LowerClass; CLASSES - 1],
    /// Up to the last class with a loss.
    losses: Vec<ClassLoss>,
    /// Bytes of each class served up to the last sample of the port; `None` before the first.
    sampled: Option<Box<[u64; CLASSES]>>,
}

/// Out of line, to keep the code of the counters small.
#[cold]
#[inline(never)]
fn no_rest() -> Box<Rest> {
    Box::default()
}

/// Returns the bit of a class.
#[inline]
fn bit(class: Class) -> u16 {
    1 << (usize::from(class) % CLASSES)
}

/// Returns `t` for a payload packet, else 0. Branch-free, because processors cannot predict the alternation of payload
/// and replies.
#[inline]
fn of_payload(t: Time, header: &Header) -> u64 {
    select_unpredictable(header.kind == Kind::Data, t.0, 0)
}

impl PortCounters {
    #[inline(always)]
    fn of(&mut self, class: Class) -> &mut ClassCount {
        if usize::from(class).is_multiple_of(CLASSES) {
            return &mut self.first;
        }
        &mut self.lower(class).count
    }

    /// Returns the counters of a class above 0.
    #[inline(never)]
    fn lower(&mut self, class: Class) -> &mut LowerClass {
        self.seen |= bit(class);
        &mut self.rest().others[usize::from(class) % CLASSES - 1]
    }

    #[inline]
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(no_rest)
    }

    /// Iterates over class 0 and the classes of which a packet arrived.
    fn all(&self) -> impl Iterator<Item = (usize, LowerClass)> {
        let above_0 = ClassSet(self.seen).iter().map(usize::from);
        let others = above_0.filter_map(|class| Some((class, *self.rest.as_ref()?.others.get(class - 1)?)));
        std::iter::once((0, LowerClass { count: self.first, inversions: 0 })).chain(others)
    }

    fn loss_of(&mut self, class: Class) -> &mut ClassLoss {
        let losses = &mut self.rest().losses;
        let class = usize::from(class) % CLASSES;
        if losses.len() <= class {
            losses.reserve_exact(class + 1 - losses.len());
            losses.resize(class + 1, ClassLoss::default());
        }
        &mut losses[class]
    }

    /// Counts a packet that is enqueued at `now`.
    #[inline]
    pub(crate) fn queued(&mut self, now: Time, header: &Header) {
        let count = self.of(header.class);
        count.waiting += 1;
        count.waited = count.waited.wrapping_sub(now.0);
        self.waiting |= bit(header.class);
        self.payload_waited = self.payload_waited.wrapping_sub(of_payload(now, header));
    }

    /// Updates the peak of queued payload bytes.
    #[inline]
    pub(crate) fn holds(&mut self, bytes: u64) {
        self.peak = self.peak.max(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Counts a queued packet that starts service at `t`.
    #[inline]
    pub(crate) fn dequeued(&mut self, t: Time, header: &Header) {
        let class = bit(header.class);
        let better = self.waiting & (class - 1);
        let is_last = if class == bit(0) {
            self.first.leave(t)
        } else {
            let lower = self.lower(header.class);
            lower.inversions += u64::from(better != 0);
            lower.count.leave(t)
        };
        self.waiting &= !select_unpredictable(is_last, class, 0);
        self.payload_left(t, header);
    }

    /// Counts a queued packet as no longer waiting from `t`.
    #[inline]
    fn left(&mut self, t: Time, header: &Header) {
        let is_last = self.of(header.class).leave(t);
        self.waiting &= !select_unpredictable(is_last, bit(header.class), 0);
        self.payload_left(t, header);
    }

    /// Counts a payload packet as no longer waiting from `t`, because it leaves or the run ends; ignores other
    /// packets.
    #[inline]
    pub(crate) fn payload_left(&mut self, t: Time, header: &Header) {
        self.payload_waited = self.payload_waited.wrapping_add(of_payload(t, header));
    }

    /// Returns the served packets of a class that was seen here before.
    #[inline]
    pub(crate) fn served_of(&mut self, class: Class) -> Option<&mut PacketCount> {
        let class = usize::from(class) % CLASSES;
        match class.checked_sub(1) {
            None => Some(&mut self.first.served),
            Some(_) if self.seen & bit(class as Class) == 0 => None,
            Some(other) => self.rest.as_mut().map(|rest| &mut rest.others[other].count.served),
        }
    }

    /// Counts a packet whose transmission starts.
    #[inline]
    pub(crate) fn sent(&mut self, class: Class, wire: u16) {
        self.of(class).served.add(wire);
    }

    /// Counts a packet lost on the link.
    #[cold]
    pub(crate) fn lost(&mut self, class: Class, wire: u16) {
        self.loss_of(class).lost.add(wire);
    }

    /// Counts a packet that was CE-marked here.
    #[inline]
    pub(crate) fn marked(&mut self, class: Class) {
        self.of(class).marked += 1;
    }

    /// Counts a packet dropped for lack of room.
    #[inline]
    pub(crate) fn dropped(&mut self, class: Class, wire: u16) {
        self.loss_of(class).dropped.add(wire);
    }

    /// Counts a trimmed packet, with `cut` fewer bytes on the wire.
    #[cold]
    pub(crate) fn trimmed(&mut self, class: Class, cut: u16) {
        self.loss_of(class).trimmed.add(cut);
    }

    /// Counts a queued packet that is evicted at `now`: it no longer waits and is dropped.
    #[cold]
    pub(crate) fn evicted(&mut self, now: Time, header: &Header) {
        self.left(now, header);
        self.dropped(header.class, header.wire);
    }

    /// Counts a queued packet that has expired and is discarded at `now`.
    #[cold]
    pub(crate) fn expired(&mut self, now: Time, header: &Header) {
        self.left(now, header);
        self.loss_of(header.class).expired.add(header.wire);
    }

    /// Adds a pause of the class for `span`.
    #[cold]
    pub(crate) fn paused(&mut self, class: Class, span: Span) {
        self.loss_of(class).paused += span.0;
    }

    /// Returns the records of classes with packets, as of `now`; `queue_of` returns the queue of a class.
    pub(crate) fn records(
        &self,
        link: LinkId,
        now: Time,
        queue_of: &dyn Fn(Class) -> u8,
    ) -> Vec<PortClassRecord> {
        let record = |class: usize, of: LowerClass, loss: ClassLoss| {
            let LowerClass { count: c, inversions } = of;
            PortClassRecord {
                link,
                class: class as Class,
                queue: queue_of(class as Class),
                packets: c.served.packets,
                bytes: c.served.bytes,
                dropped: loss.dropped.packets,
                marked: c.marked,
                lost: loss.lost.packets,
                trimmed: loss.trimmed.packets,
                expired: loss.expired.packets,
                paused: Span(loss.paused),
                inversions,
                waited: c.waited.wrapping_add(now.0.wrapping_mul(u64::from(c.waiting))),
            }
        };
        let mut counts = [(LowerClass::default(), ClassLoss::default()); CLASSES];
        self.all().for_each(|(class, of)| counts[class].0 = of);
        self.losses_by_class().zip(&mut counts).for_each(|(loss, count)| count.1 = *loss);
        let happened = |(_, (LowerClass { count, .. }, loss)): &(usize, &(LowerClass, ClassLoss))| {
            let waiting = u64::from(count.waiting);
            let met = count.served.packets + loss.dropped.packets + loss.expired.packets + waiting;
            met > 0 || loss.paused > 0
        };
        let rows = counts.iter().enumerate().filter(happened);
        rows.map(|(class, &(of, loss))| record(class, of, loss)).collect()
    }

    /// Returns the queue statistics if payload waited here; called after `payload_left` for all remaining packets.
    pub(crate) fn queue(&self, link: LinkId) -> Option<PortQueue> {
        let waited = self.payload_waited > 0 || self.peak > 0;
        waited.then(|| PortQueue { link, peak_bytes: u64::from(self.peak), waited: self.payload_waited })
    }

    /// Returns the bytes transmitted since the last sample.
    pub(crate) fn unsampled_bytes(&self) -> u64 {
        let sampled = self.rest.as_ref().and_then(|rest| rest.sampled.as_deref());
        self.served_bytes() - sampled.map_or(0, |sampled| sampled.iter().sum())
    }

    /// Samples the port of `link` if it has queued packets or transmitted since the last sample.
    pub(crate) fn sample(
        &mut self,
        (at, link): (Time, LinkId),
        (queued_packets, queued_bytes): (u32, u64),
        into: &mut Readings,
    ) {
        let sent_bytes = self.unsampled_bytes();
        if queued_packets == 0 && sent_bytes == 0 {
            return;
        }
        into.ports.push(Sample { at, link, queued_bytes, queued_packets, sent_bytes });
        if sent_bytes == 0 {
            return;
        }
        let mut served = [0; CLASSES];
        self.all().for_each(|(class, of)| served[class] = of.count.served.bytes);
        let sampled = self.rest().sampled.get_or_insert_default();
        let before = std::mem::replace(&mut **sampled, served);
        let above_0 = std::iter::zip(served, before).enumerate().skip(1);
        into.classes.extend(above_0.filter(|(_, (now, before))| now > before).map(
            |(class, (now, before))| ClassSample {
                at,
                link,
                class: class as Class,
                sent_bytes: now - before,
            },
        ));
    }

    /// Returns the bytes transmitted.
    pub(crate) fn served_bytes(&self) -> u64 {
        self.all().map(|(_, of)| of.count.served.bytes).sum()
    }

    /// Returns the packets transmitted.
    pub(crate) fn served(&self) -> u64 {
        self.all().map(|(_, of)| of.count.served.packets).sum()
    }

    /// Iterates over the losses of each class, from 0 to the last with a loss.
    fn losses_by_class(&self) -> impl Iterator<Item = &ClassLoss> {
        self.rest.iter().flat_map(|rest| &rest.losses)
    }

    /// Iterates over dropped, lost, trimmed and expired packets of each class, from 0 to the last with a loss.
    pub(crate) fn losses(&self) -> impl Iterator<Item = [&PacketCount; 4]> {
        self.losses_by_class().map(|loss| [&loss.dropped, &loss.lost, &loss.trimmed, &loss.expired])
    }
}

/// Packets of one class that a host's transport sent and received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostCounters {
    pub(crate) made: PacketCount,
    pub(crate) taken: PacketCount,
}

impl PacketCount {
    /// Adds a packet of `wire` bytes.
    #[inline]
    pub(crate) fn add(&mut self, wire: u16) {
        // One addition with carry, which takes a third of the instructions of the vectors that two additions become.
        let count = u128::from(self.packets) << 64 | u128::from(self.bytes);
        let count = count + (1 << 64 | u128::from(wire));
        (self.packets, self.bytes) = ((count >> 64) as u64, count as u64);
    }
}
