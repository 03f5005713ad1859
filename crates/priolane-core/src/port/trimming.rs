//! Trimming (NDP, SIGCOMM 2017 §3.1): if a data packet finds no room, its header is forwarded, ahead of data.
//!
//! ```text
//! data queue      data packets, up to the buffer's limit (8 packets in NDP)
//! header queue    everything else, and trimmed packets, up to a limit of its own
//! overflow        a fair coin: trim the arriving packet, or trim the last of the data queue and keep the arriving one;
//!                 the arriving one if trimming the last would not make enough room
//! service         10 headers to 1 data packet while both queues are backlogged
//! ```
//!
//! With a coin, the packets of synchronized senders are neither always nor never trimmed. If the header of a
//! packet finds no room either, the packet is dropped, or its header is returned to its sender, once (§3.2.4). In
//! that case the arriving packet is returned, without a coin (docs/assumptions.md#trimming).

use super::backlog::{Backlog, Bounds};
use super::kind_rules::no_average;
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink, Returns,
    Scope,
};
use crate::chunked_queue::ChunkedQueue;
use crate::keys::{KeyConflict, Keys, Words};
use crate::packet::{Frame, Header, Kind, Marks, QueueItem};
use crate::part::Part;
use crate::quantity::show_limit;
use crate::rng::CounterRng;
use crate::units::{Limit, Time};

/// Headers served per data packet while both queues are backlogged.
const HEADERS_PER_DATA: u32 = 10;

/// The parameters of a trimming port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "trimming",
    summary = "cuts off the payload of packets that do not fit; serves headers and control packets first, \
               10 to 1",
    source = "NDP (SIGCOMM 2017) §3.1",
    provides = [Trimming],
    deploy = [Trimming],
    serves = "trim packets to headers, headers first",
    lacks = "trimming as NDP has it: headers served 10 to 1 before payload, and returned where they do not fit",
    example = r#"headers = "1125pkt", buffer = { shared = "24pkt" }"#
)]
pub struct TrimmingSpec {
    /// Capacity of the queue of headers and control packets.
    #[key(default = Limit::Unlimited, source = "docs/assumptions.md#trimming")]
    pub headers: Limit,
    /// What happens to data whose header finds no room. A host's own queue always drops it: there is no earlier hop
    /// to return it from.
    #[key(default = Overflow::Drop, source = "NDP (SIGCOMM 2017) §3.2.4; docs/assumptions.md#trimming")]
    pub overflow: Overflow,
}

impl OfKind for TrimmingSpec {
    type Spec = Self;

    fn discipline(&self, _: &PortSetup<'_>) -> Self::Spec {
        *self
    }
}

impl KindRules for TrimmingSpec {
    fn is_by_class(&self) -> bool {
        false
    }

    fn check_average(&self, name: &str, _: Scope) -> Result<(), KeyConflict> {
        no_average(name)
    }

    fn check_frame(&self, frame: &Frame) -> Result<(), KeyConflict> {
        if !self.headers.is_exceeded(1, u64::from(frame.trimmed_wire().max(frame.ack_wire()))) {
            return Ok(());
        }
        let what = format!("a header queue of {} cannot hold one header", show_limit(self.headers));
        Err(KeyConflict::of("headers", what, "at least \"1pkt\""))
    }

    fn check_at_host(&self) -> Result<(), KeyConflict> {
        if self.overflow == Overflow::Drop {
            return Ok(());
        }
        Err(KeyConflict::of(
            "overflow",
            "a host cannot return a header, because its packets have no other sender",
            "overflow = \"drop\"",
        ))
    }
}

impl PortFactory for TrimmingSpec {
    type Port<P: QueueItem> = Trimming<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Trimming<P> {
        let overflow = match context.returns {
            Returns::Forwarded => self.overflow,
            Returns::Dropped => Overflow::Drop,
        };
        let spec = Self { overflow, ..*self };
        Trimming::new(spec, context.frame.trimmed_wire(), context.buffer, context.rng())
    }

    fn sends_back(&self) -> bool {
        self.overflow == Overflow::Return
    }

    fn without_qdisc(&self) -> &'static str {
        "ports that cut payload off (NDP): no qdisc does"
    }
}

/// The treatment of data whose header finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Overflow {
    /// The packet is dropped.
    Drop,
    /// Its header is returned to its sender; a returned header that finds no room is dropped.
    Return,
}

/// A data queue that overflows into a header queue.
#[derive(Debug)]
pub struct Trimming<P> {
    data: ChunkedQueue<P>,
    data_backlog: Backlog,
    headers: ChunkedQueue<P>,
    header_backlog: Backlog,
    bounds: Bounds,
    spec: TrimmingSpec,
    trimmed_wire: u16,
    coin: CounterRng,
    /// Headers served while both queues were backlogged, since a data packet was last served before a queued
    /// header.
    headers_in_turn: u32,
}

impl<P: QueueItem> Trimming<P> {
    /// Creates an empty port that trims packets to `trimmed_wire` bytes on the wire. `buffer` applies to the data
    /// queue; `coin` is drawn from for each overflow.
    pub fn new(spec: TrimmingSpec, trimmed_wire: u16, buffer: Buffer, coin: CounterRng) -> Self {
        Self {
            data: ChunkedQueue::default(),
            data_backlog: Backlog::default(),
            headers: ChunkedQueue::default(),
            header_backlog: Backlog::default(),
            bounds: buffer.into(),
            spec,
            trimmed_wire,
            coin,
            headers_in_turn: 0,
        }
    }

