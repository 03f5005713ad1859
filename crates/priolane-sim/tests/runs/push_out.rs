//! Buffers that queues share: with tail drop a backlog of low priority costs high priority packets, with push-out
//! it does not; and every packet that was pushed out is accounted for.

use crate::support::{agreed, flow, link, new_reno, push_out, scenario, strict};
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, SortBy};
use priolane_core::transport::window;
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Nic, PortSpec, ScenarioSpec};
use priolane_sim::topology::SingleSwitch;

/// Six senders of class 1 keep the port to host 7 full; host 6 sends it 40 short flows of class 0.
fn crowded(port: PortSpec) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 8, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let low = (0..6).map(|i| flow(i, (i as u16, 7), 1_000_000, Time::ZERO));
    let high = (6..46).map(|i| flow(i, (6, 7), 14_600, Time(u64::from(i) * 80_000_000)));
    let mut flows: Vec<_> = low.chain(high).collect();
    flows[..6].iter_mut().for_each(|flow| flow.class = 1);
    let mut scenario = scenario(topology, port, flows);
    let config = window::Config { min_rto: Span::from_us(500), ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), config);
    scenario
}

/// Returns the counters of `class` at the port to host 7.
fn at_port(outcome: &Outcome, scenario: &ScenarioSpec, class: u8) -> PortClassRecord {
    let link = scenario.topology.downlink(HostId(7));
    *outcome.ports.iter().find(|p| (p.link, p.class) == (link, class)).unwrap()
}

fn assert_accounts_balance(outcome: &Outcome) {
    let ledger = &outcome.ledger;
    for class in 0..ledger.made.len() {
        let spent = [&ledger.delivered, &ledger.dropped, &ledger.lost, &ledger.resident];
        assert_eq!(ledger.made[class].packets, spent.iter().map(|t| t[class].packets).sum::<u64>());
        assert_eq!(ledger.made[class].bytes, spent.iter().map(|t| t[class].bytes).sum::<u64>());
    }
}

#[test]
fn a_backlog_of_low_priority_costs_high_priority_packets_only_where_the_tail_drops() {
    let room = Buffer { limit: Limit::Packets(20), ..Buffer::UNLIMITED };
    let shared = crowded(strict(2, room));
    let outcome = agreed(&shared);
    assert!(at_port(&outcome, &shared, 0).dropped > 20, "{:?}", at_port(&outcome, &shared, 0));
    assert_accounts_balance(&outcome);

    let scenario = crowded(push_out(2, room));
    let outcome = agreed(&scenario);
    let (high, low) = (at_port(&outcome, &scenario, 0), at_port(&outcome, &scenario, 1));
    assert_eq!((high.dropped, high.inversions, high.queue, low.queue), (0, 0, 0, 1));
    assert!(low.dropped > 100, "{low:?}");
    assert!(outcome.flows.iter().all(|f| f.fct_acked.is_some()));
    assert!(outcome.flows.range(6..).all(|f| f.retransmits == 0));
    assert_accounts_balance(&outcome);
}

#[test]
fn who_is_pushed_out_waits_no_longer() {
    let scenario = crowded(push_out(2, Buffer { limit: Limit::Packets(20), ..Buffer::UNLIMITED }));
    let outcome = agreed(&scenario);
    // Never more than 20 packets wait: the waits of all together are below 20 times the run.
    let waited = at_port(&outcome, &scenario, 0).waited + at_port(&outcome, &scenario, 1).waited;
    assert!(waited > outcome.stopped_at.0 && waited < 20 * outcome.stopped_at.0, "{waited}");
}

#[test]
fn push_out_without_a_limit_or_worse_queues_is_strict_to_the_bit() {
    let few = Buffer { limit: Limit::Packets(20), ..Buffer::UNLIMITED };
    for (queues, buffer) in [(2, Buffer::UNLIMITED), (1, few)] {
        assert_eq!(agreed(&crowded(push_out(queues, buffer))), agreed(&crowded(strict(queues, buffer))));
    }
}

#[test]
fn a_transmit_queue_tells_its_transport_what_was_pushed_out() {
    // Host 0 sends two flows: what the first has queued makes way for the second's level.
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = vec![flow(0, (0, 1), 500_000, Time::ZERO), flow(1, (0, 2), 100_000, Time(40_000_000))];
    let room = Buffer { limit: Limit::Packets(8), ..Buffer::UNLIMITED };
    let mut scenario = scenario(topology, strict(2, Buffer::UNLIMITED), flows);
    let levels =
        priolane_core::assign::DemotionThresholds::new(&[20_000], priolane_core::assign::Count::StreamOffset);
    let config = window::Config {
        host_level: levels.unwrap(),
        queue_limit: Some(20_000),
        min_rto: Span::from_us(500),
        ..window::Config::new(Frame::ETHERNET)
    };
    scenario.transport = crate::support::window(new_reno(), config);
    scenario.nic = Nic::Queue { port: push_out(2, room), sort_by: SortBy::HostLevel };
    let outcome = agreed(&scenario);
    let uplink = scenario.topology.uplink(HostId(0));
    let dropped: u64 = outcome.ports.iter().filter(|p| p.link == uplink).map(|p| p.dropped).sum();
    assert!(dropped > 0, "nothing was pushed out");
    // Were the room of what was pushed out not given back to its flow, the flow would never end.
    assert!(outcome.flows.iter().all(|f| f.fct_acked.is_some()));
    assert_accounts_balance(&outcome);
}
