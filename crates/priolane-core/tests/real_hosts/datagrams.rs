//! Datagrams that no honest peer sends. The fuzz target `datagrams` looks for more of them.

use std::fmt::Debug;

use priolane_core::endpoint::{Cx, Endpoint, FlowRequest, LocalClock, LocalHost, PathInfo, RxMeta, Tx};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::{EcnCodepoint, RecvMeta, WireBody};

use crate::network::SECRET;
use crate::transports::{Trial, codec, every_transport};

/// Damaged datagrams for each transport.
const COUNT: u32 = 6_000;

const HOSTS: [HostId; 2] = [HostId(0), HostId(1)];

/// One of two hosts.
struct Host<E: Endpoint> {
    id: HostId,
    endpoint: E,
    rng: Stream,
}

impl<E: Endpoint<Body: WireBody>> Host<E> {
    fn new(id: HostId, make: impl Fn(LocalHost) -> E) -> Self {
        let local = LocalHost::real(id, Rate::from_gbps(10), SECRET);
        Self { id, endpoint: make(local), rng: Stream::new(7, Purpose::Endpoint, u64::from(id.0)) }
    }

    fn peer(&self) -> HostId {
        HOSTS[1 - self.id.index()]
    }

    fn open(&mut self, now: Time, id: u32, size: Option<u64>) {
        let flow = FlowRequest {
            class: 1,
            deadline: Some(now + Span::from_ms(1)),
            ..FlowRequest::new(FlowId(id), self.peer(), size, now)
        };
        let cx = &mut Cx { now, clock: LocalClock::default(), rng: &mut self.rng };
        self.endpoint.open(cx, flow, &|| PathInfo::UNKNOWN);
    }

    /// A datagram arrives; whether it is taken for a packet.
    fn receive(&mut self, now: Time, datagram: &[u8]) -> bool {
        let meta = RecvMeta { src: self.peer(), dst: self.id, class: 1, ecn: EcnCodepoint::Ce, at: now };
        let Ok((packet, _)) = codec().decode(datagram, &meta) else { return false };
        let cx = &mut Cx { now, clock: LocalClock::default(), rng: &mut self.rng };
        self.endpoint.on_packet(cx, RxMeta { stamp: now, noise: Span::ZERO }, &packet);
        true
    }

    /// Returns the datagrams that the host sends by `now`, at most `most` packets.
    fn send(&mut self, now: Time, most: usize) -> Vec<Vec<u8>> {
        let cx = &mut Cx { now, clock: LocalClock::default(), rng: &mut self.rng };
        if self.endpoint.next_timeout().is_some_and(|due| due <= now) {
            self.endpoint.on_timer(cx);
        }
        while self.endpoint.poll_event().is_some() {}
        let mut datagrams = Vec::new();
        while datagrams.len() < most
            && let Tx::Send { packet, .. } = self.endpoint.poll_transmit(cx)
        {
            let mut buffer = [0; 256];
            let len = codec().encode(&packet, now, &mut buffer).expect("an endpoint's packet can be sent");
            let payload = std::iter::repeat_n(0, usize::from(packet.header.payload));
            datagrams.push(buffer[..len].iter().copied().chain(payload).collect());
        }
        datagrams
    }
}

/// Changes some of the bytes before the payload, some of them to extremes; sometimes the payload's length.
fn damage(datagram: &mut Vec<u8>, draw: &mut Stream) {
    for _ in 0..draw.below(4) {
        // Version and format stay, so that it is a packet of this transport.
        let place = 1 + draw.below(datagram.len().min(40) as u64 - 1) as usize;
        match draw.below(3) {
            0 => datagram[place] = draw.below(256) as u8,
            1 => datagram[place] ^= 1 << draw.below(8),
            _ => {
                let end = datagram.len().min(place + 1 + draw.below(8) as usize);
                let extreme = if draw.chance(0.5) { 0xff } else { 0 };
                datagram[place..end].fill(extreme);
            }
        }
    }
    if draw.chance(0.1) {
        let len = 6 + draw.below(1_500) as usize;
        datagram.resize(len, 0);
    }
}

/// Two hosts with flows to each other; between them every datagram is damaged, repeated, held back or let through.
struct Damaged;

impl Trial for Damaged {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut draw = Stream::new(1, Purpose::Loss, 0);
        let mut hosts = HOSTS.map(|id| Host::new(id, &make));
        let (mut now, mut count, mut taken, mut opened) = (Time(1_000_000), 0, 0, 0);
        let mut old: Vec<Vec<u8>> = Vec::new();
        while count < COUNT {
            if draw.chance(0.02) {
                let size = draw.chance(0.8).then(|| 1 + draw.below(60_000));
                hosts[draw.below(2) as usize].open(now, opened, size);
                opened += 1;
            }
            now += Span::from_us(if draw.chance(0.01) { 5_000 } else { draw.below(20) });
            for sender in 0..2 {
                for datagram in hosts[sender].send(now, 8) {
                    let mut datagram = if draw.chance(0.2) && !old.is_empty() {
                        old[draw.below(old.len() as u64) as usize].clone()
                    } else {
                        datagram
                    };
                    if old.len() < 500 {
                        old.push(datagram.clone());
                    }
                    if draw.chance(0.5) {
                        damage(&mut datagram, &mut draw);
                    }
                    count += 1;
                    taken += u32::from(hosts[1 - sender].receive(now, &datagram));
                }
            }
        }
        assert!(taken > COUNT / 3, "{name}: {taken} of {COUNT} are packets");
    }
}

#[test]
fn damaged_datagrams_stop_no_endpoint() {
    every_transport(&Damaged);
}
