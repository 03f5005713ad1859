//! Any packet is legal: garbage must not stop an endpoint, let alone panic.

use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::Stamp;
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::window::{Config, LossRecovery, Segment};
use priolane_core::units::{Span, Time};

use crate::link::{Faults, Net, UNIT_HOP, flow, unit_config, unit_reno};

const KINDS: [Kind; 7] =
    [Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck, Kind::Credit, Kind::Probe, Kind::Signal];

fn garbage(draw: &mut Stream) -> Packet<Segment> {
    let offset = if draw.chance(0.9) { draw.below(60_000) } else { draw.below(Offset::MAX) };
    let mut marks = Marks::none();
    for mark in [Marks::ECN_CAPABLE, Marks::CONGESTED, Marks::ECHO, Marks::TRIMMED, Marks::LAST] {
        marks = if draw.chance(0.2) { marks.with(mark) } else { marks };
    }
    let header = Header {
        flow: FlowId(draw.below(4) as u32),
        src: HostId(0),
        dst: HostId(1),
        offset: Offset::new(offset),
        payload: draw.below(1_500) as u16,
        marks,
        kind: KINDS[draw.below(7) as usize],
        ..Header::default()
    };
    let mut edge = || if draw.chance(0.9) { draw.below(40_000) as u32 } else { draw.bits() as u32 };
    let sack = [(edge(), edge()), (edge(), edge())];
    Packet { header, body: Segment { stamp: Stamp(draw.bits() as u32), one_way: 1, sack, telemetry: () } }
}

#[test]
fn garbage_never_panics_and_time_goes_on() {
    for case in 0..200 {
        let draw = &mut Stream::new(case, Purpose::Loss, 7);
        let recoveries =
            [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN, LossRecovery::Trims];
        let recovery = recoveries[case as usize % 4];
        let config = Config { ack_every: 2, ..unit_config(recovery) };
        let dctcp = dctcp::Config {
            reno: unit_reno(10),
            g: 1.0,
            alpha_0: 0.0,
            min_window: 1,
            reduction: dctcp::Reduction::AtOnce,
        };
        let faults = Faults { loss: 0.1, late: Span::from_us(30), ..Faults::default() };
        let mut net: Net<Dctcp> =
            Net::new(config, dctcp, SchedulerKind::Mlfq, &UNIT_HOP).seeded(case, faults);
        (0..3).for_each(|id| net.open(flow(id, 50_000)));
        for step in 0..60 {
            net.run(Time(step * 7_000_000));
            let packet = garbage(draw);
            net.inject(draw.below(2) as usize, &packet);
        }
        net.run(Time(20_000_000_000));
        assert!(net.log.len() > 150);
    }
}

#[test]
fn strays_of_finished_flows_are_answered_or_ignored() {
    let dctcp = dctcp::Config {
        reno: unit_reno(10),
        g: 1.0 / 16.0,
        alpha_0: 0.0,
        min_window: 2,
        reduction: dctcp::Reduction::AtOnce,
    };
    let mut net: Net<Dctcp> = Net::new(unit_config(LossRecovery::Sack), dctcp, SchedulerKind::Las, &UNIT_HOP);
    net.open(flow(0, 3_000));
    assert!(net.run(Time(1_000_000_000)));
    let (data, ack) = (net.log[0].packet, net.log.last().unwrap().packet);
    let before = net.log.len();
    net.inject(1, &data);
    net.inject(0, &ack);
    assert!(net.run(Time(2_000_000_000)));
    let again: Vec<_> =
        net.log[before..].iter().map(|s| (s.packet.header.kind, s.packet.header.offset)).collect();
    assert_eq!(again, [(Kind::Ack, Offset::new(3_000))]);
    assert_eq!((net.completed().len(), net.delivered().len()), (1, 1));
}
