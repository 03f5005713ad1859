//! A port: its discipline, and the line on which it sends.

use priolane_core::ids::{CLASSES, Class};
use priolane_core::packet::{Frame as Sizes, Header, Kind, Marks};
use priolane_core::port::{Admission, AnyDiscipline, Discipline, PortSink};
use priolane_core::units::{Rate, Span, Time};
use priolane_net::HeaderReader;

use super::counts::{ClassCount, ForwardCounts};
use super::frame::Layout;
use super::frames::Frames;
use super::item::Item;

/// The largest delay of the process that a line makes up for, which is the same at hosts.
pub const CATCH_UP: Span = Span::from_us(300);

/// The line of a port.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// The line sends the frame of this slot until this time.
    Busy { until: Time, slot: u32 },
    /// The line has been free since this time.
    Free { since: Time },
}

/// The state that all ports of a switch share.
pub(super) struct Shared {
    pub(super) frames: Frames,
    pub(super) reader: HeaderReader,
    pub(super) counts: ForwardCounts,
}

/// An egress port.
#[derive(Debug)]
pub(super) struct OutPort {
    pub(super) discipline: AnyDiscipline<Item>,
    rate: Rate,
    line: Line,
    /// The hardware addresses of receiver and sender.
    hardware: [u8; 12],
    pub(super) classes: [ClassCount; CLASSES],
    /// The largest number of bytes on the wire that waited in the queues of payload, without the packet that is being
    /// sent.
    pub(super) longest: u64,
}

fn of(classes: &mut [ClassCount; CLASSES], class: Class) -> &mut ClassCount {
    &mut classes[usize::from(class).min(CLASSES - 1)]
}

/// Counts the packets that a discipline discards or changes.
struct Sink<'a> {
    classes: &'a mut [ClassCount; CLASSES],
    frames: &'a mut Frames,
    returned: Option<Item>,
}

impl PortSink<Item> for Sink<'_> {
    fn evicted(&mut self, item: &Item) {
        of(self.classes, item.header.class).dropped += 1;
        self.frames.release(item.slot);
    }

    fn trimmed(&mut self, before: &Header, _after: &Header) {
        of(self.classes, before.class).trimmed += 1;
    }

    fn returned(&mut self, item: &Item) {
        self.returned = Some(*item);
    }

    fn expired(&mut self, item: &Item) {
        of(self.classes, item.header.class).expired += 1;
        self.frames.release(item.slot);
    }
}

impl OutPort {
    pub(super) fn new(discipline: AnyDiscipline<Item>, rate: Rate, hardware: [u8; 12]) -> Self {
        let line = Line::Free { since: Time::ZERO };
        Self { discipline, rate, line, hardware, classes: [ClassCount::default(); CLASSES], longest: 0 }
    }

    pub(super) fn is_sending(&self) -> bool {
        matches!(self.line, Line::Busy { .. })
    }

    /// Returns the time of the next event.
    pub(super) fn next(&self) -> Time {
        match self.line {
            Line::Busy { until, .. } => until,
            Line::Free { since } => {
                self.discipline.next_eligible_time().map_or(Time::NEVER, |eligible| eligible.max(since))
            }
        }
    }

    /// Postpones events before `floor` until then.
    pub(super) fn give_up_before(&mut self, floor: Time, counts: &mut ForwardCounts) {
        let next = self.next();
        if next < floor {
            counts.late += 1;
            counts.latest_ns = counts.latest_ns.max((floor.since(next) + CATCH_UP).0 / 1_000);
        }
        match &mut self.line {
            Line::Busy { until: at, .. } | Line::Free { since: at } => *at = (*at).max(floor),
        }
    }

    /// Handles all events until `to`, inclusive. `send` takes the frames that leave.
    pub(super) fn serve(&mut self, to: Time, shared: &mut Shared, send: &mut dyn FnMut(&[u8])) {
        loop {
            match self.line {
                Line::Busy { until, .. } if until > to => return,
                Line::Busy { until, slot } => {
                    send(&shared.frames.get_mut(slot).bytes);
                    shared.frames.release(slot);
                    self.line = Line::Free { since: until };
                }
                Line::Free { since } => {
                    let eligible = self.discipline.next_eligible_time();
                    let start = since.max(eligible.unwrap_or(Time::NEVER));
                    if start > to
                        || !self.start(start, shared) && self.discipline.next_eligible_time() == eligible
                    {
                        self.line = Line::Free { since: since.max(to) };
                        return;
                    }
                }
            }
        }
    }

