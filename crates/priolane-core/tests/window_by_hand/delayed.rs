//! Delayed ACKs, SACK blocks and the CE machine, seen from the line: payload in, ACKs out.

use priolane_core::endpoint::{Endpoint, PayloadStats};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::window::{Config, LossRecovery, Segment};
use priolane_core::units::{Span, Time};

use crate::link::{Net, UNIT_HOP, unit_config, unit_reno};

fn net(ack_every: u8, recovery: LossRecovery) -> Net<Dctcp> {
    let config = Config { ack_every, ack_delay: Span::from_us(40), ..unit_config(recovery) };
    let dctcp = dctcp::Config {
        reno: unit_reno(10),
        g: 1.0 / 16.0,
        alpha_0: 1.0,
        min_window: 2,
        reduction: dctcp::Reduction::AtOnce,
    };
    Net::new(config, dctcp, SchedulerKind::RoundRobin, &UNIT_HOP)
}

fn segment(n: u64, marks: Marks) -> Packet<Segment> {
    let header = Header {
        flow: FlowId(0),
        src: HostId(0),
        dst: HostId(1),
        offset: Offset::new(n * 1000),
        payload: 1000,
        entropy: 7,
        marks,
        kind: Kind::Data,
        ..Header::default()
    };
    Packet { header, body: Segment::default() }
}

const PLAIN: Marks = Marks::ECN_CAPABLE;
const CE: Marks = Marks::ECN_CAPABLE.with(Marks::CONGESTED);
const LAST: Marks = Marks::ECN_CAPABLE.with(Marks::LAST);

/// ACKs so far: (segments acknowledged, whether they echo congestion).
fn acks(net: &Net<Dctcp>) -> Vec<(u64, bool)> {
    let echo = |h: &Header| (h.offset.get() / 1000, h.marks.has(Marks::ECHO));
    net.log.iter().filter(|s| s.from == 1).map(|s| echo(&s.packet.header)).collect()
}

fn receive(net: &mut Net<Dctcp>, packets: &[(u64, Marks)]) {
    for &(n, marks) in packets {
        net.inject(1, &segment(n, marks));
    }
    net.run(net.now);
}

#[test]
fn every_second_packet_is_acknowledged_and_the_last_at_once() {
    let mut net = net(2, LossRecovery::Sack);
    receive(&mut net, &[(0, PLAIN), (1, PLAIN), (2, PLAIN)]);
    assert_eq!(acks(&net), [(2, false)]);
    receive(&mut net, &[(3, PLAIN), (4, LAST)]);
    assert_eq!(acks(&net), [(2, false), (4, false), (5, false)]);
    assert_eq!(net.delivered(), [(FlowId(0), Time::ZERO)]);
}

#[test]
fn a_held_ack_leaves_after_the_delay() {
    let mut net = net(2, LossRecovery::Sack);
    receive(&mut net, &[(0, PLAIN)]);
    assert_eq!(acks(&net), []);
    assert!(net.run(Time(100_000_000)));
    assert_eq!(acks(&net), [(1, false)]);
    assert_eq!(net.log[0].at, Time(40_000_000));
}

#[test]
fn out_of_order_and_hole_filling_packets_are_acknowledged_at_once() {
    let mut net = net(4, LossRecovery::Sack);
    receive(&mut net, &[(0, PLAIN), (2, PLAIN), (3, PLAIN), (1, PLAIN), (4, PLAIN), (1, PLAIN)]);
    // 2, 3: duplicates of 1. 1 fills the hole. 4 is in order again: held; the duplicate of 1 is not.
    assert_eq!(acks(&net), [(1, false), (1, false), (4, false), (5, false)]);
}

#[test]
fn a_change_of_the_mark_first_answers_what_was_held() {
    let mut net = net(3, LossRecovery::Sack);
    // 0, 1 held unmarked. 2 is marked: they are answered without echo, then 2 at once with it. 3, 4 marked
    // are held with 5: one echo for the three. 6 is unmarked: answered at once, nothing was held.
    receive(&mut net, &[(0, PLAIN), (1, PLAIN), (2, CE)]);
    assert_eq!(acks(&net), [(2, false), (3, true)]);
    receive(&mut net, &[(3, CE), (4, CE), (5, CE), (6, PLAIN)]);
    assert_eq!(acks(&net)[2..], [(6, true), (7, false)]);
    // 7 held unmarked when 8 comes marked.
    receive(&mut net, &[(7, PLAIN), (8, CE)]);
    assert_eq!(acks(&net)[4..], [(8, false), (9, true)]);
}

