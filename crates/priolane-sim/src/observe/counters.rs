//! What a line and the queues in front of it count, class by class.

use std::hint::select_unpredictable;

use priolane_core::ids::{CLASSES, Class, ClassSet, LinkId};
use priolane_core::packet::{Header, Kind};
use priolane_core::units::{Span, Time};

use crate::observe::outcome::{ClassSample, PacketCount, PortClassRecord, PortQueue, Readings, Sample};

/// What one class saw at a line and the queues in front of it.
#[derive(Clone, Copy, Debug, Default)]
struct ClassCount {
    served: PacketCount,
    /// Sum of starts minus sum of arrivals, wrapping: the total wait once nothing is waiting, in picoseconds
    /// (below 2^64: half a year).
    waited: u64,
    inversions: u64,
    waiting: u32,
}

/// What one class lost at a line, and what happens to few packets.
#[derive(Clone, Copy, Debug, Default)]
struct ClassLoss {
    marked: u64,
    dropped: PacketCount,
    lost: PacketCount,
    /// Packets and the bytes that were cut off them.
    trimmed: PacketCount,
    expired: PacketCount,
    /// How long the class was paused, in picoseconds.
    paused: u64,
}

/// Counts by class; the one owner of "who waited for whom".
#[derive(Debug, Default)]
pub(crate) struct PortCounters {
    /// Class 0 in place: most ports see no other.
    first: ClassCount,
    /// Bit `c` is set while a packet of class `c` waits.
    waiting: u16,
    /// Bit `c` is set once a packet of class `c`, above 0, came.
    seen: u16,
    /// The most bytes of payload packets that waited, up to 4 GB.
    peak: u32,
    /// As `waited` of a class, of payload packets of all classes.
    payload_waited: u64,
    /// None while all that happened is in `first`.
    rest: Option<Box<Rest>>,
}

/// With it, all of a port with one queue is three cache lines.
const _: () = assert!(size_of::<PortCounters>() == 64);

/// Counts that many ports do without.
#[derive(Debug, Default)]
struct Rest {
    /// The classes above 0.
    others: [ClassCount; CLASSES - 1],
    /// None before the first loss.
    losses: Option<Box<[ClassLoss; CLASSES]>>,
    /// Bytes of each class served up to the last sample instant at which the port was read.
    sampled: [u64; CLASSES],
}

/// Apart, so that those who count do not make room for it.
#[cold]
#[inline(never)]
fn no_rest() -> Box<Rest> {
    Box::default()
}

/// The bit of a class.
#[inline]
fn bit(class: Class) -> u16 {
    1 << (usize::from(class) % CLASSES)
}

/// `t` for a packet of payload, else 0. Payload and answers take turns, as no processor can foresee.
#[inline]
fn of_payload(t: Time, header: &Header) -> u64 {
    select_unpredictable(header.kind == Kind::Data, t.0, 0)
}

impl PortCounters {
    #[inline]
    fn of(&mut self, class: Class) -> &mut ClassCount {
        let class = usize::from(class) % CLASSES;
        if class == 0 {
            return &mut self.first;
        }
        self.seen |= bit(class as Class);
        &mut self.rest().others[class - 1]
    }

