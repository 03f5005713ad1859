//! Losses that trimmed headers name: traces worked out by hand, reordering, and random mixtures.

use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::ConnectionId;
use priolane_core::packet::{Kind, Marks};
use priolane_core::transport::new_reno::{self, NewReno};
use priolane_core::transport::window::LossRecovery;
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;

use crate::link::{Fate, Faults, Net, SeenPacket, UNIT_HOP, flow, once, unit_config, unit_reno};
use crate::storm::trimmed_storm;

/// A flow of 40 segments with a first window of ten, to its end, and when it sent which segments.
fn trace_of(judge: impl FnMut(&SeenPacket) -> Fate + 'static) -> (Vec<(u64, u64)>, Net<NewReno>) {
    let config = unit_config(LossRecovery::Trims);
    let mut net = Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP).judged(judge);
    net.open(flow(0, 40_000));
    assert!(net.run(Time(1_000_000_000_000)));
    assert_eq!(net.completed().len(), 1);
    let trace = net.data(0).iter().map(|&(at, offset)| (at.0 / 1_000_000, offset / 1000)).collect();
    (trace, net)
}

#[test]
fn a_trimmed_segment_is_sent_again_before_new_data_once_the_window_allows() {
    // ACKs of 0 and 1 at 21 and 22 release 10 and 11. The report of 2 is back at 23: FlightSize 10, so window 5, and the pipe
    // is 9 without segment 2. ACKs of 3 to 7 (24 to 28) bring it to 4: 2 goes at 28, 12 for the ACK of 8 at 29, and 13 for
    // that of 9. ACKs of 10 and 11 (42, 43) release 14 and 15. The ACK of 2 at 49 acknowledges 0 to 11, all that was sent before
    // the report: over. 12 to 15 are in flight: 16.
    let (trace, net) = trace_of(once(vec![2], Fate::Trim));
    let mut expected: Vec<(u64, u64)> = (0..10).map(|i| (i, i)).collect();
    expected.extend([(21, 10), (22, 11), (28, 2), (29, 12), (30, 13), (42, 14), (43, 15), (49, 16)]);
    assert_eq!(trace[..expected.len()], expected);
    let report = net.completed()[0];
    assert_eq!((report.retransmits, report.retransmitted, report.timeouts), (1, 1_000, 0));
}

#[test]
fn each_trimmed_transmission_is_reported_and_repeated_without_timeouts() {
    // Of the whole first window only headers arrive, of segments 4 and 5 four times: the receiver knows no flow at first.
    let segments = (0..10).chain([4, 4, 4, 5, 5, 5]).collect();
    let (_, net) = trace_of(once(segments, Fate::Trim));
    let report = net.completed()[0];
    assert_eq!((report.retransmits, report.timeouts), (16, 0));
    let is_report = |seen: &&SeenPacket| {
        seen.packet.header.kind == Kind::Ack && seen.packet.header.marks.has(Marks::TRIMMED)
    };
    assert_eq!(net.log.iter().filter(is_report).count(), 16);
}

#[test]
fn a_lost_header_waits_for_the_timer() {
    // Segment 2 vanishes, 3 is trimmed: what arrives beyond says nothing of 2. The ACK of 1 at 22 starts the timer, which has
    // the floor of 200 us: srtt 21 us and a variation of 10.5 us.
    let fates = |seen: &SeenPacket| match (seen.packet.header.kind, seen.packet.header.offset.get()) {
        (Kind::Data, 2_000) => Some(Fate::Drop),
        (Kind::Data, 3_000) => Some(Fate::Trim),
        _ => None,
    };
    let mut left = vec![2_000, 3_000];
    let (trace, net) = trace_of(move |seen| {
        let offset = seen.packet.header.offset.get();
        let fate = fates(seen).filter(|_| left.contains(&offset));
        left.retain(|&other| fate.is_none() || other != offset);
        fate.unwrap_or(Fate::Pass)
    });
    let again: Vec<(u64, u64)> = trace.iter().copied().filter(|&(_, segment)| segment == 2).collect();
    assert_eq!(again, [(2, 2), (222, 2)]);
    assert_eq!(net.completed()[0].timeouts, 1);
}

#[test]
fn the_timer_waits_for_the_first_segment_from_its_last_report_on() {
    // The first segment is trimmed twelve times, each about 21 us after the one before: longer than the timeout in all.
    let (_, net) = trace_of(once(vec![0; 12], Fate::Trim));
    let report = net.completed()[0];
    assert_eq!((report.retransmits, report.timeouts), (12, 0));
    assert!(report.elapsed > Span::from_us(12 * 21), "{:?}", report.elapsed);
}

#[test]
fn what_arrives_in_another_order_is_no_loss() {
    let faults = Faults { reorder: 0.5, jitter: Span::from_us(60), ..Faults::default() };
    let again = |recovery| {
        let config = unit_config(recovery);
        let mut net: Net<NewReno> =
            Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP).seeded(7, faults);
        net.open(flow(0, 400_000));
        assert!(net.run(Time(1_000_000_000_000)));
        net.completed()[0].retransmits
    };
    assert_eq!(again(LossRecovery::Trims), 0);
    assert!(again(LossRecovery::Sack) > 10);
}

#[test]
fn flows_of_a_connection_are_repaired_by_their_own_offsets() {
    let config = unit_config(LossRecovery::Trims);
    let mut net: Net<NewReno> = Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP);
    net = net.seeded(3, Faults { trim: 0.1, reorder: 0.3, jitter: Span::from_us(40), ..Faults::default() });
    for id in 0..30 {
        net.open(FlowSpec { connection: ConnectionId::new(0), ..flow(id, 500 + 777 * u64::from(id)) });
    }
    assert!(net.run(Time(1_000_000_000_000)));
    let again: u32 = net.completed().iter().map(|report| report.retransmits).sum();
    assert_eq!((net.completed().len(), net.delivered().len()), (30, 30));
    assert!(again > 20, "{again}");
}

#[test]
fn everything_arrives_once_however_much_is_trimmed_or_lost() {
    let mut repaired = (0, 0);
    for case in 0..rounds(360, 3_600) {
        let config = new_reno::Config { init_window: None };
        for report in trimmed_storm::<NewReno>(case, config, |_| ()).completed() {
            repaired.0 += u32::from(report.retransmits > 0 && report.timeouts == 0);
            repaired.1 += u32::from(report.retransmits > 0 && report.timeouts > 0);
        }
    }
    assert!(repaired.0 > 100 && repaired.1 > 100, "{repaired:?}");
}
