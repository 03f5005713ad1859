//! Traces worked out by hand: segments of 1 us, ACKs back 21 us after their segment began.
//!
//! A trace is a list of (microsecond, segment).

use priolane_core::host::SchedulerKind;
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{Config, LossRecovery};
use priolane_core::units::{Span, Time};

use crate::link::{Fate, Faults, Net, PLAIN, SeenPacket, UNIT_HOP, drop_once, flow, unit_config, unit_reno};

type Trace = Vec<(u64, u64)>;

fn trace_of(
    config: Config,
    window: u64,
    segments: u64,
    judge: impl FnMut(&SeenPacket) -> Fate + 'static,
) -> (Trace, Net<NewReno>) {
    let mut net: Net<NewReno> =
        Net::new(config, unit_reno(window), SchedulerKind::RoundRobin, &UNIT_HOP).judged(judge);
    net.open(flow(0, segments * 1000));
    assert!(net.run(Time(1_000_000_000_000)));
    assert_eq!(net.completed().len(), 1);
    let trace = net.data(0).iter().map(|&(at, offset)| (at.0 / 1_000_000, offset / 1000)).collect();
    (trace, net)
}

fn starts_with(trace: &Trace, expected: &[(u64, u64)]) {
    assert_eq!(&trace[..expected.len()], expected, "whole trace: {trace:?}");
}

#[test]
fn slow_start_sends_two_for_each_ack() {
    // Window 2: segments 0, 1. ACK 0 at 21: window 3, so 2, 3; ACK 1 at 22: window 4, so 4, 5 (line busy
    // until 23). ACKs of 2..5 at 42..45 release two each: 6..13 on the line from 42 to 49.
    let (trace, net) = trace_of(unit_config(LossRecovery::Sack), 2, 14, |_| Fate::Pass);
    let mut expected = vec![(0, 0), (1, 1)];
    expected.extend((0..4).map(|i| (21 + i, 2 + i)));
    expected.extend((0..8).map(|i| (42 + i, 6 + i)));
    assert_eq!(trace, expected);
    // The last segment began at 49: its ACK is back at 70.
    assert_eq!(net.completed()[0].elapsed, Span::from_us(70));
}

#[test]
fn sack_recovery_keeps_the_pipe_at_the_halved_window() {
    // Segment 0 is lost. ACKs of 1, 2 (22, 23) SACK a segment each: limited transmit of 10 and 11.
    // ACK of 3 at 24: three segments, more than 2 MSS, are SACKed: loss. FlightSize 10, so window 5;
    // segment 0 again at once; pipe = 12 sent - 3 SACKed = 9. ACKs of 4..8 (25..29) bring it to 4: 12 goes
    // at 29, 13 for the ACK of 9 at 30, 14 and 15 for those of 10 and 11 (43, 44). The ACK of the
    // retransmission, 24 + 21 = 45, acknowledges 0..11: over. 12..15 in flight, window 5: 16.
    let (trace, net) = trace_of(unit_config(LossRecovery::Sack), 10, 40, drop_once(vec![0]));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(22, 10), (23, 11), (24, 0), (29, 12), (30, 13), (43, 14), (44, 15), (45, 16)]);
    starts_with(&trace, &expected);
    let report = net.completed()[0];
    assert_eq!((report.retransmits, report.retransmitted, report.timeouts), (1, 1_000, 0));
}

#[test]
fn sack_recovery_repairs_several_holes_without_a_timeout() {
    // 0, 1 and 4 are lost. ACKs of 2, 3 (23, 24) let 10, 11 out; that of 5 at 26 makes three SACKed above
    // 0 and 1 (lost), but one above 4. Pipe = 12 - 3 - 2 lost = 7; 0 goes at once (8). ACKs of 6, 7
    // (27, 28): 4 is lost too at 28 (5, 6, 7): 8 - 2 - 1 = 5. ACK of 8 at 29: 4, so 1 goes at 29; ACK of 9
    // at 30: 4 again, so 4 goes at 30.
    let (trace, net) = trace_of(unit_config(LossRecovery::Sack), 10, 30, drop_once(vec![0, 1, 4]));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(23, 10), (24, 11), (26, 0), (29, 1), (30, 4)]);
    starts_with(&trace, &expected);
    assert_eq!((net.completed()[0].retransmits, net.completed()[0].timeouts), (3, 0));
}

#[test]
fn new_reno_inflates_and_leaves_with_a_full_ack() {
    // Segment 0 is lost. Third duplicate at 24: ssthresh 5, window 5 + 3, 0 again. Duplicates at 25..30
    // inflate to 14; 10 outstanding, so 10..13 at 27..30. Full ACK at 45: window min(5, 4 + 1): 14.
    let (trace, _) = trace_of(unit_config(LossRecovery::NewReno), 10, 40, drop_once(vec![0]));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(24, 0), (27, 10), (28, 11), (29, 12), (30, 13), (45, 14)]);
    starts_with(&trace, &expected);
}

#[test]
fn new_reno_partial_ack_sends_the_next_hole_and_deflates() {
    // 0 and 4 are lost. Third duplicate at 24; five more at 26..30: window 5 + 8 = 13, so 10, 11, 12 at
    // 28..30. Partial ACK of 0..3 at 45: 13 - 4 + 1 = 10, 9 outstanding: 4 again, then 13. Duplicates by
    // 10, 11, 12 at 49..51: 14, 15, 16. ACK of 4 at 66 acknowledges 0..12, beyond recover = 10: window
    // min(5, 4 + 1), 13..16 outstanding: 17.
    let (trace, net) = trace_of(unit_config(LossRecovery::NewReno), 10, 40, drop_once(vec![0, 4]));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(24, 0), (28, 10), (29, 11), (30, 12), (45, 4), (46, 13)]);
    expected.extend([(49, 14), (50, 15), (51, 16), (66, 17)]);
    starts_with(&trace, &expected);
    assert_eq!(net.completed()[0].retransmits, 2);
}

