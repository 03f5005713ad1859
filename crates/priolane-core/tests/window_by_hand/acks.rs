//! ACKs handed to a sender one by one, while nothing that it sends arrives.

use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Offset, Packet};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{LossRecovery, Segment};
use priolane_core::units::Time;

use crate::link::{Fate, Net, UNIT_HOP, flow, unit_config, unit_reno};

/// A first window of `segments`, into the void.
fn void(recovery: LossRecovery, segments: u64) -> Net<NewReno> {
    let config = unit_config(recovery);
    Net::new(config, unit_reno(segments), SchedulerKind::RoundRobin, &UNIT_HOP).judged(|_| Fate::Drop)
}

/// Ten segments of flow 0 sent, at 10 us.
fn ten_out(recovery: LossRecovery) -> Net<NewReno> {
    let mut net = void(recovery, 10);
    net.open(flow(0, 10_000));
    net.run(Time(15_000_000));
    net
}

fn ack(net: &mut Net<NewReno>, cumulative: u64, sack: (u32, u32)) {
    let header = Header {
        flow: FlowId(0),
        src: HostId(1),
        dst: HostId(0),
        offset: Offset::new(cumulative),
        kind: Kind::Ack,
        ..Header::default()
    };
    net.inject(0, &Packet { header, body: Segment { sack: [sack, (0, 0)], ..Segment::default() } });
}

/// Returns the packets that were sent after the first ten: (offset, payload).
fn again(net: &Net<NewReno>) -> Vec<(u64, u16)> {
    net.log[10..].iter().map(|s| (s.packet.header.offset.get(), s.packet.header.payload)).collect()
}

#[test]
fn duplicates_count_anew_after_each_new_ack() {
    let mut net = ten_out(LossRecovery::NewReno);
    for cumulative in [1_000, 1_000, 1_000, 2_000, 2_000, 2_000] {
        ack(&mut net, cumulative, (0, 0));
    }
    assert_eq!(again(&net), []);
    ack(&mut net, 2_000, (0, 0));
    assert_eq!(again(&net), [(2_000, 1_000)]);
}

#[test]
fn three_segments_sacked_by_one_ack_mean_loss_and_two_do_not() {
    let mut net = ten_out(LossRecovery::Sack);
    ack(&mut net, 0, (1_000, 3_000));
    assert_eq!(again(&net), []);
    // "More than (3 - 1) MSS" (RFC 6675 section 4): one byte more is enough, the second duplicate is not.
    ack(&mut net, 0, (1_000, 3_001));
    assert_eq!(again(&net), [(0, 1_000)]);
}

#[test]
fn a_retransmission_ends_where_its_original_did() {
    let mut net = ten_out(LossRecovery::Sack);
    ack(&mut net, 1_500, (0, 0));
    // The timer: all is lost, from the middle of the second segment.
    net.run(Time(30_000_000_000));
    assert_eq!(again(&net)[0], (1_500, 500));
}

#[test]
fn a_flow_that_ends_while_it_waits_for_its_turn_leaves_no_turn_behind() {
    // Flow 0's timer at 500 offers it again while flow 1 has the line (499.5 to 500.5). Then its ACK comes:
    // it ends, waiting. Flow 2 opens at 500.2. From then on flows 1 and 2 must alternate.
    let mut net = void(LossRecovery::Sack, 100);
    net.open(flow(0, 1_000));
    net.open(FlowSpec { start: Time(499_500_000), ..flow(1, 50_000) });
    net.open(FlowSpec { start: Time(500_200_000), ..flow(2, 50_000) });
    net.run(Time(500_100_000));
    assert_eq!(net.now, Time(500_000_000));
    ack(&mut net, 1_000, (0, 0));
    assert_eq!(net.completed().len(), 1);
    net.run(Time(510_000_000));
    let turns: Vec<u32> = net.log[2..10].iter().map(|s| s.packet.header.flow.0).collect();
    assert_eq!(turns, [1, 2, 1, 2, 1, 2, 1, 2]);
}
