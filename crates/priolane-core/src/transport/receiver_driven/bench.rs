//! Test bench that drives an endpoint step by step.

use super::{ControlMessage, MessageType};
use crate::endpoint::{Cx, Endpoint, Event, FlowSpec, LocalClock, LocalHost, Path, PayloadStats, RxMeta, Tx};
use crate::ids::{FlowId, HostId};
use crate::packet::{Header, Kind, Offset, Packet};
use crate::rng::{Purpose, Stream};
use crate::units::{Rate, Span, Time};

/// Serialization time of 1538 B at 10 Gbps, in picoseconds.
pub(in crate::transport) const SLOT: u64 = 1_230_400;

/// Returns a flow of full packets from host 0 to host 1.
pub(in crate::transport) fn spec(id: u32, packets: u64) -> FlowSpec {
    FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(packets * 1_460))
}

/// Returns the number within its flow of the packet that this is, or refers to.
pub(in crate::transport) fn number(packet: &Packet<ControlMessage>) -> u64 {
    packet.header.offset.get() / 1_460
}

/// Returns a packet that refers to packet `n` of a flow, from one host to another.
pub(in crate::transport) fn packet(
    flow: u32,
    (src, dst): (u16, u16),
    n: u64,
    body: ControlMessage,
) -> Packet<ControlMessage> {
    let kind = if body.message_type == MessageType::Data { Kind::Data } else { Kind::Signal };
    let header = Header {
        flow: FlowId(flow),
        src: HostId(src),
        dst: HostId(dst),
        offset: Offset::new(n * 1_460),
        payload: if body.message_type == MessageType::Data { 1_460 } else { 0 },
        kind,
        ..Header::default()
    };
    Packet { header, body }
}

/// Returns host `id` with a link of 10 Gbps.
pub(in crate::transport) fn local(id: u16) -> LocalHost {
    LocalHost::simulated(HostId(id), Rate::from_gbps(10))
}

/// A host with an endpoint.
pub(in crate::transport) struct Bench<E> {
    pub(in crate::transport) host: E,
    rng: Stream,
}

impl<E: Endpoint<Body = ControlMessage>> Bench<E> {
    pub(in crate::transport) fn new(host: E) -> Self {
        Self { host, rng: Stream::new(1, Purpose::Endpoint, 0) }
    }

    pub(in crate::transport) fn at<T>(&mut self, at: u64, call: impl FnOnce(&mut E, &mut Cx) -> T) -> T {
        let cx = &mut Cx { now: Time(at), clock: LocalClock::default(), rng: &mut self.rng };
        call(&mut self.host, cx)
    }

    pub(in crate::transport) fn open(&mut self, at: u64, flow: FlowSpec) {
        self.at(at, |host, cx| host.open(cx, flow.request(), &|| Path::NOMINAL.into()));
    }

    pub(in crate::transport) fn poll(&mut self, at: u64) -> Option<Packet<ControlMessage>> {
        match self.at(at, |host, cx| host.poll_transmit(cx)) {
            Tx::Send { packet, .. } => Some(packet),
            _ => None,
        }
    }

    /// Returns all packets that the host sends at time `at`.
    pub(in crate::transport) fn poll_all(&mut self, at: u64) -> Vec<Packet<ControlMessage>> {
        std::iter::from_fn(|| self.poll(at)).collect()
    }

    pub(in crate::transport) fn give(&mut self, at: u64, packet: &Packet<ControlMessage>) {
        let meta = RxMeta { stamp: Time(at), noise: Span::ZERO };
        self.at(at, |host, cx| host.on_packet(cx, meta, packet));
    }

    /// Delivers packets of a flow of 20 packets in a fixed order: 9 are new, of which 3 arrive after higher ones.
    pub(in crate::transport) fn assert_counts_reordered(
        &mut self,
        data: impl Fn(u64) -> Packet<ControlMessage>,
    ) {
        for n in [0, 1, 4, 2, 2, 4, 3, 5, 9, 8, 10] {
            self.give(0, &data(n));
        }
        assert_eq!(self.host.stats().payload, PayloadStats { packets: 9, reordered: 3 });
    }

    /// Delivers a flow of 3 packets, with `without_payload` before, between and after them: payload that comes again is a
    /// duplicate, while the flow is incomplete and once it is complete, and nothing else is.
    pub(in crate::transport) fn assert_counts_duplicates(
        &mut self,
        data: impl Fn(u64) -> Packet<ControlMessage>,
        without_payload: &[Packet<ControlMessage>],
    ) {
        let mut duplicates = |packet: &Packet<ControlMessage>| {
            self.give(0, packet);
            let events = std::iter::from_fn(|| self.host.poll_event());
            events.filter(|event| *event == Event::Duplicate { flow: packet.header.flow }).count()
        };
        let again = |duplicates: &mut dyn FnMut(&Packet<ControlMessage>) -> usize| {
            without_payload.iter().map(duplicates).sum::<usize>()
        };
        for (n, is_duplicate) in [(0, 0), (0, 1), (2, 0), (0, 1), (2, 1), (1, 0), (1, 1), (2, 1)] {
            assert_eq!((again(&mut duplicates), duplicates(&data(n))), (0, is_duplicate), "packet {n}");
        }
        assert_eq!(again(&mut duplicates), 0);
    }

    pub(in crate::transport) fn ring(&mut self, at: u64) {
        self.at(at, |host, cx| host.on_timer(cx));
    }
}
