//! A host that is scheduled some time after a packet arrived: whether that time is part of the round-trip time is for its driver to say.

use std::sync::Arc;

use priolane_core::endpoint::{
    Cx, Endpoint, Event, FlowRequest, LocalClock, LocalHost, PathInfo, RxMeta, Tx,
};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Frame, Header, Kind, Offset, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::new_reno::{self, NewReno};
use priolane_core::transport::window::{Config, Handshake, Segment, WindowEndpoint};
use priolane_core::units::{Rate, Span, Time};

use crate::network::SECRET;

/// The time at which the only packet is sent, and the time at which its ACK arrives.
const SENT: Time = Time(1_000_000);
const RTT: Span = Span::from_us(100);

fn cx(now: Time, rng: &mut Stream) -> Cx<'_> {
    Cx { now, clock: LocalClock::default(), rng }
}

/// The round-trip time that a sender reports whose driver calls it at `now` with an ACK that arrived `RTT` after the packet.
fn reported(now: Time) -> Span {
    let local = LocalHost::real(HostId(0), Rate::from_gbps(10), SECRET);
    let config = Arc::new(Config { handshake: Handshake::None, ..Config::new(Frame::ETHERNET) });
    let reno = new_reno::Config { init_window: None };
    let mut sender = WindowEndpoint::<NewReno>::with_kind(local, config, reno, SchedulerKind::RoundRobin);
    let mut rng = Stream::new(1, Purpose::Endpoint, 0);
    let flow = FlowRequest::new(FlowId(3), HostId(1), Some(1_000), SENT);
    sender.open(&mut cx(SENT, &mut rng), flow, &|| PathInfo::UNKNOWN);
    let Tx::Send { packet, .. } = sender.poll_transmit(&mut cx(SENT, &mut rng)) else {
        panic!("nothing to send")
    };
    let header = Header {
        flow: FlowId(3),
        src: HostId(1),
        dst: HostId(0),
        offset: Offset::new(1_000),
        kind: Kind::Ack,
        ..Header::default()
    };
    let ack = Packet { header, body: Segment { stamp: packet.body.stamp, ..Segment::default() } };
    sender.on_packet(&mut cx(now, &mut rng), RxMeta { stamp: SENT + RTT, noise: Span::ZERO }, &ack);
    match sender.poll_event() {
        Some(Event::Completed(report)) => report.rtt,
        event => panic!("{event:?}"),
    }
}

#[test]
fn the_wait_of_a_packet_in_its_host_is_counted_once_or_where_the_driver_passes_the_stamp_not_at_all() {
    let wait = Span::from_us(60);
    // Stamps have ticks of 1.024 ns.
    let about = |rtt: Span, want: Span| rtt.0.abs_diff(want.0) < 3_000;
    let late = reported(SENT + RTT + wait);
    assert!(about(late, RTT + wait), "{late:?}");
    let stamped = reported(SENT + RTT);
    assert!(about(stamped, RTT), "{stamped:?}");
}
