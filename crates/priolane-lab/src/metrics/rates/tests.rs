use priolane_core::endpoint::Weights;
use priolane_core::ids::FlowId;
use priolane_core::units::Rate;
use priolane_sim::outcome::FlowSample;

use super::*;
use crate::optimum;
use priolane_testkit::made_up::MadeUp;

const MS: u64 = 1_000_000_000;

/// Three long-lived flows from one host for 10 ms, with a report every millisecond: flow 0 alternates between 1 and 3
/// Gbps, flow 1 has 2 Gbps, flow 2 has 4 Gbps.
fn fixture() -> MadeUp {
    let mut fixture = MadeUp::with_flows(3);
    fixture.scenario.rates_every = Some(Span(MS));
    fixture.outcome.stopped_at = Time(10 * MS);
    fixture.scenario.flows.edit_all(|flow| {
        flow.size = None;
        flow.start = Time::ZERO;
        flow.group = flow.id.0 as u16;
    });
    fixture
        .scenario
        .flows
        .edit(2, |flow| flow.weights = Weights { theta: Rate::from_bps(3_500_000_000), w_milli: 2_000 });
    let bytes_per_gbps_and_ms = 125_000;
    let mut sums = [0; 3];
    for ms in 1..=10 {
        for (flow, sum) in sums.iter_mut().enumerate() {
            let gbps = [if ms % 2 == 0 { 1 } else { 3 }, 2, 4][flow];
            *sum += gbps * bytes_per_gbps_and_ms;
            fixture.outcome.flow_samples.push(FlowSample {
                at: Time(ms * MS),
                flow: FlowId(flow as u32),
                acked_bytes: *sum,
            });
        }
    }
    fixture
}

fn record(fixture: &MadeUp, classes: &[SizeClass]) -> RateRecord {
    let optimum = optimum::of(&fixture.scenario).unwrap();
    let window = (Time(2 * MS), Time(8 * MS));
    rates((&fixture.source(), &fixture.outcome), classes, Some(&optimum), window).unwrap()
}

#[test]
fn rates_are_differences_of_acknowledged_bytes_inside_the_window() {
    let slow = SizeClass { name: "slow".into(), group: vec!["all".into()], ..SizeClass::all() };
    let record = record(&fixture(), &[slow]);
    // Bins 2 to 6: between reports at 2 and 3 ms (3 Gbps), 3 and 4 (1), ... 6 and 7 (3): 11 / 5.
    assert_eq!((record.first, record.end), (2, 7));
    let slow = &record.classes["slow"];
    assert!((slow.mean.unwrap() / 1e9 - 2.2).abs() < 1e-9, "{slow:?}");
    assert_eq!((slow.rates[0], slow.rates[1], slow.rates[2]), (Some(3e9), Some(1e9), Some(3e9)));
    // Mean of 2.2, 2 and 4.
    assert!((record.classes["all"].mean.unwrap() / 1e9 - 8.2 / 3.0).abs() < 1e-9);
}

#[test]
fn jain_hosts_and_minimum_rates_by_hand() {
    let mrg = SizeClass {
        name: "mrg".into(),
        cos: Some(priolane_core::price::Cos::MinimumRate),
        ..SizeClass::all()
    };
    let mut fixture = fixture();
    let all = record(&fixture, &[]).classes["all"].clone();
    // (8.2)^2 / (3 (2.2^2 + 2^2 + 4^2)) = 67.24 / 74.52.
    assert!((all.jain.unwrap() - 67.24 / 74.52).abs() < 1e-9);
    let one_host = fixture.scenario.flows.iter().all(|flow| flow.src == fixture.scenario.flows.at(0).src);
    assert!(one_host && all.hosts == 1 && (all.host_mean.unwrap() / 1e9 - 8.2).abs() < 1e-9);
    assert_eq!(record(&fixture, std::slice::from_ref(&mrg)).classes["mrg"].below_theta, Some(0.0));
    fixture.scenario.flows.edit(2, |flow| flow.weights.theta = Rate::from_bps(4_500_000_000));
    assert_eq!(record(&fixture, &[mrg]).classes["mrg"].below_theta, Some(1.0));
}

