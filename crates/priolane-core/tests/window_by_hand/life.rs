//! Beginnings and ends: handshakes, aborted and endless flows, monitor intervals.

use priolane_core::endpoint::{Control, Endpoint, Event, FlowSpec};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::FlowId;
use priolane_core::packet::Kind;
use priolane_core::packet::Marks;
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{Config, ControlClass, ControlEcn, Handshake, LossRecovery};
use priolane_core::units::{Span, Time};

use crate::link::{Fate, Net, UNIT_HOP, flow, unit_config, unit_reno};

fn net(config: Config) -> Net<NewReno> {
    Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP)
}

fn with_handshake(handshake: Handshake) -> Config {
    Config { handshake, control_class: ControlClass::Fixed(3), ..unit_config(LossRecovery::Sack) }
}

fn kinds(net: &Net<NewReno>) -> Vec<(usize, Kind)> {
    net.log.iter().map(|s| (s.from, s.packet.header.kind)).collect()
}

#[test]
fn a_handshake_is_syn_syn_ack_ack_then_payload() {
    let mut net = net(with_handshake(Handshake::OneRtt));
    net.open(FlowSpec { entropy: 99, class: 5, ..flow(0, 1_000) });
    assert!(net.run(Time(1_000_000_000)));
    let expected = [(0, Kind::Syn), (1, Kind::SynAck), (0, Kind::Ack), (0, Kind::Data), (1, Kind::Ack)];
    assert_eq!(kinds(&net), expected);
    assert!(net.log.iter().all(|s| s.packet.header.entropy == 99));
    assert_eq!(net.log.iter().map(|s| s.packet.header.class).collect::<Vec<_>>(), [3, 3, 3, 5, 3]);
    // SYN and SYN/ACK have no size here: 20 us, then 1 + 10 us for the segment and 10 for its ACK.
    assert_eq!(net.delivered(), [(FlowId(0), Time(31_000_000))]);
    assert_eq!(net.completed()[0].elapsed, Span::from_us(41));
}

#[test]
fn lost_syns_and_answers_are_repeated_with_back_off() {
    let mut control = 0;
    let mut net = net(with_handshake(Handshake::OneRtt)).judged(move |seen| {
        control += u32::from(seen.packet.header.kind != Kind::Data);
        // The first SYN; the second arrives, its answer does not.
        if control == 1 || control == 3 { Fate::Drop } else { Fate::Pass }
    });
    net.open(flow(0, 1_000));
    assert!(net.run(Time(100_000_000_000)));
    let syns: Vec<Time> =
        net.log.iter().filter(|s| s.packet.header.kind == Kind::Syn).map(|s| s.at).collect();
    // 500 us, then 1000 us.
    assert_eq!(syns, [Time(0), Time(500_000_000), Time(1_500_000_000)]);
    assert_eq!(net.completed()[0].timeouts, 2);
    assert_eq!(net.completed()[0].retransmits, 0);
}

#[test]
fn reuse_greets_a_host_until_it_has_answered_once() {
    let mut net = net(with_handshake(Handshake::Reuse));
    net.open(flow(0, 1_000));
    // Opened before the first handshake is over, at 20 us: greets as well. The third does not.
    net.open(FlowSpec { start: Time(19_000_000), ..flow(1, 1_000) });
    net.open(FlowSpec { start: Time(21_000_000), ..flow(2, 1_000) });
    assert!(net.run(Time(1_000_000_000)));
    let syns = net.log.iter().filter(|s| s.packet.header.kind == Kind::Syn);
    assert_eq!(syns.map(|s| s.packet.header.flow).collect::<Vec<_>>(), [FlowId(0), FlowId(1)]);
    assert_eq!(net.completed().len(), 3);
}

#[test]
fn an_aborted_flow_is_forgotten_whatever_still_arrives() {
    let mut net = net(unit_config(LossRecovery::Sack));
    net.open(flow(0, 1_000_000));
    net.open(FlowSpec { start: Time(30_000_000), ..flow(1, 5_000) });
    net.run(Time(25_000_000));
    net.control(0, FlowId(0), Control::Abort);
    let sent = net.data(0).len();
    assert!(net.run(Time(1_000_000_000)));
    assert_eq!(net.completed().iter().map(|r| r.flow).collect::<Vec<_>>(), [FlowId(1)]);
    assert_eq!(net.data(0).len(), sent + 5);
    assert_eq!(net.hosts[0].next_timeout(), None);
}

#[test]
fn an_endless_flow_sends_on_and_reports_at_intervals() {
    let mut net = net(Config { monitor: Some(Span::from_us(50)), ..unit_config(LossRecovery::Sack) });
    net.open(FlowSpec { size: None, ..flow(0, 0) });
    assert!(!net.run(Time(505_000_000)));
    assert_eq!((net.completed(), net.delivered()), (vec![], vec![]));
    let reports: Vec<_> = net.events.iter().filter(|e| matches!(e.2, Event::Report(_))).collect();
    let times: Vec<u64> = reports.iter().map(|e| e.1.0 / 1_000_000).collect();
    assert_eq!(times, (1..=10).map(|i| 50 * i).collect::<Vec<_>>());
    let Event::Report(last) = reports[9].2 else { unreachable!() };
    // From 21 us on the line is never idle for long: by 500 us the window far exceeds 21 segments.
    assert_eq!((last.remaining, last.elapsed), (u64::MAX, Span::from_us(500)));
    assert_eq!(last.rate_bps, last.bytes * 8 * 1_000_000 / 500);
    assert!(last.bytes > 400_000 && last.rtt >= Span::from_us(20), "{last:?}");
    assert!(net.log.iter().all(|s| !s.packet.header.marks.has(Marks::LAST)));
}

#[test]
fn control_packets_are_ecn_capable_only_where_asked() {
    for (asked, expected) in [(ControlEcn::No, false), (ControlEcn::Yes, true)] {
        let config = Config { control_ecn: asked, ..with_handshake(Handshake::OneRtt) };
        let dctcp = dctcp::Config {
            reno: unit_reno(10),
            g: 1.0 / 16.0,
            alpha_0: 1.0,
            min_window: 2,
            reduction: dctcp::Reduction::AtOnce,
        };
        let mut net: Net<Dctcp> = Net::new(config, dctcp, SchedulerKind::RoundRobin, &UNIT_HOP);
        net.open(flow(0, 3_000));
        assert!(net.run(Time(1_000_000_000)));
        for seen in &net.log {
            let capable = seen.packet.header.marks.has(Marks::ECN_CAPABLE);
            assert_eq!(capable, expected || seen.packet.header.kind == Kind::Data);
        }
    }
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    let mut net = net(Config { max_window: Some(4_500), ..unit_config(LossRecovery::Sack) });
    net.open(flow(0, 20_000));
    assert!(net.run(Time(1_000_000_000)));
    // Four segments per 21 us.
    let times: Vec<u64> = net.data(0).iter().map(|&(at, _)| at.0 / 1_000_000).collect();
    assert_eq!(times[..9], [0, 1, 2, 3, 21, 22, 23, 24, 42]);
}