    /// Starts the next packet at `start`, and returns whether the queues have changed.
    fn start(&mut self, start: Time, shared: &mut Shared) -> bool {
        let mut sink = Sink { classes: &mut self.classes, frames: &mut shared.frames, returned: None };
        let Some(&item) = self.discipline.dequeue(start, &mut sink) else { return false };
        match prepare(&item, shared) {
            Some(wire) => {
                let class = of(&mut self.classes, item.header.class);
                class.packets += 1;
                class.bytes += u64::from(wire);
                class.waited_ps += start.since(item.at).0;
                shared.frames.get_mut(item.slot).bytes[..12].copy_from_slice(&self.hardware);
                let until = start + self.rate.serialize(u64::from(wire));
                self.line = Line::Busy { until, slot: item.slot };
            }
            None => {
                shared.counts.uncut += 1;
                of(&mut self.classes, item.header.class).dropped += 1;
                shared.frames.release(item.slot);
            }
        }
        true
    }

    /// Enqueues a packet at `at`, after the port was served until then. Returns a packet that is to be sent back to its
    /// sender.
    pub(super) fn offer(&mut self, at: Time, item: &Item, shared: &mut Shared) -> Option<Item> {
        let mut sink = Sink { classes: &mut self.classes, frames: &mut shared.frames, returned: None };
        let admission = self.discipline.enqueue(at, item, &mut sink);
        let returned = sink.returned;
        match admission {
            Admission::Dropped => self.refuse(item, shared),
            Admission::Marked => of(&mut self.classes, item.header.class).marked += 1,
            Admission::Queued | Admission::Returned => {}
        }
        returned
    }

    /// Records the length of the queues of payload after a packet arrived and was served if possible. Only payload
    /// makes these queues longer.
    pub(super) fn grew(&mut self, came: &Header) {
        if came.kind == Kind::Data {
            self.longest = self.longest.max(self.discipline.payload_bytes());
        }
    }

    /// Drops a packet that arrives.
    pub(super) fn refuse(&mut self, item: &Item, shared: &mut Shared) {
        of(&mut self.classes, item.header.class).dropped += 1;
        shared.frames.release(item.slot);
    }
}

/// Applies the changes of a packet to its frame, and returns the number of bytes on the wire. Returns `None` if payload
/// is to be cut off a packet that cannot be read.
fn prepare(item: &Item, shared: &mut Shared) -> Option<u16> {
    let Shared { frames, reader, .. } = shared;
    let frame = frames.get_mut(item.slot);
    let (marks, came) = (item.header.marks, frame.marks.unwrap_or(frame.meta.ecn.marks()));
    let is_new = |mark: Marks| marks.has(mark) && !came.has(mark);
    let mut layout = Layout::of(&frame.bytes)?;
    let mut wire = item.header.wire;
    if is_new(Marks::TRIMMED) || is_new(Marks::RETURNED) {
        let mut out = [0; HeaderReader::LONGEST];
        let datagram = layout.datagram(&frame.bytes)?;
        let new = [Marks::TRIMMED, Marks::RETURNED].into_iter().filter(|&mark| marks.has(mark));
        let new = new.fold(Marks::none(), Marks::with);
        let len = reader.cut(&frame.bytes[datagram], &frame.meta, new, &mut out)?;
        layout.replace_payload(&mut frame.bytes, &out[..len]);
        wire = Sizes::ETHERNET.on_wire(layout.network as u16);
    }
    if is_new(Marks::RETURNED) {
        layout.turn_round(&mut frame.bytes);
    }
    if is_new(Marks::CONGESTED) {
        layout.mark(&mut frame.bytes);
    }
    Some(wire)
}
