//! A transport as unlike DCTCP as the contract allows, for tests: receivers schedule, senders obey.
//!
//! Sender: REQUEST(size) ... one DATA packet per CREDIT ... DONE. Receiver: one credit per packet time, flows
//! in turns, never more credits than packets; after the last payload byte, DONE. While a flow is open its
//! sender also probes the path every 20 us with a header-only packet of 64 bytes, and keeps the round trips.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use priolane_core::endpoint::{
    Command, Control, Cx, Departure, Endpoint, Event, FlowReport, FlowRequest, LocalHost, PathInfo, RxMeta,
    SendId, Tx,
};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Body, Frame, Header, Kind, Offset, Packet};
use priolane_core::units::{Span, Time};

const PROBE_EVERY: Span = Span::from_us(20);
const PROBE_WIRE: u16 = 64;

/// The content of a packet besides its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenMessage {
    size: u64,
    stamp: Time,
    step: Step,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Request,
    Credit,
    Data,
    Done,
    Probe,
    Echo,
}

impl Body for TokenMessage {}

#[derive(Debug)]
struct Incoming {
    flow: FlowId,
    from: HostId,
    entropy: u16,
    size: u64,
    granted: u64,
    received: u64,
}

#[derive(Debug)]
pub struct Paced {
    host: HostId,
    frame: Frame,
    interval: Span,
    next_credit: Time,
    outgoing: Vec<FlowRequest>,
    incoming: VecDeque<Incoming>,
    ready: VecDeque<Packet<TokenMessage>>,
    events: VecDeque<Event>,
    next_probe: Time,
    sends: u64,
    pub round_trips: Vec<Span>,
    pub stamps: Vec<Time>,
}

impl Paced {
    pub fn new(host: LocalHost, frame: Frame, interval: Span) -> Self {
        Self {
            host: host.id,
            frame,
            interval,
            next_credit: Time::ZERO,
            outgoing: Vec::new(),
            incoming: VecDeque::new(),
            ready: VecDeque::new(),
            events: VecDeque::new(),
            next_probe: Time::NEVER,
            sends: 0,
            round_trips: Vec::new(),
            stamps: Vec::new(),
        }
    }

    fn packet(&self, to: (HostId, FlowId, u16), kind: Kind, step: Step) -> Packet<TokenMessage> {
        let (dst, flow, entropy) = to;
        let wire = if kind == Kind::Probe { PROBE_WIRE } else { self.frame.ack_wire() };
        let header = Header { flow, src: self.host, dst, entropy, wire, kind, ..Header::default() };
        Packet { header, body: TokenMessage { step, ..TokenMessage::default() } }
    }

    fn reply(&self, to: &Header, kind: Kind, step: Step) -> Packet<TokenMessage> {
        self.packet((to.src, to.flow, to.entropy), kind, step)
    }

    fn data(&self, credit: &Packet<TokenMessage>, flow: &FlowRequest) -> Packet<TokenMessage> {
        let mss = u64::from(self.frame.mss());
        let offset = credit.header.offset.get();
        let payload = (flow.size.unwrap_or(u64::MAX) - offset).min(mss) as u16;
        let mut packet = self.reply(&credit.header, Kind::Data, Step::Data);
        packet.header.offset = Offset::new(offset);
        packet.header.payload = payload;
        packet.header.class = 1;
        packet.header.wire = self.frame.data_wire(payload);
        packet
    }

    fn take_data(&mut self, now: Time, packet: &Packet<TokenMessage>) {
        let Some(i) = self.incoming.iter().position(|f| f.flow == packet.header.flow) else { return };
        self.incoming[i].received += u64::from(packet.header.payload);
        if self.incoming[i].received == self.incoming[i].size {
            self.incoming.remove(i);
            self.events.push_back(Event::Delivered {
                src: packet.header.src,
                flow: packet.header.flow,
                at: now,
                missing: 0,
            });
            self.ready.push_back(self.reply(&packet.header, Kind::Signal, Step::Done));
        }
    }