#[test]
fn each_packet_is_echoed_alone_where_each_is_acknowledged() {
    let mut net = net(1, LossRecovery::Sack);
    receive(&mut net, &[(0, PLAIN), (1, CE), (3, CE), (2, PLAIN), (4, CE)]);
    assert_eq!(acks(&net), [(1, false), (2, true), (2, true), (4, false), (5, true)]);
}

#[test]
fn sack_blocks_are_relative_most_recent_first() {
    let mut net = net(1, LossRecovery::Sack);
    receive(&mut net, &[(0, PLAIN), (2, PLAIN), (4, PLAIN), (6, PLAIN), (3, PLAIN), (1, PLAIN)]);
    let blocks: Vec<_> = net.log.iter().map(|s| s.packet.body.sack).collect();
    let none = (0, 0);
    let expected = [
        [none, none],
        [(1000, 2000), none],
        [(3000, 4000), (1000, 2000)],
        [(5000, 6000), (3000, 4000)],
        // 3 joins 2 and 4 to one block; the most recent other one is 6.
        [(1000, 4000), (5000, 6000)],
        // 1 brings the cumulative ACK to 5.
        [(1000, 2000), none],
    ];
    assert_eq!(blocks, expected);
}

#[test]
fn go_back_n_keeps_nothing_out_of_order() {
    let mut net = net(1, LossRecovery::GoBackN);
    receive(&mut net, &[(1, PLAIN), (2, LAST), (0, PLAIN), (1, PLAIN)]);
    assert_eq!(acks(&net), [(0, false), (0, false), (1, false), (2, false)]);
    assert!(net.log.iter().all(|s| s.packet.body.sack == [(0, 0); 2]));
    assert_eq!(net.delivered(), []);
    receive(&mut net, &[(2, LAST), (1, CE), (2, LAST)]);
    assert_eq!(acks(&net)[4..], [(3, false), (3, true), (3, false)]);
    assert_eq!(net.delivered().len(), 1);
}

#[test]
fn answers_echo_stamp_entropy_and_one_way_delay() {
    let mut net = net(1, LossRecovery::Sack);
    net.run(Time::ZERO);
    let mut packet = segment(0, PLAIN);
    packet.body.stamp.0 = 0u32.wrapping_sub(500);
    net.inject(1, &packet);
    let ack = net.log[0].packet;
    assert_eq!((ack.body.stamp.0, ack.body.one_way), (0u32.wrapping_sub(500), 500));
    assert_eq!((ack.header.entropy, ack.header.dst, ack.header.src), (7, HostId(0), HostId(1)));
    assert!(!ack.header.marks.has(Marks::ECN_CAPABLE));
}

#[test]
fn packets_below_the_highest_arrived_are_counted_as_reordered() {
    let arrivals = [0, 1, 4, 2, 2, 4, 3, 5, 9, 8, 10].map(|n| (n, PLAIN));
    let count = |recovery| {
        let mut net = net(2, recovery);
        receive(&mut net, &arrivals);
        net.hosts[1].stats().payload
    };
    // 2, 3 and 8 come after higher ones; the second 2 and 4 are not new.
    for recovery in [LossRecovery::NewReno, LossRecovery::Sack] {
        assert_eq!(count(recovery), PayloadStats { packets: 9, reordered: 3 }, "{recovery:?}");
    }
    // Go-back-N keeps nothing above a gap: 0, 1, 2, 3, 4 is in order; 9 and 10 are discarded.
    let arrivals = [0, 1, 4, 2, 3, 4, 9, 5, 10].map(|n| (n, PLAIN));
    let mut net = net(2, LossRecovery::GoBackN);
    receive(&mut net, &arrivals);
    assert_eq!(net.hosts[1].stats().payload, PayloadStats { packets: 6, reordered: 0 });
}

#[test]
fn a_packet_half_of_which_is_here_begins_below_the_highest() {
    let mut net = net(2, LossRecovery::Sack);
    let mut half = segment(1, PLAIN);
    half.header.offset = Offset::new(500);
    net.inject(1, &segment(0, PLAIN));
    net.inject(1, &half);
    net.inject(1, &segment(1, PLAIN));
    assert_eq!(net.hosts[1].stats().payload, PayloadStats { packets: 3, reordered: 2 });
}
