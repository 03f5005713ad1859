//! Lower bounds where one machine decides: the link of a sender or of a receiver, or those out of or into a rack.

use priolane_core::packet::Frame;
use priolane_core::units::Rate;
use priolane_sim::topology::{LeafSpine, LinkSpec};

use super::*;

/// Four flows of 1 MB between hosts of three racks of four, with 1 Gbit/s out of and into each rack.
fn mean_bound(pairs: [(u16, u16); 4]) -> f64 {
    let link = |gbps| LinkSpec::lossless(Rate::from_gbps(gbps), Span::from_us(1));
    let network = LeafSpine {
        leaves: 3,
        spines: 1,
        hosts_per_leaf: 4,
        links_per_pair: 1,
        host_link: link(10),
        fabric_link: link(1),
    };
    let mut fixture = MadeUp::with_flows(4);
    fixture.scenario.topology = network.build().unwrap();
    for (flow, (src, dst)) in pairs.into_iter().enumerate() {
        fixture.scenario.flows.edit(flow, |flow| {
            (flow.src, flow.dst, flow.start, flow.size) =
                (HostId(src), HostId(dst), Time::ZERO, Some(1_000_000));
        });
    }
    let summaries = summarize(&fixture.source(), &fixture.outcome, &[]).by_class;
    summaries[ALL].mean_fct_bound_s.unwrap()
}

/// Seconds of 1 MB in full packets and a last one, at a rate.
fn takes(gbps: f64) -> f64 {
    let frame = Frame::ETHERNET;
    let full = 1_000_000 / u64::from(frame.mss());
    let last = 1_000_000 - full * u64::from(frame.mss());
    let wire = full * u64::from(frame.data_wire(frame.mss())) + u64::from(frame.data_wire(last as u16));
    wire as f64 * 8.0 / (gbps * 1e9)
}

#[test]
fn flows_that_share_links_end_one_after_another_in_the_mean() {
    let (slow, fast) = (takes(1.0), takes(10.0));
    // n flows on one machine take n (n + 1) / 2 times as long as one; the rest of the way takes less than 20 us.
    let near = |found: f64, least: f64| {
        assert!((least..least + 20e-6).contains(&found), "{found} is not {least} and a little more");
    };
    // All out of rack 0, two into each other rack.
    near(mean_bound([(0, 4), (1, 5), (2, 8), (3, 9)]), 2.5 * slow);
    // Two out of each of two racks, all into rack 0.
    near(mean_bound([(4, 0), (5, 1), (8, 2), (9, 3)]), 2.5 * slow);
    // Two out of and into rack 0, one out of and into each other rack: 3 + 1 + 1 times as long in all.
    near(mean_bound([(0, 4), (1, 8), (4, 0), (8, 1)]), 1.25 * slow);
    // One sender, and one receiver, within a rack.
    near(mean_bound([(0, 1), (0, 2), (0, 3), (0, 1)]), 2.5 * fast);
    near(mean_bound([(1, 0), (2, 0), (3, 0), (1, 0)]), 2.5 * fast);
    // Each alone.
    near(mean_bound([(0, 1), (1, 2), (2, 3), (3, 0)]), fast);
}

#[test]
fn flows_that_gave_up_bytes_count_as_nothing_and_unfinished_ones_not_at_all() {
    let bound = |change: &dyn Fn(&mut MadeUp)| {
        let mut fixture = MadeUp::with_flows(2);
        fixture.scenario.flows.edit_all(|flow| {
            (flow.src, flow.dst) =
                if flow.id.0 == 0 { (HostId(0), HostId(1)) } else { (HostId(1), HostId(0)) };
            (flow.start, flow.size) = (Time::ZERO, Some(1_000_000));
        });
        change(&mut fixture);
        summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL].mean_fct_bound_s
    };
    let whole = bound(&|_| {}).unwrap();
    let near = |found: Option<f64>, expected: f64| assert!((found.unwrap() / expected - 1.0).abs() < 1e-9);
    near(bound(&|fixture| fixture.outcome.flows.edit(1, |flow| flow.fct = None)), whole);
    near(bound(&|fixture| fixture.measured[0] = false), whole);
    assert_eq!(bound(&|fixture| fixture.outcome.flows.edit_all(|flow| flow.fct = None)), None);
    // It has no time of its own, but its machines serve what they can at least.
    let given_up = bound(&|fixture| fixture.outcome.flows.edit(1, |flow| flow.missing = 7)).unwrap();
    assert!(given_up <= whole && given_up >= whole / 2.0, "{given_up} {whole}");
}
