use super::*;
use crate::units::{Span, Time};

const MSS: u64 = 1_000;

fn ack(acked: u64, growth: Growth) -> AckEvent {
    AckEvent {
        now: Time::ZERO,
        acked,
        delivered: acked,
        in_flight: 0,
        una: 0,
        next: 0,
        marked: false,
        growth,
        rtt: None,
        srtt: Span::ZERO,
        one_way_ps: 0,
        host_delay: Span::ZERO,
    }
}

fn loss(in_flight: u64) -> LossEvent {
    LossEvent { now: Time::ZERO, in_flight, next: 0 }
}

/// A flow in congestion avoidance with a window of `segments`.
fn avoiding(segments: u64) -> NewReno {
    let mut reno = NewReno::new(&Config { init_window: None }, MSS);
    reno.on_loss(&loss(2 * segments * MSS));
    reno
}

#[test]
fn first_window_is_ten_segments_unless_said_and_at_least_one() {
    let window = |bytes| NewReno::new(&Config { init_window: bytes }, MSS).window();
    assert_eq!([None, Some(4_000), Some(1)].map(window), [10_000, 4_000, 1_000]);
}

#[test]
fn slow_start_grows_by_what_was_acknowledged_at_most_a_segment() {
    let mut reno = NewReno::new(&Config { init_window: None }, MSS);
    // 10,000 + 400; + min(3000, 1000).
    let windows = [400, 3_000].map(|acked| {
        reno.on_ack(&ack(acked, Growth::Allowed));
        reno.window()
    });
    assert_eq!(windows, [10_400, 11_400]);
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    let mut reno = avoiding(4);
    // 4 segments acknowledged add the 5th, 5 more the 6th: still 5 after 8 ACKs.
    let windows: Vec<u64> =
        (0..9).map(|_| (reno.on_ack(&ack(MSS, Growth::Allowed)), reno.window() / MSS).1).collect();
    assert_eq!(windows, [4, 4, 4, 5, 5, 5, 5, 5, 6]);
}

#[test]
fn slow_start_ends_at_the_threshold_and_the_rest_counts_for_avoidance() {
    let mut reno = avoiding(2);
    reno.on_timeout(&loss(5_000), Repeat::First);
    // Threshold 2500, window 1000: 2000, then 2500 with 500 left over; 2000 more add a segment.
    let windows: Vec<u64> =
        (0..4).map(|_| (reno.on_ack(&ack(MSS, Growth::Allowed)), reno.window()).1).collect();
    assert_eq!(windows, [2_000, 2_500, 2_500, 3_500]);
}

#[test]
fn the_window_stands_when_it_does_not_limit_or_is_being_repaired() {
    let mut reno = NewReno::new(&Config { init_window: None }, MSS);
    for growth in [Growth::NotLimited, Growth::Recovering] {
        reno.on_ack(&ack(MSS, growth));
    }
    reno.on_ack(&ack(0, Growth::Allowed));
    assert_eq!(reno.window(), 10_000);
}

#[test]
fn loss_halves_the_flight_and_a_timeout_restarts_from_one() {
    let mut reno = NewReno::new(&Config { init_window: None }, MSS);
    reno.on_loss(&loss(9_000));
    assert_eq!((reno.window(), reno.ssthresh()), (4_500, 4_500));
    reno.on_loss(&loss(1_000));
    assert_eq!(reno.window(), 2 * MSS);
    reno.on_timeout(&loss(8_000), Repeat::First);
    assert_eq!((reno.window(), reno.ssthresh()), (1_000, 4_000));
    // The same data again: the threshold stays.
    reno.on_timeout(&loss(1_000), Repeat::Again);
    assert_eq!((reno.window(), reno.ssthresh()), (1_000, 4_000));
}

#[test]
fn after_recovery_the_window_is_at_most_a_segment_above_the_flight() {
    let mut reno = avoiding(8);
    reno.on_recovered(3_000);
    assert_eq!(reno.window(), 4_000);
    let mut idle = avoiding(8);
    idle.on_recovered(0);
    assert_eq!(idle.window(), 2_000);
    let mut busy = avoiding(8);
    busy.on_recovered(20_000);
    assert_eq!(busy.window(), 8_000);
}
