//! A transport without any control, for tests of ports: a host sends its flows in turns, as fast as its line takes them.
//!
//! Its packets have the body of token transports, empty, for which the library has the engines compiled already.

use std::collections::VecDeque;

use priolane_core::endpoint::{Command, Cx, Endpoint, Event, FlowRequest, LocalHost, PathInfo, RxMeta, Tx};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Frame, Header, Kind, Offset, Packet};
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::units::Time;

/// The packets that a host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// The flow's bytes in full packets of its class.
    Payload,
    /// As many packets, but most of them tokens of all classes and of 84 to 92 B, some signals.
    Tokens,
}

#[derive(Debug)]
struct Outgoing {
    flow: FlowRequest,
    sent: u64,
}

#[derive(Debug)]
pub struct Blaster {
    host: HostId,
    frame: Frame,
    mix: Mix,
    outgoing: VecDeque<Outgoing>,
    /// Payload bytes received by flow.
    incoming: Vec<(FlowId, u64)>,
    events: VecDeque<Event>,
}

impl Blaster {
    pub fn new(host: LocalHost, frame: Frame, mix: Mix) -> Self {
        let (outgoing, events) = (VecDeque::new(), VecDeque::new());
        Self { host: host.id, frame, mix, outgoing, incoming: Vec::new(), events }
    }

    fn packet(&self, Outgoing { flow, sent }: &Outgoing) -> Packet<TokenMessage> {
        let size = flow.size.unwrap_or(u64::MAX);
        let payload = (size - sent).min(u64::from(self.frame.mss())) as u16;
        let (mut kind, mut class, mut wire) = (Kind::Data, flow.class, self.frame.data_wire(payload));
        // Cheap dice: the same for every engine.
        let rng = (sent / u64::from(self.frame.mss()) + u64::from(flow.id.0) * 7_919)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            >> 40;
        if self.mix == Mix::Tokens && rng % 10 < 7 {
            kind = if rng % 10 == 0 { Kind::Signal } else { Kind::Credit };
            class = (rng / 10 % 7) as u8;
            wire = 84 + (rng / 100 % 9) as u16;
        }
        let header = Header {
            rank: size,
            flow: flow.id,
            src: self.host,
            dst: flow.dst,
            offset: Offset::new(*sent),
            entropy: flow.entropy,
            wire,
            payload,
            class,
            kind,
            ..Header::default()
        };
        Packet { header, body: TokenMessage::Empty }
    }
}

impl Endpoint for Blaster {
    type Body = TokenMessage;

    fn open(&mut self, _cx: &mut Cx, flow: FlowRequest, _path: &dyn Fn() -> PathInfo) {
        self.outgoing.push_back(Outgoing { flow, sent: 0 });
    }

    fn control(&mut self, _cx: &mut Cx, _command: Command) {}

    fn on_packet(&mut self, _cx: &mut Cx, meta: RxMeta, packet: &Packet<TokenMessage>) {
        let header = &packet.header;
        let place = match self.incoming.iter().position(|&(flow, _)| flow == header.flow) {
            Some(place) => place,
            None => {
                self.incoming.push((header.flow, 0));
                self.incoming.len() - 1
            }
        };
        self.incoming[place].1 += u64::from(header.payload);
        if self.incoming[place].1 == header.rank {
            self.events.push_back(Event::Delivered {
                src: header.src,
                flow: header.flow,
                at: meta.stamp,
                missing: 0,
            });
        }
    }

    fn on_timer(&mut self, _cx: &mut Cx) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn poll_transmit(&mut self, _cx: &mut Cx) -> Tx<TokenMessage> {
        let Some(mut next) = self.outgoing.pop_front() else { return Tx::Idle };
        let packet = self.packet(&next);
        next.sent += u64::from(packet.header.payload);
        if next.flow.size.is_none_or(|size| next.sent < size) {
            self.outgoing.push_back(next);
        }
        Tx::Send { packet, id: None }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
