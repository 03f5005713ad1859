//! An endpoint by hand, for tests.

use super::{ControlMessage, MessageType};
use crate::endpoint::{Cx, Endpoint, FlowSpec, LocalClock, LocalHost, Path, PayloadStats, RxMeta, Tx};
use crate::ids::{FlowId, HostId};
use crate::packet::{Header, Kind, Offset, Packet};
use crate::rng::{Purpose, Stream};
use crate::units::{Rate, Span, Time};

/// 1538 B at 10 Gbps.
pub(in crate::transport) const SLOT: u64 = 1_230_400;

/// A flow of full packets from host 0 to host 1.
pub(in crate::transport) fn spec(id: u32, packets: u64) -> FlowSpec {
    FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(packets * 1_460))
}

/// Which packet of its flow this is, or is about.
pub(in crate::transport) fn number(packet: &Packet<ControlMessage>) -> u64 {
    packet.header.offset.get() / 1_460
}

/// A packet about packet `n` of a flow, from one host to another.
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

/// Host `id` on a line of 10 Gbps.
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

    /// All that it sends at one instant.
    pub(in crate::transport) fn poll_all(&mut self, at: u64) -> Vec<Packet<ControlMessage>> {
        std::iter::from_fn(|| self.poll(at)).collect()
    }

    pub(in crate::transport) fn give(&mut self, at: u64, packet: &Packet<ControlMessage>) {
        let meta = RxMeta { stamp: Time(at), noise: Span::ZERO };
        self.at(at, |host, cx| host.on_packet(cx, meta, packet));
    }

    /// Gives it packets of a flow of 20 packets in an order worked by hand: 9 are new, of which 3 come after higher ones.
    pub(in crate::transport) fn assert_counts_reordered(
        &mut self,
        data: impl Fn(u64) -> Packet<ControlMessage>,
    ) {
        for n in [0, 1, 4, 2, 2, 4, 3, 5, 9, 8, 10] {
            self.give(0, &data(n));
        }
        assert_eq!(self.host.stats().payload, PayloadStats { packets: 9, reordered: 3 });
    }

    pub(in crate::transport) fn ring(&mut self, at: u64) {
        self.at(at, |host, cx| host.on_timer(cx));
    }
}
