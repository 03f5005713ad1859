//! PACCP over queues that drop: shares, minimum rates, machines, and NewReno where nothing is paid for.

use crate::support::{drive, fifo, flow, link, new_reno, paccp, paccp_dctcp, run, scenario};
use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::{Controller, Transport, window};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Awaited, Engine, ScenarioSpec, Stop, VmPricing};
use priolane_sim::topology::Dumbbell;

const SECOND: u64 = 1_000_000_000_000;

fn pair(gbps: u64, w_milli: u32) -> Weights {
    Weights { theta: Rate::from_bps(gbps * 1_000_000_000), w_milli }
}

/// Endless flows, one for each pair of hosts, through 10 Gbps with room for 300 packets, for two seconds; 400 us there
/// and back, so that windows are large.
fn bottleneck(weights: &[Weights]) -> ScenarioSpec {
    let hosts = weights.len() as u32;
    let topology = Dumbbell {
        left: hosts,
        right: hosts,
        host_link: link(40, Span::from_us(50)),
        bottleneck: link(10, Span::from_us(100)),
    };
    let flows = weights.iter().enumerate().map(|(i, &weights)| {
        let start = Time(i as u64 * 7_123_457);
        let ends = (i as u16, hosts as u16 + i as u16);
        FlowSpec { size: None, weights, group: i as u16, ..flow(i as u32, ends, 1, start) }
    });
    let buffer = Buffer { limit: Limit::Packets(300), ..Buffer::UNLIMITED };
    let mut scenario = scenario(topology.build().unwrap(), fifo(buffer), flows.collect());
    with(&mut scenario, paccp());
    scenario.stop = Stop::At(Time(2 * SECOND));
    scenario
}

