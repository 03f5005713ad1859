//! Requests in a closed loop, with constant pauses and sizes.

use std::ops::Range;

use priolane_core::sizes::Interpolation;
use priolane_sim::dependencies::{FlowDependency, Predecessor};

use super::*;
use crate::query::{Pauses, Query};

const END: Time = Time(Span::from_ms(10).0);

/// One client that asks two servers, each of which answers with 10,000 bytes.
fn requests() -> (Network, Traffic) {
    let network = Network::new();
    let law = size_csv::parse("t", b"bytes,cdf\n10000,1\n", Interpolation::Step).unwrap();
    let query = Query {
        query: 1_000,
        fan_out: 2,
        sizes: sizes_of(law),
        think: Span::from_us(5),
        pause: Span::from_ms(1),
        pauses: Pauses::Fixed,
        concurrency: 1,
        requests: None,
        start: Span::ZERO,
    };
    let client = [HostId(3)];
    let site = WorkloadContext { hosts: &client, until: Until::Time(END), ..network.site() };
    let found = traffic(&App::Query(query), &site).unwrap();
    (network, found)
}

/// The flows of request `number`: two queries, then two answers.
fn of(number: u32) -> Range<u32> {
    4 * number..4 * number + 4
}

#[test]
fn a_request_follows_when_all_have_answered_and_not_after_the_end() {
    let (_, Traffic { flows, waits, .. }) = requests();
    assert!(flows.len() >= 8 && flows.len() % 4 == 0, "{}", flows.len());
    let wait = |flow: u32| waits.iter().find(|wait| wait.flow == FlowId(flow)).cloned();
    for number in 0..flows.len() as u32 / 4 {
        let [first, second, ..] = [0, 1, 2, 3].map(|place| of(number).start + place);
        for query in [first, second] {
            assert_eq!(flows.at(query as usize).src, HostId(3));
            // All answers of the request before.
            let expected = (number > 0).then(|| FlowDependency {
                flow: FlowId(query),
                after: Predecessor::flows([FlowId(first - 2), FlowId(first - 1)], Span::from_ms(1)),
                until: Some(END),
            });
            assert_eq!(wait(query), expected);
            let answer = query + 2;
            assert_eq!(flows.at(answer as usize).dst, HostId(3));
            let after = Predecessor::flows([FlowId(query)], Span::from_us(5));
            assert_eq!(wait(answer), Some(FlowDependency { flow: FlowId(answer), after, until: None }));
        }
    }
}

#[test]
fn the_earliest_start_of_a_request_allows_for_the_bytes_of_all_answers() {
    let (network, Traffic { flows, .. }) = requests();
    let floor = network.site().floor;
    let trip = floor.time(1_000) + Span::from_us(5) + floor.time(2 * 10_000) + Span::from_ms(1);
    let starts: Vec<Time> = (0..3).map(|number| flows.at(of(number).start as usize).start).collect();
    assert_eq!(starts[0], Time(Span::from_ms(1).0));
    assert_eq!([starts[1], starts[2]], [starts[0] + trip, starts[0] + trip + trip]);
}
