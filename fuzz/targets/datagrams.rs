//! Datagrams for a host with flows of its own: none of them, in any order and at any time, stops its endpoint, and each packet that
//! the endpoint sends in return can be encoded.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use priolane_core::endpoint::{Cx, Endpoint, FlowRequest, LocalClock, LocalHost, PathInfo, RxMeta, Tx};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Frame;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::tokens::{self, Stop, Tokens, priority::Priority};
use priolane_core::transport::window::{self, WindowEndpoint};
use priolane_core::transport::{Machine, homa, ndp, new_reno, phost};
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::{Codec, EcnCodepoint, IpVersion, RecvMeta, WireBody};

const HOST: HostId = HostId(2);
const PEER: HostId = HostId(1);

const LOCAL: LocalHost = LocalHost::real(HOST, Rate::from_gbps(10), 0x9e37_79b9_7f4a_7c15);

struct Host<E: Endpoint> {
    endpoint: E,
    codec: Codec<E::Body>,
    now: Time,
    rng: Stream,
}

impl<E: Endpoint<Body: WireBody>> Host<E> {
    fn new(make: impl Fn(Frame) -> E) -> Self {
        let codec = Codec::new(1_500, IpVersion::V4).expect("the MTU is large enough");
        let endpoint = make(codec.frame());
        Self { endpoint, codec, now: Time(1_000_000), rng: Stream::new(7, Purpose::Endpoint, 2) }
    }

    fn open(&mut self, id: u32, size: Option<u64>) {
        let flow = FlowRequest {
            class: 1,
            deadline: Some(self.now + Span::from_ms(1)),
            ..FlowRequest::new(FlowId(id), PEER, size, self.now)
        };
        let Self { endpoint, now, rng, .. } = self;
        endpoint.open(&mut Cx { now: *now, clock: LocalClock::default(), rng }, flow, &|| PathInfo::UNKNOWN);
    }

    /// A datagram arrives `after` the last, and what there is to be sent is sent.
    fn receive(&mut self, after: Span, ecn: EcnCodepoint, datagram: &[u8]) {
        let Self { endpoint, codec, now, rng } = self;
        *now += after;
        let mut cx = Cx { now: *now, clock: LocalClock::default(), rng };
        if endpoint.next_timeout().is_some_and(|due| due <= *now) {
            endpoint.on_timer(&mut cx);
        }
        let meta = RecvMeta { src: PEER, dst: HOST, class: 1, ecn, at: *now };
        if let Ok((packet, _)) = codec.decode(datagram, &meta) {
            endpoint.on_packet(&mut cx, RxMeta { stamp: *now, noise: Span::ZERO }, &packet);
        }
        while endpoint.poll_event().is_some() {}
        for _ in 0..8 {
            let Tx::Send { packet, .. } = endpoint.poll_transmit(&mut cx) else { return };
            codec.encode(&packet, *now, &mut [0; 256]).expect("an endpoint's packet can be sent");
        }
    }
}

/// Input is a list of datagrams: time since the last and ECN field, length, bytes, of which a flag adds 1400 more.
fn drive<E: Endpoint<Body: WireBody>>(make: impl Fn(Frame) -> E, mut input: &[u8]) {
    let mut host = Host::new(make);
    host.open(0, Some(40_000));
    host.open(1, None);
    while let Some((&[first, len], rest)) = input.split_first_chunk() {
        let (bytes, rest) = rest.split_at(rest.len().min(usize::from(len)));
        let mut datagram = bytes.to_vec();
        if first & 64 != 0 {
            datagram.resize(bytes.len() + 1_400, 0);
        }
        host.receive(Span::from_us(u64::from(first & 63)), EcnCodepoint::from_bits(first), &datagram);
        input = rest;
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((which, input)) = input.split_first() else { return };
    let top = |frame| tokens::Config::top(frame, Priority::Size(vec![10, 30]));
    match which % 7 {
        0 => drive(
            |frame| {
                let (config, reno) = (window::Config::new(frame), new_reno::Config { init_window: None });
                WindowEndpoint::<new_reno::NewReno>::with_kind(
                    LOCAL,
                    Arc::new(config),
                    reno,
                    SchedulerKind::RoundRobin,
                )
            },
            input,
        ),
        1 => drive(|frame| Tokens::new(LOCAL, Arc::new(top(frame))), input),
        2 => drive(
            |frame| Tokens::new(LOCAL, Arc::new(tokens::Config { stop: Stop::NeedCap, ..top(frame) })),
            input,
        ),
        3 => drive(|frame| Tokens::new(LOCAL, Arc::new(tokens::Config::expresspass(frame))), input),
        4 => drive(|frame| phost::PHost::new(LOCAL, Arc::new(phost::Config::new(frame))), input),
        5 => drive(|frame| ndp::Ndp::new(LOCAL, Arc::new(ndp::Config::new(frame))), input),
        _ => drive(|frame| homa::Homa::new(LOCAL, Arc::new(homa::Config::new(frame))), input),
    }
});
