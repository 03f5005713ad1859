use super::*;
use crate::keys::with_defaults;
use crate::transport::window::Growth;
use crate::units::Time;

/// A slow start that judges a round after two samples and ends after two conservative rounds.
fn starting() -> SlowStart {
    let config: Config = with_defaults(&[]);
    SlowStart::first(&Config { hystart_samples: 2, hystart_rounds: 2, ..config })
}

/// ACKs of one round, each with its round-trip time; the last ends the round.
fn round(start: &mut SlowStart, number: u64, rtts_ms: &[u64]) -> bool {
    let (una, next) = (number * 100, (number + 1) * 100);
    let count = rtts_ms.len();
    let over = rtts_ms.iter().enumerate().map(|(i, &ms)| {
        let is_last = i + 1 == count;
        start.is_over(&AckEvent {
            now: Time::ZERO,
            acked: 1,
            delivered: 1,
            in_flight: 0,
            una: if is_last { next } else { una + i as u64 + 1 },
            next: if is_last { next + 100 } else { next },
            marked: false,
            growth: Growth::Allowed,
            rtt: Some(Span::from_ms(ms)),
            srtt: Span::ZERO,
            one_way_ps: 0,
            host_delay: Span::ZERO,
        })
    });
    over.fold(false, |any, over| any | over)
}

#[test]
fn the_rise_is_an_eighth_of_the_round_trip_within_its_bounds() {
    let config: Config = with_defaults(&[]);
    let rises = [1, 32, 64, 128, 500].map(|ms| config.rise(Span::from_ms(ms)));
    assert_eq!(rises, [4, 4, 8, 16, 16].map(Span::from_ms));
}

#[test]
fn a_rise_in_a_round_slows_growth_and_two_rounds_later_slow_start_is_over() {
    let mut start = starting();
    assert!(!round(&mut start, 0, &[42, 40, 50]));
    // The least of this round is 44 ms, a millisecond short of 40 + 5.
    assert!(!round(&mut start, 1, &[44, 60, 60]));
    assert_eq!([1.0, 3.0, 20.0].map(|acked| start.growth(acked)), [1.0, 3.0, 8.0]);
    // 44 + 5.5 is reached by both samples. The round in which the phase begins counts.
    assert!(!round(&mut start, 2, &[50, 50, 51]));
    assert_eq!([1.0, 3.0, 20.0].map(|acked| start.growth(acked)), [0.25, 0.75, 2.0]);
    assert!(round(&mut start, 3, &[50, 50]));
}

#[test]
fn one_high_sample_is_no_rise() {
    let mut start = starting();
    round(&mut start, 0, &[40, 40]);
    round(&mut start, 1, &[90, 41, 90]);
    assert_eq!(start.growth(3.0), 3.0);
    // A round with a single sample is not judged.
    round(&mut start, 2, &[90]);
    assert_eq!(start.growth(3.0), 3.0);
}

#[test]
fn a_round_trip_below_that_of_the_rise_resumes_slow_start() {
    let mut start = starting();
    round(&mut start, 0, &[40, 40]);
    round(&mut start, 1, &[50, 50]);
    assert_eq!(start.growth(4.0), 1.0);
    assert!(!round(&mut start, 2, &[49, 49]));
    assert_eq!(start.growth(4.0), 4.0);
    // The phase begins again from its first round.
    assert!(!round(&mut start, 3, &[60, 60]));
    assert!(round(&mut start, 4, &[60, 60]));
}

#[test]
fn later_slow_starts_and_those_without_hystart_are_reno_s() {
    let config: Config = with_defaults(&[]);
    for mut start in [SlowStart::later(), SlowStart::first(&Config { hystart: false, ..config })] {
        assert_eq!([0.5, 1.0, 3.0].map(|acked| start.growth(acked)), [0.5, 1.0, 1.0]);
        (0..9).for_each(|number| assert!(!round(&mut start, number, &[40 << number, 40 << number])));
    }
}