    fn is_data(header: &Header) -> bool {
        header.kind == Kind::Data && !header.marks.has(Marks::TRIMMED)
    }

    fn keep_data(&mut self, item: &P) -> Admission {
        let header = item.header();
        let admission = self.bounds.admit(self.data_backlog, self.data_backlog, header);
        if admission != Admission::Dropped {
            self.data_backlog.add(header.wire);
            admission.mark(self.data.push(item));
        }
        admission
    }

    fn keep_header(&mut self, item: &P) -> Admission {
        let wire = item.header().wire;
        if self.header_backlog.exceeds_with(wire, self.spec.headers.into()) {
            return Admission::Dropped;
        }
        self.header_backlog.add(wire);
        self.headers.push(item);
        Admission::Queued
    }

    /// Returns a data packet, trimmed before or not, whose header finds no room to its sender.
    #[cold]
    fn send_back(trimmed: &P, out: &mut dyn PortSink<P>) -> Admission {
        let mut back = *trimmed;
        let header = back.header_mut();
        (header.src, header.dst) = (header.dst, header.src);
        header.marks = header.marks.with(Marks::RETURNED);
        out.returned(&back);
        Admission::Returned
    }

    /// Returns true if the header of a packet finds no room and may be returned.
    fn goes_back(&self, header: &Header) -> bool {
        let wire = header.wire.min(self.trimmed_wire);
        let may = header.kind == Kind::Data && !header.marks.has(Marks::RETURNED);
        may && self.spec.overflow == Overflow::Return
            && self.header_backlog.exceeds_with(wire, self.spec.headers.into())
    }

    /// Trims the packet and queues its header if there is room; otherwise drops or returns it.
    fn trim(&mut self, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let mut trimmed = *item;
        let header = trimmed.header_mut();
        header.wire = header.wire.min(self.trimmed_wire);
        header.payload = 0;
        header.marks = header.marks.with(Marks::TRIMMED);
        let back = self.goes_back(trimmed.header());
        let admission = if back { Self::send_back(&trimmed, out) } else { self.keep_header(&trimmed) };
        if admission != Admission::Dropped {
            out.trimmed(item.header(), trimmed.header());
        }
        admission
    }

    /// Returns true if removing the last packet of the data queue makes enough room for a packet.
    fn last_makes_room(&self, header: &Header) -> bool {
        let last = self.data.last().map(|last| Backlog { packets: 1, bytes: u64::from(last.header().wire) });
        last.is_some_and(|last| !self.data_backlog.without(last).exceeds_with(header.wire, self.bounds.drop))
    }

    /// Tosses the coin of a packet that arrives at `now`. Packets of one instant differ by flow or offset.
    fn heads(&self, now: Time, header: &Header) -> bool {
        self.coin.of(now.0).of(u64::from(header.flow.0)).bits(header.offset.get()) >> 63 == 0
    }

    #[cold]
    fn overflow(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let heads = self.goes_back(item.header()) || self.heads(now, item.header());
        if heads || !self.last_makes_room(item.header()) {
            return self.trim(item, out);
        }
        if let Some(last) = self.data.pop_last().copied() {
            self.data_backlog.remove(last.header().wire);
            if self.trim(&last, out) == Admission::Dropped {
                out.evicted(&last);
            }
        }
        self.keep_data(item)
    }
}

impl<P: QueueItem> Discipline<P> for Trimming<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        if !Self::is_data(item.header()) {
            return match self.keep_header(item) {
                Admission::Dropped if self.goes_back(item.header()) => Self::send_back(item, out),
                kept => kept,
            };
        }
        match self.keep_data(item) {
            Admission::Dropped => self.overflow(now, item, out),
            kept => kept,
        }
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        if Self::is_data(header) { Some(self.bounds.admit_alone(header)) } else { Some(Admission::Queued) }
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        if self.packets() == 0 { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let header_first = match (self.headers.is_empty(), self.data.is_empty()) {
            (true, _) => false,
            (false, true) => true,
            (false, false) if self.headers_in_turn < HEADERS_PER_DATA => {
                self.headers_in_turn += 1;
                true
            }
            (false, false) => {
                self.headers_in_turn = 0;
                false
            }
        };
        let (queue, backlog) = if header_first {
            (&mut self.headers, &mut self.header_backlog)
        } else {
            (&mut self.data, &mut self.data_backlog)
        };
        let item = queue.pop()?;
        backlog.remove(item.header().wire);
        Some(item)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.data_backlog.packets + self.header_backlog.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.data_backlog.bytes + self.header_backlog.bytes
    }

    fn payload_bytes(&self) -> u64 {
        self.data_backlog.bytes
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        if Self::is_data(header) { self.data_backlog.bytes } else { self.header_backlog.bytes }
    }

    fn packets_before(&self, header: &Header) -> u32 {
        if Self::is_data(header) { self.data_backlog.packets } else { self.header_backlog.packets }
    }
}

#[cfg(test)]
mod tests;