    fn take_done(&mut self, now: Time, flow: FlowId) {
        let Some(i) = self.outgoing.iter().position(|f| f.id == flow) else { return };
        let spec = self.outgoing.remove(i);
        self.events.push_back(Event::Completed(FlowReport {
            flow,
            bytes: spec.size.unwrap_or(0),
            remaining: 0,
            rate_bps: 0,
            retransmitted: 0,
            retransmits: 0,
            timeouts: 0,
            initial_timeouts: 0,
            spurious: 0,
            rtt: Span::ZERO,
            elapsed: now.since(spec.start),
            class_first: 1,
            class_last: 1,
        }));
        if self.outgoing.is_empty() {
            self.next_probe = Time::NEVER;
        }
    }

    fn next_grant(&mut self) -> Option<Packet<TokenMessage>> {
        let mss = u64::from(self.frame.mss());
        for _ in 0..self.incoming.len() {
            self.incoming.rotate_left(1);
            let flow = self.incoming.back_mut()?;
            if flow.granted < flow.size {
                let offset = flow.granted;
                flow.granted += mss;
                let to = (flow.from, flow.flow, flow.entropy);
                let mut credit = self.packet(to, Kind::Credit, Step::Credit);
                credit.header.offset = Offset::new(offset);
                return Some(credit);
            }
        }
        None
    }

    fn wants_grant(&self) -> bool {
        self.incoming.iter().any(|f| f.granted < f.size)
    }
}

impl Endpoint for Paced {
    type Body = TokenMessage;

    fn open(&mut self, cx: &mut Cx, flow: FlowRequest, _path: &dyn Fn() -> PathInfo) {
        let mut request = self.packet((flow.dst, flow.id, flow.entropy), Kind::Signal, Step::Request);
        request.body.size = flow.size.expect("paced flows are finite");
        self.ready.push_back(request);
        if self.outgoing.is_empty() {
            self.next_probe = cx.now + PROBE_EVERY;
        }
        self.outgoing.push(flow);
    }

    fn control(&mut self, _cx: &mut Cx, command: Command) {
        if let Command::Flow(id, Control::Abort) = command {
            self.outgoing.retain(|f| f.id != id);
        }
    }

    fn on_packet(&mut self, cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        let header = &packet.header;
        match packet.body.step {
            Step::Request => self.incoming.push_back(Incoming {
                flow: header.flow,
                from: header.src,
                entropy: header.entropy,
                size: packet.body.size,
                granted: 0,
                received: 0,
            }),
            Step::Credit => {
                if let Some(flow) = self.outgoing.iter().find(|f| f.id == header.flow) {
                    self.ready.push_back(self.data(packet, flow));
                }
            }
            Step::Data => self.take_data(meta.stamp, packet),
            Step::Done => self.take_done(cx.now, header.flow),
            Step::Probe => {
                let mut echo = self.reply(header, Kind::Probe, Step::Echo);
                echo.body.stamp = packet.body.stamp;
                self.ready.push_back(echo);
            }
            Step::Echo => self.round_trips.push(meta.stamp.since(packet.body.stamp)),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx) {
        if cx.now < self.next_probe {
            return;
        }
        if let Some(flow) = self.outgoing.first() {
            let mut probe = self.packet((flow.dst, flow.id, flow.entropy), Kind::Probe, Step::Probe);
            probe.body.stamp = cx.now;
            self.ready.push_back(probe);
            self.next_probe = cx.now + PROBE_EVERY;
        } else {
            self.next_probe = Time::NEVER;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        (self.next_probe != Time::NEVER).then_some(self.next_probe)
    }

    fn poll_transmit(&mut self, cx: &mut Cx) -> Tx<TokenMessage> {
        if let Some(packet) = self.ready.pop_front() {
            self.sends += 1;
            return Tx::Send { packet, id: NonZeroU64::new(self.sends).map(SendId) };
        }
        if !self.wants_grant() {
            return Tx::Idle;
        }
        if cx.now < self.next_credit {
            return Tx::NotBefore(self.next_credit);
        }
        self.next_credit = cx.now + self.interval;
        match self.next_grant() {
            Some(packet) => Tx::Send { packet, id: None },
            None => Tx::Idle,
        }
    }

    fn on_departure(&mut self, _cx: &mut Cx, _id: SendId, departure: Departure) {
        if let Departure::Sent(at) = departure {
            self.stamps.push(at);
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