#[test]
fn utility_is_that_of_the_rates_of_a_bin() {
    let fixture = fixture();
    let record = record(&fixture, &[]);
    let optimum = optimum::of(&fixture.scenario).unwrap();
    assert_eq!(record.utility[2], Some(optimum.relative(&[3e9, 2e9, 4e9])));
    // 9 Gbps of 9.49: below the optimum.
    assert!(mean_utility(&record).unwrap() < 1.0);
}

/// Returns the gap closed by flows whose rates are a function of the optimum's and the equal share.
fn distances(measured: impl Fn(f64, f64) -> f64) -> Option<f64> {
    // Fig. 2 of PACCP on 40 Gbps: four best-effort flows, two of weight 2, two of weight 1; an equal share is 5 Gbps.
    let best = [4.0, 4.0, 4.0, 4.0, 8.0, 8.0, 4.0, 4.0];
    gap_closed(best.iter().map(|&best| Distance { measured: measured(best, 5.0), best, equal: 5.0 }))
}

#[test]
fn the_gap_closed_is_0_with_equal_sharing_and_1_in_the_optimum_only() {
    assert_eq!(distances(|best, _| best), Some(1.0));
    assert_eq!(distances(|_, equal| equal), Some(0.0));
    // Half way: each flow is half way.
    assert_eq!(distances(|best, equal| (best + equal) / 2.0), Some(0.5));
    // A link used to a tenth, in the proportions of the optimum: 1 - 0.9 * 40 / 12 = -2.
    assert!((distances(|best, _| best / 10.0).unwrap() + 2.0).abs() < 1e-12);
    // An idle link: 1 - 40 / 12.
    assert!((distances(|_, _| 0.0).unwrap() - (1.0 - 40.0 / 12.0)).abs() < 1e-12);
    // PACCP's rates of 3.72 (best effort) and 6.21: the remaining gap is 6 x 0.28 + 2 x 1.79 = 5.26 of 12.
    let paper = distances(|best, _| if best == 8.0 { 6.21 } else { 3.72 });
    assert!((paper.unwrap() - (1.0 - 5.26 / 12.0)).abs() < 1e-12);
    // If no flow pays, there is no gap.
    let unpaid = |best| gap_closed([Distance { measured: 1e9, best, equal: 2e9 }].into_iter());
    assert_eq!((unpaid(2e9), unpaid(2e9 + 1.0)), (None, None), "not even by rounding");
    assert_eq!(gap_closed(std::iter::empty()), None);
}

#[test]
fn the_gap_closed_is_that_of_the_flows_of_a_class() {
    let fixture = fixture();
    let optimum = optimum::of(&fixture.scenario).unwrap();
    let record = record(&fixture, &[]);
    // 9.49 Gbps of payload: the equal share of three flows is 3.16.
    let line = 10.0 * 1460.0 / 1538.0;
    assert!(optimum.equal.iter().all(|rate| (rate / 1e9 - line / 3.0).abs() < 1e-6), "{:?}", optimum.equal);
    let best: Vec<f64> = optimum.best.rate.iter().map(|rate| rate / 1e9).collect();
    // In the optimum, the flow of weight 2 has more than half of the link.
    assert!(best[2] > line / 2.0 && (best.iter().sum::<f64>() - line).abs() < 1e-3, "{best:?}");
    let left = (2.2 - best[0]).abs() + (2.0 - best[1]).abs() + (4.0 - best[2]).abs();
    let whole: f64 = best.iter().map(|best| (line / 3.0 - best).abs()).sum();
    let all = &record.classes["all"];
    assert!((all.gap_closed.unwrap() - (1.0 - left / whole)).abs() < 1e-9, "{all:?}");
    assert!((all.equal.unwrap() / 1e9 - line / 3.0).abs() < 1e-6);
}

#[test]
fn without_flows_that_last_there_are_no_rates() {
    let mut fixture = fixture();
    fixture.scenario.flows.edit_all(|flow| flow.size = Some(10));
    let window = (Time::ZERO, Time(8 * MS));
    assert_eq!(rates((&fixture.source(), &fixture.outcome), &[], None, window), None);
}