fn with(scenario: &mut ScenarioSpec, controller: Controller) {
    let every = Span::from_ms(100);
    let config = window::Config { monitor: Some(every), ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(controller, config);
    scenario.rates_every = Some(every);
}

fn outcome(scenario: &ScenarioSpec) -> Outcome {
    run(scenario, drive(Engine::Window))
}

/// Gbps of each flow from 0.5 s on.
fn rates(scenario: &ScenarioSpec) -> Vec<f64> {
    let outcome = outcome(scenario);
    let of = |id: usize| {
        let mut reports =
            outcome.flow_samples.iter().filter(|r| r.flow.index() == id && r.at.0 >= SECOND / 2);
        let first = reports.next().unwrap();
        let last = reports.next_back().unwrap();
        (last.acked_bytes - first.acked_bytes) as f64 * 8e-9 / (last.at.since(first.at)).as_secs_f64()
    };
    (0..scenario.flows.len()).map(of).collect()
}

/// Property 19: between the square root of the weight (losses apart) and the weight (losses together).
#[test]
fn rates_share_by_weight_as_far_as_losses_are_shared() {
    for w in [2.0_f64, 4.0] {
        let weights = [[pair(0, 1_000); 2], [pair(0, (w * 1e3) as u32); 2]].concat();
        let rates = rates(&bottleneck(&weights));
        let ratio = rates[2..].iter().sum::<f64>() / rates[..2].iter().sum::<f64>();
        assert!((w.sqrt()..=w).contains(&ratio), "w = {w}: {ratio} of {rates:?}");
        let total: f64 = rates.iter().sum();
        assert!((8.5..=9.5).contains(&total), "{total} of 9.49 Gbps of payload");
    }
}

/// Under DCTCP who pays more gets more, by more than the weight (docs/assumptions.md#paccp-dctcp), and the queue is around
/// K.
#[test]
fn marks_share_by_weight_without_full_buffers() {
    let waits = |outcome: &Outcome| {
        let busiest = outcome.ports.iter().max_by_key(|port| port.waited).unwrap();
        busiest.waited as f64 / busiest.packets as f64
    };
    for w in [2.0_f64, 4.0] {
        let weights = [[pair(0, 1_000); 2], [pair(0, (w * 1e3) as u32); 2]].concat();
        let full = outcome(&bottleneck(&weights));
        let marked = marking(bottleneck(&weights));
        let rates = rates(&marked);
        let ratio = rates[2..].iter().sum::<f64>() / rates[..2].iter().sum::<f64>();
        assert!((w.sqrt()..=w * w).contains(&ratio), "w = {w}: {ratio} of {rates:?}");
        let total: f64 = rates.iter().sum();
        assert!((9.0..=9.5).contains(&total), "{total} of 9.49 Gbps of payload");
        let marked = outcome(&marked);
        assert!(waits(&marked) < 0.7 * waits(&full), "{} and {} ps", waits(&marked), waits(&full));
    }
}

/// The same with DCTCP over PACCP, and marks from 100 packets on.
fn marking(mut scenario: ScenarioSpec) -> ScenarioSpec {
    with(&mut scenario, paccp_dctcp());
    scenario.ports.iter_mut().for_each(|port| port.buffer.mark_above = Limit::Packets(100));
    scenario
}

#[test]
fn a_minimum_rate_is_kept_among_many() {
    let mut weights = vec![pair(0, 1_000); 7];
    weights.push(pair(4, 1_000));
    let full = |weights: &[Weights]| bottleneck(weights);
    let marked = |weights: &[Weights]| marking(bottleneck(weights));
    for scenario in [full as fn(&[Weights]) -> ScenarioSpec, marked] {
        let kept = rates(&scenario(&weights));
        assert!(kept[7] >= 4.0, "{kept:?}");
        let without = rates(&scenario(&[pair(0, 1_000); 8]));
        assert!(without[7] < 2.0, "{without:?}");
    }
}

/// A machine with four flows gets what one with one flow gets, within a third: each flow has a quarter of the weight.
#[test]
fn machines_share_alike_whatever_their_flows() {
    let mut scenario = bottleneck(&[pair(0, 1_000); 8]);
    let machine = VmPricing { pair: pair(0, 4_000), interval: None };
    // Host 0 sends four flows of one group; hosts 4 to 7 are a machine each.
    for place in 0..4 {
        scenario.flows.edit(place, |flow| {
            flow.group = 0;
            flow.src = priolane_core::ids::HostId(0);
        });
    }
    scenario.machines = vec![Some(machine), None, None, None];
    scenario.machines.extend([Some(VmPricing { pair: pair(0, 4_000), interval: None }); 4]);
    let rates = rates(&scenario);
    let many: f64 = rates[..4].iter().sum();
    let one = rates[4..].iter().sum::<f64>() / 4.0;
    assert!((0.75..1.5).contains(&(many / one)), "{many} {one} {rates:?}");
    // Without machines the four flows of weight 1 beside four of weight 4 do not.
    scenario.machines.clear();
    scenario.flows.edit_all(|flow| flow.weights = pair(0, 4_000));
    let unpaid = self::rates(&scenario);
    assert!(unpaid[..4].iter().sum::<f64>() > 2.5 * unpaid[4..].iter().sum::<f64>() / 4.0, "{unpaid:?}");
}

/// No bin of a full link gives its flows more than it carries, the losses of slow start and their repair included: what a
/// hole holds back counts when it arrives and not when the hole is filled.
#[test]
fn no_bin_has_more_than_the_link_carries() {
    let every = Span::from_ms(10);
    let mut scenario = bottleneck(&[pair(0, 1_000), pair(0, 2_000), pair(4, 1_000), pair(0, 1_000)]);
    scenario.rates_every = Some(every);
    let Transport::Window { window, .. } = &mut scenario.transport else {
        unreachable!("the window machine")
    };
    window.monitor = Some(every);
    scenario.stop = Stop::At(Time(SECOND / 5));
    let outcome = outcome(&scenario);
    assert!(outcome.ports.iter().map(|p| p.dropped).sum::<u64>() > 100);
    // 10 Gbps x 1460 / 1538 of payload; a bin of the last flow begins 21 us after that of the first, 0.2 % of a bin.
    let carries = 10e9 * 1_460.0 / 1_538.0 / 8.0 * every.as_secs_f64() * 1.002;
    let known = |bin: u64| -> u64 {
        let of = |flow: usize| {
            let until = scenario.flows.at(flow).start + Span(bin * every.0);
            let own = outcome.flow_samples.iter().filter(|r| r.flow.index() == flow && r.at <= until);
            own.map(|r| r.acked_bytes).max().unwrap_or(0)
        };
        (0..scenario.flows.len()).map(of).sum()
    };
    for bin in 1..20 {
        let got = (known(bin) - known(bin - 1)) as f64;
        assert!(got <= carries, "{got} B in bin {bin}, of {carries}");
    }
}

#[test]
fn best_effort_everywhere_is_new_reno() {
    let mut scenario = bottleneck(&[Weights::BEST_EFFORT; 6]);
    scenario.stop = Stop::At(Time(SECOND / 5));
    let paid = outcome(&scenario);
    with(&mut scenario, new_reno());
    let unpaid = outcome(&scenario);
    assert!(paid.ports.iter().map(|p| p.dropped).sum::<u64>() > 100);
    assert_eq!(paid, unpaid);
}

/// An unreliable flow ends with what was lost missing, and no packet of it is sent twice.
#[test]
fn what_unreliable_flows_lose_is_told() {
    let mut scenario = bottleneck(&[Weights::BEST_EFFORT; 4]);
    scenario.flows.edit_all(|flow| flow.size = Some(20_000_000));
    scenario.stop = Stop::WhenDone {
        awaits: Awaited::Finite,
        grace: Span::from_ms(1),
        not_before: Time::ZERO,
        limit: Time(10 * SECOND),
    };
    let Transport::Window { window, .. } = &mut scenario.transport else {
        unreachable!("the window machine")
    };
    window.reliability = window::Reliability::Unreliable;
    let outcome = outcome(&scenario);
    let missing: u64 = outcome.flows.iter().map(|flow| flow.missing).sum();
    let dropped: u64 = outcome.ports.iter().map(|p| p.dropped).sum();
    assert!(outcome.flows.iter().all(|flow| flow.fct.is_some() && flow.retransmits == 0));
    // Each packet dropped was payload, full but for the last of a flow, or the note of one given up.
    assert!(missing > 0 && missing <= dropped * 1_460, "{missing} B missing, {dropped} packets dropped");
}