    #[inline]
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(no_rest)
    }

    /// The classes of which a packet came, and class 0.
    fn all(&self) -> impl Iterator<Item = (usize, &ClassCount)> {
        let above_0 = ClassSet(self.seen).iter().map(usize::from);
        let others = above_0.filter_map(|class| Some((class, self.rest.as_ref()?.others.get(class - 1)?)));
        std::iter::once((0, &self.first)).chain(others)
    }

    fn loss_of(&mut self, class: Class) -> &mut ClassLoss {
        let losses = &mut self.rest().losses;
        &mut losses.get_or_insert_default()[usize::from(class) % CLASSES]
    }

    /// A packet is queued at `now`.
    #[inline]
    pub(crate) fn queued(&mut self, now: Time, header: &Header) {
        let count = self.of(header.class);
        count.waiting += 1;
        count.waited = count.waited.wrapping_sub(now.0);
        self.waiting |= bit(header.class);
        self.payload_waited = self.payload_waited.wrapping_sub(of_payload(now, header));
    }

    /// So many bytes of payload packets wait.
    #[inline]
    pub(crate) fn holds(&mut self, bytes: u64) {
        self.peak = self.peak.max(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// A queued packet starts service at `t`.
    #[inline]
    pub(crate) fn dequeued(&mut self, t: Time, header: &Header) {
        let better = self.waiting & (bit(header.class) - 1);
        let count = self.of(header.class);
        count.inversions += u64::from(better != 0);
        self.left(t, header);
    }

    /// A queued packet waits no longer from `t` on.
    #[inline]
    fn left(&mut self, t: Time, header: &Header) {
        let count = self.of(header.class);
        count.waiting -= 1;
        count.waited = count.waited.wrapping_add(t.0);
        let is_last = count.waiting == 0;
        self.waiting &= !select_unpredictable(is_last, bit(header.class), 0);
        self.payload_left(t, header);
    }

    /// A packet of payload, if it is one, waits no longer from `t` on, as it leaves or as the run ends.
    #[inline]
    pub(crate) fn payload_left(&mut self, t: Time, header: &Header) {
        self.payload_waited = self.payload_waited.wrapping_add(of_payload(t, header));
    }

    /// What was served of a class that was seen here before.
    #[inline]
    pub(crate) fn served_of(&mut self, class: Class) -> Option<&mut PacketCount> {
        let class = usize::from(class) % CLASSES;
        match class.checked_sub(1) {
            None => Some(&mut self.first.served),
            Some(_) if self.seen & bit(class as Class) == 0 => None,
            Some(other) => self.rest.as_mut().map(|rest| &mut rest.others[other].served),
        }
    }

    /// A packet is put on the line.
    #[inline]
    pub(crate) fn sent(&mut self, class: Class, wire: u16) {
        self.of(class).served.add(wire);
    }

    /// A packet on the line is lost.
    #[cold]
    pub(crate) fn lost(&mut self, class: Class, wire: u16) {
        self.loss_of(class).lost.add(wire);
    }

    /// A packet got the congestion mark here.
    #[inline]
    pub(crate) fn marked(&mut self, class: Class) {
        self.loss_of(class).marked += 1;
    }

    /// A packet found no room.
    #[inline]
    pub(crate) fn dropped(&mut self, class: Class, wire: u16) {
        self.loss_of(class).dropped.add(wire);
    }

    /// The payload of a packet was cut off: `cut` bytes less on the wire.
    #[cold]
    pub(crate) fn trimmed(&mut self, class: Class, cut: u16) {
        self.loss_of(class).trimmed.add(cut);
    }

    /// A queued packet is pushed out at `now`: it waits no longer and is dropped.
    #[cold]
    pub(crate) fn evicted(&mut self, now: Time, header: &Header) {
        self.left(now, header);
        self.dropped(header.class, header.wire);
    }

    /// A queued packet is found at `now` to have waited too long, and discarded.
    #[cold]
    pub(crate) fn expired(&mut self, now: Time, header: &Header) {
        self.left(now, header);
        self.loss_of(header.class).expired.add(header.wire);
    }

    /// The class was paused for `span`.
    #[cold]
    pub(crate) fn paused(&mut self, class: Class, span: Span) {
        self.loss_of(class).paused += span.0;
    }

    /// The rows of classes that saw a packet, as of `now`; `queue_of` names the queue that serves a class.
    pub(crate) fn records(
        &self,
        link: LinkId,
        now: Time,
        queue_of: &dyn Fn(Class) -> u8,
    ) -> Vec<PortClassRecord> {
        let record = |(class, c, loss): (usize, &ClassCount, ClassLoss)| PortClassRecord {
            link,
            class: class as Class,
            queue: queue_of(class as Class),
            packets: c.served.packets,
            bytes: c.served.bytes,
            dropped: loss.dropped.packets,
            marked: loss.marked,
            lost: loss.lost.packets,
            trimmed: loss.trimmed.packets,
            expired: loss.expired.packets,
            paused: Span(loss.paused),
            inversions: c.inversions,
            waited: c.waited.wrapping_add(now.0.wrapping_mul(u64::from(c.waiting))),
        };
        let losses = self.rest.as_ref().and_then(|rest| rest.losses.as_deref().copied()).unwrap_or_default();
        let mut counts = [ClassCount::default(); CLASSES];
        self.all().for_each(|(class, count)| counts[class] = *count);
        let happened = |(_, c, loss): &(usize, &ClassCount, ClassLoss)| {
            let met = c.served.packets + loss.dropped.packets + loss.expired.packets + u64::from(c.waiting);
            met > 0 || loss.paused > 0
        };
        let rows = counts.iter().zip(losses).enumerate().map(|(class, (c, loss))| (class, c, loss));
        rows.filter(happened).map(record).collect()
    }

    /// What waited here, if anything did: once all that is left was told to `payload_left`.
    pub(crate) fn queue(&self, link: LinkId) -> Option<PortQueue> {
        let waited = self.payload_waited > 0 || self.peak > 0;
        waited.then(|| PortQueue { link, peak_bytes: u64::from(self.peak), waited: self.payload_waited })
    }

    /// Bytes put on the line since the last sample instant.
    pub(crate) fn unsampled_bytes(&self) -> u64 {
        self.served_bytes() - self.rest.as_ref().map_or(0, |rest| rest.sampled.iter().sum())
    }

    /// Reads the port of `link` if it holds something or sent something since the last sample.
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
        self.all().for_each(|(class, count)| served[class] = count.served.bytes);
        let before = std::mem::replace(&mut self.rest().sampled, served);
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

    /// Bytes put on the line.
    pub(crate) fn served_bytes(&self) -> u64 {
        self.all().map(|(_, count)| count.served.bytes).sum()
    }

    /// Packets put on the line.
    pub(crate) fn served(&self) -> u64 {
        self.all().map(|(_, count)| count.served.packets).sum()
    }

    /// Dropped, lost, trimmed and expired packets of each class.
    pub(crate) fn losses(&self) -> impl Iterator<Item = [&PacketCount; 4]> {
        let all = self.rest.iter().filter_map(|rest| rest.losses.as_deref()).flatten();
        all.map(|loss| [&loss.dropped, &loss.lost, &loss.trimmed, &loss.expired])
    }
}

/// What a host's transport made and took of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostCounters {
    pub(crate) made: PacketCount,
    pub(crate) taken: PacketCount,
}

impl PacketCount {
    /// One more packet of `wire` bytes.
    #[inline]
    pub(crate) fn add(&mut self, wire: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire);
    }
}
