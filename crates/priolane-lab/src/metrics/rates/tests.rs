use priolane_core::endpoint::Weights;
use priolane_core::ids::FlowId;
use priolane_core::units::Rate;
use priolane_sim::outcome::FlowSample;

use super::*;
use crate::optimum;
use priolane_testkit::made_up::MadeUp;

const MS: u64 = 1_000_000_000;

/// Three endless flows from one host, reports each millisecond from the first millisecond on: flow 0 with 1 Gbps and 3
/// Gbps in turn, flow 1 with 2 Gbps, flow 2 with 4 Gbps; for 10 ms.
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
            fixture.outcome.reports.push(FlowSample {
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

#[test]
fn without_flows_that_last_there_are_no_rates() {
    let mut fixture = fixture();
    fixture.scenario.flows.edit_all(|flow| flow.size = Some(10));
    let window = (Time::ZERO, Time(8 * MS));
    assert_eq!(rates((&fixture.source(), &fixture.outcome), &[], None, window), None);
}