#[test]
fn new_reno_partial_ack_sends_its_hole_whatever_the_window_and_leaves_gently() {
    // 0 and 1 are lost, and so are the ACKs of 5..9 (they leave at 16..20). Third duplicate at 25: window 5,
    // inflated by 3; 10 outstanding. Partial ACK of 0 at 46: 9 outstanding, inflated by 3 - 1 + 1: no room
    // in a window of 5, but 1 goes at once. Its ACK at 67 acknowledges all: nothing outstanding, so window
    // min(5, 1 + 1): 10 and 11 only. ACK of 10 at 88: window 3.
    let mut data = drop_once(vec![0, 1]);
    let judge = move |seen: &SeenPacket| {
        let lost_ack = seen.from == 1 && (16..=20).contains(&(seen.at.0 / 1_000_000));
        if lost_ack { Fate::Drop } else { data(seen) }
    };
    let (trace, _) = trace_of(unit_config(LossRecovery::NewReno), 10, 40, judge);
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(25, 0), (46, 1), (67, 10), (68, 11), (88, 12)]);
    starts_with(&trace, &expected);
}

#[test]
fn go_back_n_sends_everything_after_the_hole_again() {
    // Segment 2 is lost. ACKs of 0, 1 (21, 22) grow the window to 12: 10..13. Third duplicate (3, 4, 5) at
    // 26: FlightSize 12, window 6: 2..7 again at 26..31 although 3..9 arrived. ACK of 2 at 47: 8.
    let (trace, net) = trace_of(unit_config(LossRecovery::GoBackN), 10, 16, drop_once(vec![2]));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend((0..4).map(|i| (21 + i, 10 + i)));
    expected.extend((0..6).map(|i| (26 + i, 2 + i)));
    expected.push((47, 8));
    starts_with(&trace, &expected);
    // 2..13 once more.
    assert_eq!(net.completed()[0].retransmits, 12);
}

#[test]
fn timeout_starts_again_from_one_segment() {
    // All of the first window is lost: 500 us without a sample, 200 us (the floor) once there is one.
    // ssthresh = 10 / 2 = 5. ACK of 0 at 521: window 2; of 1, 2 at 542, 543: 3, 4; of 3 at 563: 5.
    // From then on congestion avoidance: one segment per window. ACKs of 4, 5, 6 at 564..566 release one
    // each, the 5th ACK at 584 brings window 6: two.
    let (trace, net) = trace_of(unit_config(LossRecovery::Sack), 10, 40, drop_once((0..10).collect()));
    let mut expected: Trace = (0..10).map(|i| (i, i)).collect();
    expected.extend([(500, 0), (521, 1), (522, 2), (542, 3), (543, 4), (544, 5), (545, 6)]);
    expected.extend([(563, 7), (564, 8), (565, 9), (566, 10), (567, 11)]);
    expected.extend([(584, 12), (585, 13), (586, 14)]);
    starts_with(&trace, &expected);
    assert_eq!((net.completed()[0].timeouts, net.completed()[0].retransmits), (1, 10));
}

#[test]
fn timeouts_double_up_to_the_ceiling() {
    let lost = 5;
    let mut seen = 0;
    let judge = move |s: &SeenPacket| {
        seen += u64::from(s.from == 0);
        if s.from == 0 && seen <= lost { Fate::Drop } else { Fate::Pass }
    };
    let config = Config { max_rto: Span::from_us(1_500), ..unit_config(LossRecovery::Sack) };
    let (trace, net) = trace_of(config, 10, 1, judge);
    // 500, 1000, then 1500 instead of 2000.
    let times: Vec<u64> = trace.iter().map(|&(at, _)| at).collect();
    assert_eq!(times, [0, 500, 1_500, 3_000, 4_500, 6_000]);
    assert_eq!(net.completed()[0].timeouts, 5);
}

#[test]
fn timeout_waits_for_the_floor_after_the_last_new_ack() {
    // Segment 3, the last, is lost: ACKs at 21, 22, 23; the timer restarts at each: 23 + 200.
    let (trace, _) = trace_of(unit_config(LossRecovery::Sack), 10, 4, drop_once(vec![3]));
    assert_eq!(trace, [(0, 0), (1, 1), (2, 2), (3, 3), (223, 3)]);
}

#[test]
fn without_marks_dctcp_leaves_new_renos_trace() {
    for (case, recovery) in
        [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN].iter().cycle().take(60).enumerate()
    {
        let faults = Faults {
            loss: 0.02 * (case % 5) as f64,
            reorder: 0.1,
            jitter: Span::from_us(9),
            ..Faults::default()
        };
        let config = Config { min_rto: Span::from_us(300), ..unit_config(*recovery) };
        let dctcp = dctcp::Config {
            reno: unit_reno(10),
            g: 1.0 / 16.0,
            alpha_0: 1.0,
            min_window: 2,
            reduction: dctcp::Reduction::AtOnce,
        };
        let mut reno: Net<NewReno> =
            Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &PLAIN).seeded(case as u64, faults);
        let mut other: Net<Dctcp> =
            Net::new(config, dctcp, SchedulerKind::RoundRobin, &PLAIN).seeded(case as u64, faults);
        reno.open(flow(0, 400_000));
        other.open(flow(0, 400_000));
        assert!(reno.run(Time(1_000_000_000_000)) && other.run(Time(1_000_000_000_000)));
        assert_eq!(reno.data(0), other.data(0), "case {case}");
        assert_eq!(reno.delivered(), other.delivered());
    }
}
