//! Datagrams that are packets, but none that an honest peer sends: the fuzz target `datagrams` found them.

use std::sync::Arc;

use priolane_core::endpoint::{Cx, Endpoint, LocalClock, LocalHost, RxMeta, Tx};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Offset, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::tokens::priority::Priority;
use priolane_core::transport::tokens::{Config, Stop, TokenMessage, Tokens};
use priolane_core::transport::{Machine, Stamp};
use priolane_core::units::{Rate, Span, Time};

use crate::{META, NOW, codec, decode, encode};

/// A host that is to receive a flow of one packet, with tokens no faster than that calls for.
fn receiver() -> impl FnMut(TokenMessage, u64) -> Tx<TokenMessage> {
    let stop = Stop::NeedCap;
    let config = Config { stop, ..Config::top(codec::<TokenMessage>().frame(), Priority::Single) };
    let mut endpoint = Tokens::new(LocalHost::simulated(HostId(7), Rate::from_gbps(10)), Arc::new(config));
    let mut rng = Stream::new(1, Purpose::Endpoint, 7);
    let mut now = NOW;
    move |body, packet| {
        let kind = if matches!(body, TokenMessage::Sync { .. }) { Kind::Syn } else { Kind::Data };
        let payload = u16::from(kind == Kind::Data);
        let offset = Offset::new(packet * u64::from(codec::<TokenMessage>().frame().mss()));
        let header = Header { flow: FlowId(1), offset, payload, kind, ..Header::default() };
        let datagram = encode(&Packet { header, body }).unwrap();
        let (packet, _) = decode::<TokenMessage>(&datagram).unwrap();
        assert_eq!(packet.header.src, META.src);
        now += Span::from_us(10);
        let mut cx = Cx { now, clock: LocalClock::default(), rng: &mut rng };
        endpoint.on_packet(&mut cx, RxMeta { stamp: now, noise: Span::ZERO }, &packet);
        endpoint.poll_transmit(&mut cx)
    }
}

fn sync() -> TokenMessage {
    TokenMessage::Sync { size: 1, deadline: Time::NEVER, unscheduled: 0, asked: 0 }
}

fn data(seq: u32) -> TokenMessage {
    TokenMessage::Data { seq, stamp: Stamp(0) }
}

fn is_token(tx: &Tx<TokenMessage>) -> bool {
    matches!(tx, Tx::Send { packet, .. } if packet.header.kind == Kind::Credit)
}

#[test]
fn packets_beyond_the_end_of_a_flow_do_not_stop_its_receiver() {
    let mut receive = receiver();
    assert!(is_token(&receive(sync(), 0)), "the flow is known");
    for packet in 5..9 {
        receive(data(0), packet);
    }
}

#[test]
fn numbers_of_tokens_that_were_never_given_do_not_stop_the_receiver() {
    let mut receive = receiver();
    receive(sync(), 0);
    // Each is 2^31 - 1 beyond the next that is expected: 2^32 and more are taken for lost.
    for nth in 1..5u32 {
        receive(data(nth.wrapping_mul(1 << 31).wrapping_sub(nth)), 5);
    }
}
