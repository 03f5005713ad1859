//! Rings of workers as lists of dependent flows.

use std::collections::BTreeMap;

use priolane_core::ids::CoflowId;
use priolane_sim::dependencies::Work;

use super::*;

fn ring(bytes: u64) -> Ring {
    Ring {
        reduced: bytes,
        compute: Span::from_us(500),
        iterations: Some(2),
        starts: Starts { start: Span::from_us(10), jitter: Span::ZERO },
    }
}

#[test]
fn each_part_of_an_iteration_is_sent_on_by_each_worker_but_one_twice() {
    let network = Network::new();
    // Three workers in this order; parts of 34, 33 and 33 bytes; 2 x 2 steps of three flows.
    let workers = [HostId(5), HostId(2), HostId(9)];
    let site = WorkloadContext { hosts: &workers, ..network.site() };
    let Traffic { flows, waits, .. } = traffic(&App::Ring(ring(100)), &site).unwrap();
    assert_eq!((flows.len(), waits.len()), (24, 21));
    let by_id: BTreeMap<FlowId, FlowSpec> = flows.iter().map(|flow| (flow.id, flow)).collect();
    for wait in &waits {
        let Work::Flow(first) = wait.after[0].work else { panic!("a ring has no steps") };
        let (flow, before) = (by_id[&wait.flow], by_id[&first]);
        // A worker depends only on flows that it received itself, so no notification between hosts is needed.
        assert_eq!((wait.after.len(), before.dst), (1, flow.src));
        let same = before.coflow == flow.coflow;
        assert_eq!(wait.after[0].delay, if same { Span::ZERO } else { Span::from_us(500) });
        assert_eq!(wait.until.is_some(), !same);
        // It forwards the part that it received; an iteration begins with its own part.
        assert!(!same || before.size == flow.size, "{before:?} {flow:?}");
    }
    for iteration in [0, 1].map(CoflowId::new) {
        let own: Vec<FlowSpec> = flows.iter().filter(|flow| flow.coflow == iteration).collect();
        // Each of the three parts takes four hops.
        assert_eq!(own.iter().filter_map(|flow| flow.size).sum::<u64>(), 4 * 100);
        for (from, to) in [(5, 2), (2, 9), (9, 5)] {
            assert_eq!(own.iter().filter(|flow| (flow.src.0, flow.dst.0) == (from, to)).count(), 4);
        }
    }
    // The second iteration starts at the earliest 4 x (2 us + 264 ns) and 500 us after the first.
    let second =
        flows.iter().filter(|flow| flow.coflow == CoflowId::new(1)).map(|flow| flow.start).min().unwrap();
    assert!(second >= Time(518_000_000) && second <= Time(519_100_000), "{second:?}");
}

#[test]
fn a_ring_has_two_workers_and_a_byte_for_each() {
    let network = Network::new();
    let of = |hosts: &[HostId], bytes| {
        traffic(&App::Ring(ring(bytes)), &WorkloadContext { hosts, ..network.site() })
    };
    assert_eq!(of(&[HostId(3)], 100), Err(AppError::Ring(1)));
    assert_eq!(of(&[HostId(3), HostId(4), HostId(3)], 100), Err(AppError::Ring(3)));
    assert_eq!(of(&[HostId(3), HostId(4)], 1), Err(AppError::Parts(2)));
    assert_eq!(of(&[HostId(3), HostId(4)], 2).unwrap().flows.len(), 8);
    let endless = Ring { iterations: None, ..ring(2) };
    let until = Until::Time(Time(Span::from_ms(10).0));
    let site = WorkloadContext { hosts: &network.hosts[..2], until, ..network.site() };
    // An iteration takes at least 504 us: 20 begin in 10 ms, the first at 10 us.
    assert_eq!(traffic(&App::Ring(endless), &site).unwrap().flows.len(), 20 * 4);
}
